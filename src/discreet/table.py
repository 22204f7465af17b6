"""Table: schema, engine and ledger of one dataset, and the contract of rooms.

people.toml             public facts          people.ledger     what was spent
people.*.prepared       typed, capped rows    people.key        the key of hashes and snapshots

A room plans from `schema`, takes a `view` of the rows, and gives a `Request` with a mechanism to `disclose`, or with
a cost to `run`.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from discreet import amounts
from discreet import remaining as remains
from discreet.bounded import Bounded
from discreet.engine import Engine, Limits, PostgresEngine
from discreet.engine.protocol import Progress, View
from discreet.errors import Conflict, MetadataError, SourceUnavailable, bad
from discreet.fix import UNKNOWN, Fix
from discreet.gate import Disclosed, disclose, handed_out
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger import forks, second
from discreet.ledger.head import default_place
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.purse import Purse
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.standing import Standing
from discreet.mechanism.promise import Mechanism
from discreet.metadata import Metadata
from discreet.privacy.cost import Cost
from discreet.query.explain import unit
from discreet.request import Request
from discreet.run import Gate, Run
from discreet.schema import Budget, Schema
from discreet.schema.words import suggestion
from discreet.terms import LEVEL, Terms

DELTA_SHARE = 100  # a question takes a hundredth of the budget's δ unless another is typed
Exact = TypeVar("Exact")
Value = TypeVar("Value")
OlderKey = Callable[[str], str]  # from the first ledgers' id of a snapshot to the key they stored the answer under


class Table:
    """A private table behind its gate.  Engine and ledger are opened when first used, and threads may share it."""

    is_rehearsal = False  # its rows are private ones, not invented

    def __init__(
        self,
        metadata: Metadata,
        toml: Path,
        *,
        frame: Any = None,
        limits: Limits | None = None,
        second_ledger: str | None = None,
    ) -> None:
        self.metadata, self.toml = metadata, toml
        self._second, self._entered = second_ledger, dict[str, str]()
        self._frame, self._limits = frame, limits or metadata.limits or Limits()
        self._engine: Engine | PostgresEngine | None = None
        self._ledger: Ledger | None = None
        self.renew_lock()
        forks.call_in_child(self, Table.renew_lock)

    def renew_lock(self) -> None:
        """Take a new lock: after a fork another thread of the parent may hold the old one."""
        self._lock = threading.RLock()

    @property
    def schema(self) -> Schema:
        """The public facts."""
        return self.metadata.schema

    @property
    def budget(self) -> Budget:
        """The budget of the metadata; without one every question is refused."""
        if self.metadata.budget is None:
            what, why = f"{self.toml.name} has no [budget].", "Without one there is no limit to what could be learnt."
            raise MetadataError(what, why, "Add to it:\n[budget]\nepsilon = 3")
        return self.metadata.budget

    @property
    def ledger_path(self) -> Path:
        """Where the ledger lies: beside the metadata."""
        return self.toml.with_suffix(".ledger")

    @property
    def engine(self) -> Engine | PostgresEngine:
        """The engine on the prepared table; the worker starts with the first question."""
        with self._lock:
            if self._engine is None:
                about = (self.toml.parent, self.toml.stem, self.schema)
                address = self.metadata.address if self._frame is None else None
                if address is not None:
                    self._engine = PostgresEngine(*about, address, self._limits)
                else:
                    source = self._frame if self._frame is not None else self._source()
                    self._engine = Engine(*about, source, self._limits)
            return self._engine

    @property
    def file(self) -> Path | None:
        """The file that the rows are in; None for a table in memory or in a server."""
        return None if self._frame is not None or self.metadata.address is not None else self._source()

    def _source(self) -> Path:
        path = self.metadata.source_path
        if path is None:
            fix = f'In {self.toml.name} under [dataset] write: source = "{self.schema.name}.csv"'
            raise SourceUnavailable("No table is named.", "The metadata has no source, and no table was given.", fix)
        return path

    @property
    def opening(self) -> Opening:
        """The dataset, unit, relation and rules that the ledger is bound to."""
        budget = self.budget
        rules = Rules(
            filters.budget(budget.epsilon, budget.delta, ceiling=budget.max_delta),
            budget.max_epsilon_per_question,
            budget.max_delta,
            budget.analysts,
        )
        return Opening(self.schema.name, unit(self.schema), self.schema.relation, rules)

    @property
    def ledger(self) -> Ledger:
        """The ledger; its file is created by the first charge."""
        with self._lock:
            if self._ledger is None:
                fixed = [column.name for column in self.schema.columns if column.fixed_per_unit]
                self._ledger = Ledger.open_or_create(self.ledger_path, self.opening, fixed=fixed, head=self._head)
            return self._ledger

    @property
    def _head(self) -> Path | None:
        """Where the head of the ledger lies; None for the place that ledgers have by default."""
        return None

    def standing(self) -> Standing | None:
        """Where the ledger stands; None before the first charge."""
        ledger = self.ledger_if_any()
        return None if ledger is None else ledger.standing()

    def ledger_if_any(self) -> Ledger | None:
        """The ledger; None before the first charge, for whoever only looks must not make one."""
        return self.ledger if self._has_ledger() else None

    def _has_ledger(self) -> bool:
        """Whether the ledger exists, or its head does: a ledger that was lost must not look like none."""
        path = self.ledger_path.parent.resolve() / self.ledger_path.name
        return self._ledger is not None or path.exists() or default_place(path).exists()

    # --- prices ------------------------------------------------------------------------------------------------------

    def delta(self, typed: Any = None) -> Fraction:
        """The δ of a request: as typed, or a hundredth of the budget's."""
        if typed is None:
            return self.budget.delta / DELTA_SHARE
        delta = amounts.delta(typed, ceiling=self.budget.max_delta)
        if delta and not self.budget.delta:
            set_delta = {"delta": "1e-7", "why": UNKNOWN}
            fix = Fix("Leave it out, or set a budget with a delta:", "budget set", set_delta)
            raise bad("delta", "must be 0 under a budget without a delta", typed, fix)
        return delta

    @property
    def least_delta(self) -> Fraction:
        """The δ of the budget; of several ledgers that are charged together the least."""
        return self.budget.delta

    def terms(self, epsilon: Any, delta: Any = None, level: Any = None) -> Terms:
        """The terms of a request, parsed here and nowhere below; the default level is 0.95."""
        parsed = Terms.parse(epsilon, self.delta(delta), LEVEL if level is None else level)
        return parsed if delta is None else replace(parsed, typed_delta=parsed.delta)

    def remaining(self, analyst: str | None = None) -> dict[str, str]:
        """What remains of ε, and of δ for questions and for keys."""
        return remains.remaining(self.budget, self.ledger_if_any(), analyst)

    def remaining_after(
        self, cost: Cost, terms: Terms, *, analyst: str | None = None, path: accounts.Path = ()
    ) -> dict[str, str]:
        """What `remaining` would give after that charge, whether or not it fits."""
        ledger, relation = self.ledger_if_any(), self.schema.relation
        return remains.remaining_after(self.budget, ledger, analyst, cost, terms, path, relation)

    def stamped(self, value: Value) -> Value:
        """What a room gives out, as it is; a rehearsal puts its stamp on it."""
        return value

    # --- guards ------------------------------------------------------------------------------------------------------

    def require_own(self, schema: Schema) -> None:
        """Refuse a plan for other public facts: its caps and noise are not those of this table."""
        if schema != self.schema:
            raise bad("plan", "must be made for this table", schema.name, "Plan anew with the dataset that is asked.")

    def require_analyst(self, analyst: str | None) -> None:
        """Refuse a name that looks misspelt: an analyst without a cap could spend the whole budget."""
        names = [name for name, _ in self.budget.analysts]
        intended = suggestion(analyst, names) if analyst is not None and analyst not in names else None
        if intended is not None:
            words = f"Did you mean {intended!r}? For someone new, set a cap:"
            fix = Fix(words, "budget set", {"analyst": (f"{analyst}=1",), "why": UNKNOWN})
            raise bad("analyst", "must be spelt as under [budget.analysts]", analyst, fix)

    # --- what rooms use ----------------------------------------------------------------------------------------------

    def prepare(self, progress: Progress | None = None) -> str:
        """Prepare the rows unless they are prepared, and return their snapshot."""
        return self.engine.prepare(progress).snapshot

    def view(self, progress: Progress | None = None, *, snapshot: str | None = None) -> View:
        """One state of the rows, held open; refused if another ledger stands over the same rows."""
        with self._lock:
            if self._has_ledger():
                self.engine.keep(self.ledger.snapshots_in_use())
            view = self.engine.view(progress, snapshot=snapshot)
            try:
                self._enter(view)
            except BaseException:
                view.close()
                raise
        return view

    def _enter(self, view: View) -> None:
        """Enter this ledger in the registry of sources, and note the ids that earlier versions gave these rows."""
        identity = self.engine.identity()
        if identity != self._entered:
            second.register(self.ledger_path, identity, lambda: self.ledger, self.schema.name, why=self._second)
            self._entered = identity
        carried = self.engine.older_snapshots(view.snapshot)
        if carried and not set(carried) <= set(self.ledger.older_snapshots(view.snapshot)):
            self.ledger.carry(view.snapshot, carried)

    def charge_request(self, request: Request, snapshot: str) -> ChargeRequest:
        """The charge that the request asks for, under its key on that state of the rows."""
        return request.charge(self._key(request, "key 2", snapshot=snapshot), snapshot)

    def _key(self, request: Request, prefix: str, **more: str) -> str:
        return request.key(prefix, self.schema, self.budget, **more)

    @property
    def _gate(self) -> Gate:
        return disclose

    def disclose(
        self,
        request: Request,
        view: View,
        mechanism: Mechanism,
        bounded: Bounded[Exact],
        *,
        pack: Callable[[Any], bytes],
        older_key: OlderKey | None = None,
    ) -> Disclosed:
        """Charge, compute, add noise, store, hand out; a stored answer is handed out again for nothing."""
        self.require_analyst(request.analyst)
        if older_key is not None and self._has_ledger():
            for snapshot in self.ledger.older_snapshots(view.snapshot):
                key = older_key(snapshot)
                stored, receipt = self.ledger.stored(key), self.ledger.receipt(key)
                if stored is not None and receipt is not None:
                    return Disclosed(handed_out(stored), receipt, replayed=True)
        return self._gate(self.ledger, self.charge_request(request, view.snapshot), mechanism, bounded, pack=pack)

    def run(self, request: Request, cost: Cost, *, progress: Progress | None = None) -> Run:
        """The run of that request.

        A run under way goes on with the rows it began with.  A finished run of the present rows is replayed.  Otherwise
        a new run begins, and all that it may take is charged now.
        """
        self.require_analyst(request.analyst)
        run_key = self._key(request, "run")
        purse = self.ledger.open_run(run_key, request.analyst)
        if purse is not None and purse.run is not None:
            begun = purse.run.snapshot
            return self._run(purse, lambda: self.view(progress, snapshot=begun), request.path)
        view = self.view(progress)
        return self._run(self._purse(request, cost, run_key, view.snapshot), lambda: view, request.path)

    def _run(self, purse: Purse, view: Callable[[], View], path: accounts.Path) -> Run:
        return Run(purse, view, path)

    def _purse(self, request: Request, cost: Cost, run_key: str, snapshot: str) -> Purse:
        """The purse of a run on that state that is open or has a result, else a new one; abandoned ones are passed."""
        for attempt in itertools.count():
            key = self._key(request, "run", snapshot=snapshot, attempt=str(attempt))
            purse = self.ledger.purse_of(key)
            if purse is None:
                purse = self._new_purse(request, request.charge(key, snapshot, run_key), cost)
                if purse is not None:
                    return purse
                purse = self.ledger.purse_of(key)
            if purse is not None:
                run = Run(purse, lambda: self.view(snapshot=snapshot))
                if purse.is_open or run.result() is not None:
                    return purse
        raise AssertionError("unreachable")

    def _new_purse(self, _: Request, charge: ChargeRequest, cost: Cost) -> Purse | None:
        """A purse for a run that begins; None where another process began and ended it meanwhile."""
        with contextlib.suppress(Conflict):
            return self.ledger.purse(charge, cost)
        return None

    def close(self) -> None:
        """Stop the worker and let go of the ledger."""
        with self._lock:
            for part in (self._engine, self._ledger):
                if part is not None:
                    part.close()
            self._engine = self._ledger = None
