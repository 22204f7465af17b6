"""Ledgers of format 1, as its last version wrote them: they open, verify, replay, and move on with the next entry."""

import hashlib
import json
import sqlite3
from fractions import Fraction as F
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, IntegrityError
from discreet.ledger import inside, ledger, schema
from discreet.ledger.chain import next_row, rows_of_export
from discreet.ledger.head import Head, HeadFile
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.schema import APPLICATION, SCHEMAS
from discreet.privacy.cost import Approx, Exponential, Gaussian, Pure

from .book import open_ledger, places

LINES = (Path(__file__).parent / "format_1.jsonl").read_text().splitlines()
ANSWERS = {
    **{2: b"answer plain", 4: b"answer north", 6: b"answer south", 8: b"answer east", 10: b"answer gauss"},
    **{12: b"answer keys", 14: b"second attempt", 25: b"step 0", 27: b"step 1", 29: b"step 2", 32: b"z step 0"},
    **{34: b"z step 1", 36: b"z step 2", 40: b"g step", 43: b"slot", 45: b"slot", 48: b"answer later"},
}
HEAD = "da63824e3e2e6eb9e07007a3113ba7eec744ddd357573ac9f60a94875356b4b8"


def laid(folder, rows=None):
    """The file that format 1 made of those rows, and its head."""
    path, head = places(folder)
    rows = rows_of_export(LINES) if rows is None else rows
    path.touch(mode=0o600)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    for statement in SCHEMAS[1].values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("PRAGMA user_version = 1")
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", [(r.number, r.body, r.hash) for r in rows])
    for row in rows:
        if row.entry["kind"] == "answer":
            content = ANSWERS[row.entry["charge"]]
            assert hashlib.sha256(content).hexdigest() == row.entry["sha256"]
            connection.execute("INSERT INTO answers VALUES (?, ?, ?)", (row.entry["charge"], row.number, content))
    connection.commit()
    connection.close()
    place = HeadFile(head)
    place.prepare_folder()
    place.prepare(Head(rows[-1].number, rows[-1].hash))
    place.publish()


def keys():
    return {row.number: row.entry["key"] for row in rows_of_export(LINES) if "key" in row.entry}


def test_an_old_ledger_opens_verifies_and_replays_without_being_written_to(tmp_path):
    laid(tmp_path)
    with open_ledger(tmp_path, fixed=["region"]) as old:
        for standing in (old.standing(), old.verify()):
            assert (standing.head, standing.entries, standing.charges, standing.failures) == (HEAD, 49, 14, 0)
            assert standing.spent.epsilon == F("2.89")
            assert standing.spent.renyi[0] == 260969084705592547466739701830101007661
            assert standing.analysts == {"ana": F("0.6"), "ben": F("0.2")}
            assert (standing.remaining, standing.remaining_keys) == (F("3.06639141993"), F("4.989e-7"))
        assert old.remaining(analyst="ana") == F("1.4")
        for number, key in keys().items():
            assert old.stored(key) == ANSWERS.get(number)
        assert (
            old.charge(ChargeRequest("plain", memo="any"), Pure(2)).name
            == f"2-{rows_of_export(LINES)[1].hash.hex()[:12]}"
        )
        assert [e["state"] for e in old.entries() if "state" in e].count("COMMITTED") == len(ANSWERS)
        assert old.entries()[13]["attempt"] == 2
    assert sqlite3.connect(places(tmp_path)[0]).execute("PRAGMA user_version").fetchone() == (1,)


def test_the_next_entry_moves_an_old_ledger_to_the_present_format_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "CHECKPOINT", 8)
    laid(tmp_path)
    with open_ledger(tmp_path) as old:
        before = old.standing()
        old.commit(old.charge(ChargeRequest("new"), Pure("0.1")), b"new")
        assert [e["kind"] for e in old.entries()[49:]] == ["format", "charge", "checkpoint", "answer"]
        assert (old.entries()[49]["before"], old.entries()[49]["format"]) == (1, 2)
        old.verify()
    assert schema.version(sqlite3.connect(places(tmp_path)[0])) == 2
    monkeypatch.setattr(inside, "amount_taken", None)  # nothing is priced again
    with open_ledger(tmp_path, fixed=["region"]) as moved:
        assert moved.standing().spent.epsilon == before.spent.epsilon + F("0.1")
        assert moved._read().history is None
        assert {key: moved.stored(key) for key in keys().values()} == {
            key: ANSWERS.get(number) for number, key in keys().items()
        }
        assert moved.stored("new") == b"new"


def test_an_attempt_begun_in_format_1_goes_on(tmp_path):
    laid(tmp_path)
    with open_ledger(tmp_path, fixed=["region"]) as old:
        assert old.charge(ChargeRequest("flight", memo="in flight"), Pure("0.1")).attempt == 2
        assert old.standing().failures == 1
        full = old.purse(ChargeRequest("run", memo="pure run"), Pure("0.3"))
        with pytest.raises(BudgetExceeded, match="purse"):
            full.charge(ChargeRequest("run 3"), Pure("1e-9"))
        zcdp = old.purse(ChargeRequest("zrun", memo="any"), Pure(1))
        assert zcdp.charge(ChargeRequest("zrun flight", memo="in flight"), Exponential("0.1")).attempt == 2
        with pytest.raises(BudgetExceeded, match="purse"):
            zcdp.charge(ChargeRequest("zrun 9"), Gaussian(5))
        slots = old.purse(ChargeRequest("srun", memo="any"), Pure(1))
        with pytest.raises(BudgetExceeded, match="purse"):
            slots.charge(ChargeRequest("srun 2"), Approx("0.02", "1e-10"))
        slots.charge(ChargeRequest("srun 3"), Pure("0.01"))
        with pytest.raises(BudgetExceeded, match="purse"):
            slots.charge(ChargeRequest("srun 4"), Pure("0.01"))
        assert old.charge(ChargeRequest("twice", memo="failed twice"), Pure("0.1")).attempt == 1
        old.verify()


def test_each_death_in_format_1_is_a_failure(tmp_path):
    rows = rows_of_export(LINES)
    for _ in range(2):
        charge = {**rows[1].entry, "key": f"dead {len(rows)}", "holder": "gone"}
        rows.append(next_row(rows[-1], charge))
        rows.append(next_row(rows[-1], {"kind": "failure", "charge": rows[-1].number, "time": ""}))
    laid(tmp_path, rows)
    assert open_ledger(tmp_path).standing().failures == 2


def test_an_old_ledger_with_an_overspent_purse_is_refused(tmp_path):
    rows = rows_of_export(LINES)
    part = next(row.entry for row in rows if row.entry.get("key") == "run 2")
    laid(
        tmp_path,
        [*rows, next_row(rows[-1], {**part, "key": "run 3", "cost": json.loads('{"kind":"pure","epsilon":"1"}')})],
    )
    with pytest.raises(IntegrityError):
        open_ledger(tmp_path)
