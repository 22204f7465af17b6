"""Geometric and two-sided geometric (discrete Laplace) noise, drawn exactly.

    P[G = k] = (1 − a)·a^k,  k ≥ 0            P[X = k] = (1 − a)/(1 + a) · a^|k|,      a = e^(−1/scale)

⌊scale·E⌋ is geometric when E is exponential, since P[⌊scale·E⌋ ≥ k] = e^(−k/scale).  X is G with probability 1/(1 + a),
else −1 − G.  Ghosh, Roughgarden & Sundararajan (2009).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from discreet import amounts, real
from discreet.ndarrays import Ints
from discreet.noise.bernoulli import coins
from discreet.noise.cells import EXPONENTIAL
from discreet.noise.lattice import FEWEST, Rounding, draw_rounded
from discreet.noise.source import Source

_LEAST = 1e-300  # stands for every smaller scale, in stated errors only: they are 0 to all digits


@dataclass(frozen=True)
class Geometric:
    """One-sided geometric noise on 0, 1, 2 …"""

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", amounts.scale(self.scale))

    def draw(self, n: int, source: Source) -> Ints:
        """n independent draws."""
        return draw_rounded(Rounding(EXPONENTIAL, 1, self.scale, Fraction(0)), n, source)

    def mass(self, k: int) -> arb:
        """P[G = k], as a ball at the working precision."""
        return -_power(self.scale, k) * (-real.ball(1 / self.scale)).expm1() if k >= 0 else arb(0)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Two-sided geometric noise: a unit that moves the answer by `s` steps costs ε = s/scale.

    >>> law = DiscreteLaplace(Fraction(10))
    >>> round(law.variance, 2), round(law.mean_abs, 3), law.radius(Fraction(95, 100))
    (199.83, 9.983, 30)
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", amounts.scale(self.scale))

    def draw(self, n: int, source: Source) -> Ints:
        """n independent draws."""
        size = Geometric(self.scale).draw(n, source)
        negative = coins(self._negative, max(n, FEWEST), source)[:n]  # from a batch, as the sizes are
        return size ^ -negative.astype(np.int64)  # −1 − G is the complement of G

    def _negative(self) -> arb:
        """P[X < 0] = a/(1 + a)."""
        return 1 / (1 + real.ball(1 / self.scale).exp())

    @property
    def variance(self) -> float:
        """2a/(1 − a)² = 1/(2 sinh²(1/(2·scale)))."""
        half = 1 / (2 * max(float(self.scale), _LEAST))
        return 1 / (2 * math.sinh(half) ** 2) if half < 350 else 0.0

    @property
    def mean_abs(self) -> float:
        """E|X| = 2a/(1 − a²) = 1/sinh(1/scale)."""
        rate = 1 / max(float(self.scale), _LEAST)
        return 1 / math.sinh(rate) if rate < 700 else 0.0

    def radius(self, level: Fraction) -> int:
        """The least t with P[|X| ≤ t] ≥ level: t = ⌊scale·ln(2/((1 + a)(1 − level)))⌋."""
        amounts.require_inner(level, "level")
        missed = 1 - level
        return real.floor(lambda: real.ball(self.scale) * (2 / ((1 + _power(self.scale, 1)) * real.ball(missed))).log())

    def mass(self, k: int) -> arb:
        """P[X = k], as a ball at the working precision."""
        return _power(self.scale, abs(k)) * (real.ball(1 / self.scale) / 2).tanh()

    def above(self, t: int) -> arb:
        """P[X > t], as a ball."""
        return _power(self.scale, t + 1) / (1 + _power(self.scale, 1)) if t >= -1 else 1 - self.above(-t - 1)


def _power(scale: Fraction, k: int) -> arb:
    """a^k."""
    return (-real.ball(k / scale)).exp()
