"""The Gaussian mechanism's exact price (Balle & Wang 2018, Theorem 8), and the classic formula's narrow range.

With μ = Δ₂/σ,  δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ);  both terms are enclosed by balls, so nothing cancels unseen.
It holds for the continuous Gaussian and for the rounded one (post-processing), never for the discrete Gaussian.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from discreet import amounts
from discreet.errors import bad
from discreet.privacy.certify import down, up
from discreet.real import ball, normal_tail

_FAR = 10**5  # standard deviations beyond which a tail is only bounded
_LEAST_SEARCHED, _MOST_SEARCHED = Fraction(1, 10**200), Fraction(10**9)
_TINY = Fraction(1, 2**4000)
_ROOT2, _HALVINGS, _NEAR = math.sqrt(2), 80, 1e-9


def delta(sigma: Any, epsilon: Fraction) -> Fraction:
    """δ at ε of Gaussian noise with `sigma` per unit of l2 sensitivity, rounded up.

    >>> round(float(delta(Fraction(10834, 1000), Fraction(1, 10))), 4)
    0.0069
    """
    scale = amounts.positive(sigma, "sigma")
    return delta_of_square(1 / (scale * scale), epsilon)


def delta_of_square(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    """The same from μ², which adds up exactly under composition: μ² = Σ 1/σ_i²."""
    if mu_squared == 0:
        return Fraction(0)
    if epsilon > mu_squared / 2 and (epsilon - mu_squared / 2) ** 2 > mu_squared * _FAR**2:
        return _TINY

    def value() -> arb:
        mu = ball(mu_squared).sqrt()
        lower, upper = ball(epsilon) / mu - mu / 2, ball(epsilon) / mu + mu / 2
        return normal_tail(lower) - ball(epsilon).exp() * normal_tail(upper)

    return min(Fraction(1), max(Fraction(0), up(value)))


def epsilon(sigma: Any, delta: Fraction) -> Fraction:
    """The least ε at which the noise is (ε, δ)-DP, rounded up.

    >>> round(float(epsilon(1, Fraction(1, 10**5))), 4)
    4.3772
    """
    scale = amounts.positive(sigma, "sigma")
    return epsilon_of_square(1 / (scale * scale), delta)


def epsilon_of_square(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """The same from μ², for 0 < δ < 1."""
    if delta_of_square(mu_squared, Fraction(0)) <= delta:
        return Fraction(0)
    # P[loss > ε] ≤ δ is enough, and the loss is N(μ²/2, μ²): this is a bound, and the search begins there.
    bound = mu_squared / 2 + up(lambda: (-2 * ball(mu_squared) * ball(delta).log()).sqrt())
    if not _LEAST_SEARCHED < bound < _MOST_SEARCHED:
        return bound
    return least(lambda epsilon: delta_of_square(mu_squared, epsilon) <= delta, amounts.float_up(bound))


def sigma(epsilon: Any, delta: Any) -> Fraction:
    """The least σ, per unit of l2 sensitivity, whose noise is (ε, δ)-DP: 12 digits, rounded to the noisier side.

    >>> float(sigma("0.1", "1e-5")), float(sigma(1, "1e-5"))
    (30.749566132, 3.73063163482)
    """
    target_epsilon, target_delta = amounts.epsilon(epsilon), open_delta(delta)

    def is_enough(noise: Fraction) -> bool:
        return delta_of_square(1 / (noise * noise), target_epsilon) <= target_delta

    return Fraction(amounts.rounded_up(least(is_enough, rough_sigma(float(target_epsilon), float(target_delta))), 12))


def rough_sigma(epsilon: float, delta: float) -> float:
    """σ in floats, by bisection: a start for a certified search, or for choices that no promise depends on.

    >>> round(rough_sigma(1.0, 1e-5), 6)
    3.730632
    """

    def delta_of(noise: float) -> float:
        half, distance = 1 / (2 * noise), epsilon * noise
        tail = math.erfc((half + distance) / _ROOT2)
        return (math.erfc((distance - half) / _ROOT2) - (math.exp(epsilon + math.log(tail)) if tail else 0.0)) / 2

    low, high = 1e-6, 1e9
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if delta_of(middle) <= delta else (middle, high)
    return high


def least(is_enough: Callable[[Fraction], bool], start: float) -> Fraction:
    """The least positive x with `is_enough(x)`, which must be monotone; within 2⁻⁴⁴ relatively and never below.

    It is found quickly if it lies near `start`.
    """
    low, high = start * (1 - _NEAR), start * (1 + _NEAR)
    while not is_enough(Fraction(high)):
        low, high = high, high * 2
    while low > 1e-300 and is_enough(Fraction(low)):
        low, high = low / 2, low
    while high - low > high * 2**-44:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(Fraction(middle)) else (middle, high)
    return Fraction(high)


def classic_sigma(epsilon: Any, delta: Any) -> Fraction:
    """σ = √(2 ln(1.25/δ))/ε, rounded up; proven for ε < 1 only (Dwork & Roth 2014, Theorem A.1), so refused above.

    At ε = 10, δ = 1e-5 it would give 0.484 where 0.500 is needed.

    >>> round(float(classic_sigma("0.1", "1e-5")), 1)
    48.4
    """
    target_epsilon, target_delta = amounts.epsilon(epsilon), open_delta(delta)
    if target_epsilon >= 1:
        rule = "must be below 1 for the classic Gaussian formula, which is not private above"
        raise bad("epsilon", rule, epsilon, "Use analytic.sigma, which is right at every epsilon and smaller.")
    return up(lambda: (2 * (ball(Fraction(5, 4)) / ball(target_delta)).log()).sqrt() / ball(target_epsilon))


def open_delta(value: Any, name: str = "delta") -> Fraction:
    """A δ strictly between 0 and 1: Gaussian noise has no ε at δ = 0."""
    rule, fix = "must be a decimal number above 0 and below 1", "Give a number such as Decimal('1e-7')."
    parsed = amounts.decimal(value, name, rule, fix)
    if not 0 < parsed < 1:
        raise bad(name, rule, value, fix)
    return parsed


def catch_rate(mu_squared: Fraction, false_alarm: Fraction) -> Fraction:
    """Φ(Φ⁻¹(a) + μ), rounded up: the best test's power at false-alarm rate a (Dong, Roth & Su 2022)."""
    if false_alarm in (0, 1) or mu_squared == 0:
        return false_alarm
    point = _quantile_above(false_alarm)
    return min(Fraction(1), up(lambda: normal_tail(ball(point) - ball(mu_squared).sqrt())))


def _quantile_above(chance: Fraction) -> Fraction:
    """A large point x with P[N(0,1) > x] ≥ chance, so that its catch rate is not too small."""
    low, high = -40.0, 40.0
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail_below(middle) >= chance else (low, middle)
    return Fraction(low)


def _tail_below(point: float) -> Fraction:
    return down(lambda: normal_tail(arb(point)))
