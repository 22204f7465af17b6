"""Estimates and ± of every number, with public facts put in: a known number has itself as its estimate and ± 0.

An impossible cell is 0; a place's total is then the sum of its possible cells where that has the smaller ±.  All other
numbers are the unbiased estimates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.answer.spread import sum_radius
from discreet.ndarrays import Bools, Ints
from discreet.release.combined import Laws
from discreet.release.known import Known
from discreet.release.measure import Form, Marginal
from discreet.release.tree import Tree
from discreet.release.unbiased import MEASURED, Unbiased, estimator


@dataclass(frozen=True, eq=False)
class Margins:
    """Estimates of cells and of places' totals, and the ± of each number by itself."""

    tree: Tree
    unbiased: Unbiased
    possible: Bools | None  # by place and cell
    added: Ints  # ± of each place's total as the sum of its possible cells; −1 where the unbiased one is nearer
    public: Ints  # the total of each place, −1 where it is not known

    @cached_property
    def radius(self) -> Ints:
        """± of every cell (places, cells)."""
        return self._cells(self.unbiased.radius, np.zeros_like(self.public))

    @cached_property
    def total_radius(self) -> Ints:
        """± of every place's total (places,)."""
        radius = np.where(self.added >= 0, self.added, self.unbiased.total_radius)
        return np.where(self.public >= 0, 0, radius)

    def largest(self, tree_level: int) -> tuple[int, int]:
        """The largest ± of a cell and of a total on a level of the tree."""
        rows = self.tree.places(tree_level)
        return int(self.radius[rows].max()), int(self.total_radius[rows].max())

    def cells(self, noisy: Ints) -> Ints:
        """The estimate of every cell (places, cells), from a row of measured numbers for each place."""
        return self._cells(self.unbiased.cells(noisy), self.public)

    def totals(self, noisy: Ints) -> Ints:
        """The estimate of every place's total (places,)."""
        totals = self.unbiased.totals(noisy)
        if (self.added >= 0).any():
            totals = np.where(self.added >= 0, self.cells(noisy).sum(axis=1), totals)
        return np.where(self.public >= 0, self.public, totals)

    def _cells(self, table: Ints, public: Ints) -> Ints:
        """The table with 0 in impossible cells, and with `public` where a place of one cell has a known total."""
        if table.shape[1] == 1:
            table = np.where(self.public[:, None] >= 0, public[:, None], table)
        return table if self.possible is None else np.where(self.possible, table, 0)


def margins(
    tree: Tree, form: Form, marginals: Sequence[Marginal], laws: Laws, *, level: Fraction, known: Known
) -> Margins:
    """The margins of a release, from public facts alone."""
    estimates, possible = estimator(tree, form, marginals, laws, level), known.possible(tree)
    added = np.full(len(tree), -1, dtype=np.int64)
    if possible is not None and form is Form.PLAIN and estimates.way == MEASURED:
        added = _summed_radius(tree, possible, laws, level, estimates)
    return Margins(tree, estimates, possible, added, known.totals(tree))


def _summed_radius(tree: Tree, possible: Bools, laws: Laws, level: Fraction, estimates: Unbiased) -> Ints:
    """± of each place's total as the sum of its possible cells, of independent noise; −1 where it is no smaller."""
    counts = possible.sum(axis=1)
    radius = np.empty(len(tree), dtype=np.int64)
    for tree_level, level_laws in enumerate(laws):
        rows = tree.places(tree_level)
        different, which = np.unique(counts[rows], return_inverse=True)
        radius[rows] = np.array([sum_radius(level_laws[-1], int(count), level) for count in different])[which.ravel()]
    return np.where(radius < estimates.total_radius, radius, -1)
