"""One ledger over the rows of a source: a second one is a fresh budget for the same people, so it is refused.

Sources are known by what they are (`registry.py`), not by their names.  Two ledgers over one source can be meant; then
it is said, with a reason, and both record it.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from discreet.errors import SecondLedger
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.ledger import Ledger
from discreet.ledger.question import entry, reason
from discreet.ledger.registry import Place, Registry
from discreet.state import state_folder

ON_PURPOSE = Fix("Or say that a second one is meant, which both record:\n", "open", {"second_ledger": UNKNOWN})


def enter(
    path: Path, identity: Mapping[str, str], ledger: Callable[[], Ledger], dataset: str, *, why: str | None = None
) -> None:
    """Enter the ledger for its source, before anything is charged; refused where another one stands over the rows.

    `ledger` makes it if it is not there yet, so a refusal that can be known before leaves no file behind.
    """
    words = None if why is None else reason(why)
    registry, place = Registry(state_folder()), path.parent.resolve() / path.name
    if words is None and not place.exists():  # one that was lost from this very place is missed by its head
        _require_none([other for other in registry.others(identity) if other.path != place], place)
    mine = Place(place, ledger().origin, dataset)
    if registry.has(identity, mine):
        return
    with registry.entering(identity, mine) as others:
        if words is None:
            _require_none(others, place)
            return
        for other in others:
            _record(ledger(), mine, other, words)


def _require_none(others: list[Place], mine: Path) -> None:
    if not others:
        return
    other = others[0]
    shown = os.fsencode(other.path).decode(errors="replace")
    if other.is_gone or other.path == mine:
        what = f"A ledger of {other.dataset} over the same rows stood at {shown} and is gone."
        why = "What it spent stays spent; a new one would be a fresh budget for the same people."
        words = "Put it back there, or beside these metadata and adopt it:\n"
        fix: str | Fix = Fix(words, "ledger adopt", {"ledger": str(mine), "why": UNKNOWN})
    else:
        what = f"Another ledger stands over the same rows: that of {other.dataset}, at {shown}."
        why = "Two ledgers give two budgets for the same people, and nobody adds them up."
        fix = "Ask through the metadata beside that ledger."
    raise SecondLedger(what, why, (fix, ON_PURPOSE))


def _record(ledger: Ledger, mine: Place, other: Place, why: str) -> None:
    """An entry in both; where one has it already, a crash came between them."""
    if not other.is_gone and other.path != mine.path:
        with Ledger.open(other.path) as theirs:
            _note(theirs, mine, why)
    _note(ledger, other, why)


def _note(ledger: Ledger, other: Place, why: str) -> None:
    facts = {"ledger": os.fsencode(other.path).decode(errors="replace"), "dataset": other.dataset, "why": why}
    acts = [act for act in ledger.acts() if act["kind"] == "second"]
    if not any(all(act[name] == value for name, value in facts.items()) for act in acts):
        ledger.note(entry("second", **facts))
