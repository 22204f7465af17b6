"""One ledger over the rows of a source: a second one is a fresh budget for the same people, so it is refused.

Sources are recognised by file and content (`registry.py`), not by name.  A curator who wants two ledgers over one
source gives a reason; then both record it, or the new one alone where the other is gone.
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


def register(
    path: Path, identity: Mapping[str, str], open_ledger: Callable[[], Ledger], dataset: str, *, why: str | None = None
) -> None:
    """Register the ledger at `path` as the one over its source, before anything is charged.

    Refused where another ledger stands, or stood and is gone, over the same rows, unless `why` gives a reason for two.
    `open_ledger` opens or creates the file.  It is called after the first check: a refusal there leaves no file.
    """
    words = None if why is None else reason(why)
    registry, place = Registry(state_folder()), path.parent.resolve() / path.name
    if words is None and not place.exists():  # the stored head tells if one was lost from this path
        _require_none([other for other in registry.others(identity) if other.path != place], place)
    mine = Place(place, open_ledger().origin, dataset)
    if registry.has(identity, mine):
        return
    with registry.entering(identity, mine) as others:
        if words is None:
            _require_none(others, place)
            return
        for other in others:
            _record(open_ledger(), mine, other, words)


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
    """Note it in both ledgers, or in this one alone where the other is gone; an entry that is there is not repeated."""
    if not other.is_gone and other.path != mine.path:
        with Ledger.open(other.path) as theirs:
            _note(theirs, mine, why)
    _note(ledger, other, why)


def _note(ledger: Ledger, other: Place, why: str) -> None:
    facts = {"ledger": os.fsencode(other.path).decode(errors="replace"), "dataset": other.dataset, "why": why}
    acts = [act for act in ledger.acts() if act["kind"] == "second"]
    if not any(all(act[name] == value for name, value in facts.items()) for act in acts):
        ledger.note(entry("second", **facts))
