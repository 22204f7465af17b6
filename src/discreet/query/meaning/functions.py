"""Operators, functions and casts on public values.  They give None, which is NULL, where they are not defined.

The engine's functions on private rows mean the same.
"""

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.query.meaning import texts
from discreet.query.meaning.logic import Value, comparison, moment, plain, rounded_if_long
from discreet.schema import Type

_LARGEST_WHOLE = 2**62  # what a cast to an integer gives, as in the engine
_CURVES: Mapping[str, Callable[[float], float]] = {"sqrt": math.sqrt, "ln": math.log, "exp": math.exp}


def arith(op: str, left: Value, right: Value) -> Value:
    """left op right on numbers; a division by 0 is NULL."""
    if not isinstance(left, (Fraction, float)) or not isinstance(right, (Fraction, float)):
        return None
    a: Any = left
    b: Any = right
    if op in ("/", "%") and b == 0:
        return None
    try:
        match op:
            case "+":
                return _exact(a + b)
            case "-":
                return _exact(a - b)
            case "*":
                return _exact(a * b)
            case "/":
                return _exact(a / b)
            case "%":  # the sign of the left, as in SQL
                return _exact(a - b * math.trunc(a / b))
            case _:
                raise TypeError(f"{op} is no operator")
    except (ArithmeticError, ValueError):  # ∞ − ∞ and its like
        return None


def _exact(number: Any) -> Value:
    return plain(number) if isinstance(number, float) else rounded_if_long(Fraction(number))


def result(name: str, items: list[Value]) -> Value:
    """The result of one of `nodes.FUNCTIONS`."""
    match name:
        case "coalesce":
            return next((item for item in items if item is not None), None)
        case "nullif":
            return None if comparison("=", items[0], items[1]) else items[0]
        case "least" | "greatest" | "clamp":
            return _extreme(name, items)
        case "lower" | "upper" | "trim" | "length":
            return plain(texts.FUNCTIONS[name](items[0])) if isinstance(items[0], str) else None
        case _:
            return _of_number(name, items[0])


def _extreme(name: str, items: list[Value]) -> Value:
    if name == "clamp":
        raised = _extreme("greatest", items[:2])
        return _extreme("least", [raised, items[2]])
    best = items[0]
    for item in items[1:]:
        is_better = comparison("<" if name == "least" else ">", item, best)
        if is_better is None:
            return None
        best = item if is_better else best
    return best


def _of_number(name: str, item: Value) -> Value:
    if not isinstance(item, (Fraction, float)):
        return None
    try:
        match name:
            case "abs":
                return -item if item < 0 else item
            case "floor":
                return Fraction(math.floor(item))
            case "ceil":
                return Fraction(math.ceil(item))
            case "round":
                return Fraction(math.floor(item + Fraction(1, 2)))
            case "sqrt" | "ln" | "exp":
                return plain(_CURVES[name](float(item)))
            case _:
                raise TypeError(f"{name} is no function")
    except OverflowError:  # ±∞, or an exact number beyond every float
        if name not in _CURVES:
            return item
        return math.inf if item > 0 else Fraction(0) if name == "exp" else None
    except ValueError:
        return None


def date_part(part: str, item: Value) -> Value:
    """A part of a date, such as its month, as a whole number; NULL for what is no date."""
    when = moment(item)
    if when is None:
        return None
    match part:
        case "quarter":
            return Fraction((when.month + 2) // 3)
        case "week":
            return Fraction(when.isocalendar().week)
        case "weekday":
            return Fraction(when.isoweekday())
        case "year" | "month" | "day" | "hour" | "minute" | "second":
            return Fraction(getattr(when, part))
        case _:
            raise TypeError(f"{part} is no part of a date")


def cast(item: Value, kind: Type) -> Value:
    """The item as another type; NULL where it does not fit."""
    match kind, item:
        case (_, None):
            return None
        case (Type.TEXT | Type.CATEGORY, _):
            return _text(item)
        case (Type.DATE, str()) if len(item) != len("2020-12-31"):
            return None
        case (Type.DATE, _):
            when = moment(item)
            return None if when is None else when.date()
        case (Type.DATETIME, _):
            return moment(item)
        case (Type.BOOLEAN, bool()):
            return item
        case (Type.BOOLEAN, str()):
            return texts.boolean(item)
        case (Type.BOOLEAN, Fraction() | float()):
            return item != 0
        case (Type.INTEGER, str()):
            return plain(texts.integer(item))
        case (Type.NUMBER | Type.INTEGER, _):
            number = _as_number(item)
            return _whole_number(number) if kind is Type.INTEGER else number
        case _:
            return None


def _whole_number(number: Value) -> Value:
    """The nearest whole number, halves upward; NULL beyond what the engine's integers hold."""
    if not isinstance(number, Fraction) or abs(number) > _LARGEST_WHOLE + 1:
        return None
    nearest = math.floor(number + Fraction(1, 2))
    return Fraction(nearest) if abs(nearest) <= _LARGEST_WHOLE else None


def _as_number(item: Value) -> Value:
    match item:
        case bool():
            return Fraction(item)
        case str():
            number = texts.number(item)
            return None if number is None else rounded_if_long(number)
        case Fraction() | float():
            return item
        case _:
            return None


def _text(item: Value) -> str | None:
    match item:
        case bool():
            return "true" if item else "false"
        case Fraction():
            return str(item.numerator) if item.denominator == 1 else _decimal(item)
        case date():
            return item.isoformat(" ") if isinstance(item, datetime) else item.isoformat()
        case str():
            return item
        case _:
            return None


def _decimal(number: Fraction) -> str | None:
    try:
        return repr(float(number))
    except OverflowError:
        return None
