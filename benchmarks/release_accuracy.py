"""How exact each method is on real trees: L1, EMD, false positives and broken rules on every level, averaged over runs.

    M_H…   noise of scale 2L/ε on the numbers of groups of each size
    M_c…   noise of scale L/ε on the numbers of groups of at least each size

The unit is a person inside a group.  The tables are public, so errors may be shown.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.release_data import Exact
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.release import chebyshev, countofcounts, cumulative, integer, joint, leastsquares, prices, topdown
from discreet.release.error import measures
from discreet.release.measure import from_top

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Score:
    """A method's mean figures over runs, a number for each level, and the standard error of the lowest L1."""

    method: str
    epsilon: str
    l1: tuple[float, ...]
    emd: tuple[float, ...]
    false_positives: tuple[float, ...]
    violations: float
    error: float


def scores(exact: Exact, epsilons: tuple[str, ...], runs: int) -> list[Score]:
    """Every method on the same draws."""
    found = []
    for epsilon in epsilons:
        results: dict[str, list[tuple[object, ...]]] = {}
        for _ in range(runs):
            for name, table in _released(exact, Fraction(epsilon)):
                results.setdefault(name, []).append(measures(exact.tree, exact.table, table, total=exact.total))
        found += [_score(name, epsilon, each) for name, each in results.items()]
    return found


def _score(method: str, epsilon: str, runs: list[tuple[object, ...]]) -> Score:
    def mean(field: str) -> tuple[float, ...]:
        return tuple(statistics.fmean(getattr(one, field) for one in level) for level in zip(*runs, strict=True))

    lowest = [run[-1].l1 for run in runs]  # type: ignore[attr-defined]
    broken = statistics.fmean(sum(one.violations.count for one in run) for run in runs)  # type: ignore[attr-defined]
    spread = statistics.stdev(lowest) / len(lowest) ** 0.5 if len(lowest) > 1 else 0.0
    return Score(method, epsilon, mean("l1"), mean("emd"), mean("false_positives"), broken, spread)


def _released(exact: Exact, epsilon: Fraction) -> list[tuple[str, Ints]]:
    """One draw of each measurement and all that is made of it."""
    tree, total = exact.tree, exact.total
    weights = np.ones(len(tree), dtype=np.int64)
    plain = exact.table + _noise(2 * tree.depth / epsilon, exact.table.shape)
    tail = from_top(exact.table)
    above = tail + _noise(tree.depth / epsilon, tail.shape)
    above[:, 0] = tail[:, 0]  # the number of groups of a place does not change with a person: public here
    rising = np.ascontiguousarray(above[:, ::-1])
    leaf_totals = tail[tree.leaves, 0]
    methods: list[tuple[str, Callable[[], Ints]]] = [
        ("M_H raw", lambda: plain),
        ("M_H^r rounded", lambda: np.rint(prices.projected(tree, plain, weights, total=total)).astype(np.int64)),
        ("M_H^dp integer", lambda: integer.fitted(tree, plain, weights, total=total)),
        ("Hay, rounded", lambda: np.rint(leastsquares.estimated(tree, plain, weights).values).astype(np.int64)),
        ("top-down", lambda: topdown.fitted(tree, plain, weights, total=total)),
        ("InfTDA", lambda: chebyshev.fitted(tree, plain, weights, total=total)),
        ("M_c^dp", lambda: _from_differences(exact, cumulative.differences(tree, rising, total=total), weights)),
        ("M_c^joint", lambda: _from_differences(exact, joint.differences(tree, rising, weights, total=total), weights)),
        ("M_c^joint, dealt", lambda: joint.whole(tree, rising, weights, total=total)[:, ::-1]),
        ("Kuo-style", lambda: countofcounts.fitted(tree, rising, weights, leaf_totals)[:, ::-1]),
    ]
    return [(name, method()) for name, method in methods]


def _from_differences(exact: Exact, found: cumulative.Scaled, weights: Ints) -> Ints:
    values = np.ascontiguousarray(found.values[:, ::-1])
    return integer.fitted(exact.tree, values, weights, scale=found.scale, total=exact.total)


def _noise(scale: Fraction, shape: tuple[int, ...]) -> Ints:
    return DiscreteLaplace(scale).drawn(int(np.prod(shape)), SYSTEM).reshape(shape)
