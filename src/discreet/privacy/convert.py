"""From one promise to another, one theorem per function.

Amounts in are exact; amounts out are rounded to the larger side.  ε, δ, ρ, α, k, p are always: the pure or approximate
bound, its failure probability, zCDP's parameter, a Rényi order above 1, a number of repetitions or of units, a rate.
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
    """δ = e^{(α−1)(R−ε)}·(1 − 1/α)^α/(α − 1), at most 1: the same theorem read the other way."""

    def logarithm() -> arb:
        a = ball(order)
        return (a - 1) * (ball(divergence) - ball(epsilon)) + a * (-1 / a).log1p() - (a - 1).log()

    exponent = up(logarithm)
    return Fraction(1) if exponent >= 0 else min(Fraction(1), up(lambda: ball(exponent).exp()))


def best_order(rho: float, log_delta: float) -> Fraction:
    """Nearly the best order to turn ρ-zCDP into (ε, δ)."""
    guess = (math.log(max(-log_delta, 1e-6)) - math.log(rho)) / 2

    def worth(x: float) -> float:
        rest = math.exp(x)
        return (1 + rest) * rho + x - math.log1p(rest) - (log_delta + math.log1p(rest)) / rest

    return _order_between(guess, worth)


def _order_between(guess: float, worth: Callable[[float], float]) -> Fraction:
    """The order 1 + e^x with the least `worth(x)`, by thirds; floats may choose it, since any order is sound."""
    low, high = max(guess - 12, -25.0), min(max(guess, 0.0) + 12, 300.0)
    for _ in range(90):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if worth(left) <= worth(right) else (left, high)
    return 1 + Fraction(math.exp((low + high) / 2)).limit_denominator(10**12) + Fraction(1, 10**15)


def epsilon_of_zcdp(rho: Fraction, delta: Fraction) -> Fraction:
    """ε = min over α > 1 of αρ + ln(1 − 1/α) − (ln δ + ln α)/(α − 1) (Canonne, Kamath & Steinke 2020).

    >>> round(float(epsilon_of_zcdp(Fraction(1, 2), Fraction(1, 10**6))), 3)
    5.222
    """
    if rho == 0:
        return Fraction(0)
    order = best_order(_float(rho), _log(delta))
    return epsilon_of_renyi(order * rho, order, delta)


def delta_of_zcdp(rho: Fraction, epsilon: Fraction) -> Fraction:
    """δ at ε of ρ-zCDP, at the best order found; the search starts from the order (ε + ρ)/2ρ."""
    if rho == 0:
        return Fraction(0)
    r, e = _float(rho), _float(epsilon)
    guess = math.log(max((e - r) / (2 * r), 1e-9))

    def worth(x: float) -> float:
        rest = math.exp(x)
        return rest * ((1 + rest) * r - e) + (1 + rest) * (x - math.log1p(rest)) - x

    order = _order_between(guess, worth)
    return delta_of_renyi(order * rho, order, epsilon)


def delta_of_pure(epsilon: Fraction, at: Fraction) -> Fraction:
    """δ = (e^ε − e^{ε'})/(1 + e^ε), at least 0: what ε-DP promises at ε' (the worst is randomized response)."""
    if at >= epsilon:
        return Fraction(0)
    if epsilon - at > MOST_SUMMED:
        return Fraction(1)
    return up(lambda: (-(ball(at - epsilon).expm1())) / (1 + (-ball(epsilon)).exp()))


def epsilon_of_pure(epsilon: Fraction, delta: Fraction) -> Fraction:
    """ε' = ln(e^ε − δ(1 + e^ε)), at least 0: the same read the other way."""
    if delta == 0:
        return epsilon
    room = down(lambda: ball(delta) * (1 + (-ball(epsilon)).exp()))
    if room >= 1:
        return Fraction(0)
    return max(Fraction(0), up(lambda: ball(epsilon) + (-ball(room)).log1p()))


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


def basic(epsilons: "list[Fraction]", deltas: "list[Fraction]") -> tuple[Fraction, Fraction]:
    """(Σε, Σδ): basic composition (Dwork et al. 2006).

    >>> basic([Fraction(1, 10)] * 3, [Fraction(0)] * 3)
    (Fraction(3, 10), Fraction(0, 1))
    """
    return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))


def advanced(epsilon: Fraction, delta: Fraction, times: int, slack: Fraction) -> tuple[Fraction, Fraction]:
    """(√(2k ln(1/δ'))·ε + kε(e^ε − 1), kδ + δ'), for any δ' > 0 (Dwork, Rothblum & Vadhan 2010).

    Kept for teaching and comparison: `optimal` and the Rényi route are never worse.
    """

    def value() -> arb:
        e, k = ball(epsilon), arb(times)
        return (2 * k * -ball(slack).log()).sqrt() * e + k * e * e.expm1()

    return up(value), times * delta + slack


@dataclass(frozen=True)
class Share:
    """`times` mechanisms of (ε, δ)-DP in a composition."""

    epsilon: Fraction
    delta: Fraction
    times: int


