"""`discreet ledger` and `ledger adopt`: everything that was spent, checked, exported, moved."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.ledger.chain import rows_of_export

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
COUNT = "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 18 AND 65 AND region = 'north'"


@pytest.fixture
def asked(people: Path, told: Told) -> Path:
    told("ask", "people.toml", COUNT, "--eps", "0.5", "--as", "ana")
    return people


def test_ledger_is_empty_before_the_first_charge(people: Path, told: Told, shown: Shown) -> None:
    reply = told("ledger", "people.toml", "--verify")
    assert (reply["entries"], reply["head"], reply["verified"]) == ([], None, True)
    assert "No entry yet" in shown("ledger", "people.toml")[0]
    assert not people.with_suffix(".ledger").exists()


def test_entries_say_who_asked_what_at_which_price(asked: Path, told: Told, shown: Shown) -> None:
    reply = told("ledger", "people.toml")
    opened, charge, answer = reply["entries"]
    assert (opened["kind"], opened["state"], answer["kind"], answer["charge"]) == ("open", None, "answer", 2)
    assert (charge["state"], charge["epsilon"], charge["analyst"]) == ("COMMITTED", "0.5", "ana")
    assert charge["question"].startswith("SELECT COUNT(*) AS n FROM people")
    assert charge["receipt"] == f"2-{charge['hash'][:12]}"
    assert reply["head"] == answer["hash"]
    line = next(line for line in shown("ledger", "people.toml")[0].splitlines() if " charge " in line)
    assert line.split()[:1] == ["2"]
    assert line.endswith("…")
    assert "committed" in line
    assert "ana" in line


def test_last_flag_shows_the_last_entries_alone_and_in_the_same_words(asked: Path, told: Told, shown: Shown) -> None:
    told("ask", "people.toml", COUNT, "--eps", "0.1", "--as", "ana")
    everything = told("ledger", "people.toml")["entries"]
    assert told("ledger", "people.toml", "--last", "2")["entries"] == everything[-2:]
    assert told("ledger", "people.toml", "--last", "99")["entries"] == everything
    lines = shown("ledger", "people.toml", "--last", "1")[0].splitlines()
    assert (lines[1].split()[0], len(lines)) == ("5", 4)


def test_a_checkpoint_is_shown_like_any_entry(asked: Path, told: Told, shown: Shown) -> None:
    told("budget", "set", "people.toml", "--epsilon", "4", "--why", "the board agreed")
    assert [entry["kind"] for entry in told("ledger", "people.toml")["entries"]][-2:] == ["budget", "checkpoint"]
    assert " checkpoint" in shown("ledger", "people.toml", "--verify")[0]


def test_verify_says_that_it_verified(asked: Path, told: Told, shown: Shown) -> None:
    assert told("ledger", "people.toml", "--verify")["verified"] is True
    assert "Verified" in shown("ledger", "people.toml", "--verify")[0]
    assert "Verified" not in shown("ledger", "people.toml")[0]


def edit(path: Path, statement: str) -> None:
    """Runs the statement as somebody would who can write to the file: without the triggers that forbid it."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(statement).rowcount == 1
        for _, text in triggers:
            connection.execute(text)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "differs"),
    [
        ("UPDATE entries SET body = replace(body, '\"ana\"', '\"ben\"') WHERE n = 2", "Entry 2"),
        ("UPDATE answers SET bytes = X'7B7D'", "answer of charge 2"),
        ("DELETE FROM entries WHERE n = 1", "Entry 1"),
    ],
    ids=["edited", "other answer", "deleted"],
)
def test_changed_ledger_ends_with_6_and_names_the_change(asked: Path, told: Told, statement: str, differs: str) -> None:
    edit(asked.with_suffix(".ledger"), statement)
    reply = told("ledger", "people.toml", "--verify", exit_code=6)
    assert reply["code"] == "integrity"
    assert differs in reply["what"]


def test_old_copy_put_back_ends_with_6(asked: Path, told: Told) -> None:
    ledger, kept = asked.with_suffix(".ledger"), asked.with_suffix(".old")
    shutil.copy(ledger, kept)
    told("ask", "people.toml", COUNT, "--eps", "0.25")
    for leftover in ("-wal", "-shm"):
        Path(f"{ledger}{leftover}").unlink(missing_ok=True)
    shutil.copy(kept, ledger)
    reply = told("ledger", "people.toml", "--verify", exit_code=6)
    assert "old copy" in reply["what"]
    assert reply["fix"].endswith(': discreet ledger adopt people.toml --why "…"')


@pytest.mark.parametrize("verb", [["ledger"], ["ledger", "--verify"], ["budget"]], ids=" ".join)
def test_ledger_that_is_gone_is_missed(asked: Path, told: Told, verb: list[str]) -> None:
    asked.with_suffix(".ledger").unlink()
    assert told(verb[0], "people.toml", *verb[1:], exit_code=6)["code"] == "integrity"
    assert told("ask", "people.toml", COUNT, "--eps", "1", exit_code=6)["code"] == "integrity"


def test_export_is_a_chain_that_anyone_can_check(asked: Path, told: Told) -> None:
    assert told("ledger", "people.toml", "--export", "entries.jsonl")["exported"] == "entries.jsonl"
    file = asked.parent / "entries.jsonl"
    rows = rows_of_export(file.read_text().splitlines())
    assert [row.entry["kind"] for row in rows] == ["open", "charge", "answer"]
    told("ledger", "people.toml", "--export", "entries.jsonl", exit_code=2)
    told("ledger", "people.toml", "--export", "entries.jsonl", "--yes")
    told("ledger", "people.toml", "--export", "nowhere/entries.jsonl", exit_code=7)


def test_ledger_that_was_moved_is_adopted_with_a_reason(asked: Path, told: Told) -> None:
    shutil.rmtree(asked.parent / "state")
    refused = told("ledger", "people.toml", exit_code=6)
    assert refused["fix"].endswith(': discreet ledger adopt people.toml --why "…"')
    assert "--why" in told("ledger", "adopt", "people.toml", exit_code=2)["fix"]
    reply = told("ledger", "adopt", "people.toml", "--why", "new server")
    assert (reply["entries"][-1]["kind"], reply["entries"][-1]["why"]) == ("adopt", "new server")
    assert told("ask", "people.toml", COUNT, "--eps", "0.5", "--as", "ana")["replayed"] is True


def test_ledger_in_use_and_no_ledger_are_not_adopted(asked: Path, told: Told) -> None:
    told("ledger", "adopt", "people.toml", "--why", "x", exit_code=2)
    assert len(told("ledger", "people.toml")["entries"]) == 3
    shutil.rmtree(asked.parent / "state")
    asked.with_suffix(".ledger").unlink()
    told("ledger", "adopt", "people.toml", "--why", "x", exit_code=7)
