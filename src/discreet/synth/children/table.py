"""Two tables of the same units as one private table: rows joined where they are read, and every charge paid to both.

    the ledger of persons         holds the run, as that of any table
    the ledger of their rows      is charged the same before it, under a key that names the purse: once for each run

So neither table is ever told about for less than its own ledger says.  Killed in between, the build that follows finds
what was charged.  A run is one of this pair of ledgers: with other rows, of equal public facts, it is another run.
Proof page: docs/proofs/synth/children.md.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.engine import Engine
from discreet.engine.joined import JoinedSource
from discreet.engine.protocol import Progress, View
from discreet.errors import BadValue, BudgetExceeded, NotAnswerable, bad
from discreet.gate import Disclosed
from discreet.ledger import account as accounts
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.purse import Purse
from discreet.privacy.cost import Cost, to_json
from discreet.query.nodes import Expr
from discreet.request import Request
from discreet.run import Run
from discreet.schema import Budget, Schema
from discreet.synth.children.joining import Joining, joining_of
from discreet.table import Table
from discreet.terms import Terms

PAID = b'{"paid":true}'  # what the ledger of the rows stores: the result lies in that of persons


class JoinedTable(Table):
    """The table of persons with the rows of another; it is only synthesised."""

    def __init__(self, persons: Table, rows: Table, joining: Joining) -> None:
        super().__init__(persons.metadata, persons.toml, limits=persons.engine.limits)
        self.persons, self.rows, self.joining = persons, rows, joining

    @property
    def schema(self) -> Schema:
        """The public facts of both."""
        return self.joining.schema

    @property
    def budget(self) -> Budget:
        """The budget of persons; answers are shared among analysts only where both tables share theirs."""
        shares = self.persons.budget.share_answers and self.rows.budget.share_answers
        return replace(self.persons.budget, share_answers=shares)

    @property
    def ledger_path(self) -> Path:
        """Where the ledger of persons lies."""
        return self.persons.ledger_path

    @property
    def ledger(self) -> Ledger:
        """The ledger of persons."""
        return self.persons.ledger

    @cached_property
    def source(self) -> JoinedSource:
        """Where both tables lie."""
        names = {**self.joining.names}
        persons, rows = require_file(self.persons), require_file(self.rows)
        return JoinedSource(persons, self.persons.schema, rows, self.rows.schema, names, self.joining.presence)

    @property
    def engine(self) -> Engine:
        """The engine on the joined rows, whose worker is that of persons."""
        with self._lock:
            if not isinstance(self._engine, Engine):
                name, persons = f"{self.toml.stem}+{self.rows.toml.stem}", self.persons.engine
                self._engine = Engine(self.toml.parent, name, self.schema, self.source, self._limits)
                if isinstance(persons, Engine):
                    self._engine.process = persons.process
            return self._engine

    def delta(self, typed: Any = None) -> Fraction:
        """As `Table.delta`; without one the lesser default, so that neither table is charged more than is usual."""
        return min(table.delta(typed) for table in (self.persons, self.rows))

    @property
    def least_delta(self) -> Fraction:
        """The lesser δ of both budgets."""
        return min(table.budget.delta for table in (self.persons, self.rows))

    def remaining(self, analyst: str | None = None) -> dict[str, str]:
        """The less of what remains in both ledgers."""
        return _less(self.persons.remaining(analyst), self.rows.remaining(analyst))

    def remaining_after(
        self, cost: Cost, terms: Terms, *, analyst: str | None = None, path: accounts.Path = ()
    ) -> dict[str, str]:
        """The less of what would remain in both."""
        both = [table.remaining_after(cost, terms, analyst=analyst, path=path) for table in (self.persons, self.rows)]
        return _less(*both)

    def require_analyst(self, analyst: str | None) -> None:
        """As `Table.require_analyst`, of both."""
        self.persons.require_analyst(analyst)
        self.rows.require_analyst(analyst)

    def _key(self, request: Request, prefix: str, **more: str) -> str:
        """As `Table._key`, for this pair of ledgers."""
        return super()._key(request, prefix, rows_ledger=self.rows.ledger.origin, **more)

    def _enter(self, view: View) -> None:
        """Enter each ledger in the registry, over the table that it stands over."""
        for table in (self.persons, self.rows):
            table.view().close()

    def run(self, request: Request, cost: Cost, *, progress: Progress | None = None) -> Run:
        """As `Table.run`, for synthesis alone: only its counts have a bound that holds for both ledgers."""
        if "absence" not in request.facts.get("subject", {}):
            raise _only_synthesised()
        return super().run(request, cost, progress=progress)

    def disclose(self, *_: Any, **__: Any) -> Disclosed:
        """Refused: one charge would leave the ledger of the rows out."""
        raise _only_synthesised()

    def _new_purse(self, request: Request, charge: ChargeRequest, cost: Cost) -> Purse | None:
        """A purse of persons; the rows' ledger is charged first, unless that of persons has no room."""
        with _telling_whose(self.persons):
            refused = self.ledger.refusal(charge, cost)
            if refused is not None:
                raise refused
        with _telling_whose(self.rows):
            pay_rows(self.rows, self.ledger, request, charge.key, cost)
        return super()._new_purse(request, charge, cost)


