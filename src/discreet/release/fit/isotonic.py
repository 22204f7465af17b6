"""Rows made non-decreasing: the nearest such row in squares.

    arg min ∑ₛ (xₛ − yₛ)²    subject to  lowest ≤ x₀ ≤ x₁ ≤ … ≤ x_N ≤ highest

y is a row of the table.  Adjacent violators are pooled: x is constant on blocks of neighbours, and its value there is
their mean, cut to the bounds (Ayer et al. 1955; docs/proofs/release/fit/cumulative.md).
"""

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Floats

LARGEST = 2**40  # of a count: 1,024 times as much is exact in a float, with bits to spare


def monotone(rows: NDArray[np.generic], *, lowest: float = -np.inf, highest: Floats | None = None) -> Floats:
    """The nearest rows that do not decrease; `highest` has one bound for each row.

    >>> monotone(np.array([[1, 3, 2, 4]])).tolist()
    [[1.0, 2.5, 2.5, 4.0]]
    >>> monotone(np.array([[-2, 3, 2, 4]]), lowest=0, highest=np.array([3.0])).tolist()
    [[0.0, 2.5, 2.5, 3.0]]
    """
    from discreet.release.fit.kernels.isotonic import pool_adjacent_violators

    table = np.asarray(rows)
    if table.ndim != 2 or not table.shape[1]:
        what = "must form a table with at least one cell in a row"
        raise bad("rows", what, table.shape, "Give a row for each place.")
    if table.size and not max(float(table.max()), -float(table.min())) <= LARGEST:
        raise bad("rows", "must lie between −2⁴⁰ and 2⁴⁰", None, "Count in larger units.")
    values = np.ascontiguousarray(table, dtype=np.float64)
    limits = np.full(len(values), np.inf) if highest is None else np.ascontiguousarray(highest, dtype=np.float64)
    if limits.shape != (len(values),) or not (limits >= lowest).all():
        what = "must have one bound for each row, none below the lowest"
        raise bad("highest", what, limits.shape, "Check the totals.")
    fits = np.empty_like(values)
    pool_adjacent_violators(values, float(lowest), limits, fits)
    return fits
