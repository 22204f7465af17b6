"""The ledger: charge before computing, store before answering, repeat for free.

    charge → RESERVED, durable, counts as spent      commit → answer bytes and COMMITTED in one transaction
    stored → the same bytes again                    fail   → counted against a public cap; nothing is given back

Every decision is taken inside one transaction on entries read in that transaction, so processes and threads cannot
spend the same ε twice.  No exact value, noise or seed is ever an argument here.  Proof page: docs/proofs/ledger.md.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.errors import Conflict, bad
from discreet.ledger import account as accounts
from discreet.ledger import adoption, decide, refusal
from discreet.ledger import inside as insides
from discreet.ledger import rules as stored_rules
from discreet.ledger.account import Amounts
from discreet.ledger.books import Books, path_of
from discreet.ledger.decide import Asker, Charge, Decision
from discreet.ledger.filter import Budget
from discreet.ledger.head import HeadFile, default_place
from discreet.ledger.lease import Lease
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.purse import Purse
from discreet.ledger.question import charge_entry, entry, reason, snapshot_name
from discreet.ledger.reader import Reader, charge_in, charge_of, name_of, read_books
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.schema import VERSION
from discreet.ledger.standing import Receipt, check_binding
from discreet.ledger.store import WAIT, Pen, SqliteStore
from discreet.ledger.view import View
from discreet.ledger.weigh import Declared, declared, weight_of
from discreet.privacy import cost as costs
from discreet.privacy.cost import Cost
from discreet.relation import Relation

LONGEST_ANSWER = 2**28
PATIENCE = 90.0  # seconds: the default limit of a question, and a margin
CHECKPOINT = 64  # entries at least from one checkpoint to the next
_PAUSE, _LONGEST_PAUSE = 0.005, 0.25  # seconds between two looks at a charge that someone is computing


class Ledger(Reader):
    """One dataset's ledger, shared by any number of threads and processes."""

    def __init__(self, store: SqliteStore, lease: Lease, fixed: Iterable[str] = ()) -> None:
        super().__init__(store, frozenset(fixed))
        self._lease, self._running = lease, set[int]()

    # --- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, path: Any, opening: Opening, *, fixed: Iterable[str] = (), head: Any = None, wait: float = WAIT
    ) -> "Ledger":
        """A new ledger, bound to `opening`; `fixed` are the columns that cannot change within a unit."""
        store = _store(path, head, wait)
        facts = {"dataset": opening.dataset, "unit": opening.unit, "relation": str(opening.relation)}
        store.create(entry("open", format=VERSION, **facts, rules=stored_rules.to_json(opening.rules)))
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
        """The ledger at `path`, its chain from the last checkpoint on, and its head, checked.

        Refused if it is bound to anything but `opening`.
        """
        store = _store(path, head, wait)
        try:
            store.head.prepare_folder()
            store.check_head(read_books)
            ledger = cls(store, Lease(store.head.place), fixed)
            with store.lock, store.head.lock(wait):  # a fork waits, so that no child keeps the lock
                ledger._lease.sweep()
            check_binding(ledger._read(), opening)
        except BaseException:
            store.close()
            raise
        return ledger

    @classmethod
    def open_or_create(cls, path: Any, opening: Opening, *, fixed: Iterable[str] = (), head: Any = None) -> "Ledger":
        """The ledger at `path`, created if there never was one; if another process creates it meanwhile, that one."""
        if not _store(path, head, WAIT).is_made():
            with contextlib.suppress(Conflict):
                return cls.create(path, opening, fixed=fixed, head=head)
        return cls.open(path, opening, fixed=fixed, head=head)

    @classmethod
    def adopt(cls, path: Any, *, why: str, head: Any = None, wait: float = WAIT) -> "Ledger":
        """Take a ledger that was moved, or restored for good reason, as it lies; the reason becomes an entry."""
        with contextlib.closing(_store(path, head, wait)) as store:
            adoption.adopt(store, reason(why))
        return cls.open(path, head=head, wait=wait)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what is reserved and not answered counts as failed if it is tried again."""
        with self._store.lock:
            self._lease.close()
            self._running.clear()
            self._store.close()

    # --- charging ----------------------------------------------------------------------------------------------------

    def charge(self, request: ChargeRequest, cost: Cost, *, patience: float = PATIENCE) -> Receipt:
        """A durable reservation, or a refusal that spends nothing.

        Under a key whose answer is stored: its receipt, for nothing, whatever the question would cost today.  While
        someone computes it, this waits up to `patience` seconds.  If that one failed or died, it may be computed once
        more under its charge if it costs the same; otherwise it is a new charge.
        """
        facts = charge_entry("charge", replace(request, path=self._path(request.path)), cost)
        return self._stored_receipt("charge", request.key) or self._reserve_charge(facts, request, cost, patience)

    def purse(self, request: ChargeRequest, cost: Cost) -> Purse:
        """A purse with `cost` set aside for an adaptive algorithm, whose charges must fit inside; one for each key."""
        facts = charge_entry("purse", replace(request, path=self._path(request.path)), cost)
        return Purse(self, self._reserve_charge(facts, request, cost, PATIENCE))

    def open_runs(self) -> list[Purse]:
        """The purses of all runs under way."""
        with self._store.lock:
            runs = [purse.run for purse in self._read().purses.values() if purse.run is not None]
            receipts = [(self.receipt(run.key), run) for run in runs]
        return [Purse(self, receipt, run) for receipt, run in receipts if receipt is not None]

    def open_run(self, request: str, analyst: str | None = None) -> Purse | None:
        """The purse of a run under way for that analyst, by its request; None where there is none."""
        runs = self.open_runs()
        return next((run for run in runs if run.run and (run.run.request, run.run.analyst) == (request, analyst)), None)

    def purse_of(self, key: str) -> Purse | None:
        """The purse under that key, whether or not it has ended; None where there is none."""
        receipt = self.receipt(key)
        return None if receipt is None else Purse(self, receipt)

    def is_open(self, purse: Receipt) -> bool:
        """Whether something may still be taken from a purse."""
        return purse.number in self._read().purses

    def end(self, purse: Receipt, how: str, why: str = "") -> None:
        """End a purse: nothing more is taken from it, its run is found no more, and what was set aside stays spent."""
        if not self.is_open(purse):
            return
        with self._writing() as (pen, books):
            self._of(purse, pen, books)
            if purse.number in books.purses:
                pen.append(entry("end", purse=purse.number, how=how, why=why))

    def charge_part(self, purse: Receipt, request: ChargeRequest, cost: Cost, *, patience: float = PATIENCE) -> Receipt:
        """A reservation inside a purse, or BudgetExceeded; its path lies in the purse's, and these add up."""
        with self._store.lock:
            books = self._read()
            with self._store.reading() as view:
                entry = self._of(purse, view, books).entry
        path = accounts.parsed_path(request.path)
        if entry["kind"] != "purse":
            raise bad("purse", "must be the receipt of a purse", entry["kind"], "Use what purse returned.")
        if not accounts.lies_in(path, path_of(entry)):
            fix = "Repeat the purse's parts in the path, or reserve a purse for the whole table."
            raise bad("path", "must lie inside the path of its purse", request.path, fix)
        located = replace(request, path=path, analyst=entry["analyst"], snapshot=entry["snapshot"])
        facts = charge_entry("part", located, cost, purse=purse.number)
        stored = self._stored_receipt("part", request.key)
        if stored is not None:
            return stored
        declared = None if request.epsilon is None else declaration(request, cost, self._relation)
        facts["epsilon"] = None if declared is None else str(declared.epsilon)
        facts["delta"] = None if declared is None else str(declared.delta)
        reserve = books.purses.get(purse.number)
        reserved = costs.from_json(entry["cost"]) if reserve is None else reserve.cost
        amount = insides.amount_taken(reserved, cost, self._relation)

        def decide_part(books: Books, earlier: Charge | None, asker: Asker) -> Decision:
            return decide.charge_in_purse(books, earlier, facts, amount, asker)

        return self._reserve(request.key, patience, decide_part)

    def commit(self, receipt: Receipt, answer: bytes) -> None:
        """Store the answer and COMMITTED in one transaction; only then may it be handed out."""
        if not isinstance(answer, bytes) or len(answer) > LONGEST_ANSWER:
            raise bad("answer", "must be bytes, 256 MiB at most", type(answer).__name__, "Encode the answer first.")
        digest = hashlib.sha256(answer).hexdigest()
        with self._writing() as (pen, books):
            charge = self._attempt(receipt, pen, books)
            if charge.answer is None and charge.attempt == receipt.attempt and charge.failed < receipt.attempt:
                facts = {"charge": receipt.number, "attempt": charge.attempt, "sha256": digest, "size": len(answer)}
                pen.append(entry("answer", **facts), (receipt.number, answer))
            elif charge.answer is None:
                raise refusal.given_up(receipt.number)
            elif charge.answer["sha256"] != digest:
                raise refusal.other_answer(receipt.number)
        self._running.discard(receipt.number)

    def fail(self, receipt: Receipt) -> None:
        """Record that this attempt gave no answer; the charge stays, and enough failures close the dataset."""
        if isinstance(receipt, Receipt):  # before what may fail: nobody computes it any more, written down or not
            self._running.discard(receipt.number)
        with self._writing() as (pen, books):
            charge = self._attempt(receipt, pen, books)
            if charge.answer is None and charge.failed < charge.attempt == receipt.attempt:
                pen.append(entry("failure", charge=receipt.number))

    # --- the curator's acts ------------------------------------------------------------------------------------------

    def set_budget(self, rules: Rules, why: str) -> None:
        """Change budget or caps: an entry of its own, with its reason; what was spent stays spent."""
        if not isinstance(rules, Rules):
            raise bad("rules", "must be Rules", rules, "Give Rules(budget(5)).")
        words = reason(why)
        with self._writing() as (pen, books):
            spent = books.account.spent
            if rules.budget.delta == 0 and (spent.delta or spent.keys):
                rule = "must stay above 0 once something with a δ was charged"
                raise bad("delta", rule, 0, "Keep the δ of the present budget.")
            pen.append(entry("budget", rules=stored_rules.to_json(rules), why=words))
            weighed = Books()
            weighed.read(pen.rows(0))  # weighs every charge again: nothing is written that could not be read
            pen.append(entry("checkpoint", sums=weighed.state()))  # so that no reader has to weigh them again

    def reopen(self, why: str) -> None:
        """Open the dataset again after its failures; an entry of its own."""
        self.note(entry("reopen", why=reason(why)))

    def carry(self, snapshot: str, older: Iterable[str]) -> None:
        """Write down, once, which ids earlier versions gave this content, so that their answers are found."""
        with self._writing() as (pen, books):
            new = [name for name in older if name not in books.carried.get(snapshot, ())]
            if new:
                pen.append(entry("carried", snapshot=snapshot_name(snapshot), older=list(map(snapshot_name, new))))

    def note(self, act: dict[str, Any]) -> None:
        """Append a curator's act that moves no sum."""
        with self._writing() as (pen, _):
            pen.append(act)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _stored_receipt(self, kind: str, key: str) -> Receipt | None:
        """The receipt of a stored answer, which never changes, so the ledger is not held and nothing is weighed."""
        charge = self._charge_under(key)
        if charge is None or charge.answer is None or charge.entry["kind"] != kind:
            return None
        return Receipt(charge.row.number, name_of(charge.row), key, charge.attempt, stored=True)

    def _reserve_charge(self, facts: dict[str, Any], request: ChargeRequest, cost: Cost, patience: float) -> Receipt:
        """Weigh outside the transaction, decide inside; weigh again if the budget was changed in between."""
        declared = declaration(request, cost, self._relation)
        facts |= {"epsilon": str(declared.epsilon), "delta": str(declared.delta)}
        weights: dict[Budget, Amounts] = {}

        def weigh() -> None:
            budget = self._read().rules.budget
            weights[budget] = weight_of(declared, budget)

        def decide_charge(books: Books, earlier: Charge | None, asker: Asker) -> Decision | None:
            weight = weights.get(books.rules.budget)
            return None if weight is None else decide.charge(books, earlier, facts, declared, weight, asker)

        weigh()
        return self._reserve(facts["key"], patience, decide_charge, weigh)

    def _reserve(
        self,
        key: str,
        patience: float,
        decide: Callable[[Books, Charge | None, Asker], Decision | None],
        prepare: Callable[[], None] = lambda: None,
    ) -> Receipt:
        """Decide in one transaction, as often as needed: after `prepare` where nothing could be decided yet, and after
        whoever is computing the same answer has stored it, failed or died."""
        deadline, awaited = time.monotonic() + patience, None
        while True:
            with self._writing() as (pen, books):
                asker = Asker(
                    self._lease.name(), lambda charge: self._is_held(charge.row.number, charge.holder), awaited
                )
                decision = decide(books, charge_of(pen, books, key), asker)
                row = None
                for entry in () if decision is None else decision.entries:
                    row = pen.append(entry)
            if decision is None:
                prepare()
            elif decision.working is None:
                return self._outcome(decision, row)
            else:
                awaited = decision.working.row.number
                self._wait_for(awaited, deadline)

    def _wait_for(self, number: int, deadline: float) -> None:
        """Wait until that charge is answered, failed or held by nobody; refuse at the deadline."""
        pause = _PAUSE
        while True:
            with self._store.lock:
                attempt = self._read().unanswered.get(number)
                if attempt is None or attempt.failed >= attempt.attempt or not self._is_held(number, attempt.holder):
                    return
            if time.monotonic() >= deadline:
                raise refusal.at_work(number)
            time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _outcome(self, decision: Decision, appended: Any) -> Receipt:
        """The receipt, or the refusal raised: after the transaction, so that a failure counted in it is kept."""
        if decision.refused is not None:
            raise decision.refused
        row = appended if decision.earlier is None else decision.earlier.row
        stored = decision.earlier is not None and decision.earlier.answer is not None
        if not stored:
            self._running.add(row.number)
        return Receipt(row.number, name_of(row), row.entry["key"], decision.attempt, stored)

    def _is_held(self, number: int, holder: str) -> bool:
        return number in self._running if holder == self._lease.current else self._lease.is_held(holder)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[tuple[Pen, Books]]:
        """The pen and the books up to date; where enough was written, a checkpoint follows in the same transaction."""
        with self._store.lock:
            try:
                with self._store.writing() as pen:
                    books = self._updated_books(pen)
                    due = checkpoint_is_due(books)
                    yield pen, books
                    if due and pen.written is not None:
                        books = self._updated_books(pen)
                        if books.since[0]:  # the block has written none itself
                            pen.append(entry("checkpoint", sums=books.state()))
            except BaseException:
                self._books = None  # it may have read what was not kept
                raise

    def _of(self, receipt: Receipt, view: View, books: Books) -> Charge:
        row = view.row(receipt.number) if isinstance(receipt, Receipt) else None
        if row is None or name_of(row) != receipt.name or "key" not in row.entry:
            raise bad("receipt", "must come from this ledger", type(receipt).__name__, "Use what charge returned.")
        return charge_in(view, books, row)

    def _attempt(self, receipt: Receipt, view: View, books: Books) -> Charge:
        charge = self._of(receipt, view, books)
        if charge.entry["kind"] == "purse":
            fix = "Charge inside the purse, and commit or fail that."
            raise bad("receipt", "must be of a charge: a purse has no answer of its own", charge.row.number, fix)
        return charge


def declaration(request: ChargeRequest, cost: Cost, relation: Relation) -> Declared:
    """The (ε, δ) of a request, refused where it does not cover the cost."""
    return declared(cost, relation, epsilon=request.epsilon, delta=request.delta)


def checkpoint_is_due(books: Books) -> bool:
    """Whether enough entries follow the last checkpoint, and at least as much text as it took.

    So all checkpoints but the last, those after a budget apart, take no more room than the entries, however many parts
    and purses they list.
    """
    entries, characters = books.since
    return entries >= CHECKPOINT and characters >= books.stated


def _store(path: Any, head: Any, wait: float) -> SqliteStore:
    place = Path(path).parent.resolve() / Path(path).name
    return SqliteStore(place, HeadFile(default_place(place) if head is None else Path(head).resolve()), wait)
