"""Checkpoints: sums inside the chain, from which a ledger is opened, and what is noticed when they or an index lie."""

import json
import sqlite3
from fractions import Fraction as F

import pytest

from discreet.errors import IntegrityError
from discreet.ledger import ledger as ledgers
from discreet.ledger.books import Books
from discreet.ledger.chain import canonical, link_hash
from discreet.ledger.filter import budget
from discreet.ledger.head import Head, HeadFile
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.question import entry
from discreet.ledger.rules import Rules
from discreet.ledger.view import View
from discreet.privacy.cost import Approx, Gaussian, Pure, Repeated, Together, Zcdp

from . import book
from .book import NORTH, create_ledger, open_ledger, open_without_triggers, places, restore_triggers


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(ledgers, "CHECKPOINT", 8)


def ask(ledger, key, cost=None, **kw):
    """Ask at little cost, for an answer that names its key."""
    book.ask(ledger, key, cost or Pure("0.01"), f"answer {key}".encode(), memo="", **kw)


def busy(folder):
    """A ledger with something of every kind in it."""
    ledger = create_ledger(folder, 50, "1e-6", fixed=["region"], analysts={"ana": 5})
    for n in range(12):
        ask(ledger, f"q{n}", analyst="ana" if n % 2 else None)
    ask(ledger, "north", path=NORTH, snapshot="monday", analyst="ben")
    ask(ledger, "keys", Approx("0.01", "1e-9"))
    for kind, cost in (("z", Zcdp("0.01")), ("s", Together((Repeated(Pure("0.01"), 9), Approx("0.1", "1e-9"))))):
        purse = ledger.purse(ChargeRequest(kind, path=NORTH, epsilon="1.2", delta="2e-9", snapshot="monday"), cost)
        for n in range(6):
            purse.commit(purse.charge(ChargeRequest(f"{kind}{n}", path=NORTH), Pure("0.01")), b"step")
    ledger.fail(ledger.charge(ChargeRequest("failed"), Pure("0.01")))
    ledger.charge(ChargeRequest("flight"), Pure("0.01"))
    ledger.set_budget(Rules(budget(60, "1e-6"), analysts={"ana": 5}), why="more")
    for n in range(12):
        ask(ledger, f"r{n}")
    return ledger


def numbers(ledger):
    return [e["n"] for e in ledger.entries() if e["kind"] == "checkpoint"]


def test_a_ledger_opened_at_a_checkpoint_is_the_same_as_one_read_in_full(tmp_path):
    ledger = busy(tmp_path)
    assert len(numbers(ledger)) >= 6
    full = Books()
    full.read(ledger._store.rows(0))
    ledger.close()
    with open_ledger(tmp_path) as opened:
        books = opened._read()
        assert (books.history, full.history is None) == (None, False)
        assert books.state() == full.state()
        assert (books.since, books.stated, books.last) == (full.since, full.stated, full.last)
        assert opened.verify() == opened.standing()


def test_opening_reads_from_the_last_checkpoint_alone(tmp_path, monkeypatch):
    ledger = busy(tmp_path)
    last, total = numbers(ledger)[-1], ledger.standing().entries
    ledger.close()
    read = []
    rows = View.rows
    monkeypatch.setattr(View, "rows", lambda view, after: read.append(rows(view, after)) or read[-1])
    with open_ledger(tmp_path) as opened:
        opened.standing()
        opened.remaining()
        assert opened.stored("q3") == b"answer q3"
        assert opened.receipt("q3").stored
    assert [len(lines) for lines in read] == [total - last + 2]


def test_entries_are_read_once_until_someone_writes(tmp_path, monkeypatch):
    ledger, other = busy(tmp_path), open_ledger(tmp_path)
    other.standing()
    read = []
    rows = View.rows
    monkeypatch.setattr(View, "rows", lambda view, after: read.append(after) or rows(view, after))
    for _ in range(3):
        other.standing()
        other.remaining()
        other.stored("q1")
    assert read == []
    ask(ledger, "more")
    before = len(read)
    assert (other.stored("more"), other.standing().entries) == (b"answer more", ledger.standing().entries)
    assert len(read) <= before + 2  # each of both, once


