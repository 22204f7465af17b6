"""An answer of a synthetic table: values of its rows, each with a ± at 95 % that says what it covers.

measured      the answer counts whole cells of one measured column or pair: the value is that of the synthetic rows,
              and ± reaches to the ends of the measured count's exact interval, so that it covers the private count
replicates    anything else: t·s of the values of replicates, for noise alone; how far the model is off is unknown
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import stdev
from typing import Any

from discreet.answer.column import Column, Plain, column, one_text, one_value, plain
from discreet.answer.noisy import Estimates
from discreet.engine.protocol import Progress
from discreet.errors import NotAnswerable, bad
from discreet.query.after import row_order
from discreet.query.bound import Draft
from discreet.query.explain import synthetic_caveats
from discreet.query.readable import question_text
from discreet.synth.answers.asked import draft_for
from discreet.synth.answers.counted import Counted, counted_on
from discreet.synth.answers.exact import Exact, exact_count
from discreet.synth.answers.replicate import each_replicate
from discreet.synth.answers.whole import whole_counts
from discreet.synth.children.tables import SyntheticTables
from discreet.synth.drawing import draw_now
from discreet.synth.synthetic import SyntheticTable
from discreet.terms import LEVEL

MEASURED, REPLICATES, NONE = "measured", "replicates", "none"
REPLICATED = 20
WORDS = {
    MEASURED: "measured: counted in the private table, with noise of a known law; the private count lies within ± as "
    "often as stated.",
    REPLICATES: f"replicates: ± is of noise alone, from {REPLICATED} replicates; model error unknown, and often "
    "larger, as for values within a cell or for pairs that were not measured.",
    NONE: "none: no ± is known.",
}


@dataclass(frozen=True)
class SyntheticAnswer:
    """Rows of keys and columns, as `Answer` has them; `kinds` says for each column and row what its ± covers.

    `measured` has for each column and row the measured count that a value of kind "measured" stands for.
    """

    dataset: str
    question: str
    keys: tuple[str, ...]
    labels: tuple[tuple[Plain, ...], ...]
    columns: tuple[Column, ...]
    kinds: tuple[tuple[str, ...], ...]
    measured: tuple[tuple[float | None, ...], ...]
    cost: dict[str, Any]
    notes: tuple[str, ...] = ()
    level: Fraction = LEVEL

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def _outgoing(self) -> "SyntheticAnswer":
        """The answer that others see; a rehearsal marks it."""
        return self

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per row: keys, then each value, its ± and its kind."""
        return [dict(zip(self.keys, label, strict=True)) | self._row(index) for index, label in enumerate(self.labels)]

    def _row(self, index: int) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for own, kinds in zip(self.columns, self.kinds, strict=True):
            row |= {own.name: one_value(own.value[index]), f"{own.name}_moe": own.moe[index]}
            row[f"{own.name}_kind"] = kinds[index]
        return row

    def to_pandas(self) -> Any:
        """Keys, then each value with its ± and kind; the words of the kinds in `attrs`."""
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            raise bad("frame", "needs the package pandas", "no pandas here", "Install discreet[frames].") from None
        outgoing = self._outgoing
        names = [*outgoing.keys, *(f"{c.name}{end}" for c in outgoing.columns for end in ("", "_moe", "_kind"))]
        frame = pandas.DataFrame(outgoing.rows, columns=names)
        frame.attrs["discreet"] = outgoing.provenance()
        return frame

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        outgoing = self._outgoing
        return outgoing.provenance() | {"rows": outgoing.rows}

    def provenance(self) -> dict[str, Any]:
        """Everything but the rows."""
        return {
            "dataset": self.dataset,
            "question": self.question,
            "synthetic": True,
            "cost": self.cost,
            "charged": "0",
            "level": float(self.level),
            "measured": {own.name: list(values) for own, values in zip(self.columns, self.measured, strict=True)},
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        from discreet.synth.answers.show import text

        return text(self._outgoing)

    def _repr_html_(self) -> str:
        from discreet.synth.answers.show import html

        return html(self._outgoing)


def answer(table: SyntheticTable, sql: str, *, progress: Progress | None = None) -> SyntheticAnswer:
    """The answer of the synthetic rows to that question; free, and the same whenever it is asked."""
    _require_single(table)
    draft = draft_for(sql, table.build.plan.subject)
    if progress is not None:
        draw_now(table.build, progress)
    (counted,) = counted_on([table.to_arrow()], draft)
    exacts = _exacts(table, draft, counted)
    replicates = [] if _are_all_exact(exacts) else _replicate_counts(table, draft, progress)
    columns, kinds = [], []
    for place, output in enumerate(draft.question.outputs):
        estimates, own = _estimates(place, counted, exacts[place], replicates)
        columns.append(column(output.name, estimates, mechanism="synthetic rows"))
        kinds.append(own)
    terms, schema = table.build.plan.price.terms, table.build.plan.subject.schema
    whole = SyntheticAnswer(
        dataset=schema.name,
        question=question_text(draft.question),
        keys=tuple(key.name for key in draft.question.keys),
        labels=tuple(tuple(map(plain, label)) for label in counted.labels),
        columns=tuple(columns),
        kinds=tuple(kinds),
        measured=tuple(tuple(None if own is None else own.value for own in column) for column in exacts),
        cost=terms.cost_json(schema.relation, table.privacy_.unit),
        notes=(*_notes(table, kinds), *synthetic_caveats(draft)),
    )
    taken = _taken(whole, draft)
    return taken if table.table is None else table.table.stamped(taken)


def _require_single(table: SyntheticTable) -> None:
    if isinstance(table, SyntheticTables):
        why = "A question is about one table, and this is of units and their rows."
        fix = "Compute it from to_pandas() and children, and its standard error from replicate_tables(20)."
        raise NotAnswerable("Two synthetic tables do not answer questions.", why, fix)


def _exacts(table: SyntheticTable, draft: Draft, counted: Counted) -> list[list[Exact | None]]:
    """For each output and group its measured count, where it has one."""
    columns = []
    for output in draft.question.outputs:
        wholes = whole_counts(draft, output.aggregate, table.build.plan.subject)
        own = [None if whole is None else exact_count(table.build, whole, LEVEL) for whole in wholes]
        columns.append(own or [None] * len(counted.labels))
    return columns


def _are_all_exact(exacts: Sequence[Sequence[Exact | None]]) -> bool:
    return all(exact is not None for own in exacts for exact in own)


def _replicate_counts(table: SyntheticTable, draft: Draft, progress: Progress | None) -> list[Counted]:
    replicates = each_replicate(table, REPLICATED, progress=progress)
    return counted_on((replicate.to_arrow() for replicate in replicates), draft)


def _estimates(
    place: int, counted: Counted, exacts: Sequence[Exact | None], replicates: Sequence[Counted]
) -> tuple[Estimates, tuple[str, ...]]:
    """One output's values with the ends of their ±, and what each covers."""
    by_label = [own.by_label() for own in replicates]
    low, high, kinds = list[Any](), list[Any](), list[str]()
    values = list(counted.values[place])
    for label, value, exact in zip(counted.labels, values, exacts, strict=True):
        if exact is not None:
            ends: tuple[float, float] | None = (exact.low, exact.high)
        else:
            others = [rows[label][place] for rows in by_label if label in rows]
            ends = _spread_ends(value, others)
        low.append(None if ends is None else ends[0])
        high.append(None if ends is None else ends[1])
        kinds.append(MEASURED if exact is not None else NONE if ends is None else REPLICATES)
    return Estimates(values, low, high), tuple(kinds)


def _spread_ends(value: Any, others: Sequence[Any]) -> tuple[float, float] | None:
    """value ± t·s, with s the standard deviation of the replicates' values and t Student's for their number less 1."""
    from scipy.special import stdtrit

    numbers = [float(other) for other in others if isinstance(other, int | float | Fraction)]
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or len(numbers) < 2:
        return None
    wide = float(stdtrit(len(numbers) - 1, float(1 + LEVEL) / 2)) * stdev(numbers)
    return float(value) - wide, float(value) + wide


def _notes(table: SyntheticTable, kinds: Sequence[Sequence[str]]) -> tuple[str, ...]:
    present = {kind for own in kinds for kind in own}
    notes = [words for kind, words in WORDS.items() if kind in present]
    rows = table.build.plan.rows
    if rows is not None:
        notes.append(f"The table was asked to stand for {rows:,} units: its counts and sums are of so many.")
    return tuple(notes)


def _taken(whole: SyntheticAnswer, draft: Draft) -> SyntheticAnswer:
    """The rows that HAVING, ORDER BY and LIMIT leave."""
    ranks = {
        key.key.name: {plain(label): rank for rank, label in enumerate(key.labels)}
        for key in draft.cells.keys
        if key.labels is not None
    }
    values = zip(*(map(one_text, own.value) for own in whole.columns), strict=True)
    names = [own.name for own in whole.columns]
    rows = [
        dict(zip(whole.keys, label, strict=True)) | dict(zip(names, row, strict=True))
        for label, row in zip(whole.labels, values, strict=True)
    ]
    order = row_order(rows, draft.question.after, label_ranks=ranks)
    return replace(
        whole,
        labels=tuple(whole.labels[index] for index in order),
        columns=tuple(own.take(order) for own in whole.columns),
        kinds=tuple(tuple(own[index] for index in order) for own in whole.kinds),
        measured=tuple(tuple(own[index] for index in order) for own in whole.measured),
    )
