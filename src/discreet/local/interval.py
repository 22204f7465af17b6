"""Intervals of shares, carried over from intervals of counts by the straight line that unbiases them.

of a population     S ~ Bin(n, λ), λ = q + (p − q)f: Clopper–Pearson, exact for people drawn at random
of respondents      S ~ Bin(nf, p) + Bin(n − nf, q): noise alone; its tails are inverted exactly up to 10⁴ people,
                    above by the score interval with a continuity correction
"""

from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from discreet.ndarrays import Floats, Ints

EXACT_PEOPLE = 10_000
_WINDOW = 10  # standard deviations of a binomial that are summed; beyond lies less than 1e-20


def population_bounds(counts: Ints, people: int, level: Fraction) -> tuple[Floats, Floats]:
    """Clopper–Pearson bounds of λ for each count of `people`."""
    from scipy.special import betaincinv

    missed = float(1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), people - counts + 1, missed), 0.0)
        high = np.where(counts < people, betaincinv(counts + 1, np.maximum(people - counts, 1), 1 - missed), 1.0)
    return low, high


def respondent_bounds(counts: Ints, people: int, p: float, q: float, level: Fraction) -> tuple[Floats, Floats]:
    """Bounds of f, the share among the respondents themselves, for each count; never beyond [0, 1]."""
    if people > EXACT_PEOPLE:
        return _score_bounds(counts, people, p, q, level)
    values, back = np.unique(counts, return_inverse=True)
    bounds = [_exact_bounds(int(count), people, p, q, float(1 - level) / 2) for count in values]
    low, high = np.clip(np.array(bounds).T / people, 0, 1)
    return low[back], high[back]


def _exact_bounds(count: int, people: int, p: float, q: float, missed: float) -> tuple[int, int]:
    """The least and the largest number of true holders that the count does not refute."""
    low = _first(people, lambda holders: _tail(count, people, holders, p, q) > missed)
    refuted = _first(people, lambda holders: 1 - _tail(count + 1, people, holders, p, q) <= missed)
    return low, max(low, refuted - 1)


def _first(people: int, holds: Callable[[int], bool]) -> int:
    """The least number of holders for which it holds, people + 1 if none; it is monotone."""
    low, high = 0, people + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle <= people and holds(middle) else (middle + 1, high)
    return low


def _tail(count: int, people: int, holders: int, p: float, q: float) -> float:
    """P[S ≥ count] for so many holders."""
    from scipy.special import bdtrc
    from scipy.stats import binom

    if count <= 0:
        return 1.0
    spread = _WINDOW * (holders * p * (1 - p)) ** 0.5 + _WINDOW
    first, last = max(0, int(holders * p - spread)), min(holders, int(holders * p + spread) + 1)
    honest = np.arange(first, last + 1)
    needed = count - honest
    others = people - holders
    rest = np.where(needed <= 0, 1.0, np.where(needed > others, 0.0, bdtrc(np.clip(needed - 1, 0, others), others, q)))
    return min(1.0, float(binom.pmf(honest, holders, p) @ rest))


def _score_bounds(counts: Ints, people: int, p: float, q: float, level: Fraction) -> tuple[Floats, Floats]:
    """Roots in f of (s ∓ ½/n − q − (p − q)f)² = z²·(q(1 − q) + (p(1 − p) − q(1 − q))f)/n."""
    z = NormalDist().inv_cdf(float(1 + level) / 2)
    base, tilt, gain = q * (1 - q), p * (1 - p) - q * (1 - q), p - q
    ends = []
    for sign in (-1, 1):
        gap = counts / people + sign / (2 * people) - q
        a, b, c = gain**2, -2 * gain * gap - z**2 * tilt / people, gap**2 - z**2 * base / people
        ends.append((-b + sign * np.sqrt(np.maximum(b * b - 4 * a * c, 0))) / (2 * a))
    return np.clip(ends[0], 0, 1), np.clip(ends[1], 0, 1)
