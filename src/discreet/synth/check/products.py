"""Correlations of numeric columns by the synthetic table's own means and spreads.

    z = (x − m)/s, cut off at ±3        m, s the mean and the standard deviation of the synthetic cells
    correlation of two columns          mean of z·z′ over units

Where the synthetic columns have the mean and the spread of the real ones, and hardly a value lies beyond three of them,
this is the usual correlation.  Cells count as their middle, at most 64 of a column, and an empty cell as the mean.  All
of that is public, so products are fixed numbers of the cells of pairs, and a unit moves their sum by at most 9.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from discreet.bounded import Bounded
from discreet.engine.protocol import View
from discreet.ndarrays import Floats, Ints
from discreet.query.nodes import Expr
from discreet.schema.kind import ORDERED
from discreet.synth.build import Build
from discreet.synth.check.distances import in_batches
from discreet.synth.check.tables import STEPS, Clique, SyntheticCounts, Tables
from discreet.synth.column.column import SynthColumn

LARGEST = 9.0  # of a product
SCALE = 2**9  # steps of the largest product, for each of the steps that a unit adds to a table
_ROW_STEPS = 2**10  # that a unit adds where it has one row: products are then finer by as much
MOST_COLUMNS, _MOST_CELLS = 20, 64
_CUT = 3.0


@dataclass(frozen=True, eq=False)
class Products:
    """Pairs of numeric columns by cells, and the product of z for each cell of each pair, in steps."""

    tables: Tables
    scores: dict[int, Floats]

    def step(self, units: int) -> Fraction:
        """How far a unit moves the sum of products of one pair, where it moves rows of so many units."""
        return Fraction(units * STEPS * SCALE)

    def sums(self, counts: Ints, batch: list[Clique]) -> Ints:
        """The sum of products of each pair, from its counts."""
        parts = zip(batch, self.tables.split(counts, batch), strict=True)
        return np.array([int((own * self._products(clique)).sum()) for clique, own in parts], dtype=np.int64)

    def _products(self, clique: Clique) -> Ints:
        left, right = (self.scores[feature] for feature in clique)
        finest = SCALE * STEPS // self.tables.steps
        return np.rint(np.outer(left, right).ravel() * (finest / LARGEST)).astype(np.int64)

    def synthetic(self, counts: SyntheticCounts) -> Floats:
        """The correlation of each pair in the synthetic rows."""
        sums = [self.sums(counts.of(self.tables.public(batch)), batch) for batch in self.tables.batches()]
        return np.concatenate(sums) / (counts.total / LARGEST * SCALE)

    def real(self, view: View, units_moved: int, where: Expr | None) -> Bounded[Ints]:
        """The sum of products of each pair over the private rows."""
        step = self.step(units_moved)

        def numbers(batch: list[Clique]) -> Callable[[Ints], Ints]:
            return lambda counts: self.sums(counts, batch)

        return in_batches(view, self.tables, step, where, numbers)

    def expected_sums(self, correlations: Floats, units: int) -> Ints:
        """The sums that the synthetic correlations would give for so many units, in steps."""
        return np.rint(correlations * (units / LARGEST * SCALE)).astype(np.int64)


def products_of(build: Build, counts: SyntheticCounts) -> Products | None:
    """The products of the first numeric columns that vary; None where there are not two of them."""
    subject = build.plan.subject
    numeric = [place for place, column in enumerate(subject.columns) if column.is_ordered and column.type in ORDERED]
    singles = Tables(subject, tuple(map(np.arange, subject.sizes)), tuple((place,) for place in numeric), len(numeric))
    scores, groups = dict[int, Floats](), [np.zeros(size, dtype=np.int64) for size in subject.sizes]
    for place in numeric[:MOST_COLUMNS]:
        column = _Column(subject.columns[place], counts.of(singles.public([(place,)])).astype(np.float64))
        if column.spread > 0:
            groups[place], scores[place] = column.groups, column.scores
    if len(scores) < 2:
        return None
    pairs = tuple(combinations(sorted(scores), 2))
    steps = STEPS if subject.is_shared else _ROW_STEPS
    return Products(Tables(subject, tuple(groups), pairs, comb(len(numeric), 2), steps), scores)


@dataclass(frozen=True, eq=False)
class _Column:
    """One numeric column with the synthetic counts of its cells, the empty one last."""

    column: SynthColumn
    counts: Floats

    @cached_property
    def middles(self) -> Floats:
        """The number that each cell counts as."""
        if self.column.values is not None:
            return np.array([float(value) for value in self.column.values])
        edges = np.array([float(edge) for edge in self.column.edges or ()])
        middles: Floats = (edges[:-1] + edges[1:]) / 2
        return middles

    @cached_property
    def mean(self) -> float:
        """Of the synthetic rows with a number."""
        weights = self.counts[:-1]
        return float(weights @ self.middles / weights.sum()) if weights.sum() > 0 else 0.0

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the synthetic rows with a number."""
        weights = self.counts[:-1]
        if weights.sum() <= 0:
            return 0.0
        return float(np.sqrt(weights @ (self.middles - self.mean) ** 2 / weights.sum()))

    @cached_property
    def groups(self) -> Ints:
        """Neighbouring cells joined evenly where there are many; the empty cell alone."""
        joined = -(-self.column.cells // _MOST_CELLS)
        groups = np.arange(self.column.cells) // joined
        return np.append(groups, groups[-1] + 1)

    @cached_property
    def scores(self) -> Floats:
        """z of each group, by its synthetic rows or, without any, by its middle; 0 for the empty cell."""
        groups, weights = self.groups[:-1], self.counts[:-1]
        totals = np.bincount(groups, weights=weights)
        plain = np.bincount(groups, weights=self.middles) / np.bincount(groups)
        means = np.bincount(groups, weights=weights * self.middles)
        means = np.where(totals > 0, means / np.maximum(totals, 1), plain)
        cut: Floats = np.clip((means - self.mean) / self.spread, -_CUT, _CUT)
        padded: Floats = np.append(cut, 0.0)
        return padded
