"""What remains of a budget, now and after a charge; before the first charge there is no ledger."""

from fractions import Fraction

from discreet import amounts
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusal import down
from discreet.ledger.weigh import declared, weight_of
from discreet.privacy.cost import Cost
from discreet.relation import Relation
from discreet.schema import Budget
from discreet.terms import Terms


def remaining(budget: Budget, ledger: Ledger | None, analyst: str | None) -> dict[str, str]:
    """The largest single pure ε that would still be accepted, and the δ left for questions and for keys."""
    if ledger is None:
        epsilon = total_epsilon(budget, analyst)
        epsilon = min(epsilon, budget.max_epsilon_per_question or epsilon)
        rules = filters.budget(budget.epsilon, budget.delta, ceiling=budget.max_delta)
        left_delta = sum(filters.remaining_delta(rules, accounts.empty(len(rules.orders))), Fraction(0))
        return {
            "epsilon": amounts.text_of(epsilon),
            "delta": down(left_delta),
        }
    standing = ledger.standing()
    delta = standing.remaining_delta + standing.remaining_keys
    return {"epsilon": down(ledger.remaining((), analyst=analyst)), "delta": down(delta)}


def remaining_after(
    budget: Budget,
    ledger: Ledger | None,
    analyst: str | None,
    cost: Cost,
    terms: Terms,
    path: accounts.Path,
    relation: Relation,
) -> dict[str, str]:
    """What `remaining` would give after that charge, whether or not it fits."""
    if ledger is None and terms.delta > budget.delta:
        after = _first_at_larger_delta(budget, analyst, cost, terms, relation)
    elif ledger is None:
        difference = total_epsilon(budget, analyst) - terms.epsilon
        after = max(min(difference, budget.max_epsilon_per_question or difference), Fraction(0))
    else:
        after = ledger.remaining_after(path, cost, epsilon=terms.epsilon, delta=terms.delta, analyst=analyst)
    left_delta = max(Fraction(remaining(budget, ledger, analyst)["delta"]) - terms.delta, Fraction(0))
    return {"epsilon": down(after), "delta": down(left_delta)}


def _first_at_larger_delta(
    budget: Budget, analyst: str | None, cost: Cost, terms: Terms, relation: Relation
) -> Fraction:
    """As `remaining_after` in ε before the first charge, for a δ that the budget lacks: its noise is weighed anew."""
    rules = filters.budget(budget.epsilon, budget.delta, ceiling=budget.max_delta)
    weight = weight_of(declared(cost, relation, epsilon=terms.epsilon, delta=terms.delta), rules)
    account = accounts.with_charge(accounts.empty(len(rules.orders)), (), weight)
    if not filters.accepts(rules, account.spent):
        return Fraction(0)
    left = filters.remaining(rules, account)
    cap = None if analyst is None else budget.cap(analyst)
    own = left if cap is None else max(cap - terms.epsilon, Fraction(0))
    return min(left, own, budget.max_epsilon_per_question or left)


def total_epsilon(budget: Budget, analyst: str | None) -> Fraction:
    """The ε of the budget, or of the analyst's cap where that is less."""
    cap = None if analyst is None else budget.cap(analyst)
    return budget.epsilon if cap is None else min(budget.epsilon, cap)
