"""Find a lower price at which a refused question fits."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger.refusal import down
from discreet.operation.question import QuestionCall, delta_of

if TYPE_CHECKING:
    from discreet.ask.asking import Asking

RAISE = "Or let the curator raise the budget."
_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left
_NEARLY = 1 - Fraction(1, 10**6)  # of a price that may take all there is, so that something remains


@contextlib.contextmanager
def affordable(call: QuestionCall, question: "Asking") -> Iterator[None]:
    """Refuse a question that exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = cheaper_call(question, call, remaining=error.remaining, requested=error.requested)
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Ask for less:"), RAISE)) from None


def cheaper_call(
    question: "Asking", call: QuestionCall, *, remaining: Fraction, requested: Fraction
) -> QuestionCall | None:
    """The same question at a price that fits into the remaining pure ε; None if there is none."""
    if remaining <= 0:
        return None
    if question.draft.cells.public:
        return replace(call, epsilon=down(remaining), error=(), delta="0") if remaining < requested else None
    standing = question.table.standing()
    if standing is None:
        return replace(call, epsilon=down(remaining), error=()) if remaining < requested else None
    asked_delta = delta_of(question, call)
    delta = min(asked_delta, question.table.budget.max_delta, standing.remaining_keys)
    for share in _SHARES:
        epsilon = Fraction(down(min(remaining, requested) * share))
        if delta > 0 and epsilon > 0 and _fits(question, call, epsilon * _NEARLY, Fraction(down(delta))):
            typed_delta = call.delta if delta == asked_delta else down(delta)
            return replace(call, epsilon=down(epsilon), error=(), delta=typed_delta)
    return None


def _fits(question: "Asking", call: QuestionCall, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether something would remain after the question at that price."""
    try:
        plan = question.plan(epsilon=epsilon, delta=delta, level=call.level)
        remaining = question.table.ledger.remaining_after(
            plan.draft.path, plan.cost, epsilon=plan.terms.epsilon, delta=plan.terms.delta, analyst=call.analyst
        )
    except DiscreetError:
        return False
    return remaining > 0
