"""The weight of a charge in the filter's currencies, and the test that the declared (ε, δ) covers its cost.

A promise with a δ of its own (key selection, an approximate mechanism) is its noise outside an event of probability δ,
which is paid for apart: `Promise` has both.  A declared (ε, δ) means that the question alone is (ε, δ)-DP; a charge
that declares less than its cost is refused, whoever made it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.ledger.account import Amounts
from discreet.ledger.filter import Budget, charged_delta, charged_epsilon, charged_renyi
from discreet.privacy import analytic, convert, price, renyi
from discreet.privacy.cost import FREE, Apart, Approx, Cost, Group, Pure, Repeated, Sampled, Together, require_cost
from discreet.privacy.flat import Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of, promises_groups
from discreet.relation import Relation

_FINEST = 10**400  # denominators up to here stay exact, so that a typed δ can be paid apart as a whole


_CALIBRATED = "Give the (epsilon, delta) for which the noise was calibrated."


@dataclass(frozen=True)
class Promise:
    """A cost without any δ of its own, and the probability of the event outside which it holds."""

    cost: Cost
    delta_apart: Fraction


@dataclass(frozen=True)
class Declared:
    """The (ε, δ) that a question takes at most, as declared, and the promise behind it."""

    epsilon: Fraction
    delta: Fraction
    promise: Promise


def promise(cost: Cost, relation: Relation) -> Promise:
    """`cost` under `relation`, its δ apart.

    Under replace-one parts are all paid for and a sample counts as the whole: both theorems are about add-remove.

    >>> promise(Together((Approx(1, "1e-9"), Pure(2))), Relation.ADD_REMOVE).delta_apart
    Fraction(1, 1000000000)
    """
    exact = _promise(require_cost(cost), 1, relation)
    delta = exact.delta_apart if exact.delta_apart.denominator <= _FINEST else charged_delta(exact.delta_apart)
    return Promise(exact.cost, min(delta, Fraction(1)))


def _promise(cost: Cost, size: int, relation: Relation) -> Promise:
    match cost:
        case Approx():
            epsilon, delta = convert.group_approx(cost.epsilon, cost.delta, size)
            return Promise(_pure(epsilon), delta)
        case Together():
            return _all(cost.costs, size, relation)
        case Repeated():
            inner = _promise(cost.cost, size, relation)
            return Promise(Repeated(inner.cost, cost.times), inner.delta_apart * cost.times)
        case Group():
            return _promise(cost.cost, size * cost.size, relation)
        case Apart():
            if relation is not Relation.ADD_REMOVE or size > 1:  # units of a group may lie in different parts
                return _all(cost.costs, size, relation)
            parts = [_promise(c, size, relation) for c in cost.costs]
            delta = max((part.delta_apart for part in parts), default=Fraction(0))
            return Promise(Apart(tuple(part.cost for part in parts)), delta)
        case Sampled():
            return _sample_promise(cost, size, relation)
        case _:
            return Promise(cost if size == 1 else Group(cost, size), Fraction(0))


def _all(costs: tuple[Cost, ...], size: int, relation: Relation) -> Promise:
    parts = [_promise(c, size, relation) for c in costs]
    return Promise(Together(tuple(p.cost for p in parts)), sum((p.delta_apart for p in parts), Fraction(0)))


def _sample_promise(cost: Sampled, size: int, relation: Relation) -> Promise:
    if cost.rate == 0:
        return Promise(FREE, Fraction(0))
    unsampled = relation is not Relation.ADD_REMOVE or size > 1 or cost.rate == 1 or promises_groups(cost.cost)
    inner = _promise(cost.cost, size, relation)
    if unsampled or inner.delta_apart == 0:
        return inner if unsampled else Promise(Sampled(cost.rate, inner.cost), Fraction(0))
    odds = renyi.total_odds(atoms_of(cost.cost))
    if odds is None:  # the event is that of the unsampled mechanism, whichever the sample
        return Promise(Sampled(cost.rate, inner.cost), inner.delta_apart)
    return Promise(_pure(convert.sampled_epsilon(odds.epsilon, cost.rate)), cost.rate * odds.delta)


def _pure(epsilon: Fraction) -> Cost:
    return Pure(max(epsilon, amounts.MIN_EPSILON)) if epsilon > 0 else FREE


def declared(cost: Cost, relation: Relation, *, epsilon: Any = None, delta: Any = None) -> Declared:
    """The question's (ε, δ): as typed if that covers the cost, or Σε and the δ apart where nothing was typed.

    >>> declared(Pure("0.1"), Relation.ADD_REMOVE).epsilon
    Fraction(1, 10)
    """
    behind = promise(cost, relation)
    total_delta = behind.delta_apart if delta is None else amounts.probability(delta, "delta")
    if epsilon is None:
        odds = renyi.total_odds(atoms_of(behind.cost))
        if odds is None:
            fix = "Type the epsilon and delta at which the noise was calibrated."
            raise bad("epsilon", "must be typed for a cost without an ε of its own", type(cost).__name__, fix)
        total = odds.epsilon and amounts.epsilon(odds.epsilon)
    else:
        total = amounts.epsilon(epsilon)
    if total_delta < behind.delta_apart:
        fix = f"Give at least {amounts.text_of(behind.delta_apart)}."
        raise bad("delta", "must cover the δ that the cost pays apart", amounts.text_of(total_delta), fix)
    if not is_covered(behind.cost, total, total_delta - behind.delta_apart):
        rule, fix = f"must cover the cost at delta = {amounts.text_of(total_delta)}", _CALIBRATED
        raise bad("epsilon", rule, amounts.text_of(total), fix)
    return Declared(total, total_delta, behind)


def is_covered(cost: Cost, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a cost without δ of its own is (ε, δ)-DP: closed forms, then Rényi orders, then the full accountant."""
    atoms = atoms_of(cost)
    if _closed_covers(atoms, epsilon, delta):
        return True
    if delta == 0:
        return False
    if renyi.delta_at(atoms, epsilon)[0] <= delta:
        return True
    if epsilon < amounts.MIN_EPSILON or delta >= 1:
        return False
    # Both readings of one curve are proven; what was calibrated by either must pass.
    return price.delta(cost, epsilon).value <= delta or price.epsilon(cost, delta).value <= epsilon


