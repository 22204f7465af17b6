"""Quantiles on a public grid, by the exponential mechanism.

For q = a/b and grid points t₀ < t₁ < …, with the count of the n values at each grid point,

    score(t) = −b·max(0, #{x < t} − q·n, #{x > t} − (1 − q)·n)      Δ = l1·max(a, b − a)      P[t] ∝ e^(ε·score/(2Δ))

It is 0 where t is a q-quantile (at most qn values below, at most (1 − q)n above), however many values are tied at t.
One row moves b·#{x < t} − a·n and b·#{x > t} − (b − a)·n by at most max(a, b − a), so the score; l1 rows by l1 times
that (Smith 2011, whose score −|(b − a)·#{x < t} − a·#{x > t}| this is wherever no value lies at t).
Between two points that hold values all scores are equal, so a run of points is chosen and then a point of it: the work
follows the points that hold values, not the grid.
No values at all give the uniform law over the grid, never an error.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.mechanism.promise import MOST_CANDIDATES, lattice_vector, scores_vector
from discreet.mechanism.select import ExponentialMechanism, exponential
from discreet.ndarrays import Ints
from discreet.noise.select import exponential_choice, uniforms
from discreet.noise.source import Source
from discreet.privacy.cost import Cost

SHORT = 512  # points of a grid whose every point is weighed: below, runs of points take longer to lay out
_FINEST = 10**4  # quantiles are read in ten-thousandths, so that scores stay whole and small


class Runs(NamedTuple):
    """Neighbouring grid points with one score: where they begin, how many they are, and the score."""

    starts: Ints
    lengths: Ints
    scores: Ints


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
        counts = scores_vector(exact)
        if counts.size <= SHORT:
            point_scores = scores(counts, self.q)
            return exponential_choice(point_scores.max() - point_scores, self.choice.rate, n, source)
        points = np.flatnonzero(counts)
        return self._choose_points(runs(points, counts[points], counts.size, self.q), n, source)

    def choose_from(self, points: Ints, counts: Ints, grid: int, source: Source) -> int:
        """The chosen index of a grid of so many points, from the rising points that hold values and their counts."""
        return int(self._choose_points(runs(points, counts, grid, self.q), 1, source)[0])

    def _choose_points(self, among: Runs, n: int, source: Source) -> Ints:
        chosen = exponential_choice(among.scores.max() - among.scores, self.choice.rate, n, source, among.lengths)
        indices: Ints = among.starts[chosen]
        for run in sorted(set(chosen.tolist())):
            draws = np.flatnonzero(chosen == run)
            indices[draws] += uniforms(int(among.lengths[run]), draws.size, source)
        return indices

    def rank_error(self, grid: int, missed: Any) -> float:
        """R: but for that probability, the chosen point is less than R rows from being a q-quantile of the n values.

        It is max(0, #{x < t} − q·n, #{x > t} − (1 − q)·n) rows from that; some grid point always is one.
        """
        return self.choice.shortfall(grid, missed) / self.q.denominator


def quantile(sensitivity: Sensitivity, epsilon: Any, *, q: Any) -> Quantile:
    """ε-DP for counts per grid point that one unit moves by at most `sensitivity.l1` in sum."""
    fraction = amounts.probability(q, "q")
    if fraction.denominator > _FINEST:
        raise bad("q", "must be a share with a denominator of at most 10,000", q, "Round it, as in 0.25 or 0.999.")
    if sensitivity.l1 <= 0:
        raise bad("sensitivity l1", "must be positive", sensitivity.l1, "Give the most rows one unit can add or move.")
    a, b = fraction.numerator, fraction.denominator
    step = sensitivity.l1 * max(a, b - a)
    score = Sensitivity(sensitivity.l0, step, step * step, step, sensitivity.relation)
    return Quantile(sensitivity, fraction, exponential(score, epsilon))


def scores(exact: Any, q: Fraction) -> Ints:
    """The score of every grid point, from the counts at grid points; counts below 0 count as 0."""
    counts = np.maximum(scores_vector(exact), 0)
    counts = np.minimum(counts, _count_limit(counts.size, q))
    up_to = np.cumsum(counts)
    total = int(up_to[-1]) if counts.size else 0
    return _scores_of(up_to - counts, total - up_to, total, q)


def runs(points: Ints, counts: Ints, grid: int, q: Fraction) -> Runs:
    """The same scores in runs, from the rising points that hold values: each of them, and what lies between.

    >>> [part.tolist() for part in runs(np.array([2, 3]), np.array([5, 5]), 6, Fraction(1, 2))]
    [[0, 2, 3, 4], [2, 1, 1, 2], [-10, 0, 0, -10]]
    """
    amounts.count(grid, "grid", 1, MOST_CANDIDATES)
    in_points = np.minimum(np.maximum(lattice_vector(counts, "scores"), 0), _count_limit(grid, q))
    up_to = in_points.cumsum()
    total = int(up_to[-1]) if in_points.size else 0
    # before the first, at it, after it, at the second, …: even places lie between points, odd ones are points
    ends, below = np.empty(2 * in_points.size + 2, dtype=np.int64), np.empty(2 * in_points.size + 1, dtype=np.int64)
    ends[0], ends[1:-1:2], ends[2:-1:2], ends[-1] = 0, points, points + 1, grid
    below[0], below[1::2], below[2::2] = 0, up_to - in_points, up_to
    above = total - below
    above[1::2] -= in_points
    lengths = ends[1:] - ends[:-1]
    nonempty = lengths > 0
    return Runs(ends[:-1][nonempty], lengths[nonempty], _scores_of(below, above, total, q)[nonempty])


def _scores_of(below: Ints, above: Ints, total: int, q: Fraction) -> Ints:
    """Scores from the values below and above each point, of so many in all: no product passes b·total."""
    a, b = q.numerator, q.denominator
    too_high, too_low = b * below - a * total, b * above - (b - a) * total
    scores: Ints = -np.maximum(0, np.maximum(too_high, too_low))
    return scores


def _count_limit(grid: int, q: Fraction) -> int:
    """Counts saturate where b·(sum of counts) could pass 2⁶²: a public number, since clamping must not follow data."""
    return 2**62 // (q.denominator * grid)