def optimal_delta(epsilon: Fraction, delta: Fraction, times: int, at: Fraction) -> Fraction:
    """The least δ' such that k mechanisms of (ε, δ)-DP are (ε', δ')-DP (Kairouz, Oh & Viswanath 2015, Theorem 3.3).

    δ' = 1 − (1−δ)^k·(1 − D),  D = Σ_l C(k,l)·max(0, e^{(k−l)ε} − e^{ε'+lε})/(1 + e^ε)^k.
    """
    return mixed_delta((Share(epsilon, delta, times),), at)


def optimal_epsilon(epsilon: Fraction, delta: Fraction, times: int, at: Fraction) -> Fraction | None:
    """The least ε' such that k mechanisms of (ε, δ)-DP are (ε', δ')-DP at δ' = `at`: the same theorem.

    >>> round(float(optimal_epsilon(Fraction(1, 10), Fraction(0), 100, Fraction(1, 10**5))), 4)
    4.3068
    """
    return mixed_epsilon((Share(epsilon, delta, times),), at)


def mixed_delta(shares: tuple[Share, ...], at: Fraction) -> Fraction:
    """The same for unequal mechanisms, summed over all combinations of losses (Murtagh & Vadhan 2016)."""
    with precision(256):
        e_at = ball(at).exp()
        total = arb(0)
        for loss, high, low in _losses(shares):
            if loss > at:
                total += high - e_at * low
    spent = _outside(shares)
    return min(Fraction(1), max(Fraction(0), up(lambda: 1 - ball(1 - spent) * (1 - total))))


def mixed_epsilon(shares: tuple[Share, ...], at: Fraction) -> Fraction | None:
    """ε' = max over i of ln((A_i − D)/B_i), where A_i, B_i are the two laws' chances of the i largest losses and
    D = 1 − (1−δ')/∏(1−δ); None where the δ parts alone exceed δ' = `at`.
    """
    spent = _outside(shares)
    if spent > at:
        return None
    left = max(Fraction(0), down(lambda: 1 - ball(1 - at) / ball(1 - spent)))
    best = Fraction(0)
    with precision(256):
        above, below, room = arb(0), arb(0), ball(left)
        for loss, high, low in _losses(shares):
            if loss <= 0:
                break
            above, below = above + high, below + low
            gap = (above - room).upper()
            if gap > 0:
                best = max(best, _upper_log(gap, below.lower()))
    return min(best, sum((share.epsilon * share.times for share in shares), Fraction(0)))


def combinations(shares: tuple[Share, ...]) -> int:
    """How many losses a mixed composition has: the work of summing them."""
    return math.prod(share.times + 1 for share in shares)


def _upper_log(above: arb, below: arb) -> Fraction:
    return up(lambda: (above / below).log())


_Loss = tuple[Fraction, arb, arb]  # the loss, its chance under the one law, under the other


def _losses(shares: tuple[Share, ...]) -> list[_Loss]:
    """The losses of all the randomized responses together, largest first."""
    if combinations(shares) > 2 * MOST_OPTIMAL:
        what = f"Optimal composition is summed over at most {2 * MOST_OPTIMAL} losses."
        raise NotPriced(what, f"There are {combinations(shares)}.", "Use the Rényi or the PLD route.")
    found: list[_Loss] = [(Fraction(0), arb(1), arb(1))]
    for share in shares:
        each = _response_losses(share.epsilon, share.times)
        found = [(a + b, c * d, e * f) for a, c, e in found for b, d, f in each]
    return sorted(found, key=lambda one: one[0], reverse=True)


def _response_losses(epsilon: Fraction, times: int) -> list[_Loss]:
    """The losses of k equal randomized responses."""
    keep = 1 / (1 + (-ball(epsilon)).exp())
    flip = 1 / (1 + ball(epsilon).exp())
    keeps, flips = [arb(1)], [arb(1)]
    for _ in range(times):
        keeps.append(keeps[-1] * keep)
        flips.append(flips[-1] * flip)
    ways, found = 1, []
    for lies in range(times + 1):
        chance = arb(ways)
        high = chance * keeps[times - lies] * flips[lies]
        found.append(((times - 2 * lies) * epsilon, high, chance * keeps[lies] * flips[times - lies]))
        ways = ways * (times - lies) // (lies + 1)
    return found


def _outside(shares: tuple[Share, ...]) -> Fraction:
    """1 − ∏(1 − δ)^k, rounded up: the chance that at least one bad event happens."""
    risky = [share for share in shares if share.delta]
    if any(share.delta == 1 for share in risky):
        return Fraction(1)
    if len(risky) <= 1 and all(share.times == 1 for share in risky):
        return risky[0].delta if risky else Fraction(0)

    def value() -> arb:
        return -(sum((share.times * (-ball(share.delta)).log1p() for share in risky), arb(0)).expm1())

    return min(Fraction(1), sum((share.times * share.delta for share in risky), Fraction(0)), up(value))


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


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
