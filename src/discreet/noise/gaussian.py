"""Gaussian noise on the integers, in the two forms whose prices are proven.

    rounded    P[K = k] = Φ((k + ½)/σ) − Φ((k − ½)/σ)      a continuous Gaussian, drawn exactly and rounded
    discrete   P[K = k] ∝ exp(−k²/2σ²)                     (Canonne, Kamath & Steinke 2020)

The rounded form is post-processing of the continuous mechanism on a lattice point, so every continuous accountant holds
for it.  The discrete form is ½σ⁻²-zCDP and is priced by zCDP only.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb

from discreet import amounts, real
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.cells import NORMAL
from discreet.noise.digits import Digits, below
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.lattice import FEWEST, Rounding, draw_rounded
from discreet.noise.powers import exp_minus
from discreet.noise.source import Source

_SUMMED = 500  # up to this σ, moments and intervals of the discrete form are plain sums
_TABLED = 2000  # up to this σ, the keep probabilities are looked up
_CHUNK = 1 << 13
_MOST_AT_ONCE = 1 << 20
_COIN_MARGIN = 2.0**-35
_LEAST = Fraction(1, 2**60)  # stands for every smaller σ in floats: all but k = 0 has mass 0 to all digits


@dataclass(frozen=True)
class RoundedGaussian:
    """N(0, σ²) rounded to the nearest integer.

    >>> RoundedGaussian(Fraction(10)).radius(Fraction(95, 100))
    20
    """

    sigma: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", amounts.scale(self.sigma, "sigma"))

    def draw(self, n: int, source: Source) -> Ints:
        """n independent draws."""
        return draw_rounded(Rounding(NORMAL, 2, self.sigma, Fraction(1, 2)), n, source)

    @property
    def variance(self) -> float:
        """Σ k² P[k] = Σ over k ≥ 0 of (2k + 1)·P[|K| > k]; σ² + 1/12 once σ is beyond a few steps."""
        s = float(self.sigma)
        return s * s + 1 / 12 if s > 4 else sum((2 * k + 1) * self._outside(k) for k in range(math.ceil(40 * s) + 2))

    @property
    def mean_abs(self) -> float:
        """E|K| = Σ over k ≥ 0 of P[|K| > k]; above 500 steps σ√(2/π), right to 2·10⁻⁷."""
        s = float(self.sigma)
        return s * math.sqrt(2 / math.pi) if s > _SUMMED else sum(map(self._outside, range(math.ceil(40 * s) + 2)))

    def _outside(self, k: int) -> float:
        return math.erfc((k + 0.5) / (float(max(self.sigma, _LEAST)) * math.sqrt(2)))

    def radius(self, level: Fraction) -> int:
        """The least t with P[|K| ≤ t] = 1 − 2·P[N > (t + ½)/σ] ≥ level."""
        amounts.require_inner(level, "level")
        missed = (1 - level) / 2
        upper = math.ceil(self.sigma)
        while not self._enough(upper, missed):
            upper *= 2
        return bisect_left(range(upper), True, key=lambda t: self._enough(t, missed))

    def _enough(self, t: int, missed: Fraction) -> bool:
        return real.less(lambda: self.above(t), lambda: real.ball(missed))

    def mass(self, k: int) -> arb:
        """P[K = k], as a ball at the working precision."""
        return self.above(abs(k) - 1) - self.above(abs(k))

    def above(self, t: int) -> arb:
        """P[K > t], as a ball."""
        return real.normal_tail(real.ball((t + Fraction(1, 2)) / self.sigma))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Mass proportional to exp(−k²/2σ²)."""

    sigma: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", amounts.scale(self.sigma, "sigma"))

    def draw(self, n: int, source: Source) -> Ints:
        """n independent draws: discrete Laplace noise Y of scale σ, kept with probability exp(c − (|Y|/σ − 1)²/2).

        e^(−|y|/σ)·e^(c − (|y|/σ − 1)²/2) = e^(−y²/2σ²)·e^(c − ½): the kept values have the stated law, for every σ > 0.
        c is the least of (|y|/σ − 1)²/2 over whole y, so that no proposal is refused needlessly.
        """
        out = np.empty(max(n, FEWEST), dtype=np.int64)
        filled, proposals_per_draw = 0, 1.02 / self._kept_share()
        while filled < out.size:
            count = min(_MOST_AT_ONCE, math.ceil((out.size - filled) * proposals_per_draw) + 64)
            proposed = DiscreteLaplace(self.sigma).draw(count, source)
            parts = (proposed[i : i + _CHUNK] for i in range(0, count, _CHUNK))
            kept = np.concatenate([part[self._toss_keep(part, source)] for part in parts])[: out.size - filled]
            out[filled : filled + kept.size] = kept
            filled += kept.size
        return out[:n]

    def _toss_keep(self, proposed: Ints, source: Source) -> Bools:
        """Which proposals are kept.

        Float |y|/σ ≤ 60 errs by 2⁻⁴⁵, so the exponent by 2⁻³⁹, and the exponential by 2⁻⁴² more.
        """
        p = self._probability(np.abs(proposed))
        words = source.words(proposed.size)
        u = (words >> np.uint64(11)).view(np.int64) * 2.0**-53
        heads: Bools = u < p
        u -= p
        for i in np.flatnonzero(np.abs(u, out=u) <= _COIN_MARGIN):
            exponent = _exponent(self.sigma, abs(int(proposed[i])))
            heads[i] = below(Digits(int(words[i]), 64), real.exp(-exponent), source)
        return heads

    def _kept_share(self) -> float:
        """P[kept] = e^(c − ½)·Σ e^(−k²/2σ²)·tanh(1/2σ), close enough to plan by: ¾ for large σ, 1 for small."""
        s = float(max(self.sigma, _LEAST))
        total = (
            s * math.sqrt(2 * math.pi) if s > 1 else 1 + 2 * sum(math.exp(-k * k / (2 * s * s)) for k in range(1, 9))
        )
        return math.exp(float(_least_exponent(self.sigma)) - 0.5) * total * math.tanh(1 / (2 * s))

    def _probability(self, size: Ints) -> Floats:
        """exp(c − (|y|/σ − 1)²/2), looked up where the table is short."""
        if self.sigma > _TABLED:
            return _keep_probability(self.sigma, size)
        table = _keep_table(self.sigma)
        return table[np.minimum(size, table.size - 1)]

    @property
    def variance(self) -> float:
        """Σ k² P[k]; equal to σ² to all digits of a float once σ > 4 (Poisson summation)."""
        s = float(self.sigma)
        return s * s if s > 4 else sum(k * k * p for k, p in enumerate(_discrete_masses(self.sigma))) * 2

    @property
    def mean_abs(self) -> float:
        """E|K|; above 500 steps σ√(2/π), right to 10⁻⁶."""
        s = float(self.sigma)
        return (
            s * math.sqrt(2 / math.pi)
            if s > _SUMMED
            else 2 * sum(k * p for k, p in enumerate(_discrete_masses(self.sigma)))
        )

    def radius(self, level: Fraction) -> int:
        """The least t with P[|K| ≤ t] ≥ level by summation, with 10⁻¹² to spare; above 500 steps, or for a level
        within 10⁻⁹ of 1, one step more than the rounded form, from P[K > t] ≤ P[N > t/σ] (Canonne, Kamath & Steinke
        2020)."""
        amounts.require_inner(level, "level")
        missed = 1 - level
        if self.sigma > _SUMMED or missed < Fraction(1, 10**9):
            return RoundedGaussian(self.sigma).radius(level) + 1
        masses = _discrete_masses(self.sigma)
        outside, t = 1 - masses[0], 0
        while outside > float(missed) - 1e-12:
            t += 1
            outside = max(0.0, outside - 2 * masses[t])
        return t

    def mass(self, k: int) -> arb:
        """P[K = k], as a ball at the working precision."""
        return self._weight(k) / self._total()

    def _weight(self, k: int) -> arb:
        return (-real.ball(Fraction(k * k) / (2 * self.sigma**2))).exp()

    def _total(self) -> arb:
        """Σ exp(−k²/2σ²); for σ ≥ 1 by Poisson summation σ√(2π)·Σ exp(−2π²σ²n²)."""
        if self.sigma >= 1:
            s, pi = real.ball(self.sigma), arb.pi()
            return s * (2 * pi).sqrt() * _theta(lambda n: (-2 * pi * pi * s * s * n * n).exp())
        return _theta(self._weight)


