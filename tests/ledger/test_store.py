"""The file: who may use it, what SQLite is told, how the chain and its head notice tampering."""

import os
import shutil
import signal
import sqlite3
import threading
import time
import warnings

import pytest

from discreet.errors import Conflict, IntegrityError, LedgerUnavailable
from discreet.ledger.chain import Row, canonical, checked_rows, export_lines, link_hash, next_row, rows_of_export
from discreet.ledger.head import Head, HeadFile, default_place
from discreet.ledger.lease import Lease
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.store import SqliteStore
from discreet.privacy.cost import Pure

from .book import (
    create_asked_ledger,
    create_ledger,
    open_ledger,
    open_without_triggers,
    opening,
    places,
    restore_triggers,
)

# --- the chain ----------------------------------------------------------------------


def rows(count=4):
    chain = [next_row(None, {"kind": "open"})]
    for n in range(count - 1):
        chain.append(next_row(chain[-1], {"kind": "x", "value": n}))
    return chain


def test_a_chain_holds_and_continues():
    chain = rows()
    assert checked_rows(chain) == chain
    assert checked_rows(chain[2:], chain[1]) == chain[2:]
    assert rows_of_export(export_lines(chain)) == chain


@pytest.mark.parametrize("number", range(4))
def test_an_edited_entry_breaks_the_chain(number):
    chain = rows()
    chain[number] = Row(chain[number].number, chain[number].body.replace("kind", "kinb"), chain[number].hash)
    with pytest.raises(IntegrityError, match=f"Entry {number + 1} is not what was written"):
        checked_rows(chain)


def test_a_missing_or_swapped_entry_breaks_the_chain():
    chain = rows()
    with pytest.raises(IntegrityError, match="Entry 2 is missing"):
        checked_rows([chain[0], *chain[2:]])
    with pytest.raises(IntegrityError):
        checked_rows([chain[0], chain[2], chain[1], chain[3]])
    rehashed = Row(2, chain[2].body, link_hash(chain[0].hash, chain[2].body))
    with pytest.raises(IntegrityError):
        checked_rows([chain[0], rehashed, chain[3]])


@pytest.mark.parametrize(
    "line", ["", "{}", "[]", "nonsense", '{"entry": {}, "hash": "zz"}', '{"entry": 1, "hash": ""}']
)
def test_lines_that_are_no_export_are_refused(line):
    with pytest.raises(IntegrityError, match="Line 1"):
        rows_of_export([line])


def test_an_edited_export_is_refused():
    lines = list(export_lines(rows()))
    with pytest.raises(IntegrityError):
        rows_of_export([lines[0], lines[1].replace('"value":0', '"value":1'), *lines[2:]])


def test_canonical_text_has_no_nan():
    with pytest.raises(ValueError, match="JSON"):
        canonical({"x": float("nan")})


# --- what SQLite is told ----------------------------------------------------------------------


