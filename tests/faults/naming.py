"""The promise that the same rows have one budget, whatever they are called; and faults that break it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import discreet as dp
from discreet.engine.engine import Engine
from discreet.errors import SecondLedger
from discreet.ledger import second
from faults.mutants import Patch
from faults.world import Maker, folder_of

COUNT = "SELECT COUNT(*) AS n FROM people"


def _copied(source: Path, place: Path) -> None:
    shutil.copy(source, place)


def _linked(source: Path, place: Path) -> None:
    os.link(source, place)
    with place.open("a") as table:  # an edit in place: the same file with another content
        table.write("\n")


WAYS: dict[str, Callable[[Path, Path], None]] = {"a copy": _copied, "a link to the edited file": _linked}


def rows_have_one_budget(make: Maker) -> list[str]:
    """A copy and an edited link of a table that was asked about are refused, whoever else is asked about."""
    wrong = []
    for name, way in WAYS.items():
        first = folder_of(people := make())
        people.sql(COUNT).ask(epsilon="0.1")
        other = first.with_name(f"{first.name}-again")
        other.mkdir()
        shutil.copy(first / "people.toml", other)
        way(first / "people.csv", other / "people.csv")
        wrong += [f"{name} has a budget of its own"] if _is_answered(make.opened(other)) else []
    return wrong


def _is_answered(people: dp.Dataset) -> bool:
    try:
        people.sql(COUNT).ask(epsilon="0.1")
    except SecondLedger:
        return False
    return True


def known_by_place_alone(patch: Patch) -> None:
    real = Engine.identity
    patch.setattr(Engine, "identity", lambda engine: {"file": real(engine)["file"]})


def known_by_content_alone(patch: Patch) -> None:
    real = Engine.identity
    patch.setattr(Engine, "identity", lambda engine: {"content": real(engine)["content"]})


def said_too_late(patch: Patch) -> None:
    patch.setattr(second, "_require_none", lambda others, mine: None)


PROMISES = (rows_have_one_budget,)
ALWAYS = [
    (known_by_place_alone, rows_have_one_budget, "a copy has a budget"),
    (known_by_content_alone, rows_have_one_budget, "a link to the edited file has a budget"),
    (said_too_late, rows_have_one_budget, "has a budget"),
]
