"""Rényi divergence at a fixed order, which adds up under every adaptive choice; the ledger counts it.

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
from discreet.privacy.flat import Atom, Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of
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
class Divergence:
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


def divergence(cost: Cost, alpha: Fraction) -> Divergence:
    """R_α of `cost`, rounded up.

    >>> from discreet.privacy.cost import Gaussian, Repeated
    >>> divergence(Repeated(Gaussian(2), 3), Fraction(8))
    Divergence(value=Fraction(3, 1), delta=Fraction(0, 1))
    """
    return divergence_of_atoms(atoms_of(cost), alpha)


def divergence_of_atoms(atoms: Atoms, alpha: Fraction) -> Divergence:
    """The sum over a composition (Mironov 2017, Proposition 1)."""
    value = delta = Fraction(0)
    for atom, times in atoms:
        each = _of_atom(atom, alpha)
        value += times * each.value
        delta += times * each.delta
    return Divergence(value, min(delta, Fraction(1)))


def _of_atom(atom: Atom, alpha: Fraction) -> Divergence:
    match atom:
        case Odds():
            value = response(atom.epsilon, alpha)
            if atom.range_bounded:
                value = min(value, alpha * convert.zcdp_of_exponential(atom.epsilon))
            return Divergence(value, atom.delta)
        case Normal():
            return Divergence(alpha * atom.mu_squared / 2)
        case Concentrated():
            return Divergence(alpha * atom.rho)
        case Choice():
            parts = [divergence_of_atoms(part, alpha) for part in atom.parts]
            return Divergence(max(part.value for part in parts), max(part.delta for part in parts))
        case Thinned():
            return _of_sample(atom, alpha)
        case _:
            raise TypeError("not an atom")


@lru_cache(maxsize=8192)
def response(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """Randomized response's curve, the largest of any ε-DP mechanism, at most ε (Kairouz, Oh & Viswanath 2015).

    R_α = ln((e^{αε} + e^{(1−α)ε})/(1 + e^ε))/(α − 1)
        = ln(1 + 2·sinh(αε/2)·sinh((α−1)ε/2)/cosh(ε/2))/(α − 1), the form without cancellation.
    """
    if epsilon == 0:
        return Fraction(0)
    if (alpha - 1) * epsilon > 10**6:
        return epsilon

    def value() -> arb:
        half, a = ball(epsilon) / 2, ball(alpha)
        return (2 * (a * half).sinh() * ((a - 1) * half).sinh() / half.cosh()).log1p() / (a - 1)

    return min(epsilon, up(value))


@lru_cache(maxsize=8192)
def sampled_response(epsilon: Fraction, rate: Fraction, alpha: Fraction) -> Fraction:
    """The curve of randomized response on a Poisson sample, the worse of both directions.

    With (P, Q) the two laws of randomized response and M = (1−p)Q + pP, the pairs (M, Q) and (Q, M) dominate every
    ε-DP mechanism on a sample at rate p (Zhu, Dong & Wang 2022).
    """
    if alpha * epsilon > 10**5:
        return convert.sampled_epsilon(epsilon, rate)

    def value(power: arb) -> arb:
        e, p = ball(epsilon), ball(rate)
        high, low = 1 + p * e.expm1(), 1 + p * (-e).expm1()
        moment = high**power / (1 + e.exp()) + low**power / (1 + (-e).exp())
        return moment.log() / (ball(alpha) - 1)

    return max(up(lambda: value(ball(alpha))), up(lambda: value(1 - ball(alpha))), Fraction(0))


def sampled_gaussian(mu_squared: Fraction, rate: Fraction, alpha: Fraction) -> Fraction:
    """The sampled Gaussian's curve: a binomial sum at whole orders, the chord of (α−1)R_α between them.

    (α−1)R_α is convex in α and 0 at α = 1, so the chord lies above; αμ²/2, no sample at all, is always a bound.
    """
    unsampled = alpha * mu_squared / 2
    low = alpha.numerator // alpha.denominator
    if low + 1 > _MOST_BINOMIAL or alpha * alpha * mu_squared > 10**6:
        return unsampled
    moment = _moment_at(mu_squared, rate, low)
    if alpha > low:
        weight = alpha - low
        moment = (1 - weight) * moment + weight * _moment_at(mu_squared, rate, low + 1)
    return min(unsampled, moment / (alpha - 1))


@lru_cache(maxsize=8192)
def _moment_at(mu_squared: Fraction, rate: Fraction, alpha: int) -> Fraction:
    """(α−1)R_α = ln Σ_k C(α,k)(1−p)^{α−k}p^k·e^{k(k−1)μ²/2} at a whole α (Mironov, Talwar & Zhang 2019)."""
    if alpha == 1:
        return Fraction(0)

    def value() -> arb:
        p, step = ball(rate), (ball(mu_squared)).exp()
        odds = p / (1 - p)
        total, weight, rise = arb(0), (1 - p) ** alpha, arb(1)
        for k in range(alpha + 1):
            total += comb(alpha, k) * weight
            weight *= odds * rise  # e^{k(k−1)μ²/2} grows by e^{kμ²}
            rise *= step
        return total.log()

    return max(Fraction(0), up(value))


def _of_sample(atom: Thinned, alpha: Fraction) -> Divergence:
    unsampled = divergence_of_atoms(atom.atoms, alpha)  # sampling never costs more: joint quasi-convexity
    match atom.atoms:
        case ((Normal() as normal, 1),):
            return Divergence(sampled_gaussian(normal.mu_squared, atom.rate, alpha))
        case _:
            total = total_odds(atom.atoms)
            if total is None:
                return unsampled
    if total.delta:
        amplified = response(convert.sampled_epsilon(total.epsilon, atom.rate), alpha)
    else:
        amplified = sampled_response(total.epsilon, atom.rate, alpha)
    return unsampled if amplified > unsampled.value else Divergence(amplified, atom.rate * total.delta)


def total_odds(atoms: Atoms) -> Odds | None:
    """(Σε, Σδ) by basic composition; None where an atom has no ε of its own."""
    epsilon = delta = Fraction(0)
    for atom, times in atoms:
        odds: Odds | None = None
        match atom:
            case Odds():
                odds = atom
            case Thinned():
                inner = total_odds(atom.atoms)
                odds = inner and Odds(convert.sampled_epsilon(inner.epsilon, atom.rate), atom.rate * inner.delta)
            case Choice():
                parts = [total_odds(part) for part in atom.parts]
                totals = [part for part in parts if part is not None]
                if len(totals) == len(parts):
                    odds = Odds(max(total.epsilon for total in totals), max(total.delta for total in totals))
        if odds is None:
            return None
        epsilon, delta = epsilon + times * odds.epsilon, delta + times * odds.delta
    return Odds(epsilon, min(delta, Fraction(1)))


def epsilon_at(atoms: Atoms, delta: Fraction) -> "tuple[Fraction, Fraction] | None":
    """The least ε at δ over the orders tried, and its order; None where the δ paid apart already exceeds δ."""

    def epsilon(alpha: Fraction) -> Fraction:
        total = divergence_of_atoms(atoms, alpha)
        return convert.epsilon_of_renyi(total.value, alpha, delta - total.delta) if total.delta < delta else _NO_PRICE

    best = _least_over_orders(epsilon)
    return None if best[0] == _NO_PRICE else best


def delta_at(atoms: Atoms, epsilon: Fraction) -> "tuple[Fraction, Fraction]":
    """The least δ at ε over the orders tried, and its order."""

    def delta(alpha: Fraction) -> Fraction:
        total = divergence_of_atoms(atoms, alpha)
        return min(Fraction(1), convert.delta_of_renyi(total.value, alpha, epsilon) + total.delta)

    return _least_over_orders(delta)


def _least_over_orders(bound: Callable[[Fraction], Fraction]) -> tuple[Fraction, Fraction]:
    """The least bound over `ORDERS` and over points closing in on the best of them, and its order; all are proven."""
    bounds = [(bound(alpha), alpha) for alpha in ORDERS]
    index = min(range(len(bounds)), key=lambda i: bounds[i])
    best = bounds[index]
    low, high = ORDERS[max(index - 1, 0)], ORDERS[min(index + 1, len(ORDERS) - 1)]
    for _ in range(_REFINEMENTS):
        lower, upper = _between(low, best[1]), _between(best[1], high)
        refined = min((bound(lower), lower), (bound(upper), upper))
        if refined < best:
            low, high = (low, best[1]) if refined[1] < best[1] else (best[1], high)
            best = refined
        else:
            low, high = lower, upper
    return best


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Half-way on the scale of ln(α − 1), as a short rational; whole where orders are large."""
    middle = sqrt((low - 1) * (high - 1))
    return 1 + (Fraction(round(middle)) if middle > 64 else Fraction(round(middle * 2**20), 2**20))
