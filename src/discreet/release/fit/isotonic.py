"""Rows made non-decreasing: the nearest such row in squares, or in absolute values and whole numbers.

    fitted    arg min ∑ₛ wₛ·(xₛ − yₛ)²    subject to  x₀ ≤ x₁ ≤ … ≤ x_N
    medians   arg min ∑ₛ |xₛ − yₛ|         subject to  the same, x whole

y is a row of the table, w its weights.  Both pool adjacent violators: x is constant on blocks of neighbours, their mean
or a median of theirs (Ayer et al. 1955; Robertson & Wright 1980).
"""

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints

LARGEST = 2**40  # of a count: 1,024 times as much is exact in a float, with bits to spare


def fitted(rows: NDArray[np.generic], weights: NDArray[np.generic] | None = None) -> Floats:
    """The non-decreasing rows nearest in squares.

    Weights are positive, one for each cell of a row or one for each entry; without them all entries count alike.

    >>> fitted(np.array([[1, 3, 2, 4]])).tolist()
    [[1.0, 2.5, 2.5, 4.0]]
    """
    return bounded(rows, weights, lowest=-np.inf, highest=None)


def bounded(
    rows: NDArray[np.generic],
    weights: NDArray[np.generic] | None = None,
    *,
    lowest: float,
    highest: Floats | None,
) -> Floats:
    """The rows nearest in squares among those with lowest ≤ x₀ ≤ … ≤ x_N ≤ highest, which has one bound for each row.

    It is `fitted` cut to the bounds (docs/proofs/cumulative.md).

    >>> bounded(np.array([[-2, 3, 2, 4]]), lowest=0, highest=np.array([3.0])).tolist()
    [[0.0, 2.5, 2.5, 3.0]]
    """
    from discreet.release.fit.kernels import isotonic as kernels

    values = np.ascontiguousarray(_rows(rows), dtype=np.float64)
    counts = np.ones((1, values.shape[1])) if weights is None else np.atleast_2d(np.asarray(weights, dtype=np.float64))
    _require_weights(counts, values.shape)
    most = np.full(len(values), np.inf) if highest is None else np.ascontiguousarray(highest, dtype=np.float64)
    if most.shape != (len(values),) or not (most >= lowest).all():
        raise bad("highest", "must have one bound for each row, none below the lowest", most.shape, "Check the totals.")
    fits = np.empty_like(values)
    kernels.pooled(values, np.ascontiguousarray(counts), float(lowest), most, fits)
    return fits


def medians(rows: Ints) -> Ints:
    """Non-decreasing rows of whole numbers nearest in absolute values: ⌊(least + greatest such row)/2⌋.

    The set of the nearest rows is convex and has a least and a greatest element; the middle, rounded down, belongs to
    it too (docs/proofs/cumulative.md).

    >>> medians(np.array([[1, 3, 2, 4], [9, 0, 0, 1]])).tolist()
    [[1, 2, 2, 4], [0, 0, 0, 1]]
    """
    from discreet.release.fit.kernels import isotonic as kernels

    values = np.ascontiguousarray(_rows(rows), dtype=np.int64)
    least, flipped = np.empty_like(values), np.empty_like(values)
    kernels.lower_medians(values, least)
    kernels.lower_medians(np.ascontiguousarray(-values[:, ::-1]), flipped)
    return (least - flipped[:, ::-1]) // 2


def _rows(rows: NDArray[np.generic]) -> NDArray[np.generic]:
    """The rows, if they form a table of numbers of a size that a float holds exactly."""
    table = np.asarray(rows)
    if table.ndim != 2 or not table.shape[1]:
        raise bad(
            "rows", "must form a table with at least one cell in a row", table.shape, "Give a row for each place."
        )
    if table.size and not max(float(table.max()), -float(table.min())) <= LARGEST:
        raise bad("rows", "must lie between −2⁴⁰ and 2⁴⁰", None, "Count in larger units.")
    return table


def _require_weights(weights: Floats, shape: tuple[int, ...]) -> None:
    if weights.shape not in ((1, shape[1]), shape):
        raise bad("weights", "must be one for each cell or one for each entry", weights.shape, "Leave them out.")
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise bad("weights", "must be positive", float(weights.min()), "Leave out cells that count for nothing.")
