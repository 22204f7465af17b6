"""Two private answers crossed: the share of people who hold both values, from two reports of each person.

With z = (1[supported] − q)/(p − q), E[z | answer] is 1 for the value's holders and 0 for others, and the two reports of
a person are independent given their answers; so the mean of z·z′ estimates the joint share f without bias.  With
v = p(1 − p)/(p − q)², w = q(1 − q)/(p − q)² and u = 1 + v − w, and shares f₁ and f₂ of the two values,

    n·variance = f·u·u′ + f₁·u·w′ + f₂·w·u′ + w·w′ − f²

The interval holds every f that the estimate does not refute under its own variance (a score interval), with a
correction for steps of 1/(n(p − q)(p′ − q′)).  The sample variance is not used: it is 0 where nobody supports both.
"""

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.local.code import ValueCode
from discreet.local.estimate import Estimate, Row, require_level
from discreet.local.protocol import ValueProtocol
from discreet.local.reports import rows_of
from discreet.ndarrays import Bools

MOST_PAIRS = 4096


def crossed_estimate(
    first: ValueProtocol, second: ValueProtocol, first_reports: Any, second_reports: Any, level: Any = "0.95"
) -> Estimate:
    """The share of each pair of values, with an interval of the population; row i of both is one person's."""
    sure = require_level(level)
    left, right, rejected = _valid_pairs(first, second, first_reports, second_reports)
    quantile = NormalDist().inv_cdf(float(1 + sure) / 2)
    terms = _Spread.of(first.code), _Spread.of(second.code)
    others = [second.code.support_of(right, b) for b in range(len(second.values))]
    rows = []
    for a, value in enumerate(first.values):
        held = first.code.support_of(left, a)
        rows += [_row((value, other), terms, held, others[b], quantile) for b, other in enumerate(second.values)]
    return Estimate(tuple(rows), len(left), rejected, sure, "population")


@dataclass(frozen=True)
class _Spread:
    """What the variance of z needs of a code: z of a report without support is −`lie`·`unit`."""

    lie: float
    unit: float  # 1/(p − q)
    w: float
    u: float

    @classmethod
    def of(cls, code: ValueCode) -> "_Spread":
        """Of a code."""
        p, q = code.truth, code.lie
        v, w = (Fraction(chance * (1 - chance) / (p - q) ** 2) for chance in (p, q))
        return cls(float(q), float(1 / (p - q)), float(w), float(1 + v - w))


def _valid_pairs(first: Any, second: Any, first_reports: Any, second_reports: Any) -> tuple[Any, Any, int]:
    """The reports of people whose both can have been drawn, and how many others there are."""
    for protocol in (first, second):
        if not isinstance(protocol, ValueProtocol):
            raise bad("protocol", "must be one for values", type(protocol).__name__, "Cross two that have values.")
    pairs = len(first.values) * len(second.values)
    if pairs > MOST_PAIRS:
        fix = "Cross questions with fewer values."
        raise bad("values", f"must have at most {MOST_PAIRS} pairs of values", pairs, fix)
    left, right = rows_of(first.code, first_reports), rows_of(second.code, second_reports)
    if len(left) != len(right):
        raise bad("reports", "must be two reports of each person", "other lengths", "Give both in the same order.")
    valid = first.code.is_report(left) & second.code.is_report(right)
    if not valid.any():
        fix = "Collect reports, and give them in the order of the protocols."
        raise bad("reports", "must have at least one person whose reports are of these protocols", 0, fix)
    return left[valid], right[valid], int(len(valid) - valid.sum())


def _row(value: Any, terms: tuple[_Spread, _Spread], held: Bools, other: Bools, quantile: float) -> Row:
    """The estimate of a pair from how many people support both values, one of them or none."""
    n, (a, b) = len(held), terms
    both, first, second = (int(np.count_nonzero(supported)) for supported in (held & other, held, other))
    mean = a.unit * b.unit * (both - b.lie * first - a.lie * second + a.lie * b.lie * n) / n
    shares = [min(max(s.unit * (count / n - s.lie), 0.0), 1.0) for s, count in ((a, first), (b, second))]
    constant = shares[0] * a.u * b.w + shares[1] * a.w * b.u + a.w * b.w
    slope = a.u * b.u

    def variance(share: float) -> float:
        return max(constant + slope * share - share**2, 0.0) / n

    low, high = _score_ends(mean, n, constant, slope, quantile, a.unit * b.unit / (2 * n))
    return Row(value, mean, low, high, variance(min(max(mean, 0.0), min(shares))))


def _score_ends(
    mean: float, n: int, constant: float, slope: float, quantile: float, half_step: float
) -> tuple[float, float]:
    """The roots in f of (mean ∓ half a step − f)² = quantile²·(constant + slope·f − f²)/n, each on its own side."""
    weight = quantile**2 / n
    ends = []
    for sign in (-1, 1):
        centre = mean + sign * half_step
        a, b, c = 1 + weight, -2 * centre - weight * slope, centre**2 - weight * constant
        inside = b * b - 4 * a * c
        root = centre if inside < 0 else (-b + sign * inside**0.5) / (2 * a)
        ends.append(min(root, centre) if sign < 0 else max(root, centre))  # beyond it nothing is refuted on this side
    return ends[0], ends[1]