def _keep_probability(sigma: Fraction, size: Ints) -> Floats:
    gap = size.astype(np.float64) * (1 / float(max(sigma, _LEAST))) - 1.0
    gap *= gap
    gap *= 0.5
    gap -= float(_least_exponent(sigma))
    return exp_minus(np.maximum(gap, 0.0))


def _exponent(sigma: Fraction, size: int) -> Fraction:
    """(|y|/σ − 1)²/2 − c ≥ 0, exactly."""
    return (size / sigma - 1) ** 2 / 2 - _least_exponent(sigma)


def _least_exponent(sigma: Fraction) -> Fraction:
    """c = (m/σ − 1)²/2 at the whole number m nearest to σ."""
    return (math.floor(sigma + Fraction(1, 2)) / sigma - 1) ** 2 / 2


@lru_cache(maxsize=64)
def _keep_table(sigma: Fraction) -> Floats:
    """For |y| up to 60σ; at its end the probability is below 2⁻²⁵⁰⁰ and every larger |y| may stand for it."""
    return _keep_probability(sigma, np.arange(math.ceil(60 * sigma) + 2))


def _theta(term: Callable[[int], arb]) -> arb:
    """1 + 2·Σ over n ≥ 1 of a term whose ratios are at most e^(−3/2) < ¼: a tail is below 4/3 of its first term."""
    total, n = arb(1), 1
    while True:
        total += 2 * term(n)
        next_term = term(n + 1)
        if next_term < arb(2) ** -600 or n > 40:
            return total + arb(0).union(8 * next_term / 3)
        n += 1


@lru_cache(maxsize=64)
def _discrete_masses(sigma: Fraction) -> list[float]:
    """P[K = k] for k = 0 … 40σ in floats, for stated errors only."""
    s = float(max(sigma, _LEAST))
    weights = [math.exp(-k * k / (2 * s * s)) for k in range(math.ceil(40 * s) + 2)]
    total = 2 * math.fsum(weights) - 1
    return [w / total for w in weights]
