"""The reading side of a ledger: its standing, its stored answers, its entries; nothing here writes.

The books are read from the last checkpoint on and kept; as long as nobody has written, they are not read again.
"""

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.errors import DiscreetError, bad
from discreet.ledger import account as accounts
from discreet.ledger import refusal
from discreet.ledger.books import Books
from discreet.ledger.chain import Row, broken, export_lines
from discreet.ledger.decide import Charge
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.question import snapshot_name
from discreet.ledger.standing import Receipt, Standing, standing
from discreet.ledger.store import SqliteStore
from discreet.ledger.verify import verify
from discreet.ledger.view import View
from discreet.ledger.weigh import declared, weight_of
from discreet.privacy.cost import Cost
from discreet.relation import Relation, is_unit_cut

_CHARGES = frozenset({"charge", "purse", "part"})


class Reader:
    """One dataset's ledger, for reading."""

    def __init__(self, store: SqliteStore, fixed: frozenset[str]) -> None:
        self._store, self._fixed = store, fixed
        self._books: Books | None = None
        self._state: Any = None  # of the store, when the books were last brought up to date

    def __repr__(self) -> str:
        return f"Ledger({self._read().opening.dataset!r})"

    def stored(self, key: str) -> bytes | None:
        """The bytes stored under the key, which are handed out again for nothing; None where there are none.

        A key must itself name the analyst and the question.
        """
        with self._store.lock:
            charge = self._charge_under(key)
            if charge is None or charge.answer is None:
                return None
            with self._store.reading() as view:
                answer = view.answer(charge.row.number)
        if answer is None or hashlib.sha256(answer[1]).hexdigest() != charge.answer["sha256"]:
            raise broken(f"The answer of charge {charge.row.number} is not what was stored.")
        return answer[1]

    def receipt(self, key: str) -> Receipt | None:
        """The receipt of the charge under that key, None where there is none."""
        charge = self._charge_under(key)
        if charge is None:
            return None
        return Receipt(charge.row.number, name_of(charge.row), key, charge.attempt, charge.answer is not None)

    def remaining(self, path: Any = (), *, analyst: str | None = None, snapshot: str = "") -> Fraction:
        """The largest single pure ε that would still be accepted there, from that analyst."""
        with self._store.lock:
            books = self._read()
            place = books.place({"path": self._path(path), "snapshot": snapshot_name(snapshot)})
            return Fraction(0) if books.is_closed else refusal.remaining_for(books, place, analyst)

    def remaining_after(
        self, path: Any, cost: Cost, *, epsilon: Any, delta: Any, analyst: str | None = None, snapshot: str = ""
    ) -> Fraction:
        """`remaining` of the whole table after such a charge; 0 if it does not fit."""
        with self._store.lock:
            books = self._read()
            declaration = declared(cost, self._relation, epsilon=epsilon, delta=delta)
            place = books.place({"path": self._path(path), "snapshot": snapshot_name(snapshot)})
            return refusal.remaining_after(books, place, analyst, weight_of(declaration, books.rules.budget))

    def refusal(self, request: ChargeRequest, cost: Cost) -> DiscreetError | None:
        """Why that charge would be refused now; None where it fits."""
        with self._store.lock:
            books = self._read()
            declaration = declared(cost, self._relation, epsilon=request.epsilon, delta=request.delta)
            place = books.place({"path": self._path(request.path), "snapshot": snapshot_name(request.snapshot)})
            if books.is_closed:
                return refusal.dataset_closed(books)
            weight = weight_of(declaration, books.rules.budget)
            return refusal.over_budget(books, declaration, weight, path=place, analyst=request.analyst)

    def older_snapshots(self, snapshot: str) -> tuple[str, ...]:
        """Ids that earlier versions gave the same content: for finding their answers, never for splits."""
        return tuple(self._read().carried.get(snapshot, ()))

    def snapshots_in_use(self) -> frozenset[str]:
        """The states of the rows that runs under way go on with."""
        return frozenset(purse.run.snapshot for purse in self._read().purses.values() if purse.run is not None)

    @property
    def origin(self) -> str:
        """The hash of the first entry, which stays the same wherever the ledger is moved."""
        return self._store.first().hash.hex()

    def standing(self) -> Standing:
        """Everything `discreet budget` shows."""
        with self._store.lock:
            return standing(self._read())

    def entries(self, last: int | None = None) -> list[dict[str, Any]]:
        """Every entry, oldest first, or only the last so many, with its hash and, for charges, its state."""
        with self._store.lock:
            books = self._read()
            total = 0 if books.last is None else books.last.number
            rows = self._store.rows(0 if last is None else max(total - last, 0))
        attempts: dict[int, int] = {}
        for row in rows:
            if row.entry["kind"] == "retry":
                attempts[row.entry["charge"]] = attempts.get(row.entry["charge"], 1) + 1
        entries = []
        for row in rows:
            state: dict[str, Any] = {}
            if row.entry["kind"] in _CHARGES:
                open_ = row.number in books.purses or row.number in books.unanswered
                state = {"state": "RESERVED" if open_ else "COMMITTED", "attempt": attempts.get(row.number, 1)}
            entries.append({**row.entry, "hash": row.hash.hex(), **state})
        return entries

    def entry_of(self, receipt: str) -> dict[str, Any] | None:
        """The entry that a receipt names; None if it names none of this ledger."""
        number = receipt.partition("-")[0]
        row = self._store.row(int(number)) if number.isdecimal() and len(number) < 19 else None
        return None if row is None or name_of(row) != receipt else dict(row.entry)

    def acts(self) -> list[dict[str, Any]]:
        """The entries that open the ledger, set its budget, adopt it, or tell of another over the same rows."""
        return list(self._read().acts)

    def export(self) -> Iterator[str]:
        """The entries as JSON lines; `chain.rows_of_export` checks them without the database."""
        yield from export_lines(self._store.rows(0))

    def verify(self) -> Standing:
        """Check all again from the first entry: file, chain, prices, sums, decisions, answers and head."""
        with self._store.lock:
            self._store.check()
            self._store.check_head(read_books)
            return standing(verify(self._store.rows(0), self._store.digests()))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _path(self, path: Any) -> accounts.Path:
        pairs = accounts.parsed_path(path)
        loose = [column for column, _ in pairs if column not in self._fixed and not is_unit_cut(column)]
        if loose and self._relation is Relation.ADD_REMOVE:
            fix = "Declare fixed_per_unit = true for it, or charge the whole table: path ()."
            raise bad("path", "must use columns that are fixed per unit", loose[0], fix)
        return pairs

    def _charge_under(self, key: str) -> Charge | None:
        with self._store.lock:
            books = self._read()
            with self._store.reading() as view:
                return charge_of(view, books, key)

    @property
    def _relation(self) -> Relation:
        return self._read().opening.relation

    def _read(self) -> Books:
        with self._store.lock:
            state = self._store.state()
            if self._books is not None and self._state == state:
                return self._books
            with self._store.reading() as view:
                books = self._updated_books(view)
            self._state = state
            return books

    def _updated_books(self, view: View) -> Books:
        """The books, up to date; the last row read before must still be there."""
        books, self._books, self._state = self._books, None, None  # whatever interrupts this: they are read anew
        if books is None or books.last is None:
            books = read_books(view, self._store.recorded_count())
        else:
            rows = view.rows(books.last.number - 1)
            if rows[:1] != [books.last]:
                raise broken(f"Entry {books.last.number} changed while the ledger was in use.")
            if books.history is None and _sets_budget(rows[1:]):
                books = read_books(view, self._store.recorded_count())
            else:
                books.read(rows[1:])
        self._books = books
        return books


