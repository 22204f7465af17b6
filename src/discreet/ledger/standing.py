"""Facts that callers see of a ledger: receipts, its standing, and the check that it is the ledger they mean."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import IntegrityError
from discreet.fix import UNKNOWN, Fix
from discreet.ledger import filter as filters
from discreet.ledger.account import Amounts
from discreet.ledger.books import Books
from discreet.ledger.rules import Opening, Rules


@dataclass(frozen=True)
class Receipt:
    """Proof of one charge: its entry, which attempt this is, and whether its answer is stored already."""

    number: int
    name: str
    key: str
    attempt: int
    stored: bool


@dataclass(frozen=True)
class Standing:
    """Where the ledger stands: public facts that move only with an entry."""

    opening: Opening
    rules: Rules
    spent: Amounts
    remaining: Fraction
    remaining_delta: Fraction
    remaining_keys: Fraction
    analysts: dict[str, Fraction]
    charges: int
    failures: int
    closed: bool
    entries: int
    head: str


def check_binding(books: Books, opening: Opening | None) -> None:
    if opening is None:
        return
    for name in ("dataset", "unit", "relation"):
        if getattr(opening, name) != getattr(books.opening, name):
            what = f"The ledger is bound to another {name}: {getattr(books.opening, name)}."
            why = f"You gave {getattr(opening, name)}; what was spent for one says nothing about the other."
            raise IntegrityError(what, why, f"Put the {name} back, or start a new ledger for a new table.")
    if opening.rules != books.rules:
        what = "The budget or a cap is not the one in the ledger."
        why = "It was fixed when the ledger was opened or last set; editing the metadata does not change it."
        edited = _differences(opening.rules, books.rules)
        raise IntegrityError(what, why, Fix("Put it back, or set it with a reason:", "budget set", edited))


def _differences(new: Rules, old: Rules) -> dict[str, Any]:
    """The numbers that are not those of the ledger, as `budget set` takes them; the rest follows."""
    pairs = {
        "epsilon": (new.budget.epsilon, old.budget.epsilon),
        "delta": (new.budget.delta, old.budget.delta),
        "max_epsilon_per_question": (new.max_epsilon, old.max_epsilon),
    }
    changed: dict[str, Any] = {
        name: amounts.exact_text(value) for name, (value, present) in pairs.items() if value not in (None, present)
    }
    caps = tuple(f"{name}={amounts.exact_text(cap)}" for name, cap in new.analysts if old.cap(name) != cap)
    changed |= {"analyst": caps} if caps else {}
    return (changed or {"epsilon": amounts.exact_text(new.budget.epsilon)}) | {"why": UNKNOWN}


def standing(books: Books) -> Standing:
    rules, last = books.rules, books.last
    delta, keys = filters.remaining_delta(rules.budget, books.account)
    return Standing(
        opening=books.opening,
        rules=rules,
        spent=books.account.spent,
        remaining=Fraction(0) if books.is_closed else filters.remaining(rules.budget, books.account),
        remaining_delta=delta,
        remaining_keys=keys,
        analysts={name: account.spent.epsilon for name, account in sorted(books.analysts.items())},
        charges=books.charges,
        failures=books.failures,
        closed=books.is_closed,
        entries=0 if last is None else last.number,
        head="" if last is None else last.hash.hex(),
    )