def test_a_process_that_was_open_meets_anothers_checkpoints_and_budgets(tmp_path):
    ledger = busy(tmp_path)
    other = open_ledger(tmp_path)
    assert other._read().history is None
    for n in range(20):
        ask(ledger, f"more {n}")
    assert other.standing() == ledger.standing()
    ledger.set_budget(Rules(budget(70, "1e-6")), why="more")
    ask(ledger, "after")
    assert other.standing() == ledger.standing() == other.verify()
    assert other.standing().rules.budget.epsilon == 70


def test_a_checkpoint_is_due_only_when_it_is_no_longer_than_what_it_sums(tmp_path):
    ledger = create_ledger(tmp_path, 100, fixed=["region"])
    for n in range(150):
        ledger.charge(
            ChargeRequest(f"{n}", path=(("region", f"a part with a rather long name, number {n}"),)), Pure("0.1")
        )
    entries = ledger._store.rows(0)
    stated = [len(row.body) for row in entries if row.entry["kind"] == "checkpoint"]
    assert 3 < len(stated) < 12
    assert sum(stated[:-1]) < sum(len(row.body) for row in entries if row.entry["kind"] == "charge")
    assert ledger.verify().spent.epsilon == F("0.1")


def test_an_error_after_a_checkpoint_was_begun_leaves_books_that_are_true(tmp_path, monkeypatch):
    ledger = create_ledger(tmp_path, 100)
    for n in range(7):
        ledger.charge(ChargeRequest(f"{n}"), Pure("0.1"))

    def full(*_):
        raise OSError(28, "No space left on device")

    for n in range(3):
        with monkeypatch.context() as broken:
            broken.setattr("os.fsync", full)
            with pytest.raises(Exception, match="head of the ledger"):
                ledger.charge(ChargeRequest(f"during {n}"), Pure("0.1"))
        assert ledger.standing().spent.epsilon == F("0.7") + n * F("0.1")
        ledger.charge(ChargeRequest(f"after {n}"), Pure("0.1"))
    assert ledger.verify() == ledger.standing()


def test_part_entries_carry_what_they_took_and_nothing_is_priced_again(tmp_path, monkeypatch):
    ledger = busy(tmp_path)
    parts = [e for e in ledger.entries() if e["kind"] == "part"]
    assert [e["amounts"] for e in parts[:1]] == [{"rho": "1/20000"}]
    assert parts[-1]["amounts"] == {"delta": "0", "slots": [[1, "odds", "1/100", "0", 0]]}
    ledger.close()
    monkeypatch.setattr("discreet.ledger.inside.amount_taken", None)
    monkeypatch.setattr("discreet.ledger.books.weight_of", None)
    with open_ledger(tmp_path) as opened:
        opened.standing()
    monkeypatch.undo()
    monkeypatch.setattr("discreet.ledger.inside.amount_taken", None)
    with open_ledger(tmp_path) as opened:
        Books().read(opened._store.rows(0))


# --- what is noticed -------------------------------------------------------------------------------------------------


def rewritten(folder, change, *, head=False):
    """The entries with `change` applied to their values, all hashes made right, and the head too if it is said."""
    connection = open_without_triggers(folder)
    rows = connection.execute("SELECT n, body, hash FROM entries ORDER BY n").fetchall()
    before = None
    for n, body, digest in rows:
        entry = json.loads(body)
        changed = change(entry) if before is not None else None
        if changed is not None:
            body = json.dumps(changed, sort_keys=True, separators=(",", ":"))
        digest = digest if before is None else link_hash(before, body)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE n = ?", (body, digest, n))
        before = digest
    restore_triggers(connection)
    if head:
        place = HeadFile(places(folder)[1])
        place.prepare(Head(rows[-1][0], before))
        place.publish()