def read_books(view: View, recorded: int) -> Books:
    """The books from the last checkpoint that the recorded head covers, or from the first entry where there is none.

    A checkpoint after the head may be written by anyone, so it is compared with the sums, like all others on the way.
    """
    start = view.last_checkpoint(recorded)
    if start is not None:
        rows = view.rows(start - 2)
        if len(rows) < 2 or rows[1].number != start:
            raise broken(f"Entry {start - 1} is missing.")
        if not _sets_budget(rows[2:]):
            books = Books.from_checkpoint(rows[0], rows[1])
            books.read(rows[2:])
            return books
    books = Books()
    books.read(view.rows(0))
    if books.last is None:
        raise broken("The ledger has no entries.")
    return books


def _sets_budget(rows: list[Row]) -> bool:
    """Whether a row sets the budget: then all charges are weighed again, which no checkpoint allows."""
    return any(row.entry.get("kind") == "budget" for row in rows)


def charge_of(view: View, books: Books, key: str) -> Charge | None:
    """The charge that a key stands for: the one with the answer, else the last.

    Rows that another process appended after the books were read are left out: the books do not know their attempts.
    """
    last = 0 if books.last is None else books.last.number
    charges = [charge_in(view, books, row) for row in view.of_key(key) if row.number <= last]
    answered = [charge for charge in charges if charge.answer is not None]
    return (answered or charges)[-1] if charges else None


def charge_in(view: View, books: Books, row: Row) -> Charge:
    """A charge and how far it got, by the books and, for an answer, by the entry that stored it."""
    kind, number = row.entry.get("kind"), row.number
    if kind not in _CHARGES:
        raise broken(f"Entry {number} is no charge.")
    if kind == "purse":
        return Charge(row, row.entry["holder"], ended=number not in books.purses)
    attempt = books.unanswered.get(number)
    if attempt is not None:
        return Charge(row, attempt.holder, attempt.attempt, attempt.failed)
    stored = view.answer(number)
    answer = None if stored is None else view.row(stored[0])
    if answer is None or answer.entry.get("kind") != "answer" or answer.entry.get("charge") != number:
        raise broken(f"The answer of charge {number} is not what was stored.")
    return Charge(row, row.entry["holder"], answer.entry.get("attempt", 1), 0, answer.entry)


def name_of(row: Row) -> str:
    """The name of a receipt."""
    return f"{row.number}-{row.hash.hex()[:12]}"
