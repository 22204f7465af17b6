"""Cells of several features looked up together: one look-up for each row in place of one for each feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.ndarrays import Floats, Ints

MOST_CROSSED = 2**12  # entries of a table for features that are looked up together: it stays in the nearest cache


@dataclass(frozen=True, eq=False)
class Crossed:
    """Features that are looked up together: their codes as one, in mixed radix, an empty cell being a code of its own.

    One look-up serves several features, which is what most of a pass is spent on.
    """

    spans: tuple[tuple[int, int], ...]  # of each feature its first column and how many it has
    codes: Ints

    def lines(self, weights: Floats) -> Floats:
        """Σ over the features of the weight of their cell, for each row."""
        table = np.zeros(1)
        for first, cells in self.spans:
            table = (table[:, None] + np.append(weights[first : first + cells], 0.0)).ravel()
        return np.take(table, self.codes, mode="clip")

    def add_sums(self, factors: Floats, total: Floats) -> None:
        """Add to each column the factors of the rows in its cell."""
        shape = [cells + 1 for _, cells in self.spans]
        table = np.bincount(self.codes, weights=factors, minlength=prod(shape)).reshape(shape)
        for axis, (first, cells) in enumerate(self.spans):
            others = tuple(other for other in range(len(shape)) if other != axis)
            total[first : first + cells] += table.sum(axis=others)[:-1]


def cross(cells: Sequence[tuple[int, int, Ints]]) -> tuple[Crossed, ...]:
    """Features in their order, crossed as long as the table of a group stays short."""
    groups: list[Crossed] = []
    for first, size, codes in cells:
        plain = np.where(codes >= 0, codes, size)
        last = groups[-1] if groups else None
        if last is not None and prod(span + 1 for _, span in last.spans) * (size + 1) <= MOST_CROSSED:
            groups[-1] = Crossed((*last.spans, (first, size)), (last.codes * (size + 1) + plain).astype(np.intp))
        else:
            groups.append(Crossed(((first, size),), plain.astype(np.intp)))
    return tuple(groups)
