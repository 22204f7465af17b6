"""`discreet prepare`: made beforehand, made once, removed; and a bar for those who wait."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.screen import type_answer

Told = Callable[..., dict[str, Any]]


def test_prepared_copy_is_made_once_and_its_snapshot_told(people: Path, told: Told) -> None:
    reply = told("prepare", "people.toml")
    copy = people.with_suffix(f".{reply['snapshot']}.prepared")
    inode = copy.stat().st_ino
    assert (reply["dataset"], reply["cost"], reply["receipt"]) == ("people", None, None)
    assert told("prepare", "people.toml")["snapshot"] == reply["snapshot"]
    assert copy.stat().st_ino == inode
    assert not people.with_suffix(".ledger").exists()


def test_clean_removes_the_copy_and_the_same_table_is_the_same_snapshot_again(people: Path, told: Told) -> None:
    before = told("prepare", "people.toml")["snapshot"]
    assert told("prepare", "people.toml", "--clean")["snapshot"] is None
    assert not list(people.parent.glob("people.*.prepared"))
    assert people.with_suffix(".csv").exists()
    assert told("prepare", "people.toml", "--clean")["ok"] is True
    assert told("prepare", "people.toml")["snapshot"] == before


def test_missing_table_ends_with_7(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    assert told("prepare", "people.toml", exit_code=7)["code"] == "source-unavailable"


SLOW = """
import time
from discreet.cli import terminal
from discreet.table import Table
terminal.PATIENCE = 0.1
def prepare(self, progress=None):
    for share in (0.0, 0.5):
        progress("ranking", share)
        time.sleep(0.5)
    return "0" * 32
Table.prepare = prepare
"""


def test_slow_preparing_shows_a_bar_with_its_step_on_a_terminal(people: Path) -> None:
    status, screen = type_answer(people.parent, ["prepare", "people.toml"], before=SLOW)
    assert status == 0, screen
    assert "ranking" in screen
    assert "━" in screen


def test_quick_preparing_shows_no_bar(people: Path) -> None:
    status, screen = type_answer(people.parent, ["prepare", "people.toml"], before=SLOW.replace("0.1", "60"))
    assert status == 0, screen
    assert "━" not in screen


def test_a_pipe_gets_no_bar(people: Path, shown: Callable[..., tuple[str, str]], monkeypatch: Any) -> None:
    from discreet.cli import terminal

    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    assert shown("prepare", "people.toml")[1] == ""
