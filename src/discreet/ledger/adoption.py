"""Adopt a ledger as it lies, and record how much that forgets.

Answers whose charges are not in the adopted chain were seen all the same.  So the entry that adopts it says how many
entries a recorded head has beyond this copy: the head of this place, or of an earlier place of the ledger.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet import amounts
from discreet.errors import IntegrityError
from discreet.ledger.books import Books
from discreet.ledger.chain import Row
from discreet.ledger.head import Head, HeadFile, default_place
from discreet.ledger.question import entry
from discreet.ledger.registry import Registry
from discreet.ledger.store import SqliteStore
from discreet.state import state_folder


@dataclass(frozen=True)
class Forgotten:
    """The entries that a recorded head has and the copy does not, and the ε charged in them where it is known."""

    entries: int
    epsilon: Fraction | None

    def __str__(self) -> str:
        count = "1 entry" if self.entries == 1 else f"{self.entries:,} entries"
        epsilon = "an unknown ε" if self.epsilon is None else f"ε = {amounts.text_up(self.epsilon, 9)}"
        return f"{count} of the recorded head, with {epsilon}"


def adopt(store: SqliteStore, why: str) -> None:
    """Append the entry that adopts the ledger as it lies and says what that forgets."""
    lost = forgotten(store)
    facts = {} if lost is None else {"forgets": lost.entries, "forgets_epsilon": _text(lost.epsilon)}
    store.adopt(entry("adopt", why=why, **facts))


def forgotten_at(path: Path) -> Forgotten | None:
    """What adopting the ledger at that path would forget."""
    place = path.parent.resolve() / path.name
    with contextlib.closing(SqliteStore(place, HeadFile(default_place(place)))) as store:
        return forgotten(store)


def forgotten(store: SqliteStore) -> Forgotten | None:
    """What adopting this copy would forget; None where every recorded head is in its chain."""
    rows = store.rows(0)
    Books().read(rows)
    losses = [loss for head in _heads(store) if (loss := _beyond(head, rows)) is not None]
    return max(losses, key=lambda loss: (loss.entries, loss.epsilon or 0), default=None)


def _heads(store: SqliteStore) -> Iterator[Head]:
    places = [place.path for place in Registry(state_folder()).places(store.first().hash.hex())]
    files = [store.head, *(HeadFile(default_place(path)) for path in places if path != store.path)]
    for file in files:
        with contextlib.suppress(IntegrityError):  # unreadable: nothing can be said of it
            head = file.read()
            if head is not None:
                yield head


def _beyond(head: Head, rows: list[Row]) -> Forgotten | None:
    """The head's entries that are not in these rows: those after the last, or all where the chains differ."""
    count = rows[-1].number
    if head.count <= count and rows[head.count - 1].hash == head.hash:
        return None
    shared = rows if head.count > count else []
    charges = [row.entry for row in shared if row.entry["kind"] in ("charge", "purse")]
    spent = sum((Fraction(charge["epsilon"]) for charge in charges), Fraction(0))
    return Forgotten(head.count - len(shared), None if head.charged is None else max(head.charged - spent, Fraction(0)))


def _text(epsilon: Fraction | None) -> str | None:
    return None if epsilon is None else str(epsilon)
