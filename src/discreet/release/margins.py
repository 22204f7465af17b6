"""± of every number, with what is public put in: where a number is known it is that number, and its ± is 0.

A cell that cannot hold anything is 0, and a place's total the sum of the others where that is nearer; a total that is
public is that total.  All else is the unbiased estimate.
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
from discreet.release.unbiased import MEASURED, Unbiased, unbiased


@dataclass(frozen=True, eq=False)
class Margins:
    """Estimates of cells and of places' totals, and the ± of each number by itself; known before anything is spent."""

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
        found = np.where(self.added >= 0, self.added, self.unbiased.total_radius)
        return np.where(self.public >= 0, 0, found)

    def largest(self, level: int) -> tuple[int, int]:
        """The largest ± of a cell and of a total on a level of the tree."""
        rows = self.tree.places(level)
        return int(self.radius[rows].max()), int(self.total_radius[rows].max())

    def cells(self, noisy: Ints) -> Ints:
        """The estimate of every cell (places, cells), from a row of measured numbers for each place."""
        return self._cells(self.unbiased.cells(noisy), self.public)

    def totals(self, noisy: Ints) -> Ints:
        """The estimate of every place's total (places,)."""
        found = self.unbiased.totals(noisy)
        if (self.added >= 0).any():
            found = np.where(self.added >= 0, self.cells(noisy).sum(axis=1), found)
        return np.where(self.public >= 0, self.public, found)

    def _cells(self, table: Ints, public: Ints) -> Ints:
        """The table with 0 where nothing can be, and with `public` where a known total is that of one cell."""
        if table.shape[1] == 1:
            table = np.where(self.public[:, None] >= 0, public[:, None], table)
        return table if self.possible is None else np.where(self.possible, table, 0)


def margins(
    tree: Tree, form: Form, marginals: Sequence[Marginal], laws: Laws, *, level: Fraction, known: Known
) -> Margins:
    """How every number of a release is estimated and how exact that is, from public facts alone."""
    found, possible = unbiased(tree, form, marginals, laws, level), known.possible(tree)
    added = np.full(len(tree), -1, dtype=np.int64)
    if possible is not None and form is Form.PLAIN and found.way == MEASURED:
        added = _added(tree, possible, laws, level, found)
    return Margins(tree, found, possible, added, known.totals(tree))


def _added(tree: Tree, possible: Bools, laws: Laws, level: Fraction, found: Unbiased) -> Ints:
    """Possible cells have independent noise of one law on each level."""
    counts = possible.sum(axis=1)
    radius = np.empty(len(tree), dtype=np.int64)
    for at, each in enumerate(laws):
        rows = tree.places(at)
        several, which = np.unique(counts[rows], return_inverse=True)
        radius[rows] = np.array([sum_radius(each[-1], int(few), level) for few in several])[which.ravel()]
    return np.where(radius < found.total_radius, radius, -1)