def pay_rows(rows: Table, persons: Ledger, request: Request, purse_key: str, cost: Cost) -> None:
    """Charge the ledger of the rows for the run of that purse; again, it costs nothing.

    What is asked names the ledger of persons and each time that it was adopted: a copy, or a ledger that was set back,
    can begin the same purse once more, with other noise, and that is paid for anew.  So is one at another default δ.
    """
    words = {"text": f"{request.memo['text']}, with the table that it belongs to"}
    ledger = [persons.origin, *(act for act in persons.acts() if act["kind"] == "adopt")]
    facts = {"synth rows": 1, "purse": purse_key, "ledger": ledger, "cost": to_json(cost)}
    run = rows.run(Request(facts, request.terms, request.analyst, (), words), cost)
    try:
        if run.result() is None:
            run.done(PAID)
    finally:
        run.close()


def _only_synthesised() -> NotAnswerable:
    what, why = "Two tables together are only synthesised.", "Other questions have no bound that both ledgers can keep."
    return NotAnswerable(what, why, "Ask each table by itself.")


@contextlib.contextmanager
def _telling_whose(table: Table) -> Iterator[None]:
    """A refusal says whose budget it is, for there are two."""
    try:
        yield
    except BudgetExceeded as error:
        why = f"{error.why} This is the budget of {table.schema.name}; nothing was charged to either."
        raise BudgetExceeded(error.what, why, error.advice, error.remaining, error.requested) from None


def _less(left: Mapping[str, str], right: Mapping[str, str]) -> dict[str, str]:
    return {name: min(left[name], right[name], key=Fraction) for name in left}


def require_file(table: Table) -> Path:
    """The file of a table; in memory or in a server nothing is joined."""
    path = table.file
    if path is None:
        why, fix = "They are joined where files are read.", "Save both as Parquet or CSV, and open those."
        raise NotAnswerable("Two tables are synthesised from files alone.", why, fix)
    return path


def with_child(persons: Table, children: Any) -> JoinedTable:
    """The table with the rows of another; refused where they are one table, invented, or not of the same units."""
    if not isinstance(children, Mapping) or len(children) != 1:
        given = sorted(map(str, children)) if isinstance(children, Mapping) else type(children).__name__
        fix = 'Write: children={"visits": visits}'
        raise bad("children", "must name one table", given, fix)
    ((child, rows),) = children.items()
    if not isinstance(rows, Table):
        fix = "Open its metadata with dp.open, and give it whole."
        raise bad("children", "must be an open dataset", type(rows).__name__, fix)
    if isinstance(persons, JoinedTable) or isinstance(rows, JoinedTable):
        raise bad("children", "must be a table by itself", child, "Give the two datasets that were opened.")
    if persons.is_rehearsal or rows.is_rehearsal:
        why, fix = "Invented rows of two tables share no units.", "Rehearse each table by itself."
        raise NotAnswerable("Two tables are not rehearsed together.", why, fix)
    if persons.ledger_path.resolve() == rows.ledger_path.resolve():
        raise BadValue(
            "children must be other tables.", "This one is the table itself.", "Open the table of their rows."
        )
    for table in (persons, rows):
        require_file(table)
    return JoinedTable(persons, rows, joining_of(persons.schema, rows.schema, child))


def require_whole(where: Expr | None) -> None:
    """Refuses a part of the persons: the joined table divides them otherwise than their own."""
    if where is not None:
        why, fix = "A part is drawn by keys of its table, and two tables have keys of their own.", "Give all of them."
        raise NotAnswerable("Parts of two tables are not synthesised.", why, fix)