def test_the_database_is_durable_strict_and_append_only(tmp_path):
    ledger = create_asked_ledger(tmp_path)
    connection = ledger._store._open_connection()
    told = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    }
    assert told == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 30_000
    assert connection.isolation_level is None
    for attack in ("UPDATE entries SET body = '{}'", "DELETE FROM entries", "DELETE FROM answers"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            connection.execute(attack)
    for wrong in ("(0, '{}', zeroblob(32))", "(99, 'x', zeroblob(32))", "(99, '{\"n\":99}', zeroblob(31))"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"INSERT INTO entries VALUES {wrong}")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        connection.execute("INSERT INTO answers VALUES (77, 78, x'00')")
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
        connection.execute("INSERT INTO answers VALUES (1, 2, 'text')")


def test_files_are_the_owners_alone(tmp_path):
    old = os.umask(0)
    try:
        create_asked_ledger(tmp_path)
    finally:
        os.umask(old)
    files = [*tmp_path.glob("people.ledger*"), *(tmp_path / "state").iterdir()]
    assert len(files) >= 5
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_a_file_others_can_read_is_refused(tmp_path):
    create_asked_ledger(tmp_path).close()
    places(tmp_path)[0].chmod(0o644)
    with pytest.raises(IntegrityError, match="not its owner's alone") as refused:
        open_ledger(tmp_path)
    assert "chmod 600" in refused.value.fix


def test_a_folder_anyone_can_rearrange_is_refused(tmp_path):
    create_asked_ledger(tmp_path).close()
    tmp_path.chmod(0o777)
    with pytest.raises(IntegrityError, match="open folder"):
        open_ledger(tmp_path)


def test_links_are_refused(tmp_path):
    create_asked_ledger(tmp_path).close()
    path, head = places(tmp_path)
    link = tmp_path / "link.ledger"
    link.symlink_to(path)
    with pytest.raises(IntegrityError, match="cannot be a ledger"):
        Ledger.open(link, head=head)
    link.unlink()
    os.link(path, link)
    with pytest.raises(IntegrityError, match="second name"):
        open_ledger(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"not a database, but long enough to be one" * 100, b"SQLite format 3\0" + b"\0" * 4080]
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    path, head = places(tmp_path)
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises((IntegrityError, LedgerUnavailable)) as refused:
        Ledger.open(path, head=head)
    assert refused.value.exit in (6, 7)


def test_another_database_is_refused(tmp_path):
    path, head = places(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE x (y)")
    connection.commit()
    connection.close()
    path.chmod(0o600)
    with pytest.raises(IntegrityError, match="not a ledger"):
        Ledger.open(path, head=head)
    with pytest.raises(Conflict):
        Ledger.create(path, opening(), head=head)


def test_a_newer_format_is_refused(tmp_path):
    create_asked_ledger(tmp_path).close()
    connection = sqlite3.connect(places(tmp_path)[0])
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    with pytest.raises(LedgerUnavailable, match="format 3"):
        open_ledger(tmp_path)


def test_a_table_with_a_trigger_more_or_less_is_refused(tmp_path):
    create_asked_ledger(tmp_path).close()
    open_without_triggers(tmp_path).close()
    with pytest.raises(IntegrityError, match="tables were changed"):
        open_ledger(tmp_path)


def test_creating_a_ledger_can_be_repeated_after_a_crash(tmp_path):
    path, head = places(tmp_path)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    with pytest.raises(LedgerUnavailable, match="empty"):
        Ledger.open(path, head=head)
    assert create_ledger(tmp_path).standing().entries == 1


def test_a_missing_file_and_a_missing_folder_are_named_in_the_error(tmp_path):
    for path in (tmp_path / "no.ledger", tmp_path / "nowhere" / "no.ledger"):
        with pytest.raises(LedgerUnavailable, match="There is no ledger"):
            Ledger.open(path, head=tmp_path / "h")


def test_a_locked_ledger_is_reported_in_time(tmp_path):
    create_asked_ledger(tmp_path).close()
    path, head = places(tmp_path)
    ledger = Ledger.open(path, head=head, wait=0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="held it the whole time") as caught:
        ledger.charge(ChargeRequest("k"), Pure(1))
    assert caught.value.fix.startswith("Wait until that one is done or stop it")
    other.execute("ROLLBACK")
    with HeadFile(head).lock(1), pytest.raises(LedgerUnavailable, match="busy"):
        ledger.charge(ChargeRequest("k"), Pure(1))
    assert ledger.charge(ChargeRequest("k"), Pure(1)).attempt == 1
    other.close()


# --- tampering ----------------------------------------------------------------------


def test_an_answer_edited_or_dropped_is_noticed(tmp_path):
    create_asked_ledger(tmp_path).close()
    connection = open_without_triggers(tmp_path)
    connection.execute("UPDATE answers SET bytes = x'00' WHERE charge = 2")
    restore_triggers(connection)
    ledger = open_ledger(tmp_path)
    with pytest.raises(IntegrityError, match="answer of charge 2"):
        ledger.stored("key 0")
    with pytest.raises(IntegrityError, match="answer of charge 2"):
        ledger.verify()
    ledger.close()
    connection = open_without_triggers(tmp_path)
    connection.execute("DELETE FROM answers WHERE charge = 2")
    restore_triggers(connection)
    with pytest.raises(IntegrityError, match="answer of charge 2"):
        open_ledger(tmp_path).verify()


def test_a_cut_end_is_noticed(tmp_path):
    create_asked_ledger(tmp_path).close()
    connection = open_without_triggers(tmp_path)
    connection.execute("DELETE FROM answers WHERE charge = 6")
    connection.execute("DELETE FROM entries WHERE n >= 6")
    restore_triggers(connection)
    with pytest.raises(IntegrityError, match="cut or restored from an old copy"):
        open_ledger(tmp_path)


def test_a_rewritten_chain_is_noticed_by_its_head(tmp_path):
    create_asked_ledger(tmp_path).close()
    connection = open_without_triggers(tmp_path)
    chain = connection.execute("SELECT n, body, hash FROM entries ORDER BY n").fetchall()
    before = chain[0][2]
    for n, body, _ in chain[1:]:
        body = body.replace('"epsilon":"1/10"', '"epsilon":"1/99"')
        before = link_hash(before, body)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE n = ?", (body, before, n))
    restore_triggers(connection)
    with pytest.raises(IntegrityError, match="not the one that was used last"):
        open_ledger(tmp_path)


def test_a_restored_old_copy_is_refused_then_adopted_by_the_curator_only(tmp_path):
    ledger = create_asked_ledger(tmp_path)
    ledger.close()
    path, head = places(tmp_path)
    shutil.copy(path, tmp_path / "copy")
    ledger = open_ledger(tmp_path)
    ledger.charge(ChargeRequest("later"), Pure(1))
    ledger.close()
    os.replace(tmp_path / "copy", path)
    with pytest.raises(IntegrityError, match="restored from an old copy"):
        open_ledger(tmp_path)
    adopted = Ledger.adopt(path, why="the disk died; this is the newest copy", head=head)
    assert adopted.entries()[-1]["kind"] == "adopt"
    assert adopted.verify().entries == 8


def test_an_old_copy_put_under_a_running_process_is_noticed(tmp_path):
    ledger = create_asked_ledger(tmp_path)
    path, _ = places(tmp_path)
    ledger.close()
    shutil.copy(path, tmp_path / "copy")
    ledger.charge(ChargeRequest("later"), Pure(1))
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink()
    os.replace(tmp_path / "copy", path)
    with pytest.raises(IntegrityError):
        ledger.charge(ChargeRequest("more"), Pure(1))


def test_a_copy_used_elsewhere_needs_to_be_adopted(tmp_path):
    create_asked_ledger(tmp_path).close()
    path, _ = places(tmp_path)
    elsewhere = tmp_path / "elsewhere.ledger"
    shutil.copy(path, elsewhere)
    elsewhere.chmod(0o600)
    with pytest.raises(IntegrityError, match="No head is recorded"):
        Ledger.open(elsewhere, head=tmp_path / "state" / "other.json")


def test_a_deleted_ledger_cannot_be_made_anew(tmp_path):
    create_asked_ledger(tmp_path).close()
    path, head = places(tmp_path)
    path.unlink()
    for attempt in (lambda: Ledger.create(path, opening(), head=head), lambda: Ledger.open(path, head=head)):
        with pytest.raises(IntegrityError, match="was made at"):
            attempt()


# --- the head ----------------------------------------------------------------------


def test_a_head_that_lags_is_brought_up_to_date(tmp_path):
    ledger = create_asked_ledger(tmp_path)
    head = HeadFile(places(tmp_path)[1])
    rows_ = ledger._store.rows(0)
    ledger.close()
    for behind in (1, 3):
        row = rows_[-1 - behind]
        head.prepare(Head(row.number, row.hash))
        head.publish()
        open_ledger(tmp_path).close()
        assert head.read() == Head(rows_[-1].number, rows_[-1].hash)


def test_a_crash_between_making_and_recording_is_repaired(tmp_path):
    create_ledger(tmp_path).close()
    places(tmp_path)[1].unlink()
    ledger = open_ledger(tmp_path)
    assert HeadFile(places(tmp_path)[1]).read().count == 1
    assert ledger.remaining() == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"count": 0, "hash": "00"}', '{"count": true, "hash": "%s"}' % ("0" * 64)]
)
def test_an_unreadable_head_is_refused(tmp_path, text):
    create_asked_ledger(tmp_path).close()
    places(tmp_path)[1].write_text(text)
    with pytest.raises(IntegrityError, match="unreadable"):
        open_ledger(tmp_path)


