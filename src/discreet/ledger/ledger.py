"""The ledger: charge before computing, store before handing out, repeat for free.

    charge → RESERVED, durable, counts as spent      commit → answer bytes and COMMITTED in one transaction
    stored → the same bytes again                    fail   → counted against a public cap; nothing is given back

Every decision is taken inside one transaction on entries read in that transaction, so processes and threads cannot
spend the same ε twice.  No exact value, noise or seed is ever an argument here.  Proof page: docs/proofs/ledger.md.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

from discreet.errors import Conflict, bad
from discreet.ledger import account as accounts
from discreet.ledger import decide, refusal
from discreet.ledger import rules as stored_rules
from discreet.ledger.books import Books, Charge
from discreet.ledger.chain import Row, broken, exported
from discreet.ledger.decide import Decision
from discreet.ledger.head import HeadFile, default_place
from discreet.ledger.lease import Lease
from discreet.ledger.purse import Purse
from discreet.ledger.question import asked, entry, reason, snapshot_name
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.standing import Receipt, Standing, check_binding, standing
from discreet.ledger.store import WAIT, Pen, SqliteStore, Store
from discreet.ledger.weigh import amounts, typed
from discreet.privacy.cost import Cost
from discreet.relation import Relation

LONGEST_ANSWER = 2**28


class Ledger:
    """One dataset's ledger, shared by any number of threads and processes."""

    def __init__(self, store: Store, lease: Lease, fixed: Iterable[str] = ()) -> None:
        self._store, self._lease, self._fixed = store, lease, frozenset(fixed)
        self._books, self._running = Books(), set[int]()

    # --- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, path: Any, opening: Opening, *, fixed: Iterable[str] = (), head: Any = None, wait: float = WAIT
    ) -> "Ledger":
        """A new ledger, bound to `opening`; `fixed` are the columns that cannot change within a unit."""
        store = _store(path, head, wait)
        facts = {"dataset": opening.dataset, "unit": opening.unit, "relation": str(opening.relation)}
        store.create(entry("open", format=1, **facts, rules=stored_rules.to_json(opening.rules)))
        return cls(store, Lease(store.head.place), fixed)

    @classmethod
    def open(
        cls,
        path: Any,
        opening: Opening | None = None,
        *,
        fixed: Iterable[str] = (),
        head: Any = None,
        wait: float = WAIT,
    ) -> "Ledger":
        """The ledger at `path`, its chain and head checked; refused if it is bound to anything but `opening`."""
        store = _store(path, head, wait)
        try:
            store.head.prepare_folder()
            store.head_checked()
            ledger = cls(store, Lease(store.head.place), fixed)
            with store.lock, store.head.locked(wait):  # a fork waits, so that no child keeps the lock
                ledger._lease.sweep()
            check_binding(ledger._read(), opening)
        except BaseException:
            store.close()
            raise
        return ledger

    @classmethod
    def kept(cls, path: Any, opening: Opening, *, fixed: Iterable[str] = (), head: Any = None) -> "Ledger":
        """The ledger at `path`, made first if it never was; whoever else is just making it makes it for both."""
        if not _store(path, head, WAIT).is_made():
            with contextlib.suppress(Conflict):
                return cls.create(path, opening, fixed=fixed, head=head)
        return cls.open(path, opening, fixed=fixed, head=head)

    @classmethod
    def adopt(cls, path: Any, *, why: str, head: Any = None, wait: float = WAIT) -> "Ledger":
        """Take a ledger that was moved, or restored for good reason, as it lies; the reason becomes an entry."""
        store = _store(path, head, wait)
        try:
            Books().read(store.rows(0))
            store.adopt(entry("adopt", why=reason(why)))
        finally:
            store.close()
        return cls.open(path, head=head, wait=wait)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._read().opening.dataset!r})"

    def close(self) -> None:
        """Let go of the file; what is reserved and not answered counts as failed if it is tried again."""
        with self._store.lock:
            self._lease.close()
            self._running.clear()
            self._store.close()

    # --- charging ----------------------------------------------------------------------------------------------------

    def charge(
        self,
        path: Any,
        cost: Cost,
        memo: Any,
        key: str,
        *,
        analyst: str | None = None,
        epsilon: Any = None,
        delta: Any = None,
        snapshot: str = "",
    ) -> Receipt:
        """A durable reservation, or a refusal that spends nothing.

        Under a key that was charged before for the same question: the same receipt, for nothing.  If that one has no
        answer and whoever computed it failed or died, it may be computed once more.
        """
        place = self._path(path)
        facts = asked("charge", cost, path=place, memo=memo, key=key, analyst=analyst, snapshot=snapshot)
        return self._charged(facts, cost, epsilon, delta)

    def purse(
        self,
        path: Any,
        cost: Cost,
        memo: Any,
        key: str,
        *,
        analyst: str | None = None,
        epsilon: Any = None,
        delta: Any = None,
        snapshot: str = "",
    ) -> Purse:
        """`cost` set aside for an adaptive algorithm, whose charges must fit inside; the same purse under its key."""
        place = self._path(path)
        facts = asked("purse", cost, path=place, memo=memo, key=key, analyst=analyst, snapshot=snapshot)
        return Purse(self, self._charged(facts, cost, epsilon, delta))

    def charge_part(
        self, purse: Receipt, path: Any, cost: Cost, memo: Any, key: str, *, epsilon: Any = None, delta: Any = None
    ) -> Receipt:
        """A reservation inside a purse, or BudgetExceeded; its path is in the purse's, parts of a purse all add up."""
        whole, place = self._of(purse, self._read()), accounts.parsed_path(path)
        if whole.entry["kind"] != "purse":
            raise bad("purse", "must be the receipt of a purse", whole.entry["kind"], "Use what purse returned.")
        if not accounts.lies_in(place, whole.path):
            fix = "Repeat the purse's parts in the path, or reserve a purse for the whole table."
            raise bad("path", "must lie inside the path of its purse", path, fix)
        about = {"analyst": whole.entry["analyst"], "snapshot": whole.entry["snapshot"], "purse": purse.number}
        facts = asked("part", cost, path=place, memo=memo, key=key, **about)
        question = None if epsilon is None else typed(cost, self._relation, epsilon=epsilon, delta=delta)
        facts["epsilon"] = None if question is None else str(question.epsilon)
        facts["delta"] = None if question is None else str(question.delta)
        with self._store.lock, self._store.writing() as pen:
            decision = decide.part(self._taken(pen), facts, cost, holder=self._lease.name(), held=self._held)
            last = _appended(pen, decision)
        return self._outcome(decision, last)

    def commit(self, receipt: Receipt, answer: bytes) -> None:
        """Store the answer and COMMITTED in one transaction; only then may it be handed out."""
        if not isinstance(answer, bytes) or len(answer) > LONGEST_ANSWER:
            raise bad("answer", "must be bytes, 256 MiB at most", type(answer).__name__, "Encode the answer first.")
        digest = hashlib.sha256(answer).hexdigest()
        with self._store.lock, self._store.writing() as pen:
            charge = self._attempt(receipt, self._taken(pen))
            if charge.answer is None and charge.attempt == receipt.attempt and charge.failed < receipt.attempt:
                stored = entry("answer", charge=receipt.number, sha256=digest, size=len(answer))
                pen.append(stored, (receipt.number, answer))
            elif charge.answer is None:
                raise refusal.given_up(receipt.number)
            elif charge.answer["sha256"] != digest:
                raise refusal.other_answer(receipt.number)
        self._running.discard(receipt.number)

    def fail(self, receipt: Receipt) -> None:
        """Record that this attempt gave no answer; the charge stays, and enough failures close the dataset."""
        if isinstance(receipt, Receipt):  # before what may fail: nobody computes it any more, written down or not
            self._running.discard(receipt.number)
        with self._store.lock, self._store.writing() as pen:
            charge = self._attempt(receipt, self._taken(pen))
            if charge.answer is None and charge.failed < charge.attempt == receipt.attempt:
                pen.append(entry("failure", charge=receipt.number))

    def stored(self, key: str) -> bytes | None:
        """The bytes once stored under the key: replay, free and identical; None where there are none.

        A key must itself name the analyst and the question; `charge` refuses it for any other.
        """
        charge = self._read().charge_of(key)
        if charge is None or charge.answer is None:
            return None
        found = self._store.answer(charge.row.number)
        if found is None or hashlib.sha256(found).hexdigest() != charge.answer["sha256"]:
            raise broken(f"The answer of charge {charge.row.number} is not what was stored.")
        return found

    # --- the curator's acts ------------------------------------------------------------------------------------------

    def set_budget(self, rules: Rules, why: str) -> None:
        """Change budget or caps: an entry of its own, with its reason; what was spent stays spent."""
        if not isinstance(rules, Rules):
            raise bad("rules", "must be Rules", rules, "Give Rules(budget(5)).")
        words = reason(why)
        with self._store.lock, self._store.writing() as pen:
            spent = self._taken(pen).account.spent
            if rules.budget.delta == 0 and (spent.delta or spent.keys):
                rule = "must stay above 0 once something with a δ was charged"
                raise bad("delta", rule, 0, "Keep the δ of the present budget.")
            pen.append(entry("budget", rules=stored_rules.to_json(rules), why=words))
            Books().read(pen.rows(0))  # every charge weighed anew: what could not be read again is not written

    def reopen(self, why: str) -> None:
        """Open the dataset again after its failures; an entry of its own."""
        words = reason(why)
        with self._store.lock, self._store.writing() as pen:
            self._taken(pen)
            pen.append(entry("reopen", why=words))

    # --- looking -----------------------------------------------------------------------------------------------------

    def remaining(self, path: Any = (), *, analyst: str | None = None, snapshot: str = "") -> Fraction:
        """The largest single pure ε that would still be accepted there, from that analyst."""
        with self._store.lock:
            books = self._read()
            place = books.place({"path": self._path(path), "snapshot": snapshot_name(snapshot)})
            return Fraction(0) if books.closed else refusal.left_for(books, place, analyst)

    def remaining_after(
        self, path: Any, cost: Cost, *, epsilon: Any, delta: Any, analyst: str | None = None, snapshot: str = ""
    ) -> Fraction:
        """What `remaining` would say of the whole table after such a charge, whether or not it fits; writes nothing."""
        with self._store.lock:
            books = self._read()
            question = typed(cost, self._relation, epsilon=epsilon, delta=delta)
            place = books.place({"path": self._path(path), "snapshot": snapshot_name(snapshot)})
            return refusal.left_after(books, place, analyst, amounts(question, books.rules.budget))

    def receipt(self, key: str) -> Receipt | None:
        """The receipt of the charge under that key, None where there is none."""
        charge = self._read().charge_of(key)
        if charge is None:
            return None
        return Receipt(charge.row.number, _name(charge.row), key, charge.attempt, charge.answer is not None)

    def standing(self) -> Standing:
        """Everything `discreet budget` shows."""
        with self._store.lock:
            return standing(self._read())

    def entries(self) -> list[dict[str, Any]]:
        """Every entry, oldest first, with its hash and, for charges, its state."""
        with self._store.lock:
            books, rows = self._read(), self._store.rows(0)
        found = []
        for row in rows:
            charge = books.charges.get(row.number)
            state = {} if charge is None else {"state": charge.state, "attempt": charge.attempt}
            found.append({**row.entry, "hash": row.hash.hex(), **state})
        return found

    def export(self) -> Iterator[str]:
        """The entries as JSON lines; `chain.imported` checks them without the database."""
        yield from exported(self._store.rows(0))

    def verify(self) -> Standing:
        """Check all again from the first entry: file, chain, sums, answers, head; refused where anything differs."""
        with self._store.lock:
            self._store.checked()
            self._store.head_checked()
            books = Books()
            books.read(self._store.rows(0))
            books.check_costs()
            self._verify_answers(books)
            self._books = books
            return standing(books)

    def _verify_answers(self, books: Books) -> None:
        wanted = {
            number: (charge.answer["n"], charge.answer["sha256"])
            for number, charge in books.charges.items()
            if charge.answer is not None
        }
        found = self._store.digests()
        for number in sorted(wanted.keys() | found.keys()):
            if wanted.get(number) != found.get(number):
                raise broken(f"The answer of charge {number} is not what was stored.")

    # --- inside ------------------------------------------------------------------------------------------------------

    def _charged(self, facts: dict[str, Any], cost: Cost, epsilon: Any, delta: Any) -> Receipt:
        """Weigh outside the transaction, decide inside; weigh again if the budget was changed in between."""
        while True:
            budget = self._read().rules.budget
            question = typed(cost, self._relation, epsilon=epsilon, delta=delta)
            weight = amounts(question, budget)
            facts |= {"epsilon": str(question.epsilon), "delta": str(question.delta)}
            with self._store.lock, self._store.writing() as pen:
                books = self._taken(pen)
                if books.rules.budget != budget:
                    continue
                holder = self._lease.name()
                decision = decide.charge(books, facts, question, weight, holder=holder, held=self._held)
                last = _appended(pen, decision)
            return self._outcome(decision, last)

    def _outcome(self, decision: Decision, last: Row | None) -> Receipt:
        """The receipt, or the refusal raised: after the transaction, so that a failure counted in it is kept."""
        if decision.refused is not None:
            raise decision.refused
        row = last if decision.known is None else decision.known.row
        if row is None:
            raise TypeError("a decision without a charge")
        answered = decision.known is not None and decision.known.answer is not None
        if not answered:
            self._running.add(row.number)
        return Receipt(row.number, _name(row), row.entry["key"], decision.attempt, answered)

    def _held(self, charge: Charge) -> bool:
        if charge.holder == self._lease.name():
            return charge.row.number in self._running
        return self._lease.is_held(charge.holder)

    def _path(self, path: Any) -> accounts.Path:
        found = accounts.parsed_path(path)
        loose = [column for column, _ in found if column not in self._fixed]
        if loose and self._relation is Relation.ADD_REMOVE:
            fix = "Declare fixed_per_unit = true for it, or charge the whole table: path ()."
            raise bad("path", "must use columns that are fixed per unit", loose[0], fix)
        return found

    @property
    def _relation(self) -> Relation:
        return self._read().opening.relation

    def _read(self) -> Books:
        with self._store.lock:
            return self._taken(self._store)

    def _taken(self, source: Store | Pen) -> Books:
        """The books, up to date; the last row read before must still be there."""
        last = self._books.last
        rows = source.rows(0 if last is None else last.number - 1)
        if last is not None and rows[:1] != [last]:
            raise broken(f"Entry {last.number} changed while the ledger was in use.")
        try:
            self._books.read(rows if last is None else rows[1:])
        except BaseException:
            self._books = Books()  # interrupted half-way through an entry: read anew
            raise
        if self._books.last is None:
            raise broken("The ledger has no entries.")
        return self._books

    def _of(self, receipt: Receipt, books: Books) -> Charge:
        charge = books.charges.get(receipt.number) if isinstance(receipt, Receipt) else None
        if charge is None or _name(charge.row) != receipt.name:
            raise bad("receipt", "must come from this ledger", type(receipt).__name__, "Use what charge returned.")
        return charge

    def _attempt(self, receipt: Receipt, books: Books) -> Charge:
        charge = self._of(receipt, books)
        if charge.entry["kind"] == "purse":
            fix = "Charge inside the purse, and commit or fail that."
            raise bad("receipt", "must be of a charge: a purse has no answer of its own", charge.row.number, fix)
        return charge


def _appended(pen: Pen, decision: Decision) -> Row | None:
    last = None
    for one in decision.entries:
        last = pen.append(one)
    return last


def _store(path: Any, head: Any, wait: float) -> SqliteStore:
    given = Path(path)
    place = given.parent.resolve() / given.name
    return SqliteStore(place, HeadFile(default_place(place) if head is None else Path(head).resolve()), wait)


def _name(row: Row) -> str:
    return f"{row.number}-{row.hash.hex()[:12]}"
