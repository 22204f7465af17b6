"""The price of a cost: ε at δ, δ at ε and their relatives, by the tightest route that is proven for it.

Every route gives an upper bound, so the least of them is one too; `Bound.route` names it.  Nothing here has state,
touches data or draws noise.  dp-accounting is used only where it can be tighter than the closed forms: for samples and
mixtures.
"""

from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.privacy import analytic, convert
from discreet.privacy import renyi as curves
from discreet.privacy.certify import up
from discreet.privacy.cost import Cost, require_cost
from discreet.privacy.flat import Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of
from discreet.privacy.routes import Bound, epsilon_bounds, is_group_of_samples, least, least_delta, value_of
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
    target_delta = _delta(delta)
    bound = least(epsilon_bounds(require_cost(cost), target_delta))
    if bound is None:
        what = f"This cost has no ε at δ = {amounts.text_of(target_delta)}."
        raise NotPriced(what, "Part of its promise fails with a larger probability.", "Ask at a larger δ.")
    return bound


def delta(cost: Cost, epsilon: Any) -> Bound:
    """The least proven δ at which `cost` is (ε, δ)-DP, for ε = 0 or 10⁻⁹ ≤ ε ≤ 10⁶; at most 1, which is no promise.

    >>> from discreet.privacy.cost import Pure
    >>> delta(Pure(1), 1).value
    Fraction(0, 1)
    """
    return least_delta(require_cost(cost), _epsilon(epsilon))


def renyi(cost: Cost, order: Any) -> Bound:
    """R_α of `cost` at the order α, plus the δ paid `apart`.

    >>> from discreet.privacy.cost import Zcdp
    >>> renyi(Zcdp(1), 8).value
    Fraction(8, 1)
    """
    alpha = curves.order(order)
    divergence = curves.divergence(require_cost(cost), alpha)
    note = f", and δ = {amounts.text_of(divergence.delta)} apart" if divergence.delta else ""
    return Bound(divergence.value, f"Rényi at order {amounts.text_of(alpha)}{note}", apart=divergence.delta)


def zcdp(cost: Cost) -> Bound:
    """The least proven ρ such that `cost` is ρ-zCDP; refused where part of the cost has a δ, which zCDP cannot express.

    >>> from discreet.privacy.cost import Exponential, Pure, Together
    >>> zcdp(Together((Pure(1), Exponential(1)))).value
    Fraction(5, 8)
    """
    rho = zcdp_of_atoms(atoms_of(require_cost(cost)))
    if rho is None:
        why = "Part of its promise fails outright with probability δ."
        raise NotPriced("This cost is not zCDP at any ρ.", why, "Price it with epsilon(cost, delta).")
    return Bound(rho, "zCDP: ε²/2 pure, ε²/8 exponential, 1/2σ² Gaussian, added up; samples unamplified unless pure")


def tradeoff(cost: Cost, false_alarm: Any) -> Bound:
    """The largest catch rate of any test for a unit's presence that has that false-alarm rate, rounded up.

    From (ε, δ(ε)) at every ε:  catch ≤ min(e^ε·a + δ,  1 − e^{−ε}(1 − δ − a))  (Dong, Roth & Su 2022).

    >>> from discreet.privacy.cost import Gaussian
    >>> round(float(tradeoff(Gaussian(1), "0.05").value), 4)
    0.2595
    """
    alarm = amounts.probability(false_alarm, "false_alarm")
    atoms = atoms_of(require_cost(cost))
    match atoms:
        case ():
            return Bound(alarm, "closed form: nothing is promised away")
        case ((Normal() as normal, 1),) if not is_group_of_samples(cost):
            return Bound(analytic.catch_rate(normal.mu_squared, alarm), "closed form: Gaussian trade-off")
    return min((_catch_rate(cost, epsilon, alarm) for epsilon in _test_points(cost, atoms)), key=value_of)


def _catch_rate(cost: Cost, epsilon: Fraction, alarm: Fraction) -> Bound:
    bound = delta(cost, epsilon)
    rise = up(lambda: ball(epsilon).exp()) * alarm + bound.value if epsilon < 700 else Fraction(1)
    fall = up(lambda: 1 - (-ball(epsilon)).exp() * ball(max(Fraction(0), 1 - bound.value - alarm)))
    return Bound(
        min(Fraction(1), rise, fall), f"trade-off at ε = {amounts.text_of(epsilon)}: {bound.route}", bound.slack
    )


def _test_points(cost: Cost, atoms: Atoms) -> "list[Fraction]":
    """The ε at which the curve is read: any choice is sound, more choices are tighter."""
    odds = curves.total_odds(atoms)
    points = {Fraction(0)}
    if odds is not None and amounts.MIN_EPSILON <= odds.epsilon <= amounts.MAX_EPSILON:
        points.add(odds.epsilon)
    bound = least(epsilon_bounds(cost, Fraction(1, 10**9)))
    top = min(Fraction(600), bound.value if bound is not None else Fraction(20))
    points |= {Fraction(round(top * n * 10**9 / _POINTS), 10**9) for n in range(1, _POINTS + 1)}
    return [p for p in points if p == 0 or p >= amounts.MIN_EPSILON]


def zcdp_of_atoms(atoms: Atoms) -> Fraction | None:
    """ρ of a composition; None where an atom has a δ."""
    total = Fraction(0)
    for atom, times in atoms:
        rho: Fraction | None = None
        match atom:
            case Odds(delta=0):
                rule = convert.zcdp_of_exponential if atom.range_bounded else convert.zcdp_of_pure
                rho = rule(atom.epsilon)
            case Normal():
                rho = atom.mu_squared / 2
            case Concentrated():
                rho = atom.rho
            case Thinned():
                rho = zcdp_of_atoms(atom.atoms)
                odds = curves.total_odds(atom.atoms)
                if rho is not None and odds is not None:
                    rho = min(rho, convert.zcdp_of_pure(convert.sampled_epsilon(odds.epsilon, atom.rate)))
            case Choice():
                parts = [zcdp_of_atoms(part) for part in atom.parts]
                rhos = [part for part in parts if part is not None]
                rho = max(rhos) if len(rhos) == len(parts) else None
        if rho is None:
            return None
        total += times * rho
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
