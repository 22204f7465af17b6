"""The refusals of a ledger, built from what was typed, the rules and the sums, all of them public."""

from fractions import Fraction

from discreet import amounts
from discreet.errors import BudgetExceeded, Closed, Conflict, LedgerUnavailable
from discreet.fix import UNKNOWN, Fix
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger.account import Account, Amounts, Path
from discreet.ledger.books import Books
from discreet.ledger.filter import EpsilonDelta, EpsilonOnly
from discreet.ledger.weigh import Declared


def over_budget(
    books: Books, declared: Declared, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    """Why the charge does not fit, None if it does: caps of one question, of the analyst, then the budget itself."""
    return (
        _over_question(books, declared, path=path, analyst=analyst)
        or _over_analyst(books, declared, weight, path=path, analyst=analyst)
        or _over_filter(books, declared, weight, path=path, analyst=analyst)
    )


def remaining_for(books: Books, path: Path, analyst: str | None) -> Fraction:
    """The largest single pure ε that would still be accepted there, from that analyst."""
    return _remaining(books, books.account, _account_of(books, analyst), path=path, analyst=analyst)


def remaining_after(books: Books, path: Path, analyst: str | None, weight: Amounts) -> Fraction:
    """`remaining_for` of the whole table after a charge of that weight at the path; 0 if it does not fit."""
    account = accounts.with_charge(books.account, path, weight)
    if not filters.accepts(books.rules.budget, account.spent):
        return Fraction(0)
    personal = accounts.with_charge(_account_of(books, analyst), path, Amounts(weight.epsilon))
    return _remaining(books, account, personal, path=(), analyst=analyst)


def _remaining(books: Books, account: Account, personal: Account, *, path: Path, analyst: str | None) -> Fraction:
    rest = filters.remaining(books.rules.budget, account, path)
    if books.rules.max_epsilon is not None:
        rest = min(rest, books.rules.max_epsilon)
    cap = books.rules.cap(analyst)
    if cap is None:
        return rest
    personal_rest = filters.charged_epsilon_down(cap - personal.spent.epsilon + accounts.slack(personal, path).epsilon)
    return min(rest, personal_rest) if personal_rest >= amounts.MIN_EPSILON else Fraction(0)


def _account_of(books: Books, analyst: str | None) -> Account:
    return accounts.empty(0) if analyst is None else books.analysts.get(analyst, accounts.empty(0))


def _over_question(books: Books, declared: Declared, *, path: Path, analyst: str | None) -> BudgetExceeded | None:
    rules = books.rules
    if rules.max_epsilon is not None and declared.epsilon > rules.max_epsilon:
        what = f"The question costs ε = {amounts.text_of(declared.epsilon)}."
        why = f"One question may take at most ε = {amounts.text_of(rules.max_epsilon)} here."
        available = remaining_for(books, path, analyst)
        return BudgetExceeded(what, why, _ask_less(available), available, declared.epsilon)
    if rules.max_delta is not None and declared.delta > rules.max_delta:
        what = f"The question costs δ = {amounts.text_of(declared.delta)}."
        why = f"One question may take at most δ = {amounts.text_of(rules.max_delta)} here."
        fix = f"Ask with delta at most {amounts.text_of(rules.max_delta)}."
        return BudgetExceeded(what, why, fix, remaining_for(books, path, analyst), declared.epsilon)
    return None


def _over_analyst(
    books: Books, declared: Declared, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    cap = books.rules.cap(analyst)
    if cap is None or analyst is None:
        return None
    if accounts.with_charge(_account_of(books, analyst), path, Amounts(weight.epsilon)).spent.epsilon <= cap:
        return None
    available = remaining_for(books, path, analyst)
    what = f"The question costs ε = {amounts.text_of(declared.epsilon)} and {analyst} has ε = {down(available)} left."
    why = f"{analyst} may spend ε = {amounts.text_of(cap)} in all."
    return BudgetExceeded(what, why, _ask_less(available), available, declared.epsilon)


def _over_filter(
    books: Books, declared: Declared, weight: Amounts, *, path: Path, analyst: str | None
) -> BudgetExceeded | None:
    budget, spent = books.rules.budget, accounts.with_charge(books.account, path, weight).spent
    if filters.accepts(budget, spent):
        return None
    available = remaining_for(books, path, analyst)
    what = f"The question costs ε = {amounts.text_of(declared.epsilon)}, δ = {amounts.text_of(declared.delta)}"
    what = f"{what} and the largest pure ε that still fits is {down(available)}."
    match budget:
        case EpsilonOnly() if declared.delta > 0:
            why = f"The budget is ε = {amounts.text_of(budget.epsilon)} without any δ."
            fix = "Use Laplace noise and public keys: delta = 0."
        case EpsilonDelta() if spent.keys > budget.keys:
            keys = filters.remaining_delta(budget, books.account, path)[1]
            why = f"Of the δ set aside for key selection {down(keys)} is left."
            fix = "List the keys in the metadata, so that they are public, or ask with a smaller delta."
        case _:
            why = f"The budget is ε = {amounts.text_of(budget.epsilon)}, δ = {amounts.text_of(budget.delta)} in all."
            fix = _ask_less(available)
    return BudgetExceeded(what, why, fix, available, declared.epsilon)


def run_ended(number: int) -> Conflict:
    """The refusal of a charge in a purse that has ended."""
    what, why = f"The run of charge {number} has ended.", "It was done or abandoned; what it released stays stored."
    return Conflict(what, why, "Begin a new run.")


def over_purse() -> BudgetExceeded:
    """The refusal of a charge that does not fit into its purse."""
    why = "A purse takes only what fits inside the cost reserved for it."
    fix = "End the run here, or reserve a larger purse beforehand."
    return BudgetExceeded("The charge does not fit into its purse.", why, fix, Fraction(0), Fraction(0))


def dataset_closed(books: Books) -> Closed:
    """The refusal of a charge on a dataset that too many failures have closed."""
    what = f"The dataset {books.opening.dataset} is closed."
    why = f"{books.rules.failures} answers failed after their charge, and a failure may say something about the data."
    fix = Fix("The curator finds the cause and reopens it:", "budget reopen", {"why": UNKNOWN})
    return Closed(what, why, fix)


def other_kind(key: str) -> Conflict:
    """The refusal of a key that stands for a purse where a charge is meant, or the other way round."""
    why = "It was used for another kind of charge: a purse, a part of one, or a question."
    return Conflict(f"The key {key[:40]!r} is taken.", why, "Use a new key for a new question.")


def tried_enough(number: int, attempts: int) -> Conflict:
    """The refusal of a charge that was waited for and has no attempts left."""
    what = f"The charge {number} has no answer after {attempts} attempts."
    return Conflict(what, "A reservation is computed at most twice.", "Ask again, which is a new charge.")


def at_work(number: int) -> LedgerUnavailable:
    """The refusal of a charge whose answer someone has been computing for longer than was waited."""
    what = f"The answer of charge {number} is being computed."
    return LedgerUnavailable(what, "The same question was asked under the same key.", "Ask again in a moment.")


def given_up(number: int) -> Conflict:
    """The refusal of an answer that comes after its attempt was counted as failed."""
    why = "It took so long that the attempt was counted as failed."
    return Conflict(f"This attempt at charge {number} was given up.", why, "Discard the answer and ask again.")


def other_answer(number: int) -> Conflict:
    """The refusal of a second answer to one charge."""
    what = f"The charge {number} is answered already."
    return Conflict(what, "An answer is stored once and then repeated.", "Hand out what is stored for its key.")


def down(value: Fraction) -> str:
    """What is left, in decimals, rounded down.

    >>> down(Fraction(2, 3))
    '0.666666666666'
    """
    return amounts.text_of(-amounts.rounded_up(-value)) if value > 0 else "0"


def _ask_less(available: Fraction) -> str:
    if available > 0:
        return f"Ask with epsilon at most {down(available)}, or let the curator raise the budget."
    return "Repeat an earlier question, which is free, or let the curator raise the budget."
