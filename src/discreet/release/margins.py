"""± of every number, with what is public put in: where a number is known it is that number, and its ± is 0.

A cell that cannot hold anything is 0; a place's total that is public is that total.  All else is the unbiased estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.release.known import Bools, Known
from discreet.release.measure import Form, Marginal
from discreet.release.tree import Ints, Tree
from discreet.release.unbiased import Laws, Unbiased, unbiased


@dataclass(frozen=True, eq=False)
class Margins:
    """Estimates of cells and of places' totals, and the ± of each number by itself; known before anything is spent."""

    tree: Tree
    unbiased: Unbiased
    possible: Bools | None  # by place and cell
    public: Ints  # the total of each place, −1 where it is not known

    @cached_property
    def radius(self) -> Ints:
        """± of every cell (places, cells)."""
        return self._cells(self.unbiased.radius, np.zeros_like(self.public))

    @cached_property
    def total_radius(self) -> Ints:
        """± of every place's total (places,)."""
        return np.where(self.public >= 0, 0, self.unbiased.total_radius)

    def largest(self, level: int) -> tuple[int, int]:
        """The largest ± of a cell and of a total on a level of the tree."""
        rows = self.tree.places(level)
        return int(self.radius[rows].max()), int(self.total_radius[rows].max())

    def cells(self, noisy: Ints) -> Ints:
        """The estimate of every cell (places, cells), from a row of measured numbers for each place."""
        return self._cells(self.unbiased.cells(noisy), self.public)

    def totals(self, noisy: Ints) -> Ints:
        """The estimate of every place's total (places,)."""
        return np.where(self.public >= 0, self.public, self.unbiased.totals(noisy))

    def _cells(self, table: Ints, public: Ints) -> Ints:
        """The table with 0 where nothing can be, and with `public` where a known total is that of one cell."""
        if table.shape[1] == 1:
            table = np.where(self.public[:, None] >= 0, public[:, None], table)
        return table if self.possible is None else np.where(self.possible, table, 0)


def margins(tree: Tree, form: Form, marginals: Sequence[Marginal], laws: Laws, *, level: Any, known: Known) -> Margins:
    """How every number of a release is estimated and how exact that is, from public facts alone."""
    return Margins(tree, unbiased(tree, form, marginals, laws, level), known.possible(tree), known.totals(tree))
