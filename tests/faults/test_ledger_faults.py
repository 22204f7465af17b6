"""Faults: kills, crowds, full disks, rights, clocks, stops and tampering.  None may cost an uncharged answer."""

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from fractions import Fraction as F

import pytest

from discreet.errors import IntegrityError, LedgerUnavailable
from discreet.ledger import question, store
from discreet.ledger.chain import link_hash
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.schema import SCHEMA
from discreet.privacy.cost import Pure
from faults import common
from faults.common import nobody, nobodys_folder


def driven(verb, folder, *arguments):
    return common.driven("faults.ledger_driver", verb, folder, *arguments, folder=folder)


def places(folder):
    return folder / "people.ledger", folder / "state" / "head"


def made(folder, epsilon=100):
    path, head = places(folder)
    return Ledger.create(path, Opening("people", "person", "add-remove", Rules(budget(epsilon))), head=head)


def opened(folder, **kw):
    path, head = places(folder)
    return Ledger.open(path, head=head, **kw)


def ask(ledger, key):
    receipt = ledger.charge(ChargeRequest(key, memo="a question"), Pure("0.1"))
    ledger.commit(receipt, f"answer to {key}".encode())


# --- kills ----------------------------------------------------------------------


def test_kills_at_random_times_lose_nothing(tmp_path):
    outcome = driven("kills", tmp_path / "l", 30, 20261)
    assert outcome["wrong"] == []
    assert outcome["slowest"] < 5
    assert outcome["seen"] >= 15  # the children did get to work
    assert outcome["charged"] >= outcome["seen"]


def test_kills_at_every_edge_lose_nothing(tmp_path):
    outcome = driven("edges", tmp_path / "l")
    assert len(outcome["edges"]) == 16
    assert all(edge["wrong"] == [] for edge in outcome["edges"].values()), outcome
    assert outcome["slowest"] < 5
    charged = {name: edge["charged"] for name, edge in outcome["edges"].items()}
    assert charged["charge, before the commit"] == 0  # not durable, so not charged
    assert charged["charge, after the commit"] == 1  # durable, so charged, whoever saw it
    assert all(count == 1 for name, count in charged.items() if name.startswith("commit"))


def test_kills_at_every_edge_of_a_checkpoint_lose_nothing(tmp_path):
    outcome = driven("edges", tmp_path / "l", 1)
    assert len(outcome["edges"]) == 18
    assert all(edge["wrong"] == [] for edge in outcome["edges"].values()), outcome
    charged = {name: edge["charged"] for name, edge in outcome["edges"].items()}
    assert (charged["charge, before the checkpoint"], charged["commit, before the checkpoint"]) == (0, 1)


@pytest.mark.long
def test_a_thousand_kills_lose_nothing(tmp_path):
    outcome = driven("kills", tmp_path / "l", 1000, 20262)
    assert outcome["wrong"] == []
    assert outcome["slowest"] < 5


# --- crowds ----------------------------------------------------------------------


def test_eight_analysts_in_two_processes_each_spend_exactly_the_cap(tmp_path):
    outcome = driven("crowd", tmp_path / "l", 16, 15, 60)
    assert outcome["wrong"] == []
    assert outcome["statuses"] == [0] * 16
    assert (outcome["charged"], outcome["seen"]) == (60, 60)


@pytest.mark.long
def test_a_hundred_processes_spend_exactly_the_cap(tmp_path):
    outcome = driven("crowd", tmp_path / "l", 96, 21, 500)
    assert outcome["wrong"] == []
    assert (outcome["charged"], outcome["seen"]) == (500, 500)


@pytest.mark.parametrize("killed", [0, 1])
def test_ten_processes_that_ask_the_same_at_once_wait_and_get_one_answer(tmp_path, killed):
    outcome = driven("same", tmp_path / "l", 10, killed)
    assert outcome["statuses"] == [-signal.SIGKILL] * killed + [0] * (10 - killed)
    assert outcome["answers"] == ["the answer"] * (10 - killed)
    assert (outcome["computed"], outcome["charges"], outcome["failures"]) == (1 + killed, 1, killed)


