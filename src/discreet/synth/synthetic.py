"""A synthetic table: invented rows, what was measured for them, and what may be concluded from them.

Everything here is post-processing of released numbers and free, but for `check`, which is a charge of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.protocol import Progress
from discreet.learn.learner import LATTICE
from discreet.learn.privacy import WHOLE, Privacy
from discreet.noise.public import generator
from discreet.query.explain import unit
from discreet.synth.build import Build
from discreet.synth.children.table import JoinedTable
from discreet.synth.column.values import arrow_of, frame_of
from discreet.synth.drawn import Codes, seed_of
from discreet.synth.measured.facts import Measurement, measurements_of
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.synth.answers.answer import SyntheticAnswer
    from discreet.synth.check.quote import CheckQuote
    from discreet.synth.check.result import Check


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """The rows of one build, with its promise."""

    build: Build
    privacy_: Privacy
    table: Table | None  # asked again by `check` alone; None where the table was loaded without it

    @property
    def codes(self) -> Codes:
        """The rows as fine codes."""
        return self.build.codes

    @property
    def rows(self) -> int:
        """How many rows there are: a noisy or a public number, never the true one."""
        return self.codes.rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; those of whole units begin with the number of the synthetic unit."""
        names = tuple(column.name for column in self.build.plan.subject.columns)
        return (self.unit_column, *names) if self.codes.units is not None else names

    @property
    def unit_column(self) -> str:
        """What the column of synthetic units is called: as the table's own key."""
        return unit(self.build.plan.subject.schema)

    @cached_property
    def measured(self) -> tuple[Measurement, ...]:
        """What was measured, each table with its σ and its exact share of the price; shares add up to 1."""
        return measurements_of(self.build.plan, self.build.parts)

    def to_pandas(self) -> Any:
        """The rows as a pandas frame; categories have the schema's values, dates are dates."""
        frame = frame_of(self._columns, self._codes, self._random, self.codes.units)
        if self.codes.units is not None:
            frame.insert(0, self.unit_column, self.codes.units)
        return frame

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        arrow = arrow_of(self._columns, self._codes, self._random, self.codes.units)
        return arrow if self.codes.units is None else arrow.add_column(0, self.unit_column, [self.codes.units])

    def save(self, place: str | Path, *, replace: bool = False) -> Path:
        """Write the rows with their promise to a .parquet file, or alone to a .csv; equal tables are equal bytes."""
        from discreet.synth.saved.file import save

        return save(self, place, replace=replace)

    def answer(self, sql: str, *, progress: Progress | None = None) -> "SyntheticAnswer":
        """A question asked of the synthetic rows, with a ± that says what it covers; free.

        The first ± from replicates makes them: `progress` is told of it.
        """
        from discreet.synth.answers.answer import answer

        return answer(self, sql, progress=progress)

    def replicates(self, count: int = 20, *, progress: Progress | None = None) -> "tuple[Any, ...]":
        """Frames as this one could have come out with other noise; free.

        Their spread is what noise adds to the standard error of a statistic; the model's error is not in it.
        """
        from discreet.synth.answers.replicate import replicate_tables

        return tuple(table.to_pandas() for table in replicate_tables(self, count, progress=progress))

    def check(
        self,
        *,
        epsilon: Any,
        delta: Any = None,
        target: str | None = None,
        on: Any = None,
        analyst: str | None = None,
        progress: Progress | None = None,
    ) -> "Check":
        """How far the synthetic table is from the private one, charged once and stored.

        `target` is a column that a model of the synthetic rows is tried on, `on` a part of the table that built none.
        """
        from discreet.synth.check.check import check

        return check(self, epsilon=epsilon, delta=delta, target=target, on=on, analyst=analyst, progress=progress)

    def quote_check(
        self, *, epsilon: Any, delta: Any = None, target: str | None = None, on: Any = None, analyst: str | None = None
    ) -> "CheckQuote":
        """What that check would cost, what it would tell and within which ±; free."""
        from discreet.synth.check.check import quote_check

        return quote_check(self, epsilon=epsilon, delta=delta, target=target, on=on, analyst=analyst)

    def report(self, place: str | Path | None = None, *, check: "Check | None" = None) -> Any:
        """A page about the table: its promise, what was measured, what it is not for, and a check if there is one."""
        from discreet.synth.report.page import report

        return report(self, place, check=check)

    def card(self) -> str:
        """The same in Markdown."""
        from discreet.synth.report.card import card

        text: str = card(self)
        return text

    @property
    def _columns(self) -> Sequence[Any]:
        return self.build.plan.subject.columns

    @property
    def _codes(self) -> Mapping[str, Any]:
        pairs = zip(self._columns, self.codes.columns, strict=True)
        return {column.name: codes.astype(np.int64) for column, codes in pairs}

    @property
    def _random(self) -> Any:
        """Values within cells are drawn by a seed of their own, so that every form of the rows is the same."""
        return generator(seed_of(self.build.parts) + 1)

    def __repr__(self) -> str:
        epsilon = self.privacy_.epsilon
        return f"<synthetic table: {self.rows:,} rows, {len(self.columns)} columns; ε = {float(epsilon):g}>"


def synthetic_of(table: Table | None, build: Build) -> SyntheticTable:
    """The table that a build makes, with its promise; a rehearsal puts its stamp on that."""
    if isinstance(table, JoinedTable):
        from discreet.synth.children.tables import SyntheticTables

        return SyntheticTables(build, privacy_of(build), table)
    synthetic = SyntheticTable(build, privacy_of(build), table)
    return synthetic if table is None else table.stamped(synthetic)


def privacy_of(build: Build) -> Privacy:
    """What a synthetic table promises."""
    plan = build.plan
    schema, terms = plan.subject.schema, plan.price.terms
    return Privacy(
        terms.epsilon,
        terms.delta,
        schema.relation,
        unit(schema),
        schema.max_rows,
        plan.cost,
        plan.words(),
        LATTICE,
        {"columns": [column.to_json() for column in plan.subject.columns], "rows": plan.rows},
        WHOLE.replace("model", "synthetic table"),
        build.receipt,
    )
