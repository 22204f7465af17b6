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
from discreet.ledger.weigh import Typed
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
    """Who asks: the holder's name, who else is alive, and the charge that was waited for."""

    holder: str
    held: Held
    awaited: int | None = None


@dataclass(frozen=True)
class Decision:
    """Entries to append, and then the refusal, or the charge known before (None: the entry appended last).

    `working` is the charge whose answer someone is computing: wait for it, and decide again.
    """

    entries: tuple[dict[str, Any], ...] = ()
    refused: DiscreetError | None = None
    known: Charge | None = None
    attempt: int = 1
    working: Charge | None = None


def charge(
    books: Books, known: Charge | None, asked: dict[str, Any], question: Typed, weight: Amounts, asker: Asker
) -> Decision:
    """A new reservation if it fits; under a known key what `repeat` says."""
    before = repeat(books, known, asked, asker)
    if isinstance(before, Decision):
        return before
    refused = refusal.over_budget(books, question, weight, path=books.place(asked), analyst=asked["analyst"])
    if refused is not None:
        return Decision(before, refused=refused)
    return Decision((*before, entry(**asked, amounts=amounts_json(weight), holder=asker.holder)))


def part(books: Books, known: Charge | None, asked: dict[str, Any], taken: Inside | None, asker: Asker) -> Decision:
    """A new reservation inside an open purse if it fits there; a part that failed is tried again until one is stored.

    Each attempt that failed is counted, so the public cap of failures bounds them.
    """
    if asked["purse"] not in books.purses:
        stored = known is not None and known.answer is not None  # by whoever ended the purse just now
        return Decision(known=known) if stored else Decision(refused=refusal.ended(asked["purse"]))
    before = repeat(books, known, asked, asker)
    if isinstance(before, Decision):
        return before
    if taken is None or books.room(asked["purse"], taken) is None:
        return Decision(before, refused=refusal.over_purse())
    return Decision((*before, entry(**asked, amounts=insides.to_json(taken), holder=asker.holder)))


def repeat(
    books: Books, known: Charge | None, asked: dict[str, Any], asker: Asker
) -> Decision | tuple[dict[str, Any], ...]:
    """What a key used before still gives; else the entries that go before a new charge under it.

    A stored answer and a purse are found by kind and key alone, whatever the question would cost today.  An attempt
    that failed is made again once, under its charge, if that charge pays for exactly what is asked now.
    """
    if known is None:
        return Decision(refused=refusal.closed(books)) if books.closed else ()
    if known.entry["kind"] != asked["kind"]:
        return Decision(refused=refusal.other_kind(asked["key"]))
    if known.ended:
        return Decision(refused=refusal.ended(known.row.number))
    if known.answer is not None or asked["kind"] == "purse":
        return Decision(known=known, attempt=known.attempt)
    died: tuple[dict[str, Any], ...] = ()
    failures = books.failures
    if known.failed < known.attempt:  # nobody said that it failed
        if asker.held(known):
            return Decision(working=known)
        gone = {} if known.holder == asker.holder else {"died": known.holder}  # an interrupt is not a death
        died = (entry("failure", charge=known.row.number, **gone),)
        failures += known.holder not in books.deaths or not gone
    if failures >= books.rules.failures:
        return Decision(died, refused=refusal.closed(books))
    if not same(known.entry, asked):
        return died
    if asked["kind"] != "part" and known.attempt >= ATTEMPTS:
        waited = asker.awaited == known.row.number
        return Decision(died, refused=refusal.tried_enough(known.row.number, known.attempt)) if waited else died
    retry = entry("retry", charge=known.row.number, holder=asker.holder)
    return Decision((*died, retry), known=known, attempt=known.attempt + 1)


def same(charged: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Whether what was charged pays for what is asked: as text, since in Python 1 == True."""
    return all(canonical(charged[name]) == canonical(asked[name]) for name in _SAME)