def edited(folder, sql, *values):
    connection = open_without_triggers(folder)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(sql, values)
    restore_triggers(connection)


def cheaper(number):
    def change(entry):
        if entry["n"] == number:
            entry["sums"]["account"]["spent"]["epsilon"] = "0"
            return entry
        return None

    return change


@pytest.mark.parametrize("which", [0, -1])
def test_edited_sums_are_noticed_by_the_head_and_with_the_head_rewritten_by_verify(tmp_path, which):
    ledger = busy(tmp_path)
    number = numbers(ledger)[which]
    ledger.close()
    rewritten(tmp_path, cheaper(number))
    with pytest.raises(IntegrityError, match="not the one that was used last"):
        open_ledger(tmp_path)
    rewritten(tmp_path, cheaper(number), head=True)
    with open_ledger(tmp_path) as opened, pytest.raises(IntegrityError, match=f"Entry {number} states sums"):
        opened.verify()


def test_edited_sums_alone_are_noticed_when_opening(tmp_path):
    ledger = busy(tmp_path)
    number = numbers(ledger)[-1]
    ledger.close()
    edited(tmp_path, "UPDATE entries SET body = replace(body, '\"charges\":', '\"charges\":1') WHERE n = ?", number)
    with pytest.raises(IntegrityError, match=f"Entry {number} is not what was written"):
        open_ledger(tmp_path)


@pytest.mark.parametrize("which", [0, -1])
def test_a_dropped_checkpoint_is_noticed(tmp_path, which):
    ledger = busy(tmp_path)
    number = numbers(ledger)[which]
    ledger.close()
    edited(tmp_path, "DELETE FROM entries WHERE n = ?", number)
    if which == -1:
        with pytest.raises(IntegrityError, match=f"Entry {number} is missing"):
            open_ledger(tmp_path)
    else:
        with open_ledger(tmp_path) as opened, pytest.raises(IntegrityError, match=f"Entry {number} is missing"):
            opened.verify()


def test_an_entry_before_the_checkpoint_that_was_edited_is_noticed_where_it_is_looked_up(tmp_path):
    ledger = busy(tmp_path)
    number = ledger.receipt("q3").number
    ledger.close()
    edited(tmp_path, 'UPDATE entries SET body = replace(body, \'"key":"q3"\', \'"key":"q_"\') WHERE n = ?', number)
    with open_ledger(tmp_path) as opened:
        assert opened.stored("q3") is None  # a key that is gone is charged again, which costs more, never less
        with pytest.raises(IntegrityError, match=f"Entry {number} is not what was written"):
            opened.stored("q_")
        with pytest.raises(IntegrityError, match=f"Entry {number} is not what was written"):
            opened.verify()


def pointed_elsewhere(folder, **numbers):
    """The index of keys, and nothing else, says that two keys are each other's: a key is followed by its number."""
    path = places(folder)[0]
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'charges_by_key'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    start, end = (page - 1) * size, page * size
    leaf = bytes(content[start:end])
    assert leaf[0] == 10  # all keys lie in the root, a leaf
    (first_key, first), (two, second) = ((key.encode(), bytes([number])) for key, number in numbers.items())
    assert leaf.count(first_key + first) == leaf.count(two + second) == 1
    content[start:end] = leaf.replace(first_key + first, first_key + second).replace(two + second, two + first)
    path.write_bytes(content)


def test_an_index_that_points_to_another_entry_is_noticed_at_the_lookup_and_by_verify(tmp_path):
    ledger = create_ledger(tmp_path, 50)
    for n in range(4):
        ask(ledger, f"k{n}")
    ledger.close()
    pointed_elsewhere(tmp_path, k1=4, k2=6)
    with open_ledger(tmp_path) as opened:
        for act in (lambda: opened.stored("k1"), lambda: opened.charge(ChargeRequest("k2"), Pure("0.01"))):
            with pytest.raises(IntegrityError, match="index of keys names an entry that has another key"):
                act()
        assert opened.stored("k0") == b"answer k0"
        with pytest.raises(IntegrityError, match="damaged"):
            opened.verify()


