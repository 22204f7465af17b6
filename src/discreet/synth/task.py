"""A synthetic table to be built: `quote` tells price, noise and when pairs pay, for nothing; `build` charges once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.price import price_of
from discreet.query.nodes import Expr
from discreet.schema.words import suggestion
from discreet.synth.build import build, require_kernels
from discreet.synth.children.table import require_whole, with_child
from discreet.synth.drawing import draw_now
from discreet.synth.plan import AUTO, MAX_CELLS, SynthPlan, plan_of, require_options
from discreet.synth.quote import SynthQuote, quote_of, title_of
from discreet.synth.subject import Subject, subject_of
from discreet.synth.synthetic import SyntheticTable, synthetic_of
from discreet.table import Table


@dataclass(frozen=True, eq=False)
class SynthTask:
    """A subject of one table with its options; no price yet."""

    table: Table
    subject: Subject
    method: str = AUTO
    max_cells: Any = MAX_CELLS
    rows: Any = None

    def plan(self, *, epsilon: Any, delta: Any = None) -> SynthPlan:
        """The plan at that price; it reads no data."""
        price = price_of(self.table.terms(epsilon, delta))
        return plan_of(self.subject, price, method=self.method, max_cells=self.max_cells, rows=self.rows)

    def quote(self, *, epsilon: Any, delta: Any = None, analyst: str | None = None) -> SynthQuote:
        """Price, noise and what would remain; free."""
        require_kernels(self.table)
        quote = quote_of(self.table, self.plan(epsilon=epsilon, delta=delta), analyst)
        return self.table.stamped(quote)

    def build(
        self, *, epsilon: Any, delta: Any = None, analyst: str | None = None, progress: Progress | None = None
    ) -> SyntheticTable:
        """The synthetic table: charged once and stored; the same again costs nothing.

        Its bytes are the same on one machine and version of the packages.  Where `progress` is told of it, the rows are
        drawn here, else when they are first asked for.
        """
        plan = self.plan(epsilon=epsilon, delta=delta)
        built = build(self.table, plan, analyst=analyst, progress=progress)
        if progress is not None:
            draw_now(built, progress)
        return synthetic_of(self.table, built)

    def __repr__(self) -> str:
        title = title_of(self.subject)
        verbs = ".quote(epsilon=1) costs nothing, .build(epsilon=1) is charged once"
        return f"<{title[0].lower()}{title[1:]}: {verbs}>"


OPTIONS = ("method", "max_cells", "zeros", "rows", "children")


def require_names(options: Mapping[str, Any]) -> None:
    """Refuses options of `synthesize` that it has not; a price is for `quote` and `build`."""
    unknown = next((name for name in options if name not in OPTIONS), None)
    if unknown is not None:
        similar = suggestion(unknown, ("columns", *OPTIONS))
        fix = f"Did you mean {similar}?" if similar else "The price goes to build: synthesize().build(epsilon=1)."
        raise bad("synthesize", f"takes columns, {', '.join(OPTIONS)}", unknown, fix)


def task_of(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    method: str = AUTO,
    max_cells: Any = MAX_CELLS,
    zeros: Iterable[Mapping[str, Any]] | None = None,
    rows: Any = None,
    where: Expr | None = None,
    children: Mapping[str, Table] | None = None,
) -> SynthTask:
    """The task of synthesising these columns; refused here where it has no meaning at any price.

    `children` names one more table with rows of the same units, which is synthesised with this one.
    """
    require_options(method, max_cells, rows)
    absence = None
    if children is not None:
        require_whole(where)
        table = with_child(table, children)
        absence = table.joining.absence
        columns = table.joining.with_presence(columns)
    subject = subject_of(table.schema, columns, zeros, where=where, absence=absence)
    return SynthTask(table, subject, method, max_cells, rows)
