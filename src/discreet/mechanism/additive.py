"""Add noise to lattice integers: Laplace by l1, Gaussian by l2.

    Laplace     k + two-sided geometric noise of scale b      ε = l1/b                     Pure(ε)
    Gaussian    k + N(0, σ²) rounded to integers              μ = l2/σ                     Gaussian(σ/l2)
    Discrete    k + discrete Gaussian noise                   ρ = l2²/2σ²                  Zcdp(ρ)

Every coordinate gets its own noise.  Dwork et al. (2006); Dwork & Roth (2014); Canonne, Kamath & Steinke (2020).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.mechanism.promise import lattice_vector, saturated_sum
from discreet.ndarrays import Ints
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy import analytic, calibrate
from discreet.privacy.cost import Cost, Gaussian, Pure, Zcdp

_SLACK = 1 + Fraction(1, 2**40)  # widens noise by less than anyone sees, so that rounded roots still fit
Law = DiscreteLaplace | RoundedGaussian | DiscreteGaussian


@dataclass(frozen=True)
class Additive:
    """exact + noise, coordinate by coordinate; made by `laplace`, `gaussian` or `discrete_gaussian`, never by hand."""

    sensitivity: Sensitivity
    cost: Cost
    noise: Law

    def __call__(self, exact: Any, source: Source) -> Ints:
        """The noisy vector, of the same shape."""
        vector = lattice_vector(exact)
        return saturated_sum(vector, self.noise.draw(vector.size, source).reshape(vector.shape))

    @property
    def variance(self) -> float:
        """Of each coordinate, in squared steps."""
        return self.noise.variance

    @property
    def mean_abs(self) -> float:
        """Expected absolute error of each coordinate, in steps."""
        return self.noise.mean_abs

    def radius(self, level: Any) -> int:
        """The least t such that each coordinate is within ±t steps of its exact value with that probability.

        The level is parsed here; the noise expects it parsed.
        """
        return self.noise.radius(amounts.inner_probability(level, "level"))


def laplace(sensitivity: Sensitivity, epsilon: Any) -> Additive:
    """ε-DP by two-sided geometric noise of scale l1/ε: the blue-eyes count at ε = 0.1 gets scale 10.

    P[X = k]/P[X = k'] ≤ e^(|k − k'|/b) coordinate-wise, so the odds of any output move by at most e^(l1/b) = e^ε.

    >>> from discreet.bounded import scalar
    >>> laplace(scalar(1), "0.1").noise.scale
    Fraction(10, 1)
    """
    epsilon = amounts.epsilon(epsilon)
    return Additive(sensitivity, Pure(epsilon), DiscreteLaplace(_positive(sensitivity.l1) / epsilon))


def gaussian(sensitivity: Sensitivity, sigma: Any) -> Additive:
    """μ-GDP, μ = l2/σ, by rounded Gaussian noise: post-processing of the continuous mechanism on lattice points.

    σ per unit of sensitivity is rounded down in the cost (the dearer side) where l2 is irrational.
    """
    sigma = amounts.scale(sigma, "sigma")
    return Additive(sensitivity, Gaussian(sigma / root_up(sensitivity.l2_squared)), RoundedGaussian(sigma))


def gaussian_share(sensitivity: Sensitivity, sigma: Fraction, share: Fraction) -> Additive:
    """One vector of a joint Gaussian mechanism: σ·l2/√share.

    Over all vectors, whose shares add up to 1, μ² adds up to at most 1/σ².
    """
    return gaussian(sensitivity, readable_sigma(sigma * root_up(sensitivity.l2_squared / share) * _SLACK))


def readable_sigma(sigma: Fraction) -> Fraction:
    """σ with 12 digits, rounded up: what is stored should be readable."""
    return Fraction(amounts.rounded_up(sigma, 12))


def discrete_gaussian(sensitivity: Sensitivity, sigma: Any) -> Additive:
    """ρ-zCDP, ρ = l2²/2σ², by discrete Gaussian noise on each coordinate (Canonne, Kamath & Steinke 2020)."""
    sigma = amounts.scale(sigma, "sigma")
    rho = _positive(sensitivity.l2_squared) / (2 * sigma**2)
    return Additive(sensitivity, Zcdp(rho), DiscreteGaussian(sigma))


def analytic_gaussian(sensitivity: Sensitivity, epsilon: Any, delta: Any) -> Additive:
    """(ε, δ)-DP by the least σ that is enough, at any ε > 0 (Balle & Wang 2018)."""
    return _gaussian_per_unit(sensitivity, calibrate.gaussian_sigma(epsilon, delta))


def classic_gaussian(sensitivity: Sensitivity, epsilon: Any, delta: Any) -> Additive:
    """(ε, δ)-DP by σ = √(2 ln(1.25/δ))·l2/ε, for ε < 1 only and refused elsewhere; noisier than the analytic."""
    return _gaussian_per_unit(sensitivity, analytic.classic_sigma(epsilon, delta))


def least_error(sensitivity: Sensitivity, epsilon: Any, delta: Any) -> Additive:
    """Of the Laplace and the analytic Gaussian at (ε, δ), the one with the smaller variance; δ = 0 means Laplace.

    >>> from discreet.bounded import cells
    >>> [type(least_error(cells(k, 1), 1, "1e-7").noise).__name__ for k in (1, 100)]
    ['DiscreteLaplace', 'RoundedGaussian']
    """
    pure = laplace(sensitivity, epsilon)
    if amounts.delta(delta, ceiling=Fraction(1, 2)) == 0:
        return pure
    normal = analytic_gaussian(sensitivity, epsilon, delta)
    return pure if pure.variance <= normal.variance else normal


def _gaussian_per_unit(sensitivity: Sensitivity, sigma: Fraction) -> Additive:
    """σ given per unit of l2, rounded up together with l2 to the noisier side."""
    return gaussian(sensitivity, sigma * root_up(sensitivity.l2_squared))


def _positive(norm: Fraction) -> Fraction:
    if norm <= 0:
        fix = "A result that no unit can move is public; it needs no mechanism."
        raise bad("sensitivity", "must be positive", norm, fix)
    return norm


def root_up(square: Fraction) -> Fraction:
    """√square, exactly where rational, else rounded up at the 64th binary digit."""
    _positive(square)
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shifted = square * 4**64
    return Fraction(isqrt(shifted.numerator // shifted.denominator) + 1, 2**64)
