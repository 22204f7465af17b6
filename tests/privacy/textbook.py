"""Composition theorems that the product does not use, to compare its prices with."""

from fractions import Fraction

from flint import arb

from discreet.privacy.certify import down, up
from discreet.privacy.convert import Copies, mixed_delta, mixed_epsilon
from discreet.real import ball


def epsilon_of_pure(epsilon: Fraction, delta: Fraction) -> Fraction:
    """ε' = ln(e^ε − δ(1 + e^ε)), at least 0: `convert.delta_of_pure` solved for ε'."""
    if delta == 0:
        return epsilon
    room = down(lambda: ball(delta) * (1 + (-ball(epsilon)).exp()))
    if room >= 1:
        return Fraction(0)
    return max(Fraction(0), up(lambda: ball(epsilon) + (-ball(room)).log1p()))


def advanced(epsilon: Fraction, delta: Fraction, times: int, slack: Fraction) -> tuple[Fraction, Fraction]:
    """(√(2k ln(1/δ'))·ε + kε(e^ε − 1), kδ + δ'), for any δ' > 0 (Dwork, Rothblum & Vadhan 2010)."""

    def value() -> arb:
        e, k = ball(epsilon), arb(times)
        return (2 * k * -ball(slack).log()).sqrt() * e + k * e * e.expm1()

    return up(value), times * delta + slack


def optimal_delta(epsilon: Fraction, delta: Fraction, times: int, target: Fraction) -> Fraction:
    """The least δ' at ε' = `target` of `times` equal mechanisms (Kairouz, Oh & Viswanath 2015, Theorem 3.3)."""
    return mixed_delta((Copies(epsilon, delta, times),), target)


def optimal_epsilon(epsilon: Fraction, delta: Fraction, times: int, target: Fraction) -> Fraction | None:
    """The least ε' at δ' = `target` of `times` equal mechanisms: the same theorem."""
    return mixed_epsilon((Copies(epsilon, delta, times),), target)
