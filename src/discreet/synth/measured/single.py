"""A column from its noisy counts: smoothed where noise drowns the cells, not negative, adding up to the total.

    steps      cells in order: the piecewise-constant function that minimises Σ (y − f)² + λ·s²·(number of pieces)
    simplex    the nearest x to y with x ≥ 0 and Σ x = N: x = max(y − t, 0) for one t

λ = 2·ln(1 + cells), as a new piece must explain more than the largest of that many noises (Birgé & Massart 2001; the
program over pieces is that of Jagadish et al. 1998).  Both see noisy counts alone.
"""

from math import log

import numpy as np

from discreet.ndarrays import Floats

_EMPTY = 3.0  # s: where the empty cell has less, it is taken for noise
_PIECE = 2.0  # of s²·ln(1 + cells)


def simplex(counts: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and add up to the total.

    >>> simplex(np.array([3.0, -1.0, 1.0]), 3.0).tolist()
    [2.5, 0.0, 0.5]
    """
    falling = np.sort(counts)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    level = levels[np.flatnonzero(falling - levels > 0)[-1]] if total > 0 else np.inf
    return np.maximum(counts - level, 0.0)


def shares(counts: Floats, deviation: float, total: float, *, is_ordered: bool) -> Floats:
    """The share of each cell of a column, from noisy counts with that standard deviation; the empty cell is last."""
    smooth = counts.copy()
    if is_ordered and len(counts) > 2:
        smooth[:-1] = steps(counts[:-1], deviation)
    elif not is_ordered:
        smooth[:-1] = shrunk(counts[:-1], deviation)
    whole = max(total, 1.0)
    if len(counts) > 1 and counts[-1] < _EMPTY * deviation:
        return np.append(simplex(smooth[:-1], whole), 0.0) / whole
    return simplex(smooth, whole) / whole


def shrunk(counts: Floats, deviation: float) -> Floats:
    """Noisy counts moved towards their mean, the more so the less they differ beyond the noise.

    ȳ + (1 − (c − 3)·s²/Σ(y − ȳ)²)₊·(y − ȳ) has less expected squared error than y under normal noise of known s, for
    c ≥ 4 cells and whatever the true counts are (James & Stein 1961; Efron & Morris 1973 for the mean).

    >>> shrunk(np.array([9.0, 11.0, 10.0, 10.0, 10.0]), 1.0).tolist()
    [10.0, 10.0, 10.0, 10.0, 10.0]
    """
    if len(counts) < 4:
        return counts
    level = counts.mean()
    squares = float(np.square(counts - level).sum())
    kept = 1 - (len(counts) - 3) * deviation**2 / squares if squares > 0 else 0.0
    moved: Floats = level + max(kept, 0.0) * (counts - level)
    return moved


def steps(counts: Floats, deviation: float) -> Floats:
    """The best piecewise-constant function through noisy counts in order.

    >>> steps(np.array([9.0, 11.0, 10.0, 99.0, 101.0]), 1.0).tolist()
    [10.0, 10.0, 10.0, 100.0, 100.0]
    """
    cells = len(counts)
    price = _PIECE * deviation**2 * log(1 + cells)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    squares = np.concatenate([[0.0], np.cumsum(counts**2)])
    best = np.zeros(cells + 1)
    begins = np.zeros(cells + 1, dtype=np.int64)
    for end in range(1, cells + 1):
        starts = np.arange(end)
        widths = end - starts
        errors = squares[end] - squares[:end] - (sums[end] - sums[:end]) ** 2 / widths
        costs = best[:end] + errors + price
        begins[end] = int(np.argmin(costs))
        best[end] = costs[begins[end]]
    smooth = np.empty(cells)
    end = cells
    while end:
        begin = int(begins[end])
        smooth[begin:end] = (sums[end] - sums[begin]) / (end - begin)
        end = begin
    return smooth
