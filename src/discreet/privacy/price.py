"""The price of a cost: ε at δ, δ at ε and their relatives, by the tightest route that is proven for it.

Every route is a bound on its own, so the least of them is one; `Bound.route` names it.  Nothing here has state, touches
data or draws noise.  dp-accounting is asked only where it can be tighter than the closed forms: samples and mixtures.
"""

from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.privacy import analytic, convert
from discreet.privacy import renyi as curves
from discreet.privacy.certify import up
from discreet.privacy.cost import Cost, checked
from discreet.privacy.event import event as event
from discreet.privacy.flat import Choice, Concentrated, Normal, Odds, Terms, Thinned, terms
from discreet.privacy.routes import Bound, delta_routes, epsilon_routes, group_of_samples, least, value_of
from discreet.real import ball

_POINTS = 24  # ε at which a trade-off curve is read


def epsilon(cost: Cost, delta: Any) -> Bound:
    """The least proven ε at which `cost` is (ε, δ)-DP, for 0 ≤ δ < 1.

    >>> from discreet.privacy.cost import Gaussian, Pure, Repeated
    >>> epsilon(Repeated(Pure("0.1"), 3), 0)
    Bound(value=Fraction(3, 10), route='basic composition', slack=Fraction(0, 1), apart=Fraction(0, 1))
    >>> round(float(epsilon(Gaussian(4), "1e-5").value), 4)
    0.9263
    """
    at = _delta(delta)
    found = sorted(epsilon_routes(checked(cost), at), key=value_of)
    if not found:
        what = f"This cost has no ε at δ = {amounts.shown(at)}."
        raise NotPriced(what, "Part of its promise fails with a larger probability.", "Ask at a larger δ.")
    return found[0]


def delta(cost: Cost, epsilon: Any) -> Bound:
    """The least proven δ at which `cost` is (ε, δ)-DP, for ε = 0 or 10⁻⁹ ≤ ε ≤ 10⁶; at most 1, which is no promise.

    >>> from discreet.privacy.cost import Pure
    >>> delta(Pure(1), 1).value
    Fraction(0, 1)
    """
    at = _epsilon(epsilon)
    trivial = Bound(Fraction(1), "trivial: no promise at this ε")
    return min([*delta_routes(checked(cost), at), trivial], key=value_of)


def renyi(cost: Cost, order: Any) -> Bound:
    """R_α of `cost` at the order α, plus the δ paid `apart`.

    >>> from discreet.privacy.cost import Zcdp
    >>> renyi(Zcdp(1), 8).value
    Fraction(8, 1)
    """
    at = curves.order(order)
    made = curves.curve(checked(cost), at)
    note = f", and δ = {amounts.shown(made.delta)} apart" if made.delta else ""
    return Bound(made.value, f"Rényi at order {amounts.shown(at)}{note}", apart=made.delta)


def zcdp(cost: Cost) -> Bound:
    """The least proven ρ such that `cost` is ρ-zCDP; refused where a δ stands apart, which zCDP has no room for.

    >>> from discreet.privacy.cost import Exponential, Pure, Together
    >>> zcdp(Together((Pure(1), Exponential(1)))).value
    Fraction(5, 8)
    """
    rho = _rho(terms(checked(cost)))
    if rho is None:
        why = "Part of its promise fails outright with probability δ."
        raise NotPriced("This cost is not zCDP at any ρ.", why, "Price it with epsilon(cost, delta).")
    return Bound(rho, "zCDP: ε²/2 pure, ε²/8 exponential, 1/2σ² Gaussian, added up; samples unamplified unless pure")


def tradeoff(cost: Cost, false_alarm: Any) -> Bound:
    """The best catch rate of any test that tells a unit's presence with that false-alarm rate, rounded up.

    From (ε, δ(ε)) at every ε:  catch ≤ min(e^ε·a + δ,  1 − e^{−ε}(1 − δ − a))  (Dong, Roth & Su 2022).

    >>> from discreet.privacy.cost import Gaussian
    >>> round(float(tradeoff(Gaussian(1), "0.05").value), 4)
    0.2595
    """
    alarm = amounts.probability(false_alarm, "false_alarm")
    found = terms(checked(cost))
    match found:
        case ():
            return Bound(alarm, "closed form: nothing is promised away")
        case ((Normal() as only, 1),) if not group_of_samples(cost):
            return Bound(analytic.catch_rate(only.mu_squared, alarm), "closed form: Gaussian trade-off")
    return min((_catch(cost, at, alarm) for at in _test_points(cost, found)), key=value_of)


def _catch(cost: Cost, at: Fraction, alarm: Fraction) -> Bound:
    made = delta(cost, at)
    rise = up(lambda: ball(at).exp()) * alarm + made.value if at < 700 else Fraction(1)
    fall = up(lambda: 1 - (-ball(at)).exp() * ball(max(Fraction(0), 1 - made.value - alarm)))
    return Bound(min(Fraction(1), rise, fall), f"trade-off at ε = {amounts.shown(at)}: {made.route}", made.slack)


def _test_points(cost: Cost, found: Terms) -> "list[Fraction]":
    """The ε at which the curve is read: any choice is sound, more choices are tighter."""
    odds = curves.whole_odds(found)
    points = {Fraction(0)}
    if odds is not None and amounts.MIN_EPSILON <= odds.epsilon <= amounts.MAX_EPSILON:
        points.add(odds.epsilon)
    priced = least(epsilon_routes(cost, Fraction(1, 10**9)))
    top = min(Fraction(600), priced.value if priced is not None else Fraction(20))
    points |= {Fraction(round(top * n * 10**9 / _POINTS), 10**9) for n in range(1, _POINTS + 1)}
    return [p for p in points if p == 0 or p >= amounts.MIN_EPSILON]


def _rho(found: Terms) -> Fraction | None:
    total = Fraction(0)
    for atom, times in found:
        match atom:
            case Odds(delta=0):
                rule = convert.zcdp_of_exponential if atom.range_bounded else convert.zcdp_of_pure
                each: Fraction | None = rule(atom.epsilon)
            case Normal():
                each = atom.mu_squared / 2
            case Concentrated():
                each = atom.rho
            case Thinned():
                each = _rho(atom.terms)
                odds = curves.whole_odds(atom.terms)
                if each is not None and odds is not None:
                    each = min(each, convert.zcdp_of_pure(convert.sampled_epsilon(odds.epsilon, atom.rate)))
            case Choice():
                parts = [_rho(part) for part in atom.parts]
                known = [rho for rho in parts if rho is not None]
                each = max(known) if len(known) == len(parts) else None
            case _:
                each = None
        if each is None:
            return None
        total += times * each
    return total


def _delta(value: Any) -> Fraction:
    rule, fix = "must be a decimal number from 0 up to, not including, 1", "Give a number such as 1e-7."
    parsed = amounts.decimal(value, "delta", rule, fix)
    if not 0 <= parsed < 1:
        raise bad("delta", rule, value, fix)
    return parsed


def _epsilon(value: Any) -> Fraction:
    rule, fix = "must be 0 or a decimal number between 1e-9 and 1e6", "Give a number such as 1 or 0.1."
    parsed = amounts.decimal(value, "epsilon", rule, fix)
    if parsed != 0 and not amounts.MIN_EPSILON <= parsed <= amounts.MAX_EPSILON:
        raise bad("epsilon", rule, value, fix)
    return parsed
