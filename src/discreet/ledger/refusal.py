"""The sentences of a ledger that says no: built from what was typed, the rules and the sums, all of them public."""

from fractions import Fraction

from discreet import amounts
from discreet.errors import BudgetExceeded, Closed, Conflict, LedgerUnavailable
from discreet.fix import UNKNOWN, Fix
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger.account import Account, Amounts, Path
from discreet.ledger.books import Books
from discreet.ledger.filter import EpsilonDelta, EpsilonOnly
from discreet.ledger.weigh import Typed


def over_budget(
    books: Books, question: Typed, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    """Why the charge does not fit, None if it does: caps of one question, of the analyst, then the budget itself."""
    return (
        _over_question(books, question, path=path, analyst=analyst)
        or _over_analyst(books, question, weight, path=path, analyst=analyst)
        or _over_filter(books, question, weight, path=path, analyst=analyst)
    )


def left_for(books: Books, path: Path, analyst: str | None) -> Fraction:
    """The largest single pure ε that would still be accepted there, from that analyst."""
    own = accounts.opened(0) if analyst is None else books.analysts.get(analyst, accounts.opened(0))
    return _left(books, books.account, own, path=path, analyst=analyst)


def left_after(books: Books, path: Path, analyst: str | None, weight: Amounts) -> Fraction:
    """What `left_for` would say of the whole table after a charge of that weight at the path; 0 if it does not fit."""
    own = accounts.opened(0) if analyst is None else books.analysts.get(analyst, accounts.opened(0))
    spent = accounts.charged(books.account, path, weight)
    if not filters.accepts(books.rules.budget, spent.spent):
        return Fraction(0)
    return _left(books, spent, accounts.charged(own, path, Amounts(weight.epsilon)), path=(), analyst=analyst)


def _left(books: Books, account: Account, own: Account, *, path: Path, analyst: str | None) -> Fraction:
    left = filters.remaining(books.rules.budget, account, path)
    if books.rules.max_epsilon is not None:
        left = min(left, books.rules.max_epsilon)
    cap = books.rules.cap(analyst)
    if cap is None:
        return left
    mine = filters.kept_down(cap - own.spent.epsilon + accounts.slack(own, path).epsilon)
    return min(left, mine) if mine >= amounts.MIN_EPSILON else Fraction(0)


def _over_question(books: Books, question: Typed, *, path: Path, analyst: str | None) -> BudgetExceeded | None:
    rules = books.rules
    if rules.max_epsilon is not None and question.epsilon > rules.max_epsilon:
        what = f"The question costs ε = {amounts.shown(question.epsilon)}."
        why = f"One question may take at most ε = {amounts.shown(rules.max_epsilon)} here."
        left = left_for(books, path, analyst)
        return BudgetExceeded(what, why, _ask_less(left), left, question.epsilon)
    if rules.max_delta is not None and question.delta > rules.max_delta:
        what = f"The question costs δ = {amounts.shown(question.delta)}."
        why = f"One question may take at most δ = {amounts.shown(rules.max_delta)} here."
        fix = f"Ask with delta at most {amounts.shown(rules.max_delta)}."
        return BudgetExceeded(what, why, fix, left_for(books, path, analyst), question.epsilon)
    return None


def _over_analyst(
    books: Books, question: Typed, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    cap = books.rules.cap(analyst)
    if cap is None or analyst is None:
        return None
    own = books.analysts.get(analyst, accounts.opened(0))
    if accounts.charged(own, path, Amounts(weight.epsilon)).spent.epsilon <= cap:
        return None
    left = left_for(books, path, analyst)
    what = f"The question costs ε = {amounts.shown(question.epsilon)} and {analyst} has ε = {down(left)} left."
    why = f"{analyst} may spend ε = {amounts.shown(cap)} in all."
    return BudgetExceeded(what, why, _ask_less(left), left, question.epsilon)


def _over_filter(
    books: Books, question: Typed, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    budget, spent = books.rules.budget, accounts.charged(books.account, path, weight).spent
    if filters.accepts(budget, spent):
        return None
    left = left_for(books, path, analyst)
    what = f"The question costs ε = {amounts.shown(question.epsilon)}, δ = {amounts.shown(question.delta)}"
    what = f"{what} and the largest pure ε that still fits is {down(left)}."
    match budget:
        case EpsilonOnly() if question.delta > 0:
            why = f"The budget is ε = {amounts.shown(budget.epsilon)} without any δ."
            fix = "Use Laplace noise and public keys: delta = 0."
        case EpsilonDelta() if spent.keys > budget.keys:
            rest = filters.remaining_delta(budget, books.account, path)[1]
            why = f"Of the δ set aside for key selection {down(rest)} is left."
            fix = "List the keys in the metadata, so that they are public, or ask with a smaller delta."
        case _:
            why = f"The budget is ε = {amounts.shown(budget.epsilon)}, δ = {amounts.shown(budget.delta)} in all."
            fix = _ask_less(left)
    return BudgetExceeded(what, why, fix, left, question.epsilon)


def ended(number: int) -> Conflict:
    """Nothing more is taken from a purse that has ended."""
    what, why = f"The run of charge {number} has ended.", "It was done or abandoned; what it released stays stored."
    return Conflict(what, why, "Begin a new run.")


def over_purse() -> BudgetExceeded:
    """A charge that does not fit into its purse."""
    why = "A purse takes only what fits inside the cost reserved for it."
    fix = "End the run here, or reserve a larger purse beforehand."
    return BudgetExceeded("The charge does not fit into its purse.", why, fix, Fraction(0), Fraction(0))


def closed(books: Books) -> Closed:
    """A dataset that too many failures have closed."""
    what = f"The dataset {books.opening.dataset} is closed."
    why = f"{books.rules.failures} answers failed after their charge, and a failure may say something about the data."
    fix = Fix("The curator finds the cause and reopens it:", "budget reopen", {"why": UNKNOWN})
    return Closed(what, why, fix)


def other_kind(key: str) -> Conflict:
    """A key that stands for a purse where a charge is meant, or the other way round."""
    why = "It was used for another kind of charge: a purse, a part of one, or a question."
    return Conflict(f"The key {key[:40]!r} is taken.", why, "Use a new key for a new question.")


def tried_enough(number: int, attempts: int) -> Conflict:
    """A charge that was waited for, and whose attempts are used up."""
    what = f"The charge {number} has no answer after {attempts} attempts."
    return Conflict(what, "A reservation is computed at most twice.", "Ask again, which is a new charge.")


def at_work(number: int) -> LedgerUnavailable:
    """A charge whose answer someone has been computing for longer than was waited."""
    what = f"The answer of charge {number} is being computed."
    return LedgerUnavailable(what, "The same question was asked under the same key.", "Ask again in a moment.")


def given_up(number: int) -> Conflict:
    """An answer that comes after its attempt was counted as failed."""
    why = "It took so long that the attempt was counted as failed."
    return Conflict(f"This attempt at charge {number} was given up.", why, "Discard the answer and ask again.")


def other_answer(number: int) -> Conflict:
    """A second answer to one charge."""
    what = f"The charge {number} is answered already."
    return Conflict(what, "An answer is stored once and then repeated.", "Hand out what is stored for its key.")


def down(value: Fraction) -> str:
    """What is left, in decimals, rounded down.

    >>> down(Fraction(2, 3))
    '0.666666666666'
    """
    return amounts.shown(-amounts.rounded_up(-value)) if value > 0 else "0"


def _ask_less(left: Fraction) -> str:
    if left > 0:
        return f"Ask with epsilon at most {down(left)}, or let the curator raise the budget."
    return "Repeat an earlier question, which is free, or let the curator raise the budget."
