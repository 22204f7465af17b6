"""What a charge weighs in the filter's currencies, and whether what was typed covers it.

A promise with a δ of its own (key selection, an approximate mechanism) is its noise outside an event of probability δ,
which is paid for apart: `Promise` holds both.  Typed (ε, δ) means that the question alone is (ε, δ)-DP; a charge that
claims less than its cost is refused, whoever made it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.ledger.account import Amounts
from discreet.ledger.filter import Budget, kept, kept_delta, kept_renyi
from discreet.privacy import analytic, convert, price, renyi
from discreet.privacy.cost import FREE, Apart, Approx, Cost, Group, Pure, Repeated, Sampled, Together, checked
from discreet.privacy.flat import Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of, promises_groups
from discreet.relation import Relation

_FINEST = 10**400  # denominators up to here are kept: whoever types a δ can pay a δ apart that is all of it


@dataclass(frozen=True)
class Promise:
    """A cost without any δ of its own, and the probability of the event outside which it holds."""

    cost: Cost
    apart: Fraction


@dataclass(frozen=True)
class Typed:
    """The (ε, δ) a question takes at most, and the promise behind it."""

    epsilon: Fraction
    delta: Fraction
    promise: Promise


def promise(cost: Cost, relation: Relation) -> Promise:
    """`cost` under `relation`, its δ apart.

    Under replace-one parts are all paid for and a sample counts as the whole: both theorems are about add-remove.

    >>> promise(Together((Approx(1, "1e-9"), Pure(2))), Relation.ADD_REMOVE).apart
    Fraction(1, 1000000000)
    """
    found = _promise(checked(cost), 1, relation)
    apart = found.apart if found.apart.denominator <= _FINEST else kept_delta(found.apart)
    return Promise(found.cost, min(apart, Fraction(1)))


def _promise(cost: Cost, size: int, relation: Relation) -> Promise:
    match cost:
        case Approx():
            epsilon, delta = convert.group_approx(cost.epsilon, cost.delta, size)
            return Promise(_pure(epsilon), delta)
        case Together():
            return _all(cost.costs, size, relation)
        case Repeated():
            inner = _promise(cost.cost, size, relation)
            return Promise(Repeated(inner.cost, cost.times), inner.apart * cost.times)
        case Group():
            return _promise(cost.cost, size * cost.size, relation)
        case Apart():
            if relation is not Relation.ADD_REMOVE or size > 1:  # units of a group may lie in different parts
                return _all(cost.costs, size, relation)
            parts = [_promise(c, size, relation) for c in cost.costs]
            return Promise(Apart(tuple(p.cost for p in parts)), max((p.apart for p in parts), default=Fraction(0)))
        case Sampled():
            return _sampled(cost, size, relation)
        case _:
            return Promise(cost if size == 1 else Group(cost, size), Fraction(0))


def _all(costs: tuple[Cost, ...], size: int, relation: Relation) -> Promise:
    parts = [_promise(c, size, relation) for c in costs]
    return Promise(Together(tuple(p.cost for p in parts)), sum((p.apart for p in parts), Fraction(0)))


def _sampled(cost: Sampled, size: int, relation: Relation) -> Promise:
    if cost.rate == 0:
        return Promise(FREE, Fraction(0))
    whole = relation is not Relation.ADD_REMOVE or size > 1 or cost.rate == 1 or promises_groups(cost.cost)
    inner = _promise(cost.cost, size, relation)
    if whole or inner.apart == 0:
        return inner if whole else Promise(Sampled(cost.rate, inner.cost), Fraction(0))
    odds = renyi.total_odds(atoms_of(cost.cost))
    if odds is None:  # the event is that of the unsampled mechanism, whichever the sample
        return Promise(Sampled(cost.rate, inner.cost), inner.apart)
    return Promise(_pure(convert.sampled_epsilon(odds.epsilon, cost.rate)), cost.rate * odds.delta)


def _pure(epsilon: Fraction) -> Cost:
    return Pure(max(epsilon, amounts.MIN_EPSILON)) if epsilon > 0 else FREE


def typed(cost: Cost, relation: Relation, *, epsilon: Any = None, delta: Any = None) -> Typed:
    """The question's (ε, δ): as typed if that covers the cost, or Σε and the δ apart where nothing was typed.

    >>> typed(Pure("0.1"), Relation.ADD_REMOVE).epsilon
    Fraction(1, 10)
    """
    found = promise(cost, relation)
    small = found.apart if delta is None else amounts.probability(delta, "delta")
    if epsilon is None:
        odds = renyi.total_odds(atoms_of(found.cost))
        if odds is None:
            fix = "Type the epsilon and delta at which the noise was calibrated."
            raise bad("epsilon", "must be typed for a cost without an ε of its own", type(cost).__name__, fix)
        at = odds.epsilon and amounts.epsilon(odds.epsilon)
    else:
        at = amounts.epsilon(epsilon)
    if small < found.apart:
        fix = f"Give at least {amounts.shown(found.apart)}."
        raise bad("delta", "must cover the δ that the cost pays apart", amounts.shown(small), fix)
    if not covered(found.cost, at, small - found.apart):
        rule = f"must cover the cost at delta = {amounts.shown(small)}"
        raise bad("epsilon", rule, amounts.shown(at), "Give the (epsilon, delta) for which the noise was calibrated.")
    return Typed(at, small, found)


def covered(cost: Cost, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a cost without δ of its own is (ε, δ)-DP: closed forms, then Rényi orders, then the full accountant."""
    found = atoms_of(cost)
    if _closed_covers(found, epsilon, delta):
        return True
    if delta == 0:
        return False
    if renyi.delta_at(found, epsilon)[0] <= delta:
        return True
    if epsilon < amounts.MIN_EPSILON or delta >= 1:
        return False
    # Both readings of one curve are proven; what was calibrated by either must pass.
    return price.delta(cost, epsilon).value <= delta or price.epsilon(cost, delta).value <= epsilon


def _closed_covers(found: Atoms, epsilon: Fraction, delta: Fraction) -> bool:
    """Basic composition of all that is pure with one Gaussian or one zCDP term; of parts, each."""
    odds = tuple(term for term in found if _is_pure(term[0]))
    rest = tuple(term for term in found if term not in odds)
    total = renyi.total_odds(odds) if odds else Odds(Fraction(0))
    if total is None or total.epsilon > epsilon:
        return False
    room = epsilon - total.epsilon
    match rest:
        case ():
            return total.delta <= delta
        case ((Normal() as one, 1),):
            return total.delta == 0 and analytic.delta_of_square(one.mu_squared, room) <= delta
        case ((Concentrated() as one, 1),):
            return total.delta == 0 and convert.delta_of_zcdp(one.rho, room) <= delta
        case ((Choice() as one, 1),):
            return total.delta == 0 and all(_closed_covers(part, room, delta) for part in one.parts)
        case _:
            return False


def _is_pure(atom: object) -> bool:
    match atom:
        case Odds():
            return True
        case Thinned():
            return renyi.total_odds(atom.atoms) is not None
        case _:
            return False


def weight_of(question: Typed, allowed: Budget) -> Amounts:
    """What the question adds in every currency of the budget, rounded up."""
    apart = question.promise.apart
    curves = [renyi.divergence(question.promise.cost, k.order) for k in allowed.orders]
    if any(curve.delta for curve in curves):
        raise NotPriced("This cost keeps a δ inside.", "The filter pays each δ apart.", "Give it as Approx(ε, δ).")
    values = tuple(kept_renyi(curve.value) for curve in curves)
    return Amounts(kept(question.epsilon), kept_delta(question.delta - apart), kept_delta(apart), values)
