"""Turn Python values into the constants of a question, which are exact and of a few plain types."""

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import BadValue, bad
from discreet.query.nodes import Constant, Literal

MOST_CHARACTERS = 10_000
_RULE = "must be a number, text, a boolean, a date, a datetime or None"
_FIX = "Give a value such as 18, 0.5, 'north', True or date(2024, 1, 31)."


def constant(given: Any, name: str = "constant") -> Constant:
    """The constant of a question: a float is the decimal it prints as, a NumPy or pandas scalar the value it holds.

    >>> constant(0.1), constant(3), constant("north"), constant(None)
    (Fraction(1, 10), 3, 'north', None)
    """
    match given:
        case None:
            return None
        case bool():
            return given
        case str():
            return _text(str(given), name)
        case datetime():
            return _moment(given, name)
        case date():
            return date(given.year, given.month, given.day)
        case _:
            return _scalar(given, name)


def literal(given: Any, name: str = "constant") -> Literal:
    """The node of a constant that is compared with, so None is refused: nothing equals NULL, not even NULL."""
    value = constant(given, name)
    if value is None:
        raise bad(name, "must not be None: no comparison with an empty cell holds", given, "Write .is_null() instead.")
    return Literal(value)


def _scalar(given: Any, name: str) -> Constant:
    kind = getattr(getattr(given, "dtype", None), "kind", None) if getattr(given, "shape", None) == () else None
    match kind:
        case "b":
            return bool(given)
        case "U":
            return _text(str(given), name)
        case "M":
            return _numpy_moment(given, name)
        case "f":  # its own text, since a float32 of 0.1 is another number as a float
            return amounts.decimal(str(given), name, "must be a finite number", _FIX)
        case "i" | "u":
            return int(amounts.decimal(int(given), name))
        case _:
            return _number(given, name)


def _number(given: Any, name: str) -> int | Fraction:
    if isinstance(given, str):
        raise bad(name, _RULE, given, _FIX)
    try:
        parsed = amounts.decimal(given, name, "must be a finite number", _FIX)
    except BadValue:
        rule = "must be a finite number of reasonable size" if isinstance(given, (int, float)) else _RULE
        raise bad(name, rule, given, _FIX) from None
    return int(parsed) if isinstance(given, int) else parsed


def _text(given: str, name: str) -> str:
    plain = "\x00" not in given and not any("\ud800" <= letter <= "\udfff" for letter in given)
    if not plain or len(given) > MOST_CHARACTERS:
        rule = f"must be text of at most {MOST_CHARACTERS} characters, without NUL or half a character"
        raise bad(name, rule, given, "Give a shorter, plain text.")
    return given


def _moment(given: datetime, name: str) -> datetime:
    # pandas' NaT is a datetime that equals nothing
    if given != given or given.tzinfo is not None:
        rule = "must be a datetime on the table's own clock, without an offset"
        raise bad(name, rule, given, "Give one such as datetime(2024, 1, 31, 12, 30).")
    clock = (given.hour, given.minute, given.second, given.microsecond)
    return datetime(given.year, given.month, given.day, *clock)


def _numpy_moment(given: Any, name: str) -> date | datetime:
    value = given.item()
    if isinstance(value, int):  # nanoseconds, which Python's datetime does not have
        value = given.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return _moment(value, name)
    if isinstance(value, date):
        return value
    raise bad(name, "must be a date or a datetime of the years 1 to 9999", given, "Give one such as date(2024, 1, 31).")