def _closed_covers(atoms: Atoms, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether basic composition of the pure atoms with one Gaussian or zCDP atom, or with each part, is (ε, δ)-DP."""
    pure = tuple(item for item in atoms if _is_pure(item[0]))
    impure = tuple(item for item in atoms if item not in pure)
    total = renyi.total_odds(pure) if pure else Odds(Fraction(0))
    if total is None or total.epsilon > epsilon:
        return False
    room = epsilon - total.epsilon
    match impure:
        case ():
            return total.delta <= delta
        case ((Normal() as normal, 1),):
            return total.delta == 0 and analytic.delta_of_square(normal.mu_squared, room) <= delta
        case ((Concentrated() as concentrated, 1),):
            return total.delta == 0 and convert.delta_of_zcdp(concentrated.rho, room) <= delta
        case ((Choice() as choice, 1),):
            return total.delta == 0 and all(_closed_covers(part, room, delta) for part in choice.parts)
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


def weight_of(declared: Declared, allowed: Budget) -> Amounts:
    """What the question adds in every currency of the budget, rounded up."""
    delta_apart = declared.promise.delta_apart
    divergences = [renyi.divergence(declared.promise.cost, k.order) for k in allowed.orders]
    if any(divergence.delta for divergence in divergences):
        raise NotPriced("This cost keeps a δ inside.", "The filter pays each δ apart.", "Give it as Approx(ε, δ).")
    values = tuple(charged_renyi(divergence.value) for divergence in divergences)
    delta = charged_delta(declared.delta - delta_apart)
    return Amounts(charged_epsilon(declared.epsilon), delta, charged_delta(delta_apart), values)
