"""Dataset: the thin face.  It forwards to the rooms and holds nothing of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from discreet import metadata
from discreet.amounts import shown
from discreet.answer.answer import Answer
from discreet.answer.quote import Quote
from discreet.ask import room
from discreet.engine import Limits
from discreet.engine.protocol import Progress
from discreet.errors import NotAnswerable
from discreet.ledger.standing import Standing
from discreet.query import explain
from discreet.query.bound import Draft
from discreet.query.form.frame import Frame
from discreet.query.nodes import Question
from discreet.query.plan import Plan
from discreet.query.plan import plan as planned
from discreet.query.sql import NO_OPTIONS, Options, parsed
from discreet.rehearsal import Rehearsal, stamped
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.release.face import Releasing


@dataclass(frozen=True)
class Asking:
    """A question about a dataset, not asked yet: price and error first, then `ask`."""

    table: Table
    form: Question | Frame
    options: Options = NO_OPTIONS

    @cached_property
    def draft(self) -> Draft:
        """The question, bounded; refused where it cannot be answered privately."""
        return room.draft(self.table, self.form.question if isinstance(self.form, Frame) else self.form)

    def plan(
        self,
        *,
        epsilon: Any = None,
        error: Mapping[str, Any] | float | None = None,
        delta: Any = None,
        level: Any = None,
    ) -> Plan:
        """What would be done at that price; costs nothing, touches no data."""
        typed = {"epsilon": epsilon, "error": error, "delta": delta, "level": level}
        return planned(self.draft, room.terms(self.table, self.draft, self.options, **typed))

    def quote(
        self,
        *,
        epsilon: Any = None,
        error: Mapping[str, Any] | float | None = None,
        delta: Any = None,
        level: Any = None,
        at_size: int | None = None,
        analyst: str | None = None,
    ) -> Quote:
        """Cost, ± and what would remain; costs nothing, touches no data."""
        made = self.plan(epsilon=epsilon, error=error, delta=delta, level=level)
        return stamped(self.table, room.quote(self.table, made, analyst=analyst, at_size=at_size))

    def ask(
        self,
        *,
        epsilon: Any = None,
        error: Mapping[str, Any] | float | None = None,
        delta: Any = None,
        level: Any = None,
        analyst: str | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """The answer: charged, noisy, stored; the same question again gives the same answer for nothing."""
        made = self.plan(epsilon=epsilon, error=error, delta=delta, level=level)
        return stamped(self.table, room.ask(self.table, made, analyst=analyst, progress=progress))

    def explain(self, *, epsilon: Any = 1, delta: Any = None, level: Any = None) -> str:
        """How it would be answered, in words: caps, sensitivity, mechanism, scale, split."""
        return "\n".join(explain.words(self.plan(epsilon=epsilon, delta=delta, level=level)))

    def __repr__(self) -> str:
        return f"<question about {self.table.schema.name}: .quote(epsilon=1) costs nothing, .ask(epsilon=1) answers>"


@dataclass(frozen=True, repr=False)
class Building(Asking):
    """A question in the Python form; each method gives a new one, and `ask` works once there is an aggregate."""

    form: Frame

    def where(self, *conditions: Any) -> "Building":
        """As `Frame.where`."""
        return self._with(self.form.where(*conditions))

    def group_by(self, *keys: Any, **named_keys: Any) -> "Building":
        """As `Frame.group_by`."""
        return self._with(self.form.group_by(*keys, **named_keys))

    def agg(self, **outputs: Any) -> "Building":
        """As `Frame.agg`."""
        return self._with(self.form.agg(**outputs))

    def having(self, *conditions: Any) -> "Building":
        """As `Frame.having`."""
        return self._with(self.form.having(*conditions))

    def order_by(self, *names: str) -> "Building":
        """As `Frame.order_by`."""
        return self._with(self.form.order_by(*names))

    def limit(self, rows: int) -> "Building":
        """As `Frame.limit`."""
        return self._with(self.form.limit(rows))

    def offset(self, rows: int) -> "Building":
        """As `Frame.offset`."""
        return self._with(self.form.offset(rows))

    def caps(self, *, rows: int | None = None, groups: int | None = None) -> "Building":
        """As `Frame.caps`."""
        return self._with(self.form.caps(rows=rows, groups=groups))

    def _with(self, form: Frame) -> "Building":
        return Building(self.table, form)


class Dataset:
    """A private table behind its gate; printing it shows public facts and never a row."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def table(self) -> Table:
        """What the rooms take."""
        return self._table

    def sql(self, text: str) -> Asking:
        """The question that an SQL text asks."""
        found = parsed(text)
        _require_unit(found.options, self._table)
        asking = Asking(self._table, found.question, found.options)
        _ = asking.draft  # refused here and now, where the text is
        return asking

    def where(self, *conditions: Any) -> Building:
        """A question about rows for which all conditions hold."""
        return self._frame().where(*conditions)

    def group_by(self, *keys: Any, **named_keys: Any) -> Building:
        """A question with an answered row for each value of the keys."""
        return self._frame().group_by(*keys, **named_keys)

    def agg(self, **outputs: Any) -> Building:
        """A question about the whole table: `name=aggregate` for each column."""
        return self._frame().agg(**outputs)

    def _frame(self) -> Building:
        return Building(self._table, Frame(self._table.schema.name))

    def release(
        self,
        hierarchy: str | None = None,
        *,
        by: str | Iterable[str] = (),
        count: str = "units",
        groups: str | None = None,
        largest: int | None = None,
        marginals: Iterable[Iterable[str]] | None = None,
    ) -> "Releasing":
        """Tables over a tree of places that add up: counts of units or rows by public columns, or sizes of groups."""
        from discreet.release.face import releasing

        found = releasing(
            self._table, hierarchy=hierarchy, by=by, count=count, groups=groups, largest=largest, marginals=marginals
        )
        return stamped(self._table, found)

    @property
    def budget(self) -> Standing | None:
        """Where the ledger stands; None before the first charge."""
        return self._table.standing()

    def prepare(self, progress: Progress | None = None) -> str:
        """The snapshot of the prepared table; questions prepare it by themselves."""
        return self._table.prepare(progress)

    def close(self) -> None:
        """Stop the engine and let go of the ledger."""
        self._table.close()

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        schema, left = self._table.schema, self._table.remaining()
        columns = ", ".join(f"{column.name} ({column.type})" for column in schema.columns)
        rehearsed = "REHEARSAL on invented rows: " if isinstance(self._table, Rehearsal) else ""
        return (
            f"<{rehearsed}dataset {schema.name}: {columns}; protects each {explain.unit(schema)}; "
            f"epsilon {left['epsilon']} of {shown(Fraction(self._table.budget.epsilon))} left>"
        )


def open_dataset(
    path: str | Path,
    *,
    table: Any = None,
    limits: Limits | None = None,
    second_ledger: str | None = None,
    rehearsal: bool = False,
) -> Dataset:
    """The dataset that a TOML describes; `table` takes a pandas, Polars or Arrow table in place of its source.

    `second_ledger` is the reason why these rows have two ledgers, which both then record: without one, rows that
    another ledger stands over are refused.

    With `rehearsal` the rows are invented from the metadata and the ledger is thrown away: neither `table` nor the
    source is looked at, nothing is charged, failures show their cause, and all that comes out is stamped.
    """
    given = Path(path)
    opened = metadata.load(given)
    if rehearsal:
        return Dataset(Rehearsal(opened, given, limits=limits))
    return Dataset(Table(opened, given, frame=table, limits=limits, second_ledger=second_ledger))


def _require_unit(options: Options, table: Table) -> None:
    """A unit named in the question must be the one that is protected."""
    key = explain.unit(table.schema)
    if options.unit is not None and options.unit.casefold() != key.casefold():
        why = f"The ledger protects each {key}; a question cannot choose another unit."
        raise NotAnswerable(
            f"privacy_unit_column must be {key}.", why, f"Write: privacy_unit_column={key}, or leave it out."
        )
