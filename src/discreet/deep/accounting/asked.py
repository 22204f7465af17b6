"""What a plan is asked for, parsed once: public rows, δ, the two ways of saying how much, and the ε that is stated."""

import math
import re
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.answer.answer import Answer
from discreet.errors import BadValue, bad, short_text
from discreet.privacy import price
from discreet.privacy.cost import Cost

_MOST_ROWS = 2**40
_DELTA_CEILING = Fraction(1, 2)
_DIGITS = 12
_STORED = re.compile(r"\d{1,500}(/\d{1,500})?", re.ASCII)
_ROWS_FIX = "Give a public number such as 60000, or the answer to a question that counts them, which was charged."


def public_rows(rows: Any) -> int:
    """How many rows there are in public: a whole number, or the one number that an answer released, at least 1.

    >>> public_rows(60_000)
    60000
    """
    if isinstance(rows, Answer):
        return _released_rows(rows)
    rule = f"must be a public whole number between 1 and {_MOST_ROWS}, or an answer with one released number"
    number = amounts.decimal(rows, "rows", rule, _ROWS_FIX)
    if number.denominator != 1 or not 1 <= number <= _MOST_ROWS:
        raise bad("rows", rule, rows, _ROWS_FIX)
    return int(number)


def _released_rows(answer: Answer) -> int:
    values = [value for column in answer.columns for value in column.value]
    value = values[0] if len(values) == 1 and not answer.keys else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise bad("rows", "must be an answer with one released number", list(answer.keys), _ROWS_FIX)
    return min(max(round(value), 1), _MOST_ROWS)  # noise may take a count below 1


def open_delta(delta: Any) -> Fraction:
    """δ above 0, at most 1/2: Gaussian noise has no ε at δ = 0."""
    rule, fix = "must be a decimal number above 0 and at most 0.5", 'Give a number such as "1e-5", far below 1/rows.'
    parsed = amounts.decimal(delta, "delta", rule, fix)
    if not 0 < parsed <= _DELTA_CEILING:
        raise bad("delta", rule, delta, fix)
    return parsed


def delta_among(delta: Any, rows: int) -> Fraction:
    """δ above 0 and at most 1/rows: with a larger one, publishing a person outright could keep the promise.

    The number of rows is the public one (docs/why/delta.md).
    """
    parsed = open_delta(delta)
    if parsed * rows > 1:
        fix = f'Give a number far below that, such as "1e-{len(str(rows)) + 1}".'
        raise bad("delta", f"must be at most 1/rows, here 1/{rows}", delta, fix)
    return parsed


def require_single(first: str, given: Any, second: str, other: Any, example: str) -> None:
    """Refuses two ways of saying one thing, and none."""
    if given is not None and other is not None:
        why = f"You gave {first} {short_text(given)} and {second} {short_text(other)}."
        raise BadValue(f"{first} and {second} say the same thing twice.", why, "Leave out one of the two.")
    if given is None and other is None:
        raise bad(first, f"must be given, or {second} in its place", None, f"Give, for example, {example}.")


def stated_epsilon(cost: Cost, delta: Fraction, asked: Fraction | None = None) -> Fraction:
    """The price of the cost at δ in 12 digits, rounded up; never above the ε that was asked for and met."""
    exact = price.epsilon(cost, delta).value
    stated = Fraction(amounts.rounded_up(exact, _DIGITS))
    return asked if asked is not None and exact <= asked < stated else stated


def is_enough(epsilon: Fraction, delta: Fraction, cost: Cost) -> bool:
    """Whether the cost is (ε, δ)-DP; δ at ε is asked first, as that is priced sooner than ε at δ."""
    if amounts.MIN_EPSILON <= epsilon <= amounts.MAX_EPSILON and price.delta(cost, epsilon).value <= delta:
        return True
    return price.epsilon(cost, delta).value <= epsilon


def stored_amount(text: Any) -> Fraction:
    """An amount as a plan stores it, which may be longer than anyone may type.

    >>> stored_amount("64/1875")
    Fraction(64, 1875)
    """
    if not isinstance(text, str) or not _STORED.fullmatch(text) or Fraction(text) <= 0:
        raise ValueError("no stored amount")
    return Fraction(text)