def test_an_answer_moved_to_another_charge_is_noticed_at_the_lookup(tmp_path):
    ledger = busy(tmp_path)
    first, other = ledger.receipt("q1").number, ledger.receipt("q2").number
    ledger.close()
    connection = open_without_triggers(tmp_path)
    (entry, content) = connection.execute("SELECT entry, bytes FROM answers WHERE charge = ?", (other,)).fetchone()
    connection.execute("DELETE FROM answers WHERE charge IN (?, ?)", (first, other))
    connection.execute("INSERT INTO answers VALUES (?, ?, ?)", (first, entry, content))
    restore_triggers(connection)
    with open_ledger(tmp_path) as opened:
        for key, number in (("q1", first), ("q2", other)):
            with pytest.raises(IntegrityError, match=f"answer of charge {number}"):
                opened.stored(key)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("charge", {"amounts": {"epsilon": "1/1000", "delta": "0", "keys": "0", "renyi": ["0"] * 4}}, "weighs less"),
        ("part", {"amounts": {"rho": "1/10000000"}}, "takes less from its purse"),
        ("charge", {"epsilon": "1/1000"}, "types less"),
    ],
)
def test_amounts_that_a_cost_does_not_allow_are_found_by_verify(tmp_path, kind, change, message):
    ledger = busy(tmp_path)
    first = next(e["n"] for e in ledger.entries() if e["kind"] == kind)
    ledger.close()
    rewritten(tmp_path, lambda entry: {**entry, **change} if entry["n"] == first else None, head=True)
    with open_ledger(tmp_path) as opened, pytest.raises(IntegrityError, match=message):
        opened.verify()


def test_a_charge_beyond_a_cap_is_found_by_verify(tmp_path):
    ledger = create_ledger(tmp_path, 50, analysts={"ana": 1, "ben": 1})
    for who in ("ana", "ben"):
        ledger.charge(ChargeRequest(who, analyst=who), Pure("0.9"))
    ledger.close()

    def change(entry):
        return {**entry, "analyst": "ana"} if entry.get("analyst") == "ben" else None

    rewritten(tmp_path, change, head=True)
    with open_ledger(tmp_path) as opened, pytest.raises(IntegrityError, match="overspends the budget or a cap"):
        opened.verify()


def test_dearer_amounts_than_todays_prices_are_good(tmp_path):
    """An entry of a version that knew only looser bounds verifies."""
    ledger = create_ledger(tmp_path, 50, "1e-6")
    ledger.charge(ChargeRequest("k", epsilon="0.1", delta="1e-9"), Gaussian(100))
    ledger.close()

    def change(entry):
        if entry["kind"] != "charge":
            return None
        more = [str(int(value) * 2) for value in entry["amounts"]["renyi"]]
        return {**entry, "amounts": {**entry["amounts"], "renyi": more}}

    rewritten(tmp_path, change, head=True)
    assert open_ledger(tmp_path).verify().charges == 1


def test_a_checkpoint_appended_behind_the_head_is_not_believed(tmp_path):
    """Behind the head lies what a crash left, or what someone wrote into the file alone: its sums must be true."""
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "all", Pure(1))
    state = ledger._read().state()
    last = ledger._read().last
    ledger.close()
    nothing = {"epsilon": "0", "delta": "0", "keys": "0", "renyi": []}
    body = canonical(entry("checkpoint", sums=state | {"account": {"spent": nothing}}) | {"n": last.number + 1})
    connection = open_without_triggers(tmp_path)
    row = (last.number + 1, body, link_hash(last.hash, body))
    connection.execute("INSERT INTO entries (n, body, hash) VALUES (?, ?, ?)", row)
    restore_triggers(connection)
    connection.close()
    for _ in range(2):  # the head was not moved to it either
        with pytest.raises(IntegrityError, match="states sums that are not those"):
            open_ledger(tmp_path)
