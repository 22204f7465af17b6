"""Tests of one tree chosen from noisy tables: each time the cut that tells the classes apart best, given the others.

A cut divides the cells of one feature in two: numbers at an edge, categories in the order of how much their cells speak
for the class that they tell most about.  Its gain is that of Σ over parts and classes of

    (rows of the class − rows expected by its share)² / rows

in the shrunk tables, given the cuts that the feature has already.  A feature that noise alone could have made gains
nothing, and where nothing gains the tree ends.  An empty cell goes where most rows are.  Free: all of it was released.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.learn.counts.rates import Rates
from discreet.ndarrays import Floats, Ints

_TINY = 1e-9  # rows


@dataclass(frozen=True, eq=False)
class _Line:
    """The cells of a feature in order, and running sums over them: rows beyond what is expected, and rows."""

    order: Ints
    beyond: Floats  # class × (cells + 1)
    rows: Floats  # cells + 1

    def best_cut(self, cuts: Sequence[int]) -> tuple[float, int]:
        """The largest gain of one cut more, and where it lies; −1 where no cut is left."""
        ends = np.array([0, *sorted(cuts), len(self.order)])
        places = np.setdiff1d(np.arange(1, len(self.order)), ends)
        if not len(places):
            return -1.0, 0
        after = np.searchsorted(ends, places, side="right")
        below, above = ends[after - 1], ends[after]
        gains = self._between(below, places) + self._between(places, above) - self._between(below, above)
        return float(gains.max()), int(places[np.argmax(gains)])

    def sides(self, cut: int) -> Ints:
        """The side of each cell, and of an empty one."""
        sides = np.zeros(len(self.order) + 1, dtype=np.int64)
        sides[self.order[cut:]] = 1
        sides[-1] = self.rows[-1] - self.rows[cut] > self.rows[cut]
        return sides

    def _between(self, first: Ints, end: Ints) -> Floats:
        beyond = self.beyond[:, end] - self.beyond[:, first]
        parts: Floats = (beyond**2).sum(axis=0) / np.maximum(self.rows[end] - self.rows[first], _TINY)
        return parts


def greedy_tests(rates: Rates, ordered: Sequence[bool], depth: int) -> tuple[Ints, Ints]:
    """The features asked, 1 × test, and the sides of their cells, 1 × test × cell."""
    lines = [
        _line(rates.prior, table, logs, is_ordered)
        for table, logs, is_ordered in zip(rates.tables, rates.logs, ordered, strict=True)
    ]
    cuts: list[list[int]] = [[] for _ in lines]
    best = [line.best_cut([]) for line in lines]
    asked, sides = list[int](), np.zeros((depth, 1 + max(len(line.order) for line in lines)), dtype=np.int64)
    while len(asked) < depth:
        feature = int(np.argmax([gain for gain, _ in best]))
        gain, cut = best[feature]
        if gain <= _TINY:
            break
        own = lines[feature].sides(cut)
        sides[len(asked), : len(own)] = own
        asked.append(feature)
        cuts[feature].append(cut)
        best[feature] = lines[feature].best_cut(cuts[feature])
    return np.array([asked], dtype=np.int64).reshape(1, -1), sides[None, : len(asked)]


def _line(prior: Floats, table: Floats, logs: Floats, is_ordered: bool) -> _Line:
    rows = np.maximum(table.sum(axis=0), 0.0) + _TINY
    beyond = rows * prior[:, None] * np.expm1(logs)
    telling = int(np.argmax((beyond**2 / rows).sum(axis=1)))
    order = np.arange(len(rows)) if is_ordered else np.argsort(beyond[telling] / rows, kind="stable")
    sums = [
        np.append(np.zeros((len(part), 1)), np.cumsum(part[:, order], axis=1), axis=1) for part in (beyond, rows[None])
    ]
    return _Line(order, sums[0], sums[1][0])
