"""Rényi divergence at a fixed order: what adds up under every adaptive choice, and what the ledger counts.

R_α bounds the Rényi divergence of order α > 1 in both directions, outside an event of probability `delta` that is paid
for apart.  At one fixed order the larger of two parts bounds both, even when the part is chosen adaptively.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, sqrt
from typing import Any

from flint import arb

from discreet import amounts
from discreet.errors import bad
from discreet.privacy import convert
from discreet.privacy.certify import up
from discreet.privacy.cost import Cost
from discreet.privacy.flat import Atom, Choice, Concentrated, Normal, Odds, Terms, Thinned, terms
from discreet.real import ball

ORDERS: tuple[Fraction, ...] = (
    *(Fraction(n, 100) for n in (101, 105, 110, 125, 150, 175)),
    *(Fraction(n) for n in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)),
    *(Fraction(4**n) for n in range(6, 16)),
)
MOST_ORDER = Fraction(10**12)
_MOST_BINOMIAL = 1024  # the largest integer order summed for a sampled Gaussian
_REFINEMENTS = 10
_NO_PRICE = Fraction(10**40)


@dataclass(frozen=True)
class Curve:
    """R_α at one order, and the δ that is paid apart."""

    value: Fraction
    delta: Fraction = Fraction(0)


def order(value: Any) -> Fraction:
    """A Rényi order: above 1, at most 10¹².

    >>> order(1.5)
    Fraction(3, 2)
    """
    rule, fix = "must be a number above 1 and at most 1e12", "Give an order such as 2 or 16."
    parsed = amounts.decimal(value, "order", rule, fix)
    if not 1 < parsed <= MOST_ORDER:
        raise bad("order", rule, value, fix)
    return parsed


def curve(cost: Cost, at: Fraction) -> Curve:
    """R_α of `cost` at the order α = `at`, rounded up.

    >>> from discreet.privacy.cost import Gaussian, Repeated
    >>> curve(Repeated(Gaussian(2), 3), Fraction(8))
    Curve(value=Fraction(3, 1), delta=Fraction(0, 1))
    """
    return of_terms(terms(cost), at)


def of_terms(found: Terms, at: Fraction) -> Curve:
    """The sum over a composition (Mironov 2017, Proposition 1)."""
    value = delta = Fraction(0)
    for atom, times in found:
        each = _of_atom(atom, at)
        value += times * each.value
        delta += times * each.delta
    return Curve(value, min(delta, Fraction(1)))


def _of_atom(atom: Atom, at: Fraction) -> Curve:
    match atom:
        case Odds():
            plain = response(atom.epsilon, at)
            if atom.range_bounded:
                plain = min(plain, at * convert.zcdp_of_exponential(atom.epsilon))
            return Curve(plain, atom.delta)
        case Normal():
            return Curve(at * atom.mu_squared / 2)
        case Concentrated():
            return Curve(at * atom.rho)
        case Choice():
            each = [of_terms(part, at) for part in atom.parts]
            return Curve(max(c.value for c in each), max(c.delta for c in each))
        case Thinned():
            return _of_sample(atom, at)
        case _:
            raise TypeError("not an atom")


@lru_cache(maxsize=8192)
def response(epsilon: Fraction, at: Fraction) -> Fraction:
    """Randomized response's curve, the largest of any ε-DP mechanism, at most ε (Kairouz, Oh & Viswanath 2015).

    R_α = ln((e^{αε} + e^{(1−α)ε})/(1 + e^ε))/(α − 1)
        = ln(1 + 2·sinh(αε/2)·sinh((α−1)ε/2)/cosh(ε/2))/(α − 1), the form without cancellation.
    """
    if epsilon == 0:
        return Fraction(0)
    if (at - 1) * epsilon > 10**6:
        return epsilon

    def value() -> arb:
        half, a = ball(epsilon) / 2, ball(at)
        return (2 * (a * half).sinh() * ((a - 1) * half).sinh() / half.cosh()).log1p() / (a - 1)

    return min(epsilon, up(value))


@lru_cache(maxsize=8192)
def sampled_response(epsilon: Fraction, rate: Fraction, at: Fraction) -> Fraction:
    """The curve of randomized response on a Poisson sample, the worse of both directions.

    With (P, Q) the two laws of randomized response and M = (1−p)Q + pP, the pairs (M, Q) and (Q, M) dominate every
    ε-DP mechanism on a sample at rate p (Zhu, Dong & Wang 2022).
    """
    if at * epsilon > 10**5:
        return convert.sampled_epsilon(epsilon, rate)

    def value(power: arb) -> arb:
        e, p = ball(epsilon), ball(rate)
        high, low = 1 + p * e.expm1(), 1 + p * (-e).expm1()
        moment = high**power / (1 + e.exp()) + low**power / (1 + (-e).exp())
        return moment.log() / (ball(at) - 1)

    return max(up(lambda: value(ball(at))), up(lambda: value(1 - ball(at))), Fraction(0))


def sampled_gaussian(mu_squared: Fraction, rate: Fraction, at: Fraction) -> Fraction:
    """The sampled Gaussian's curve: a binomial sum at whole orders, the chord of (α−1)R_α between them.

    (α−1)R_α is convex in α and 0 at α = 1, so the chord lies above; αμ²/2, no sample at all, is always a bound.
    """
    plain = at * mu_squared / 2
    low = at.numerator // at.denominator
    if low + 1 > _MOST_BINOMIAL or at * at * mu_squared > 10**6:
        return plain
    left = _whole_moment(mu_squared, rate, low)
    if at == low:
        return min(plain, left / (at - 1))
    right = _whole_moment(mu_squared, rate, low + 1)
    share = at - low
    return min(plain, ((1 - share) * left + share * right) / (at - 1))


@lru_cache(maxsize=8192)
def _whole_moment(mu_squared: Fraction, rate: Fraction, at: int) -> Fraction:
    """(α−1)R_α = ln Σ_k C(α,k)(1−p)^{α−k}p^k·e^{k(k−1)μ²/2} at a whole α (Mironov, Talwar & Zhang 2019)."""
    if at == 1:
        return Fraction(0)

    def value() -> arb:
        p, step = ball(rate), (ball(mu_squared)).exp()
        odds = p / (1 - p)
        total, weight, rise = arb(0), (1 - p) ** at, arb(1)
        for k in range(at + 1):
            total += comb(at, k) * weight
            weight *= odds * rise  # e^{k(k−1)μ²/2} grows by e^{kμ²}
            rise *= step
        return total.log()

    return max(Fraction(0), up(value))


def _of_sample(atom: Thinned, at: Fraction) -> Curve:
    plain = of_terms(atom.terms, at)  # sampling never costs more: joint quasi-convexity
    match atom.terms:
        case ((Normal() as normal, 1),):
            return Curve(sampled_gaussian(normal.mu_squared, atom.rate, at))
        case _:
            total = whole_odds(atom.terms)
            if total is None:
                return plain
    if total.delta:
        amplified = response(convert.sampled_epsilon(total.epsilon, atom.rate), at)
    else:
        amplified = sampled_response(total.epsilon, atom.rate, at)
    if amplified > plain.value:
        return plain
    return Curve(amplified, atom.rate * total.delta)


def whole_odds(found: Terms) -> Odds | None:
    """(Σε, Σδ) if every term has them: basic composition."""
    epsilon = delta = Fraction(0)
    for atom, times in found:
        match atom:
            case Odds():
                each: Odds | None = atom
            case Thinned():
                inner = whole_odds(atom.terms)
                each = inner and Odds(convert.sampled_epsilon(inner.epsilon, atom.rate), atom.rate * inner.delta)
            case Choice():
                parts = [whole_odds(part) for part in atom.parts]
                known = [p for p in parts if p is not None]
                full = len(known) == len(parts)
                each = Odds(max(p.epsilon for p in known), max(p.delta for p in known)) if full else None
            case _:
                each = None
        if each is None:
            return None
        epsilon, delta = epsilon + times * each.epsilon, delta + times * each.delta
    return Odds(epsilon, min(delta, Fraction(1)))


def epsilon_at(found: Terms, delta: Fraction) -> "tuple[Fraction, Fraction] | None":
    """The least (ε, its order) over the orders tried, or None where the parts paid apart already exceed δ."""

    def price(at: Fraction) -> Fraction:
        made = of_terms(found, at)
        return convert.epsilon_of_renyi(made.value, at, delta - made.delta) if made.delta < delta else _NO_PRICE

    best = _best(price)
    return None if best[0] == _NO_PRICE else best


def delta_at(found: Terms, epsilon: Fraction) -> "tuple[Fraction, Fraction]":
    """The least (δ, its order) over the orders tried."""

    def price(at: Fraction) -> Fraction:
        made = of_terms(found, at)
        return min(Fraction(1), convert.delta_of_renyi(made.value, at, epsilon) + made.delta)

    return _best(price)


def _best(price: Callable[[Fraction], Fraction]) -> tuple[Fraction, Fraction]:
    """The least price over `ORDERS`, then over points closing in on it: every one of them is a proven price."""
    prices = [(price(at), at) for at in ORDERS]
    at = min(range(len(prices)), key=lambda i: prices[i])
    best = prices[at]
    low, high = ORDERS[max(at - 1, 0)], ORDERS[min(at + 1, len(ORDERS) - 1)]
    for _ in range(_REFINEMENTS):
        left, right = _between(low, best[1]), _between(best[1], high)
        tried = min((price(left), left), (price(right), right))
        if tried < best:
            low, high = (low, best[1]) if tried[1] < best[1] else (best[1], high)
            best = tried
        else:
            low, high = left, right
    return best


def _between(left: Fraction, right: Fraction) -> Fraction:
    """Half-way on the scale of ln(α − 1), as a short rational; whole where orders are large."""
    middle = sqrt((left - 1) * (right - 1))
    return 1 + (Fraction(round(middle)) if middle > 64 else Fraction(round(middle * 2**20), 2**20))
