"""Sentences on declared impossible combinations that contradict what was measured; free, from released numbers.

A combination is doubted if its cells were counted so far above 0 that noise alone does it about once in 10⁹: at more
than six standard deviations of Gaussian noise, and at `laplace_multiple` of them, 14.2 for one cell, of Laplace noise.
"""

from functools import lru_cache
from math import log, log1p, sqrt

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.synth.build import Build
from discreet.synth.measured.noisy import NoisyTable, groups_of, tables_of

_GAUSSIAN = 6.0
_RARE = log(10**9)


def doubts_of(build: Build) -> list[str]:
    """A sentence for each declared combination of one column, or of a measured pair, that was counted.

    For two tables there are none.
    """
    subject, tables = build.plan.subject, _tables(build)
    if subject.absence is not None:
        return []  # what was declared is of all units, and tables of the second one are not
    is_pure, sentences = build.plan.price.is_pure, []
    for features, masks in subject.zero_masks():
        if features not in tables:
            continue
        table, groups = tables[features]
        cells = np.ones((), dtype=np.bool_)
        for feature, mask in zip(features, masks, strict=True):
            cells = np.logical_and.outer(cells, _by_group(mask, groups[feature]))
        count, deviation = float(table.counts[cells].sum()), table.deviation * float(np.sqrt(cells.sum()))
        multiple = laplace_multiple(int(cells.sum())) if is_pure else _GAUSSIAN
        if count > multiple * deviation:
            moe = (log(20) / sqrt(2) if is_pure else 2) * deviation
            names = " and ".join(subject.names[feature] for feature in features)
            sentences.append(
                f"A combination of {names} that was declared impossible was counted: {count:,.0f} ± "
                f"{moe:,.0f}. The table cannot meet both, and other columns suffer: build it without that combination."
            )
    return sentences


@lru_cache(maxsize=256)
def laplace_multiple(cells: int) -> float:
    """Standard deviations that the sum of so many Laplace noises exceeds with a probability of at most 10⁻⁹.

    For one of scale 1 it is P[noise > t] = e^(−t)/2.  For several P[sum > t] ≤ e^(−ut)·(1 − u²)^(−cells) for each
    0 < u < 1 (Chernoff), and the best u is taken.

    >>> [round(laplace_multiple(cells), 1) for cells in (1, 10, 1000)]
    [14.2, 8.6, 6.5]
    """
    if cells == 1:
        return (_RARE - log(2)) / sqrt(2)
    low, high = 0.0, 2 * _RARE + 10 * sqrt(cells * _RARE)
    for _ in range(60):
        middle = (low + high) / 2
        best = (sqrt(cells**2 + middle**2) - cells) / middle
        is_rare = best * middle + cells * log1p(-(best**2)) >= _RARE
        low, high = (low, middle) if is_rare else (middle, high)
    return high / sqrt(2 * cells)


def _tables(build: Build) -> dict[tuple[int, ...], tuple[NoisyTable, list[Ints]]]:
    """The measured tables by their features, each with the groups that it was counted by; the last one of a column."""
    tables = dict[tuple[int, ...], tuple[NoisyTable, list[Ints]]]()
    for part in build.parts:
        if part.tally["name"] != "scores":
            tables.update({table.features: (table, groups_of(part)) for table in tables_of(part)})
    return tables


def _by_group(mask: Bools, group: Ints) -> Bools:
    """The groups that are in the combination: cells of one group all are, or none is."""
    inside: Bools = np.bincount(group, weights=mask) > 0
    return inside