# --- disks ----------------------------------------------------------------------


def test_a_full_disk_refuses_and_spends_nothing_that_was_not_written(tmp_path):
    made(tmp_path).close()
    script = f"""
import resource, sys
sys.path.insert(0, {str(common.HERE)!r})
from pathlib import Path
from faults.test_ledger_faults import ask, opened
from discreet.errors import LedgerUnavailable
ledger = opened(Path({str(tmp_path)!r}))
ask(ledger, "before")
wal = Path({str(places(tmp_path)[0])!r} + "-wal")
resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size + 20_000, resource.RLIM_INFINITY))
answered, refused = 0, 0
for n in range(40):
    try:
        ask(ledger, f"while {{n}}")
        answered += 1
    except LedgerUnavailable as error:
        assert error.exit == 7
        refused += 1
assert answered < 10 and refused >= 30, (answered, refused)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ask(ledger, "after")
ledger.verify()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    ledger = opened(tmp_path)
    ledger.verify()
    assert ledger.stored("before")
    assert ledger.stored("after")
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EIO])
def test_an_error_before_the_commit_spends_nothing(tmp_path, monkeypatch, call, reason):
    ledger = made(tmp_path)
    ask(ledger, "before")
    standing = ledger.standing()

    def fail(*_):
        raise OSError(reason, os.strerror(reason))

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        with pytest.raises(LedgerUnavailable, match="head of the ledger") as refused:
            ledger.charge(ChargeRequest("during"), Pure("0.1"))
    assert refused.value.exit == 7
    assert ledger.standing() == standing
    ask(ledger, "after")
    assert ledger.verify().spent.epsilon == F("0.2")


def test_a_head_written_in_part_spends_nothing(tmp_path, monkeypatch):
    ledger, write = made(tmp_path), os.write
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", lambda handle, text: write(handle, text[:10]))
        with pytest.raises(LedgerUnavailable, match="head of the ledger"):
            ledger.charge(ChargeRequest("during"), Pure("0.1"))
    ask(ledger, "after")
    assert ledger.verify().spent.epsilon == F("0.1")


def test_a_head_is_not_written_through_a_link(tmp_path):
    ledger, victim, head = made(tmp_path), tmp_path / "victim", places(tmp_path)[1]
    victim.write_text("precious")
    head.with_name(head.name + ".new").symlink_to(victim)
    with pytest.raises(LedgerUnavailable, match="head of the ledger"):
        ledger.charge(ChargeRequest("k"), Pure("0.1"))
    assert victim.read_text() == "precious"
    assert ledger.standing().spent.epsilon == 0


def test_too_many_open_files_are_no_sign_that_a_holder_died(tmp_path, monkeypatch):
    ledger, other, opening = made(tmp_path), opened(tmp_path), os.open
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.1"))

    def fail(path, *rest):
        if str(path).endswith(".run"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return opening(path, *rest)

    other.charge(ChargeRequest("other"), Pure("0.1"))  # so that it has its own mark
    with monkeypatch.context() as broken:
        broken.setattr(os, "open", fail)
        with pytest.raises(LedgerUnavailable, match="cannot be marked or looked up"):
            other.charge(ChargeRequest("k"), Pure("0.1"))
    ledger.commit(receipt, b"in time")
    assert other.standing().failures == 0


def test_ctrl_c_at_the_start_of_a_transaction_blocks_nobody(tmp_path, monkeypatch):
    ledger, other = made(tmp_path), opened(tmp_path)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(store, "Pen", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(ChargeRequest("k"), Pure("0.1"))
    assert not ledger._store._connection.in_transaction
    ask(other, "next")
    ask(ledger, "and the next")


def test_an_error_after_the_commit_gives_no_answer_and_keeps_the_charge(tmp_path, monkeypatch):
    ledger = made(tmp_path)

    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", fail)
        with pytest.raises(LedgerUnavailable):
            ledger.charge(ChargeRequest("during"), Pure("0.1"))
    assert ledger.remaining() == F("99.9")
    ask(ledger, "after")
    assert ledger.verify().spent.epsilon == F("0.2")


def test_an_answer_that_cannot_be_stored_is_not_handed_out(tmp_path, monkeypatch):
    ledger = made(tmp_path)
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.1"))

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(LedgerUnavailable):
            ledger.commit(receipt, b"answer")
    assert ledger.stored("k") is None
    assert ledger.remaining() == F("99.9")
    ledger.commit(receipt, b"answer")
    assert ledger.stored("k") == b"answer"


@pytest.fixture
def anyones_folder():
    with nobodys_folder() as place:
        yield place


@pytest.mark.parametrize("which", ["ledger", "state"])
def test_a_read_only_folder_refuses(anyones_folder, which):
    with nobody():
        for name in ("ledger", "state"):
            (anyones_folder / name).mkdir()
        path, head = anyones_folder / "ledger" / "people.ledger", anyones_folder / "state" / "head"
        ledger = Ledger.create(path, Opening("people", "person", "add-remove", Rules(budget(1))), head=head)
        ask(ledger, "before")
        ledger.close()
        (anyones_folder / which).chmod(0o555)
        with pytest.raises(LedgerUnavailable) as refused:
            ask(Ledger.open(path, head=head), "during")
        assert refused.value.exit == 7
        (anyones_folder / which).chmod(0o755)
        ledger = Ledger.open(path, head=head)
        ask(ledger, "after")
        assert ledger.verify().spent.epsilon == F("0.2")
        ledger.close()


def test_a_read_only_folder_refuses_a_new_ledger(anyones_folder):
    anyones_folder.chmod(0o555)
    bound = Opening("people", "person", "add-remove", Rules(budget(1)))
    with nobody():
        for head in (anyones_folder / "head", anyones_folder / "deep" / "head"):
            with pytest.raises(LedgerUnavailable):
                Ledger.create(anyones_folder / "people.ledger", bound, head=head)


# --- clocks and stops ----------------------------------------------------------------------


def test_a_clock_set_back_gives_nothing_back(tmp_path, monkeypatch):
    ledger = made(tmp_path, 1)
    ask(ledger, "today")

    class Yesterday(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(1999, 12, 31, tzinfo=UTC)

    monkeypatch.setattr(question, "datetime", Yesterday)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    ask(ledger, "yesterday")
    ledger.close()
    ledger = opened(tmp_path)
    ask(ledger, "yesterday, later")
    assert ledger.verify().spent.epsilon == F("0.3")
    assert ledger.entries()[-1]["time"].startswith("1999")


def test_a_stopped_process_holds_others_up_no_longer_than_they_wait(tmp_path):
    made(tmp_path).close()
    path, head = places(tmp_path)
    script = f"""
