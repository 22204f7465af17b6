"""How far the marginals of two coded tables lie apart, and what simple tables reach: the yardsticks of synthetic data.

The distance of two marginals is Σ |p − q| over their cells, of shares that add up to 1; it is not halved, so that 2 is
the largest.  Noise of these yardsticks is that of floats.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.synth_data import Coded
from benchmarks.synth_price import DELTA, mu_of
from discreet.ndarrays import Floats, Ints

_MOST_DENSE = 4_000_000  # cells that are counted in an array; of larger marginals only the cells that occur


@dataclass(frozen=True)
class Score:
    """Mean distances of marginals of one, two and three columns, and CPU seconds from the table to the rows.

    ε is None where there is no privacy.
    """

    table: str
    method: str
    epsilon: float | None
    draw: int
    one_way: float
    two_way: float
    three_way: float
    seconds: float = 0.0


def score(rows: Coded, method: str, epsilon: float | None, draw: int, codes: Ints, seconds: float = 0.0) -> Score:
    """How far codes are from the rows; an empty cell, which some methods draw, counts as one more code."""
    return Score(rows.name, method, epsilon, draw, *mean_errors(rows.codes, codes, rows.cells), seconds)


def mean_error(real: Ints, other: Ints, sizes: tuple[int, ...], columns: int) -> float:
    """The mean distance over all marginals of so many columns."""
    subsets = list(combinations(range(len(sizes)), columns))
    return math.fsum(distance(real, other, sizes, subset) for subset in subsets) / len(subsets)


def mean_errors(real: Ints, other: Ints, sizes: tuple[int, ...]) -> tuple[float, float, float]:
    """The mean distance over all marginals of one, two and three columns."""
    one_way, two_way, three_way = (mean_error(real, other, sizes, columns) for columns in (1, 2, 3))
    return one_way, two_way, three_way


def distance(real: Ints, other: Ints, sizes: tuple[int, ...], subset: tuple[int, ...]) -> float:
    """Σ |p − q| of one marginal."""
    cells = math.prod(sizes[column] for column in subset)
    first, second = _flat(real, sizes, subset), _flat(other, sizes, subset)
    if cells > _MOST_DENSE:
        _, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        first, second = places[: len(first)], places[len(first) :]
        cells = int(places.max()) + 1
    shares = np.bincount(first, minlength=cells) / len(real) - np.bincount(second, minlength=cells) / len(other)
    return float(np.abs(shares).sum())


def bootstrap(codes: Ints, draw: Any) -> Ints:
    """As many rows, drawn with replacement: no table of that size is expected to come much closer."""
    rows: Ints = codes[draw.integers(0, len(codes), len(codes))]
    return rows


def independent(codes: Ints, draw: Any) -> Ints:
    """Every column shuffled by itself: exact columns without any relation, and without privacy."""
    return np.column_stack([draw.permutation(column) for column in codes.T])


def private_independent(codes: Ints, sizes: tuple[int, ...], epsilon: float, draw: Any, delta: float = DELTA) -> Ints:
    """Columns drawn one by one from noisy counts, (ε, δ) for adding or removing one row.

    Each of d columns has an equal share: Gaussian noise of σ = √d/μ with the μ of (ε, δ).  Counts are moved to the
    nearest ones that are at least 0 and have the mean noisy total.
    """
    sigma = math.sqrt(len(sizes)) / mu_of(epsilon, delta)
    noisy = [
        np.bincount(column, minlength=size) + draw.normal(0, sigma, size)
        for column, size in zip(codes.T, sizes, strict=True)
    ]
    total = max(1.0, float(np.mean([counts.sum() for counts in noisy])))
    rows = max(1, round(total))
    return np.column_stack([_cells(nearest_counts(counts, total), rows, draw) for counts in noisy])


def _flat(codes: Ints, sizes: tuple[int, ...], subset: tuple[int, ...]) -> Ints:
    """The cell of each row in the marginal."""
    cells: Ints = codes[:, subset[0]].copy()
    for column in subset[1:]:
        cells *= sizes[column]
        cells += codes[:, column]
    return cells


def nearest_counts(counts: Floats, total: float) -> Floats:
    """The nearest counts in squares that are at least 0 and sum to the total."""
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    projection: Floats = np.maximum(counts - excess[last], 0)
    return projection


def _cells(counts: Floats, rows: int, draw: Any) -> Ints:
    """So many cells in proportion to the counts, up to one each, in random order."""
    ends = np.floor(np.cumsum(counts) / counts.sum() * rows + draw.random()).astype(np.int64)
    ends[-1] = max(rows, int(ends[-1]))
    cells = np.repeat(np.arange(len(counts)), np.diff(ends, prepend=0))[:rows]
    shuffled: Ints = draw.permutation(cells)
    return shuffled
