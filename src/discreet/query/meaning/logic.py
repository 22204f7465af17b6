"""SQL's three-valued logic on public values.  It never raises.

None is NULL.  Numbers are exact Fractions; a float becomes the decimal that it prints as.  Values of different kinds,
such as text and a number, compare as NULL.
"""

import math
import operator
from collections.abc import Callable
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from discreet.query.meaning import dates
from discreet.query.nodes import COMPARISONS

LONGEST = 2_000  # bits of an exact number; beyond, it is a float
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = dict(
    zip(COMPARISONS, (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge), strict=True)
)
Value = None | bool | Fraction | float | str | date | datetime  # a float is ±∞


def plain(raw: Any) -> Value:
    """The raw value as a `Value`; NaN, lists and all other types are NULL."""
    if getattr(raw, "shape", None) == ():
        raw = raw.item()
    match raw:
        case None | bool() | date():  # a datetime is a date
            return raw
        case str():
            return str(raw)
        case int() | Fraction():
            return rounded_if_long(Fraction(raw))
        case float() if math.isfinite(raw):
            return Fraction(repr(raw))
        case float() if math.isinf(raw):
            return raw
        case _:
            return None


def rounded_if_long(number: Fraction) -> Fraction | float:
    """The number; beyond `LONGEST` bits its nearest float, which may be ±∞, so that no number grows without end."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= LONGEST:
        return number
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return Fraction(repr(rounded)) if math.isfinite(rounded) else rounded


def negated(truth: Value) -> bool | None:
    """NOT: NULL stays NULL."""
    return not truth if isinstance(truth, bool) else None


def any_of(truths: list[Any]) -> bool | None:
    """OR: true if any is true, else false if all are false, else NULL."""
    if any(truth is True for truth in truths):
        return True
    return False if all(truth is False for truth in truths) else None


def comparison(op: str, left: Value, right: Value) -> bool | None:
    """left op right; NULL if either is NULL or they are of different kinds."""
    pair = _of_one_kind(left, right)
    if pair is None:
        return None
    if op not in _COMPARISONS:
        raise TypeError(f"{op} is no comparison")
    return bool(_COMPARISONS[op](*pair))


def _of_one_kind(left: Value, right: Value) -> tuple[Any, Any] | None:
    """Both sides, if they are of one kind.  Text beside a date is read as a date: stored answers hold dates as text."""
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


def moment(item: Value) -> datetime | None:
    """The start of a date, a datetime without its offset, or either of them read from ISO text; else None."""
    match item:
        case datetime():
            return item.replace(tzinfo=None)
        case date():
            return datetime.combine(item, time())
        case str():
            return moment(dates.parse(item))
        case _:
            return None
