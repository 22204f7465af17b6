"""Conversions of one promise to another, one theorem per function.

Arguments are exact; results are rounded up.  ε, δ, ρ, α, k, p are always: the pure or approximate bound, its failure
probability, zCDP's parameter, a Rényi order above 1, a number of repetitions or of units, a rate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.errors import NotPriced
from discreet.privacy.certify import down, up
from discreet.real import ball, precision

MOST_OPTIMAL = 4096  # repetitions summed term by term
MOST_SUMMED = 10**30  # the largest ε whose e^ε is worked with; beyond it the safe side is returned


def zcdp_of_pure(epsilon: Fraction) -> Fraction:
    """ρ = ε²/2: an ε-DP mechanism is ρ-zCDP (Bun & Steinke 2016, Proposition 1.4).

    >>> zcdp_of_pure(Fraction(1))
    Fraction(1, 2)
    """
    return epsilon * epsilon / 2


def zcdp_of_exponential(epsilon: Fraction) -> Fraction:
    """ρ = ε²/8: a mechanism of ε-bounded range is ρ-zCDP (Cesar & Rogers 2021).

    Only the exponential mechanism has this; permute-and-flip is ε-DP but not of ε-bounded range.
    """
    return epsilon * epsilon / 8


def epsilon_of_renyi(divergence: Fraction, order: Fraction, delta: Fraction) -> Fraction:
    """ε = R + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), at least 0 (Canonne, Kamath & Steinke 2020, Proposition 12).

    Holds for Rényi divergence R of order α > 1 in both directions and 0 < δ < 1.
    """

    def value() -> arb:
        a, ln_delta = ball(order), ball(delta).log()
        return ball(divergence) + (-1 / a).log1p() - (ln_delta + a.log()) / (a - 1)

    return max(Fraction(0), up(value))


def delta_of_renyi(divergence: Fraction, order: Fraction, epsilon: Fraction) -> Fraction:
    """δ = e^{(α−1)(R−ε)}·(1 − 1/α)^α/(α − 1), at most 1: the same theorem solved for δ."""

    def logarithm() -> arb:
        a = ball(order)
        return (a - 1) * (ball(divergence) - ball(epsilon)) + a * (-1 / a).log1p() - (a - 1).log()

    exponent = up(logarithm)
    return Fraction(1) if exponent >= 0 else min(Fraction(1), up(lambda: ball(exponent).exp()))


def best_order(rho: float, log_delta: float) -> Fraction:
    """Nearly the best order to turn ρ-zCDP into (ε, δ)."""
    guess = (math.log(max(-log_delta, 1e-6)) - math.log(rho)) / 2

    def loss(x: float) -> float:
        excess = math.exp(x)  # α − 1
        return (1 + excess) * rho + x - math.log1p(excess) - (log_delta + math.log1p(excess)) / excess

    return _order_between(guess, loss)


def _order_between(guess: float, loss: Callable[[float], float]) -> Fraction:
    """The order 1 + e^x with the least `loss(x)`, by thirds; floats may choose it, because any order is sound."""
    low, high = max(guess - 12, -25.0), min(max(guess, 0.0) + 12, 300.0)
    for _ in range(90):
        lower, upper = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, upper) if loss(lower) <= loss(upper) else (lower, high)
    return 1 + Fraction(math.exp((low + high) / 2)).limit_denominator(10**12) + Fraction(1, 10**15)


def epsilon_of_zcdp(rho: Fraction, delta: Fraction) -> Fraction:
    """ε = min over α > 1 of αρ + ln(1 − 1/α) − (ln δ + ln α)/(α − 1) (Canonne, Kamath & Steinke 2020).

    >>> round(float(epsilon_of_zcdp(Fraction(1, 2), Fraction(1, 10**6))), 3)
    5.222
    """
    if rho == 0:
        return Fraction(0)
    order = best_order(_float(rho), (math.log(delta.numerator) - math.log(delta.denominator)))
    return epsilon_of_renyi(order * rho, order, delta)


def delta_of_zcdp(rho: Fraction, epsilon: Fraction) -> Fraction:
    """δ at ε of ρ-zCDP, at the best order found; the search starts from the order (ε + ρ)/2ρ."""
    if rho == 0:
        return Fraction(0)
    r, e = _float(rho), _float(epsilon)
    guess = math.log(max((e - r) / (2 * r), 1e-9))

    def loss(x: float) -> float:
        excess = math.exp(x)  # α − 1
        return excess * ((1 + excess) * r - e) + (1 + excess) * (x - math.log1p(excess)) - x

    order = _order_between(guess, loss)
    return delta_of_renyi(order * rho, order, epsilon)


def delta_of_pure(epsilon: Fraction, target: Fraction) -> Fraction:
    """δ = (e^ε − e^{ε'})/(1 + e^ε), at least 0: the δ of ε-DP at ε' = `target` (the worst is randomized response)."""
    if target >= epsilon:
        return Fraction(0)
    if epsilon - target > MOST_SUMMED:
        return Fraction(1)
    return up(lambda: (-(ball(target - epsilon).expm1())) / (1 + (-ball(epsilon)).exp()))


def sampled_epsilon(epsilon: Fraction, rate: Fraction) -> Fraction:
    """ln(1 + p(e^ε − 1)), and δ becomes pδ, on a Poisson sample, add-remove (Balle, Barthe & Gaboardi 2018)."""
    if rate in (0, 1) or epsilon == 0:
        return epsilon * rate
    if epsilon > MOST_SUMMED:
        return epsilon
    exact = up(lambda: (ball(rate) * ball(epsilon).expm1()).log1p())
    return min(epsilon, exact)


def unsampled_epsilon(epsilon: Fraction, rate: Fraction) -> Fraction:
    """ln(1 + (e^ε − 1)/p), rounded down: the inner ε that a sample at rate p turns into ε."""
    return epsilon if rate == 1 else down(lambda: (ball(epsilon).expm1() / ball(rate)).log1p())


@dataclass(frozen=True)
class Copies:
    """`times` mechanisms of (ε, δ)-DP in a composition."""

    epsilon: Fraction
    delta: Fraction
    times: int


def mixed_delta(copies: tuple[Copies, ...], epsilon: Fraction) -> Fraction:
    """The least δ' such that the mechanisms together are (ε', δ')-DP at ε' = `epsilon` (Murtagh & Vadhan 2016).

    Of k equal ones (Kairouz, Oh & Viswanath 2015, Theorem 3.3):
    δ' = 1 − (1−δ)^k·(1 − D),  D = Σ_l C(k,l)·max(0, e^{(k−l)ε} − e^{ε'+lε})/(1 + e^ε)^k.
    """
    with precision(256):
        exp_epsilon = ball(epsilon).exp()
        total = arb(0)
        for loss, high, low in _losses(copies):
            if loss > epsilon:
                total += high - exp_epsilon * low
    failure = _any_failure(copies)
    return min(Fraction(1), max(Fraction(0), up(lambda: 1 - ball(1 - failure) * (1 - total))))


def mixed_epsilon(copies: tuple[Copies, ...], delta: Fraction) -> Fraction | None:
    """The least ε' such that the mechanisms together are (ε', δ')-DP at δ' = `delta`; None where their own δ exceed it.

    ε' = max over i of ln((A_i − D)/B_i), where A_i, B_i are the two laws' chances of the i largest losses and
    D = 1 − (1−δ')/∏(1−δ).

    >>> round(float(mixed_epsilon((Copies(Fraction(1, 10), Fraction(0), 100),), Fraction(1, 10**5))), 4)
    4.3068
    """
    failure = _any_failure(copies)
    if failure > delta:
        return None
    remaining = max(Fraction(0), down(lambda: 1 - ball(1 - delta) / ball(1 - failure)))
    best = Fraction(0)
    with precision(256):
        above, below, room = arb(0), arb(0), ball(remaining)
        for loss, high, low in _losses(copies):
            if loss <= 0:
                break
            above, below = above + high, below + low
            gap = (above - room).upper()
            if gap > 0:
                best = max(best, _upper_log(gap, below.lower()))
    return min(best, sum((each.epsilon * each.times for each in copies), Fraction(0)))


def combinations(copies: tuple[Copies, ...]) -> int:
    """The number of losses of a mixed composition, which is the work of summing them."""
    return math.prod(each.times + 1 for each in copies)


def _upper_log(above: arb, below: arb) -> Fraction:
    return up(lambda: (above / below).log())


_Loss = tuple[Fraction, arb, arb]  # the loss, its chance under the one law, under the other


def _losses(copies: tuple[Copies, ...]) -> list[_Loss]:
    """The losses of all the randomized responses together, largest first."""
    if combinations(copies) > 2 * MOST_OPTIMAL:
        what = f"Optimal composition is summed over at most {2 * MOST_OPTIMAL} losses."
        raise NotPriced(what, f"There are {combinations(copies)}.", "Use the Rényi or the PLD route.")
    losses: list[_Loss] = [(Fraction(0), arb(1), arb(1))]
    for each in copies:
        responses = _response_losses(each.epsilon, each.times)
        losses = [(a + b, c * d, e * f) for a, c, e in losses for b, d, f in responses]
    return sorted(losses, key=lambda loss: loss[0], reverse=True)


def _response_losses(epsilon: Fraction, times: int) -> list[_Loss]:
    """The losses of k equal randomized responses."""
    keep = 1 / (1 + (-ball(epsilon)).exp())
    flip = 1 / (1 + ball(epsilon).exp())
    keeps, flips = [arb(1)], [arb(1)]
    for _ in range(times):
        keeps.append(keeps[-1] * keep)
        flips.append(flips[-1] * flip)
    ways, losses = 1, []
    for lies in range(times + 1):
        chance = arb(ways)
        high = chance * keeps[times - lies] * flips[lies]
        losses.append(((times - 2 * lies) * epsilon, high, chance * keeps[lies] * flips[times - lies]))
        ways = ways * (times - lies) // (lies + 1)
    return losses


def _any_failure(copies: tuple[Copies, ...]) -> Fraction:
    """1 − ∏(1 − δ)^k, rounded up: the chance that at least one bad event happens."""
    risky = [each for each in copies if each.delta]
    if any(each.delta == 1 for each in risky):
        return Fraction(1)
    if len(risky) <= 1 and all(each.times == 1 for each in risky):
        return risky[0].delta if risky else Fraction(0)

    def value() -> arb:
        return -(sum((each.times * (-ball(each.delta)).log1p() for each in risky), arb(0)).expm1())

    return min(Fraction(1), sum((each.times * each.delta for each in risky), Fraction(0)), up(value))


def group_pure(epsilon: Fraction, size: int) -> Fraction:
    """kε (Dwork et al. 2006)."""
    return size * epsilon


def group_approx(epsilon: Fraction, delta: Fraction, size: int) -> tuple[Fraction, Fraction]:
    """(kε, δ·(e^{kε} − 1)/(e^ε − 1)), δ at most 1 (Vadhan 2017, Lemma 2.2).

    >>> group_approx(Fraction(0), Fraction(1, 100), 3)
    (Fraction(0, 1), Fraction(3, 100))
    """
    if size == 1 or delta == 0:
        return size * epsilon, delta
    if epsilon == 0:
        return Fraction(0), min(Fraction(1), size * delta)
    if size * epsilon > 4000:
        return size * epsilon, Fraction(1)  # e^4000·δ is above 1 for every δ that can be typed

    def value() -> arb:
        return ball(delta) * (size * ball(epsilon)).expm1() / ball(epsilon).expm1()

    return size * epsilon, min(Fraction(1), up(value))


def group_zcdp(rho: Fraction, size: int) -> Fraction:
    """k²ρ (Bun & Steinke 2016, Proposition 1.9)."""
    return size * size * rho


def group_gaussian(sigma: Fraction, size: int) -> Fraction:
    """σ/k: k units move the l2 norm k times as far (Dong, Roth & Su 2022 for the promise alone)."""
    return sigma / size


def _float(value: Fraction) -> float:
    """A float near enough to choose an order with."""
    return float(min(max(value, Fraction(1, 10**120)), Fraction(10**120)))
