"""The bounds of a small database beside what draws for an invented table reach: for lessons, and for nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import amounts
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM, Source
from discreet.synth.small.law import SmallLaw, counts_by_cell
from discreet.synth.small.selection import Selection

_MOST_RUNS = 10**5


@dataclass(frozen=True, eq=False)
class Lesson:
    """Worst errors of draws for one invented table; `law` is the exact law they are drawn from."""

    selection: Selection
    law: SmallLaw
    errors: Floats

    @property
    def within(self) -> float:
        """The share of draws whose worst error is at most our bound."""
        return float((self.errors <= self.selection.bound).mean())

    @property
    def lines(self) -> tuple[tuple[str, float], ...]:
        """What is compared, from what is promised for every table to what this one got."""
        selection, law = self.selection, self.law
        level = 1 - selection.setting.missed
        often = f"{100 * float(level):g} of 100"
        return (
            ("the lecture's bound, for any table", selection.lecture_bound),
            ("our bound, for any table", selection.bound),
            (f"exact, for this table, in {often} draws at most", law.quantile(level)),
            ("exact, on average", law.mean),
            ("the best database of that size", law.nearest),
            (f"on average of {self.errors.size:,} draws", float(self.errors.mean())),
            (f"the worst of {self.errors.size:,} draws", float(self.errors.max())),
        )

    def __str__(self) -> str:
        return "\n".join(["worst error over all queries", *(f"{value:7.3f}  {name}" for name, value in self.lines)])


def lesson(selection: Selection, histogram: Any, runs: int = 200, source: Source = SYSTEM) -> Lesson:
    """The lesson for an invented table with these counts by cell; plans have their selection as `plan.selection`."""
    counts = counts_by_cell(histogram, selection.candidates, "histogram")
    runs = amounts.count(runs, "runs", 1, _MOST_RUNS)
    held = selection.counts(counts)
    drawn = selection.mechanism.many(held, runs, source)
    return Lesson(selection, selection.law(counts), worst_errors(selection, counts, drawn))


def worst_errors(selection: Selection, histogram: Ints, drawn: Ints) -> Floats:
    """The worst error over all queries of each drawn database, one a row, against an invented table."""
    candidates = selection.candidates
    targets = candidates.size * selection.counts(histogram)
    losses = [candidates.loss(candidates.atom_counts(database), targets) for database in drawn]
    return np.array(losses) / (candidates.rows * candidates.size)


def invented_histogram(cells: int, rows: int, seed: int) -> Ints:
    """Counts by cell of an invented table: shares are uniform among all shares, and rows are drawn from them.

    >>> invented_histogram(4, 1000, 1).sum()
    np.int64(1000)
    """
    draw = generator(seed)
    counts: Ints = draw.multinomial(rows, draw.dirichlet(np.ones(cells))).astype(np.int64)
    return counts
