"""Randomized response, Laplace and Gaussian on one question: how wrong is an estimated share, as n grows?

    randomized response   √(e^ε/n)/(e^ε − 1)          O(1/(ε√n)): nobody is trusted
    Laplace               √(2a)/((1 − a)·n), a = e^−ε   O(1/(εn)): a curator is trusted
    Gaussian              about σ/n, σ from (ε, δ)     O(1/(εn)), wider for one count, narrower for many

Root mean square errors of the share among the n people asked; n is public, so neighbours replace one answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.bounded import cells, scalar
from discreet.demo.people import traits
from discreet.mechanism.additive import Additive, analytic_gaussian, laplace
from discreet.mechanism.response import KaryResponse, response
from discreet.ndarrays import Ints
from discreet.noise.public import Generator
from discreet.noise.source import SYSTEM
from discreet.relation import Relation

EPSILON = Fraction(1)
DELTA = Fraction(1, 10**6)
SIZES = (100, 1_000, 10_000, 100_000)
SHARE = "0.3"
REPEATS = 200
COUNTS = (1, 8, 9, 100)  # the Gaussian overtakes between 8 and 9
_TWO_SIDED_95 = 1.96


@dataclass(frozen=True)
class Point:
    """The error among n people: the formula's, and the one measured with its 95 % interval."""

    people: int
    stated: float
    measured: float
    low: float
    high: float


@dataclass(frozen=True)
class Errors:
    """One mechanism's curve."""

    name: str
    order: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class ManyCounts:
    """One person is in `counts` counts at once: root mean square error of each."""

    counts: int
    laplace: float
    gaussian: float


def share_errors(chance: Generator) -> tuple[Errors, ...]:
    """The three curves, each point measured on `REPEATS` fresh runs of the real mechanism."""
    tables = [traits(people, SHARE, chance) for people in SIZES]
    unit = scalar(1, Relation.REPLACE_ONE)
    local, by_l1, by_l2 = response(EPSILON), laplace(unit, EPSILON), analytic_gaussian(unit, EPSILON, DELTA)
    return (
        Errors("randomized response", "1/(ε√n)", tuple(_local(local, table) for table in tables)),
        Errors("Gaussian", "1/(εn)", tuple(_central(by_l2, table) for table in tables)),
        Errors("Laplace", "1/(εn)", tuple(_central(by_l1, table) for table in tables)),
    )


def many_counts() -> tuple[ManyCounts, ...]:
    """Laplace pays l1 = k, Gaussian l2 = √k: for one count Laplace errs less, for many the Gaussian."""
    rows = []
    for k in COUNTS:
        sensitivity = cells(k, 1)
        by_l1, by_l2 = laplace(sensitivity, EPSILON), analytic_gaussian(sensitivity, EPSILON, DELTA)
        rows.append(ManyCounts(k, math.sqrt(by_l1.variance), math.sqrt(by_l2.variance)))
    return tuple(rows)


def _local(mechanism: KaryResponse, table: Ints) -> Point:
    # Everybody is asked, so only the coins vary: their variance is that of a share of 0, whatever the table.
    stated = math.sqrt(mechanism.variance(0.0, table.size))
    return _point(table, stated, lambda: mechanism.shares(mechanism(table, SYSTEM))[1].value)


def _central(mechanism: Additive, table: Ints) -> Point:
    count = int(table.sum())
    stated = math.sqrt(mechanism.variance) / table.size
    return _point(table, stated, lambda: int(mechanism(count, SYSTEM)) / table.size)


def _point(table: Ints, stated: float, estimate: Callable[[], float]) -> Point:
    truth = float(table.mean())
    squares = np.array([(estimate() - truth) ** 2 for _ in range(REPEATS)])
    mean, slack = float(squares.mean()), _TWO_SIDED_95 * float(squares.std(ddof=1)) / math.sqrt(REPEATS)
    low, high = max(0.0, mean - slack), mean + slack
    return Point(table.size, stated, math.sqrt(mean), math.sqrt(low), math.sqrt(high))
