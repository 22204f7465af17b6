"""A question that is too dear, at a price that fits."""

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
_NEARLY = 1 - Fraction(1, 10**6)  # of a price that may take all there is: what is left after it is then above 0


@contextlib.contextmanager
def affordable(call: QuestionCall, question: "Asking") -> Iterator[None]:
    """A question that is too dear is refused with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        less = cheaper(question, call, left=error.remaining, price=error.requested)
        if less is None:
            raise
        raise error.with_fix((less.fix("Ask for less:"), RAISE)) from None


def cheaper(question: "Asking", call: QuestionCall, *, left: Fraction, price: Fraction) -> QuestionCall | None:
    """The same question at a price that fits, where so much pure ε is left; None where there is none."""
    if left <= 0:
        return None
    if question.draft.cells.public:
        return replace(call, epsilon=down(left), error=(), delta="0") if left < price else None
    standing = question.table.standing()
    if standing is None:
        return replace(call, epsilon=down(left), error=()) if left < price else None
    asked = delta_of(question, call)
    delta = min(asked, question.table.budget.max_delta, standing.remaining_keys)
    most = min(left, price)
    for share in _SHARES:
        less = Fraction(down(most * share))
        if delta > 0 and less > 0 and _fits(question, call, less * _NEARLY, Fraction(down(delta))):
            smaller = call.delta if delta == asked else down(delta)
            return replace(call, epsilon=down(less), error=(), delta=smaller)
    return None


def _fits(question: "Asking", call: QuestionCall, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether something would be left after the question at that price."""
    try:
        plan = question.plan(epsilon=epsilon, delta=delta, level=call.level)
        left = question.table.ledger.remaining_after(
            plan.draft.path, plan.cost, epsilon=plan.terms.epsilon, delta=plan.terms.delta, analyst=call.analyst
        )
    except DiscreetError:
        return False
    return left > 0
