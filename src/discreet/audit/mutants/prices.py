"""Planted bugs of price: sound noise, priced by a theorem that is not about it."""

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from discreet.audit.laws import OutputLaw, above, window_law
from discreet.audit.mutants.planted import Planted, Proven
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.privacy import analytic
from discreet.privacy.cost import Approx
from discreet.real import ball

COUNTS, EACH, DELTA = 100, Fraction(1, 10), Fraction(1, 10**6)
CONTINUOUS = Fraction("4.6927")  # dp-accounting 0.6: 100 LaplaceDpEvent(10) at δ = 10⁻⁶, rounded up


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    wrong = "100 counts with integer noise at ε = 0.1 are priced as continuous Laplace noise."
    yield Proven("integer-noise-as-continuous", wrong, Approx(CONTINUOUS, DELTA), ((0, 1),), _losses)
    wrong = "One count with integer noise at ε = 1 is priced by δ = 1 − e^((ε′ − ε)/2), continuous Laplace noise's."
    half = Fraction(1, 2)
    yield Proven("one-count-as-continuous", wrong, Approx(half, Fraction("0.2213")), ((0, 1),), _one_loss)
    wrong = "The discrete Gaussian at σ = ½ is priced by μ = 2."
    sigma, epsilon = Fraction(1, 2), Fraction(27, 5)
    claimed, noise = Approx(epsilon, analytic.delta(sigma, epsilon)), DiscreteGaussian(sigma)
    window = range(-6, 8)
    yield Proven("discrete-gaussian-by-mu", wrong, claimed, ((0, 1),), lambda exact: window_law(noise, exact, window))
    wrong = "σ = √(2 ln(1.25/δ))/ε is used at ε = 10, where it is not proven."
    yield Proven("classic-gaussian-above-1", wrong, Approx(Fraction(10), Fraction(1, 10**5)), ((0, 1),), _classic)


def _losses(side: int) -> OutputLaw:
    """How many of 100 answers lie on the far side of their count: all that tells the neighbours apart."""
    rise = ball(EACH).exp()
    p = (rise if side == 0 else arb(1)) / (1 + rise)
    return {j: math.comb(COUNTS, j) * p**j * (1 - p) ** (COUNTS - j) for j in range(COUNTS + 1)}


def _one_loss(side: int) -> OutputLaw:
    rise = ball(1).exp()
    return {"at or below": (rise if side == 0 else 1) / (1 + rise), "above": (1 if side == 0 else rise) / (1 + rise)}


def _classic(side: int) -> OutputLaw:
    """Lattice steps of Δ/1000; the best event is y ≥ σ²ε/Δ + Δ/2."""
    steps = 1000
    sigma = Fraction(math.isqrt(int(2 * math.log(1.25e5) / 100 * 10**12)), 10**6) * steps
    noise = RoundedGaussian(sigma)
    cut = round(sigma * sigma * 10 / steps + Fraction(steps, 2))
    tail = above(noise, cut - 1 - side * steps)
    return {"y ≥ cut": tail, "y < cut": 1 - tail}
