"""From noisy tables class × cell to how much each cell speaks for each class; free, for it reads released numbers only.

    agree     every table counts all rows, but for those with an empty cell: class totals are the tables' average,
              weighted by 1/cells, and tables are shifted to it; π is the prior of the classes
    rates     P(class | cell), shrunk: pseudo-counts 3·s·√z + 1 for z cells, s the noise's standard deviation, go to the
              rates of the parent; numbers shrink down a dyadic tree, averaged over four places where it may begin, and
              a node whose noisy total is below 3·s·√z keeps the rates of its parent
    signal    max(0, 1 − (m − 1)/χ²) for m cells, the factor of James & Stein (1961): near 0 for a table of noise alone

The constants were chosen by trying them on Adult, German credit and the diabetes table (docs/claims.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Floats

_PSEUDO, _SHIFTS = 3.0, 4
_LEAST_PRIOR = 0.01  # of a class
_TINY = 1e-9  # rows


@dataclass(frozen=True, eq=False)
class Rates:
    """What tables say: the prior π of classes, the noisy number of rows, and ln(P(class | cell)/π) of each feature."""

    prior: Floats
    rows: float
    tables: tuple[Floats, ...]  # consistent counts, class × cell
    logs: tuple[Floats, ...]  # class × cell

    @property
    def masses(self) -> tuple[Floats, ...]:
        """The share of the rows in each cell of each feature; equal shares where noise left no rows."""
        counts = [np.maximum(table.sum(axis=0), 0.0) + _TINY for table in self.tables]
        return tuple(own / own.sum() for own in counts)


def rates_of(tables: Sequence[Floats], deviation: float, ordered: Sequence[bool]) -> Rates:
    """The rates of noisy tables whose noise has that standard deviation."""
    consistent, rows, prior = consistent_tables(tables, deviation)
    logs = []
    for table, is_ordered in zip(consistent, ordered, strict=True):
        rates = cell_rates(table, deviation, prior, is_ordered)
        logs.append(signal(table, deviation, prior, is_ordered) * (np.log(rates) - np.log(prior)[:, None]))
    return Rates(prior, rows, tuple(consistent), tuple(logs))


def consistent_tables(tables: Sequence[Floats], deviation: float) -> tuple[list[Floats], float, Floats]:
    """The tables with equal class totals, the number of rows, and the prior of the classes."""
    weights = np.array([1 / table.shape[1] for table in tables])
    totals = np.stack([table.sum(axis=1) for table in tables], axis=1) @ weights / weights.sum()
    shifted = [table + ((totals - table.sum(axis=1)) / table.shape[1])[:, None] for table in tables]
    positive = np.maximum(totals, deviation)
    prior = np.clip(positive / positive.sum(), _LEAST_PRIOR, 1 - _LEAST_PRIOR)
    return shifted, float(positive.sum()), prior / prior.sum()


def shrunk(counts: Floats, cells: Floats, deviation: float, parent: Floats, pseudo: float) -> Floats:
    """Rates of noisy counts, pulled to those of the parent by pseudo-counts in proportion to the noise."""
    positive = np.maximum(counts, 0.0)
    pseudo_rows = pseudo * deviation * np.sqrt(cells) + 1
    rates: Floats = (positive + pseudo_rows * parent) / (positive.sum(axis=-2) + pseudo_rows)
    return rates


def cell_rates(table: Floats, deviation: float, prior: Floats, is_ordered: bool) -> Floats:
    """P(class | cell): shrunk to π, and for an ordered feature from the whole range down to its cells."""
    if not is_ordered or table.shape[1] <= 3:
        return shrunk(table, np.ones(table.shape[1]), deviation, prior[:, None], _PSEUDO)
    total = np.zeros(table.shape)
    for shift in range(_SHIFTS):
        before = np.zeros((len(table), shift))
        levels = [(np.hstack([before, table]), np.append(before[0], np.ones(table.shape[1])))]
        while levels[-1][0].shape[1] > 1:
            levels.append(_pairs_of_cells(*levels[-1]))
        rates = prior[:, None]
        for counts, cells in reversed(levels[:-1]):
            parent = np.repeat(rates, 2, axis=1)[:, : counts.shape[1]]
            is_light = counts.sum(axis=0) < _PSEUDO * deviation * np.sqrt(cells)
            rates = np.where(is_light, parent, shrunk(counts, cells, deviation, parent, _PSEUDO))
        total += rates[:, shift:]
    return total / _SHIFTS


def _pairs_of_cells(counts: Floats, cells: Floats) -> tuple[Floats, Floats]:
    """Neighbouring cells added up in pairs."""
    if counts.shape[1] % 2:
        counts, cells = np.hstack([counts, np.zeros((len(counts), 1))]), np.append(cells, 0.0)
    return counts[:, ::2] + counts[:, 1::2], cells[::2] + cells[1::2]


def signal(table: Floats, deviation: float, prior: Floats, is_ordered: bool) -> float:
    """How much of a feature's table is more than noise, between 0 and 1: the best over the dyadic levels."""
    classes = len(prior)
    differences, cells = table - prior[:, None] * table.sum(axis=0), 1
    variance = deviation**2 * float(((1 - prior) ** 2 + (classes - 1) * prior**2).sum())
    best = 0.0
    while differences.shape[1] > 1:
        chi_squared = float((differences**2).sum()) / (cells * variance)
        best = max(best, 1 - (differences.shape[1] - 1) / max(chi_squared, 1e-9))
        if not is_ordered or differences.shape[1] < 4:
            break
        differences, cells = _pairs_of_cells(differences, np.ones(differences.shape[1]))[0], 2 * cells
    return best
