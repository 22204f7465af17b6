"""Accept, repeat or refuse one charge and list the entries to append.  Pure functions, called under the lock."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger import inside as insides
from discreet.ledger import refusal
from discreet.ledger.account import Amounts
from discreet.ledger.books import ATTEMPTS, Books
from discreet.ledger.chain import Row, canonical
from discreet.ledger.inside import Inside
from discreet.ledger.question import entry
from discreet.ledger.weigh import Declared
from discreet.ledger.written import amounts_json

_SAME = ("analyst", "path", "snapshot", "cost", "epsilon", "delta", "purse")  # what a second attempt must share


@dataclass(frozen=True)
class Charge:
    """One charge and how far it got: RESERVED until `answer` names the entry that stored it."""

    row: Row
    holder: str = ""  # whose attempt it is
    attempt: int = 1
    failed: int = 0  # the last attempt known to have failed
    answer: dict[str, Any] | None = None
    ended: bool = False  # a purse that nothing more is taken from

    @property
    def entry(self) -> dict[str, Any]:
        """What was charged."""
        return self.row.entry


Held = Callable[[Charge], bool]  # whether an attempt is still being computed by someone alive


@dataclass(frozen=True)
class Asker:
    """Who asks: the holder's name, a test whether an attempt is alive, and the charge that was waited for."""

    holder: str
    held: Held
    awaited: int | None = None


@dataclass(frozen=True)
class Decision:
    """Entries to append, and then the refusal or the earlier charge (None: the entry appended last).

    `working` is the charge whose answer someone is computing: wait for it, and decide again.
    """

    entries: tuple[dict[str, Any], ...] = ()
    refused: DiscreetError | None = None
    earlier: Charge | None = None
    attempt: int = 1
    working: Charge | None = None


def charge(
    books: Books, earlier: Charge | None, facts: dict[str, Any], declared: Declared, weight: Amounts, asker: Asker
) -> Decision:
    """A new reservation if it fits; under a known key the decision of `repeat`."""
    repeated = repeat(books, earlier, facts, asker)
    if isinstance(repeated, Decision):
        return repeated
    refused = refusal.over_budget(books, declared, weight, path=books.place(facts), analyst=facts["analyst"])
    if refused is not None:
        return Decision(repeated, refused=refused)
    return Decision((*repeated, entry(**facts, amounts=amounts_json(weight), holder=asker.holder)))


def charge_in_purse(
    books: Books, earlier: Charge | None, facts: dict[str, Any], amount: Inside | None, asker: Asker
) -> Decision:
    """A new reservation inside an open purse if it fits there; a part that failed is tried again until one is stored.

    Each attempt that failed is counted, so the public cap of failures bounds them.
    """
    if facts["purse"] not in books.purses:
        stored = earlier is not None and earlier.answer is not None  # by whoever ended the purse just now
        return Decision(earlier=earlier) if stored else Decision(refused=refusal.run_ended(facts["purse"]))
    repeated = repeat(books, earlier, facts, asker)
    if isinstance(repeated, Decision):
        return repeated
    if amount is None or books.taken_with(facts["purse"], amount) is None:
        return Decision(repeated, refused=refusal.over_purse())
    return Decision((*repeated, entry(**facts, amounts=insides.to_json(amount), holder=asker.holder)))


def repeat(
    books: Books, earlier: Charge | None, facts: dict[str, Any], asker: Asker
) -> Decision | tuple[dict[str, Any], ...]:
    """The decision about a key that was used before, or the entries that precede a new charge under it.

    A stored answer and a purse are found by kind and key alone, whatever the question would cost today.  An attempt
    that failed is made again once, under its charge, if that charge pays for exactly what is asked now.
    """
    if earlier is None:
        return Decision(refused=refusal.dataset_closed(books)) if books.is_closed else ()
    if earlier.entry["kind"] != facts["kind"]:
        return Decision(refused=refusal.other_kind(facts["key"]))
    if earlier.ended:
        return Decision(refused=refusal.run_ended(earlier.row.number))
    if earlier.answer is not None or facts["kind"] == "purse":
        return Decision(earlier=earlier, attempt=earlier.attempt)
    failure: tuple[dict[str, Any], ...] = ()
    failures = books.failures
    if earlier.failed < earlier.attempt:  # no failure is recorded
        if asker.held(earlier):
            return Decision(working=earlier)
        death = {} if earlier.holder == asker.holder else {"died": earlier.holder}  # an interrupt is not a death
        failure = (entry("failure", charge=earlier.row.number, **death),)
        failures += earlier.holder not in books.deaths or not death
    if failures >= books.rules.failures:
        return Decision(failure, refused=refusal.dataset_closed(books))
    if not same(earlier.entry, facts):
        return failure
    if facts["kind"] != "part" and earlier.attempt >= ATTEMPTS:
        if asker.awaited != earlier.row.number:
            return failure
        return Decision(failure, refused=refusal.tried_enough(earlier.row.number, earlier.attempt))
    retry = entry("retry", charge=earlier.row.number, holder=asker.holder)
    return Decision((*failure, retry), earlier=earlier, attempt=earlier.attempt + 1)


def same(charged: dict[str, Any], facts: dict[str, Any]) -> bool:
    """Whether a charge pays for exactly these facts; compared as text, because in Python 1 == True."""
    return all(canonical(charged[name]) == canonical(facts[name]) for name in _SAME)
