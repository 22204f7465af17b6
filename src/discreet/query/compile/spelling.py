"""Public constants as SQL: no other module writes a value into a statement."""

from collections.abc import Callable
from fractions import Fraction
from math import floor

from discreet.errors import NotAnswerable

LARGEST_WHOLE = 2**63 - 1
_BEYOND = 2**64  # compares with every BIGINT as any larger number does
_LONGEST = 200_000


def text(value: str) -> str:
    """A text in quotes, quotes inside doubled.

    >>> text("it's")
    "'it''s'"
    """
    if "\0" in value:
        raise ValueError("no text holds NUL")
    return "'" + value.replace("'", "''") + "'"


def whole(value: int) -> str:
    """An integer; beyond 2^64 it is cut, which changes no comparison with a stored one.

    >>> whole(5), whole(-5)
    ('5', '(-5)')
    """
    cut = max(-_BEYOND, min(_BEYOND, value))
    return str(cut) if cut >= 0 else f"({cut})"


def real(value: Fraction | int) -> str:
    """A double: the nearest to the exact number, in digits that read back as it.

    >>> real(Fraction(1, 10)), real(-2)
    ('0.1e0', '(-2.0e0)')
    """
    try:
        number = float(value)
    except OverflowError:
        what, why = "A number in this question is too large.", "Squares or products of its bounds pass 1e308."
        raise NotAnswerable(what, why, "Ask about smaller numbers, for example clamp(x, 0, 1000000).") from None
    digits = repr(abs(number))
    literal = digits if "e" in digits else f"{digits}e0"
    return f"(-{literal})" if number < 0 else literal


def scaled(as_double: str, step: Fraction, real: Callable[[Fraction | int], str] = real) -> str:
    """steps · step as a double, rounded once wherever both are below 2^53; never 0 or infinite but by the steps."""
    top, bottom = step.numerator, step.denominator
    if step == 1:
        return as_double
    if bottom & (bottom - 1) == 0 or max(top, bottom) >= 2**53:
        return f"({as_double} * {real(step)})"
    product = as_double if top == 1 else f"{as_double} * {real(top)}"
    return f"({product} / {real(bottom)})"


def nearest_integer(value: Fraction) -> int:
    """The nearest integer, halves upward: ⌊x + ½⌋."""
    return floor(value + Fraction(1, 2))


def short(sql: str) -> str:
    """The text, refused where nesting has made it longer than an engine should read."""
    if len(sql) > _LONGEST:
        what, why = "This expression is nested too deeply.", f"Its SQL would pass {_LONGEST} characters."
        raise NotAnswerable(what, why, "Ask a simpler question, or put the part that repeats into a column.")
    return sql
