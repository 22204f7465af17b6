"""MST as published: noisy columns, rare values merged, a spanning tree of noisily chosen pairs, noisy pairs, one fit.

McKenna, Miklau & Sheldon 2021, "Winning the NIST Contest".  Written from the paper; NumPy only, for any environment.
A third of ρ each is for the columns, the choice of the tree and the pairs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.synth_fit import Measurement, fit_of, measurement, merge
from benchmarks.synth_model import Array, Codes, Marginals, rows_of
from benchmarks.synth_price import DELTA, rho_of
from benchmarks.synth_tree import Clique

STEPS = 5000
_TOLERANCE = 1e-6
_SUPPORT = 3  # standard deviations of the noise, below which a value is merged with the other rare ones


@dataclass(frozen=True, eq=False)
class Support:
    """Which values of a column have a code of their own; the others share the last one."""

    common: Codes
    rare: Codes

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.common) + (len(self.rare) > 0)

    def merged(self, codes: Codes) -> Codes:
        """Codes of values as codes of the support."""
        new = np.full(len(self.common) + len(self.rare), len(self.common))
        new[self.common] = np.arange(len(self.common))
        return np.asarray(new[codes])

    def drawn(self, codes: Codes, draw: Any) -> Codes:
        """Codes of the support as codes of values; rare values are equally likely."""
        if not len(self.rare):
            return np.asarray(self.common[codes])
        is_common = codes < len(self.common)
        values = draw.choice(self.rare, len(codes))
        values[is_common] = self.common[codes[is_common]]
        return np.asarray(values)


@dataclass(frozen=True, eq=False)
class Measured:
    """What MST measured, of columns with the codes of their supports."""

    supports: tuple[Support, ...]
    measurements: dict[Clique, Measurement]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the merged columns."""
        return tuple(support.size for support in self.supports)


def mst(codes: Codes, sizes: Sequence[int], epsilon: float, draw: Any, delta: float = DELTA) -> Codes:
    """A synthetic table, (ε, δ) for adding or removing one row; the number of rows is the noisy total."""
    measured = measure(codes, sizes, rho_of(epsilon, delta), draw)
    model = fit_of(measured.sizes, measured.measurements, steps=STEPS, tolerance=_TOLERANCE).model
    return split_rare(measured, rows_of(model, round(model.total), draw), draw)


def measure(codes: Codes, sizes: Sequence[int], rho: float, draw: Any) -> Measured:
    """All noisy numbers of one run, which cost ρ."""
    columns = range(len(sizes))
    sigma = math.sqrt(3 / (2 * rho) * len(sizes))
    singles, supports = [], []
    for column, size in zip(columns, sizes, strict=True):
        noisy = np.bincount(codes[:, column], minlength=size) + draw.normal(0, sigma, size)
        support = _support(noisy, _SUPPORT * sigma)
        supports.append(support)
        singles.append(_single(column, noisy, support, sigma))
    table = np.column_stack([support.merged(codes[:, column]) for column, support in enumerate(supports)])
    merged_sizes = tuple(support.size for support in supports)
    pairs = _tree(table, merged_sizes, merge(singles), rho / 3, draw)
    pair_sigma = math.sqrt(3 / (2 * rho) * len(pairs)) if pairs else 0.0
    doubles = []
    for pair in pairs:
        counts = counts_of(table, merged_sizes, pair)
        doubles.append(measurement(pair, counts + draw.normal(0, pair_sigma, counts.shape), pair_sigma))
    return Measured(tuple(supports), merge([*singles, *doubles]))


def split_rare(measured: Measured, codes: Codes, draw: Any) -> Codes:
    """Rows with the codes of the supports as rows of values."""
    columns = zip(measured.supports, codes.T, strict=True)
    return np.column_stack([support.drawn(column, draw) for support, column in columns])


def counts_of(codes: Codes, sizes: Sequence[int], clique: Clique) -> Array:
    """The exact counts of a marginal."""
    shape = [sizes[column] for column in clique]
    cell = np.zeros(len(codes), dtype=np.int64)
    for column in clique:
        cell = cell * sizes[column] + codes[:, column]
    return np.bincount(cell, minlength=math.prod(shape)).astype(np.float64).reshape(shape)


def choice(scores: Sequence[float], epsilon: float, sensitivity: float, draw: Any) -> int:
    """The exponential mechanism: a place with chance ∝ exp(ε·score/(2·sensitivity)), which is ε²/8-zCDP."""
    weights = np.asarray(scores) * (epsilon / (2 * sensitivity))
    return int(np.argmax(weights + draw.gumbel(size=len(weights))))


def _support(noisy: Array, threshold: float) -> Support:
    is_common = noisy >= threshold
    return Support(np.flatnonzero(is_common), np.flatnonzero(~is_common))


def _single(column: int, noisy: Array, support: Support, sigma: float) -> Measurement:
    """The measurement of a column with rare values as one, whose noise is the sum of theirs."""
    counts, weights = noisy[support.common], np.full(len(support.common), sigma**-2)
    if len(support.rare):
        counts = np.append(counts, noisy[support.rare].sum())
        weights = np.append(weights, sigma**-2 / len(support.rare))
    return Measurement((column,), counts, weights)


def _tree(
    codes: Codes, sizes: tuple[int, ...], singles: dict[Clique, Measurement], rho: float, draw: Any
) -> list[Clique]:
    """A spanning tree, pair by pair among those that join two parts, by the distance from independent columns."""
    if len(sizes) < 2:
        return []
    model = fit_of(sizes, singles, steps=STEPS, tolerance=_TOLERANCE).model
    expected = Marginals(model)
    scores = {
        pair: float(np.abs(counts_of(codes, sizes, pair) - model.total * expected(pair)).sum())
        for pair in combinations(range(len(sizes)), 2)
    }
    epsilon = math.sqrt(8 * rho / (len(sizes) - 1))
    part, pairs = list(range(len(sizes))), list[Clique]()
    while len(pairs) < len(sizes) - 1:
        joining = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        first, second = joining[choice([scores[pair] for pair in joining], epsilon, 1, draw)]
        pairs.append((first, second))
        part = [part[first] if each == part[second] else each for each in part]
    return pairs
