"""Yes or no, and what is written down either way: functions of the books alone, called while the ledger is held."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger import refusal
from discreet.ledger.account import Amounts
from discreet.ledger.books import ATTEMPTS, Books, Charge, amounts_json, identity
from discreet.ledger.question import entry
from discreet.ledger.weigh import Typed
from discreet.privacy.cost import Cost

Held = Callable[[Charge], bool]  # whether an attempt is still being computed by someone alive


@dataclass(frozen=True)
class Decision:
    """Entries to append, and then the refusal, or the charge known before (None: the entry appended last)."""

    entries: tuple[dict[str, Any], ...] = ()
    refused: DiscreetError | None = None
    known: Charge | None = None
    attempt: int = 1


def charge(
    books: Books, asked: dict[str, Any], question: Typed, weight: Amounts, *, holder: str, held: Held
) -> Decision:
    """A new reservation if it fits; under a known key what `again` says."""
    known = books.charge_of(asked["key"])
    if known is not None:
        return again(books, known, asked, holder=holder, held=held)
    if books.closed:
        return Decision(refused=refusal.closed(books))
    refused = refusal.over_budget(books, question, weight, path=books.place(asked), analyst=asked["analyst"])
    if refused is not None:
        return Decision(refused=refused)
    return Decision((entry(**asked, amounts=amounts_json(weight), holder=holder),))


def part(books: Books, asked: dict[str, Any], cost: Cost, *, holder: str, held: Held) -> Decision:
    """A new reservation inside a purse if it fits there."""
    known = books.charge_of(asked["key"])
    if known is not None:
        return again(books, known, asked, holder=holder, held=held)
    if books.closed:
        return Decision(refused=refusal.closed(books))
    if not books.has_room(asked["purse"], cost):
        return Decision(refused=refusal.over_purse())
    return Decision((entry(**asked, holder=holder),))


def again(books: Books, known: Charge, asked: dict[str, Any], *, holder: str, held: Held) -> Decision:
    """The receipt of a key used before, one more attempt where the first one died, or a refusal."""
    if known.entry["kind"] != asked["kind"] or identity(known.entry) != identity(asked):
        return Decision(refused=refusal.other_question(asked["key"]))
    if known.answer is not None or asked["kind"] == "purse":
        return Decision(known=known, attempt=known.attempt)
    died: tuple[dict[str, Any], ...] = ()
    if known.failed < known.attempt:  # nobody said that it failed
        if held(known):
            return Decision(refused=refusal.at_work(known))
        died = (entry("failure", charge=known.row.number),)
    if books.failures + len(died) >= books.rules.failures:
        return Decision(died, refused=refusal.closed(books))
    if known.attempt >= ATTEMPTS:
        return Decision(died, refused=refusal.tried_enough(known))
    retry = entry("retry", charge=known.row.number, holder=holder)
    return Decision((*died, retry), known=known, attempt=known.attempt + 1)
