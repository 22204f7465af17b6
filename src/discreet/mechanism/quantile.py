"""Quantiles on a public grid, by the exponential mechanism.

For q = a/b and grid points t₀ < t₁ < …, with counts of values at each grid point,

    score(t) = −|(b − a)·#{x < t} − a·#{x > t}|          Δ = l1·max(a, b − a)         P[t] ∝ e^(ε·score/(2Δ))

One row moves #{x < t} or #{x > t} by one, so the score by at most max(a, b − a); l1 rows by l1 times that (Smith 2011).
No values at all give the uniform law over the grid, never an error.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import exact as exactly
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.mechanism.promise import scores_vector
from discreet.mechanism.select import ExponentialMechanism, exponential
from discreet.noise.source import Ints, Source
from discreet.privacy.cost import Cost

_FINEST = 10**4  # quantiles are read in ten-thousandths, so that scores stay whole and small


@dataclass(frozen=True)
class Quantile:
    """The index of a grid point near the q-quantile; the input is the count of values at each grid point.

    >>> from discreet.bounded import rows
    >>> quantile(rows(1), 1, q="0.5").choice.rate
    Fraction(1, 2)
    """

    sensitivity: Sensitivity
    q: Fraction
    choice: ExponentialMechanism

    @property
    def cost(self) -> Cost:
        return self.choice.cost

    def __call__(self, exact: Any, source: Source) -> int:
        """The chosen grid index."""
        return int(self.many(exact, 1, source)[0])

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """n independent grid indices, which cost n times as much: what an audit looks at."""
        return self.choice.many(scores(exact, self.q), n, source)

    def rank_error(self, grid: int, missed: Any) -> float:
        """R: but for that probability, the chosen point's rank error is less than R rows above the best grid point's.

        The rank error of t is |(1 − q)·#{x < t} − q·#{x > t}|, in rows.
        """
        return self.choice.shortfall(grid, missed) / self.q.denominator


def quantile(sensitivity: Sensitivity, epsilon: Any, *, q: Any) -> Quantile:
    """ε-DP for counts per grid point that one unit moves by at most `sensitivity.l1` in sum."""
    share = exactly.probability(q, "q")
    if share.denominator > _FINEST:
        raise bad("q", "must be a share with a denominator of at most 10,000", q, "Round it, as in 0.25 or 0.999.")
    if sensitivity.l1 <= 0:
        raise bad("sensitivity l1", "must be positive", sensitivity.l1, "Give the most rows one unit can add or move.")
    a, b = share.numerator, share.denominator
    moved = sensitivity.l1 * max(a, b - a)
    score = Sensitivity(sensitivity.l0, moved, moved * moved, moved, sensitivity.relation)
    return Quantile(sensitivity, share, exponential(score, epsilon))


def scores(exact: Any, q: Fraction) -> Ints:
    """The score of every grid point, from the counts at grid points; counts below 0 count as 0."""
    counts = np.maximum(scores_vector(exact), 0)
    counts = np.minimum(counts, _most(counts.size, q))
    up_to = np.cumsum(counts)
    below, above = up_to - counts, up_to[-1] - up_to
    scored: Ints = -np.abs((q.denominator - q.numerator) * below - q.numerator * above)
    return scored


def _most(grid: int, q: Fraction) -> int:
    """Counts saturate where b·(sum of counts) could pass 2⁶²: a public number, since clamping must not follow data."""
    return 2**62 // (q.denominator * grid)