import time
from discreet.ledger.ledger import Ledger
ledger = Ledger.open({str(path)!r}, head={str(head)!r})
with ledger._store.writing():
    print("holding", flush=True)
    time.sleep(0.3)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"holding\n"
        os.kill(child.pid, signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(LedgerUnavailable, match="busy"):
            opened(tmp_path, wait=0.2)
        assert time.monotonic() - began < 5
        os.kill(child.pid, signal.SIGCONT)
        assert child.wait(timeout=20) == 0
    ask(opened(tmp_path), "later")


# --- tampering ----------------------------------------------------------------------


def bare(path):
    connection = sqlite3.connect(path, isolation_level=None)
    for name, sql in SCHEMA.items():
        if sql.startswith("CREATE TRIGGER"):
            connection.execute(f"DROP TRIGGER {name}")
    return connection


def dressed(connection):
    for sql in SCHEMA.values():
        if sql.startswith("CREATE TRIGGER"):
            connection.execute(sql)
    connection.close()


def edit(connection, chance):
    """One character of one entry, one bit of one hash, or one byte of one answer."""
    table, column, row = chance.choice(
        [("entries", "body", "n"), ("entries", "hash", "n"), ("answers", "bytes", "entry")]
    )
    (row_id,) = chance.choice(connection.execute(f"SELECT {row} FROM {table}").fetchall())
    (value,) = connection.execute(f"SELECT {column} FROM {table} WHERE {row} = ?", (row_id,)).fetchone()
    changed = bytearray(value.encode() if isinstance(value, str) else value)
    where = chance.randrange(len(changed))
    changed[where] = changed[where] ^ 1 if isinstance(value, bytes) else ord(chance.choice("0123456789"))
    changed = bytes(changed) if isinstance(value, bytes) else changed.decode()
    if changed == value:
        return edit(connection, chance)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {row} = ?", (changed, row_id))
    except sqlite3.DatabaseError:  # no longer JSON: the index on keys cannot hold it
        return edit(connection, chance)
    return f"edit of {table}.{column} {row_id}"


def delete(connection, chance):
    (count,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    number = chance.randint(1, count)
    connection.execute("DELETE FROM answers WHERE charge = ? OR entry = ?", (number, number))
    connection.execute("DELETE FROM entries WHERE n = ?", (number,))
    if chance.random() < 0.5:  # and close the gap
        for n in range(number + 1, count + 1):
            body = f"replace(body, '\"n\":{n},', '\"n\":{n - 1},')"
            connection.execute(f"UPDATE entries SET n = n - 1, body = {body} WHERE n = ?", (n,))
    return f"deletion of {number}"


def swap(connection, chance):
    rows = connection.execute("SELECT n, body, hash FROM entries").fetchall()
    (a, body_a, hash_a), (b, body_b, hash_b) = chance.sample(rows, 2)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE entries SET body = '{}', hash = zeroblob(32) WHERE n = ?", (a,))
    connection.execute("UPDATE entries SET body = ?, hash = ? WHERE n = ?", (body_a, hash_a, b))
    connection.execute("UPDATE entries SET body = ?, hash = ? WHERE n = ?", (body_b, hash_b, a))
    return f"swap of {a} and {b}"


def cut(connection, chance):
    (count,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    keep = chance.randint(1, count - 1)
    connection.execute("DELETE FROM answers WHERE entry > ?", (keep,))
    connection.execute("DELETE FROM entries WHERE n > ?", (keep,))
    return f"cut after {keep}"


def rewrite(connection, chance):
    """An edit with all later hashes made right again: only the head tells."""
    rows = connection.execute("SELECT n, body, hash FROM entries ORDER BY n").fetchall()
    number = chance.choice([n for n, body, _ in rows if '"kind":"charge"' in body])
    before = rows[number - 2][2]
    for n, body, _ in rows[number - 1 :]:
        if n == number:
            body = body.replace('"epsilon":"1/10"', '"epsilon":"1/1000"')
        before = link_hash(before, body)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE n = ?", (body, before, n))
    return f"rewriting from {number}"


def tampered(source, folder, chance, old):
    """A copy of the ledger with one thing wrong."""
    shutil.copytree(source, folder)
    kind = chance.choice([edit, edit, delete, swap, cut, rewrite, "restore"])
    if kind == "restore":
        shutil.copy(chance.choice(old), places(folder)[0])
        return "restored copy"
    connection = bare(places(folder)[0])
    done = kind(connection, chance)
    dressed(connection)
    return done


def all_noticed(tmp_path, count, seed):
    source, old = tmp_path / "source", []
    source.mkdir()
    ledger = made(source)
    for n in range(12):
        ask(ledger, f"key {n}")
        ledger.close()
        if n % 4 == 0:
            old.append(shutil.copy(places(source)[0], tmp_path / f"old {n}"))
    chance, missed = random.Random(seed), []
    for n in range(count):
        folder = tmp_path / f"copy {n}"
        done = tampered(source, folder, chance, old)
        try:
            ledger = opened(folder)
            ledger.verify()
            missed.append(done)
        except IntegrityError:
            pass
        shutil.rmtree(folder)
    assert missed == []
    assert opened(source).verify().entries == 25


def test_a_hundred_ways_of_tampering_are_all_noticed(tmp_path):
    all_noticed(tmp_path, 100, 20263)


@pytest.mark.long
def test_a_thousand_ways_of_tampering_are_all_noticed(tmp_path):
    all_noticed(tmp_path, 1000, 20264)
