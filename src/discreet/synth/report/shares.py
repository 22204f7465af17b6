"""Single columns as they are drawn: the share of every cell, joined to few bars where there are many cells."""

from collections.abc import Sequence

import numpy as np

from discreet.ndarrays import Floats
from discreet.synth.column.column import SynthColumn, measure_text
from discreet.synth.model.synthesis import Singles, singles_of
from discreet.synth.plan import SynthPlan
from discreet.synth.report.pictures import Bar
from discreet.synth.report.words import sure
from discreet.synth.synthetic import SyntheticTable

MOST_BARS = 24
OTHERS, EMPTY = "all others", "empty"


def singles(table: SyntheticTable) -> Singles:
    """What was measured of every column by itself, once or twice."""
    steps = {str(part.tally["name"]): part for part in table.build.parts}
    return singles_of(table.build.plan, [steps[name] for name in ("singles", "columns") if name in steps])


def column_bars(plan: SynthPlan, own: Singles, place: int) -> list[Bar]:
    """The bars of one feature: of 100 units how many are in each cell, with ± of the measured count."""
    shares, deviation = 100 * own.shares[place], 100 * sure(plan) * own.tables[place].deviation / own.total
    columns = plan.subject.columns
    column = columns[place] if place < len(columns) else None
    cells = len(shares) - 1
    groups = _runs(cells) if plan.subject.are_ordered[place] else _largest(shares[:-1])
    joined = [
        Bar(_label(column, group, cells), float(shares[group].sum()), deviation * len(group) ** 0.5) for group in groups
    ]
    if shares[-1] > 0:
        joined.append(Bar(EMPTY, float(shares[-1]), deviation))
    return joined


def _runs(cells: int) -> list[list[int]]:
    """Cells in order, as many together as leave no more than the most bars."""
    width = -(-cells // MOST_BARS)
    return [list(range(start, min(start + width, cells))) for start in range(0, cells, width)]


def _largest(shares: Floats) -> list[list[int]]:
    """The largest cells in the order of the schema, and all others as one."""
    if len(shares) <= MOST_BARS:
        return [[cell] for cell in range(len(shares))]
    order = np.argsort(-shares, kind="stable").tolist()
    return [*([cell] for cell in sorted(order[: MOST_BARS - 1])), sorted(order[MOST_BARS - 1 :])]


def _label(column: SynthColumn | None, group: Sequence[int], cells: int) -> str:
    first, last = group[0], group[-1]
    if column is None:  # how many rows a unit has
        return str(first + 1) if first == last else f"{first + 1} – {last + 1}"
    if first == last:
        return column.label(first)
    if column.edges is None:
        return f"{column.label(first)} – {column.label(last)}" if column.is_ordered else OTHERS
    low, high = (measure_text(column.edges[place], column.type) for place in (first, last + 1))
    return f"[{low}, {high}{']' if last == cells - 1 else ')'}"
