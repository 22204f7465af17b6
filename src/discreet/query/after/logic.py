"""SQL's three-valued logic on released values, in which nothing ever fails.

None is NULL.  Numbers are exact Fractions, a released float being the decimal it prints as; what does not fit together,
such as text and a number, compares as NULL.
"""

import math
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from discreet.query.meaning import dates

LONGEST = 2_000  # bits of an exact number; beyond, it is a float
Value = None | bool | Fraction | float | str | date | datetime  # a float is ±∞


def plain(given: Any) -> Value:
    """A released value as this module computes with it; NaN, lists and the like are NULL."""
    if getattr(given, "shape", None) == ():
        given = given.item()
    match given:
        case None | bool() | date():  # a datetime is a date
            return given
        case str():
            return str(given)
        case int() | Fraction():
            return bounded(Fraction(given))
        case float() if math.isfinite(given):
            return Fraction(repr(given))
        case float() if math.isinf(given):
            return given
        case _:
            return None


def bounded(number: Fraction) -> Fraction | float:
    """The number, or where it is very long the nearest float, ±∞ beyond all of them: nothing grows without end."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= LONGEST:
        return number
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return Fraction(repr(near)) if math.isfinite(near) else near


def negated(truth: Value) -> bool | None:
    """NOT: unknown stays unknown."""
    return not truth if isinstance(truth, bool) else None


def any_of(truths: list[Any]) -> bool | None:
    """OR: true if any is, else unknown if any is, else false; what is no truth value is unknown."""
    if any(truth is True for truth in truths):
        return True
    return False if all(truth is False for truth in truths) else None


def compared(op: str, left: Value, right: Value) -> bool | None:
    """left op right, NULL if either is NULL or they are of different kinds."""
    pair = _alike(left, right)
    if pair is None:
        return None
    a, b = pair
    match op:
        case "=":
            return bool(a == b)
        case "!=":
            return bool(a != b)
        case "<":
            return bool(a < b)
        case "<=":
            return bool(a <= b)
        case ">":
            return bool(a > b)
        case ">=":
            return bool(a >= b)
        case _:
            raise TypeError(f"{op} is no comparison")


def _alike(left: Value, right: Value) -> tuple[Any, Any] | None:
    """Both as values of one kind.  A text beside a date is read as one: answers kept as JSON hold dates as text."""
    match left, right:
        case (bool(), bool()) | (str(), str()):
            return left, right
        case (bool(), _) | (_, bool()):
            return None
        case (Fraction() | float(), Fraction() | float()):
            return left, right
        case (date() | str(), date() | str()):
            a, b = moment(left), moment(right)
            return None if a is None or b is None else (a, b)
        case _:
            return None


def moment(given: Value) -> datetime | None:
    """The start of a date, a datetime without its offset, a text in ISO 8601 as either; else None."""
    match given:
        case datetime():
            return given.replace(tzinfo=None)
        case date():
            return datetime.combine(given, time())
        case str():
            return moment(dates.read(given))
        case _:
            return None
