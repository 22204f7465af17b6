"""Noisy tables that agree with each other: on the number of units, and on the column that two of them share.

    m_c         for each column the mean of all tables' sums by its cells, by precision, moved so that they add up to N
    T′          the nearest table to T with these sums and 0 in impossible cells; without such cells it is
                T + (m_a − Σ_b T)/B + (m_b − Σ_a T)/A − (N − ΣT)/(A·B)

Without that, tables contradict each other by noise, and a fit needs duals that grow as 1/(τσ): at a large ε no number
of evaluations reaches them.  It is post-processing, and a weighted mean has less noise than each of its parts.
"""

from collections.abc import Sequence

import numpy as np

from discreet.ndarrays import Bools, Floats
from discreet.synth.model.dual import Target

Zeros = tuple[tuple[int, ...], Bools]  # columns in increasing order, and the cells of theirs that cannot occur
_LEAST_VARIANCE = 0.25  # of a count: rows are whole
_TINY = 1e-300
_TURNS = 50


def consistent_targets(targets: Sequence[Target], total: float, forbidden: Sequence[Zeros] = ()) -> list[Target]:
    """Tables of one and two columns, all counted among the same units, that agree and add up to the total.

    Cells that cannot occur are 0, whatever noise says, and nothing is moved into them.
    """
    possible = [_possible(target, forbidden) for target in targets]
    known = [
        Target(target.columns, np.where(mask, target.counts, 0.0), target.deviation)
        for target, mask in zip(targets, possible, strict=True)
    ]
    sums = _sums(known, total, possible)
    return [_moved(target, mask, sums) for target, mask in zip(known, possible, strict=True)]


def _possible(target: Target, forbidden: Sequence[Zeros]) -> Bools:
    """The cells of a table that can occur, as far as combinations of its own columns say."""
    mask = np.ones(target.counts.shape, dtype=np.bool_)
    for columns, cells in forbidden:
        if set(columns) <= set(target.columns):
            sizes: dict[int, int] = dict(zip(target.columns, mask.shape, strict=True))
            shape = [sizes[own] if own in columns else 1 for own in target.columns]
            mask &= ~np.reshape(cells, shape)
    return mask


def _sums(targets: Sequence[Target], total: float, possible: Sequence[Bools]) -> dict[int, Floats]:
    """The counts of each column by itself, from all tables that have it; 0 where no table lets it occur."""
    weighted, precision, occurs = dict[int, Floats](), dict[int, Floats](), dict[int, Bools]()
    for target, mask in zip(targets, possible, strict=True):
        variance = np.broadcast_to(np.square(target.deviation), target.counts.shape)
        for axis, column in enumerate(target.columns):
            others = tuple(other for other in range(target.counts.ndim) if other != axis)
            weight = 1 / np.maximum(variance.sum(axis=others), _LEAST_VARIANCE)
            weighted[column] = weighted.get(column, 0.0) + weight * target.counts.sum(axis=others)
            precision[column] = precision.get(column, 0.0) + weight
            occurs[column] = np.logical_and(occurs.get(column, True), mask.any(axis=others))
    sums = {}
    for column, own in weighted.items():
        spread = np.where(occurs[column], 1 / precision[column], 0.0)
        mean = np.where(occurs[column], own / precision[column], 0.0)
        sums[column] = mean + (total - mean.sum()) * spread / max(float(spread.sum()), _TINY)
    return sums


def _moved(target: Target, mask: Bools, sums: dict[int, Floats]) -> Target:
    """The nearest table with these sums, by turns along both columns; without impossible cells two turns reach it."""
    if len(target.columns) == 1:
        return Target(target.columns, sums[target.columns[0]], target.deviation)
    counts = target.counts.copy()
    for _ in range(2 if mask.all() else _TURNS):
        for axis, column in enumerate(target.columns):
            missing = sums[column] - counts.sum(axis=1 - axis)
            share = missing / np.maximum(mask.sum(axis=1 - axis), 1)
            counts += np.where(mask, np.expand_dims(share, 1 - axis), 0.0)
    return Target(target.columns, counts, target.deviation)