def test_the_default_place_is_in_the_users_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = default_place(tmp_path / "people.ledger")
    assert place.parent == tmp_path / "state" / "discreet" / "heads"
    assert place != default_place(tmp_path / "other" / "people.ledger")
    ledger = Ledger.create(tmp_path / "people.ledger", opening())
    assert place.exists()
    ledger.close()
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_place(tmp_path / "x").parent == tmp_path / ".local" / "state" / "discreet" / "heads"


def test_relative_and_absolute_names_share_one_head(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Ledger.create("people.ledger", opening()).close()
    Ledger.open(tmp_path / "people.ledger", opening()).close()
    assert len(list((tmp_path / "state" / "discreet" / "heads").glob("*.json"))) == 1


# --- threads and forks ----------------------------------------------------------------------


def in_child(work):
    """Whether `work` succeeds in a forked child."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of threads; here they are the point
        child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(20)
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def succeeded(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_forked_child_has_its_own_connection_and_lease(tmp_path):
    ledger = create_asked_ledger(tmp_path)
    ledger.charge(ChargeRequest("before"), Pure(1))

    def work():
        assert ledger._store._connection is None
        assert ledger._lease._handle is None
        with pytest.raises(LedgerUnavailable, match="being computed"):
            ledger.charge(ChargeRequest("before"), Pure(1), patience=0)
        ledger.commit(ledger.charge(ChargeRequest("child"), Pure(1)), b"from the child")

    child = in_child(work)
    ledger.commit(ledger.charge(ChargeRequest("parent"), Pure(1)), b"from the parent")
    assert succeeded(child)
    assert ledger.stored("child") == b"from the child"
    assert ledger.verify().spent.epsilon == 3 + 3 * Pure("0.1").epsilon


def test_a_fork_waits_for_a_thread_in_the_middle_of_writing(tmp_path):
    ledger, entered = create_asked_ledger(tmp_path), threading.Event()

    def slow():
        with ledger._store.writing():
            entered.set()
            time.sleep(0.3)

    thread = threading.Thread(target=slow)
    thread.start()
    entered.wait()
    child = in_child(lambda: ledger.commit(ledger.charge(ChargeRequest("child"), Pure(1)), b"from the child"))
    thread.join()
    assert succeeded(child)
    assert ledger.stored("child") == b"from the child"


def test_a_child_forked_while_a_ledger_is_opened_keeps_no_lock(tmp_path, monkeypatch):
    create_asked_ledger(tmp_path).close()
    children, sweep = [], Lease.sweep

    def slow(self):
        thread = threading.Thread(target=lambda: children.append(in_child(lambda: time.sleep(15))))
        thread.start()
        thread.join(0.2)
        sweep(self)
        children.append(thread)

    monkeypatch.setattr(Lease, "sweep", slow)
    ledger = open_ledger(tmp_path)
    thread = next(c for c in children if isinstance(c, threading.Thread))
    thread.join()
    try:
        with HeadFile(places(tmp_path)[1]).lock(0.5):
            pass
    finally:
        os.kill(next(c for c in children if isinstance(c, int)), signal.SIGKILL)
    ledger.close()


def test_a_childs_copy_of_the_lease_does_not_outlive_its_holder(tmp_path):
    create_ledger(tmp_path, 100).close()
    listen, tell = os.pipe()

    def work():
        ledger = open_ledger(tmp_path)
        ledger.charge(ChargeRequest("k"), Pure(1))
        grandchild = in_child(lambda: time.sleep(15))
        os.write(tell, str(grandchild).encode())

    assert succeeded(in_child(work))
    grandchild = int(os.read(listen, 20))
    try:
        assert open_ledger(tmp_path).charge(ChargeRequest("k"), Pure(1)).attempt == 2
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_two_makers_at_once_make_one_ledger(tmp_path):
    path, head = places(tmp_path)
    outcomes = []

    def make():
        try:
            Ledger.create(path, opening(), head=head).close()
            outcomes.append("made")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made"] + ["refused"] * 7
    assert open_ledger(tmp_path).verify().entries == 1


def test_store_is_the_only_door(tmp_path):
    assert isinstance(create_asked_ledger(tmp_path)._store, SqliteStore)
