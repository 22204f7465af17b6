"""Estimate the bias of a coin: choose θ from a public lattice by its rounded log-likelihood.

    score(θ) = N_heads·c(θ) + N_tails·d(θ),    c = ⌊ln θ/step⌉,  d = ⌊ln(1 − θ)/step⌉ whole numbers
    add-remove   Δ = max over θ of max(|c|, |d|)          replace-one   Δ = max over θ of |c − d|
    P[θ] ∝ e^(ε·score/(2Δ))

The scores are exactly linear in the counts with whole coefficients, so Δ is exactly the sensitivity of what runs:
rounding ln θ moves Δ and the scores together, never the loss.  As the lattice grows finer the answer tends to
Beta(1 + κN_heads, 1 + κN_tails) truncated to [low, high], κ = ε/(2Δ·step): for [0.1, 0.9] and ε = 0.1, κ = 0.0217,
by replacement 0.0228.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from discreet import amounts, real
from discreet.bounded import Sensitivity
from discreet.errors import bad, bad_private
from discreet.mechanism.promise import lattice_vector
from discreet.mechanism.select import ExponentialMechanism, exponential
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost
from discreet.relation import Relation, relation

STEP = Fraction(1, 2**12)  # of log-likelihood
_MOST = 2**40  # heads and flips counted; beyond, they saturate


@dataclass(frozen=True)
class Bias:
    """A θ of the public lattice; the input is (heads, tails), one flip a unit; by replacement their sum is public."""

    low: Fraction
    high: Fraction
    points: int
    choice: ExponentialMechanism

    @property
    def sensitivity(self) -> Sensitivity:
        return _flip_sensitivity(self.choice.sensitivity.relation)

    @property
    def cost(self) -> Cost:
        return self.choice.cost

    @property
    def exponent(self) -> float:
        """κ: how much one flip weighs in the limiting Beta law."""
        return float(self.choice.rate / STEP)

    def theta(self, index: int) -> Fraction:
        """The lattice point of that index."""
        return self.low + (self.high - self.low) * index / (self.points - 1)

    def __call__(self, exact: Any, source: Source) -> Fraction:
        """The chosen bias."""
        return self.theta(int(self.many(exact, 1, source)[0]))

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """The lattice indices of n independent choices, which cost n times as much: what an audit looks at."""
        return self.choice.many(self.scores(exact), n, source)

    def scores(self, exact: Any) -> Ints:
        """The score of every lattice point."""
        flips = lattice_vector(exact)
        if flips.shape != (2,):
            raise bad_private("exact", "must be the two counts (heads, tails)", "Give two whole numbers.")
        # Heads and all flips saturate, not heads and tails: a flip turned over must move the two counts together.
        heads, total = np.clip([flips[0], flips.sum()], 0, _MOST)
        c, d = _coefficients(self.low, self.high, self.points)
        scores: Ints = heads * c + (total - heads) * d
        return scores


def bias(epsilon: Any, *, low: Any, high: Any, points: int, under: Any = Relation.ADD_REMOVE) -> Bias:
    """ε-DP for one flip a unit.

    >>> round(bias("0.1", low="0.1", high="0.9", points=801).exponent, 4)
    0.0217
    """
    lower, upper = amounts.inner_probability(low, "low"), amounts.inner_probability(high, "high")
    if lower >= upper:
        raise bad("high", "must be above low", high, "Give bounds such as 0.1 and 0.9.")
    points = amounts.count(points, "points", 2, 10**5)
    c, d = _coefficients(lower, upper, points)
    kind = relation(under)
    steps = np.abs(c - d) if kind is Relation.REPLACE_ONE else np.maximum(np.abs(c), np.abs(d))
    step = Fraction(max(1, int(steps.max())))
    return Bias(lower, upper, points, exponential(Sensitivity(step, step, step * step, step, kind), epsilon))


def _flip_sensitivity(under: Relation) -> Sensitivity:
    """One flip is added or removed, or turned over: then both counts move."""
    cells = Fraction(2 if under is Relation.REPLACE_ONE else 1)
    return Sensitivity(cells, cells, cells, Fraction(1), under)


@cache
def _coefficients(low: Fraction, high: Fraction, points: int) -> tuple[Ints, Ints]:
    thetas = [low + (high - low) * i / (points - 1) for i in range(points)]
    return _logs(thetas), _logs([1 - theta for theta in thetas])


def _logs(values: list[Fraction]) -> Ints:
    """⌊ln v/step + ½⌋, certified; any nearby whole number would be as private, but this one is reproducible."""
    return np.array([_log_steps(v) for v in values], dtype=np.int64)


def _log_steps(value: Fraction) -> int:
    return real.floor(lambda: real.ball(value).log() / real.ball(STEP) + real.ball(Fraction(1, 2)))
