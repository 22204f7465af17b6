"""The functions of text, worked out on public values before any row is read."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

INTEGER = "[+-]?[0-9]{1,18}"
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")

FUNCTIONS: Mapping[str, Callable[[str], Any]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
}


def like(text: str, pattern: str) -> bool:
    """SQL's LIKE in time |text|·|pattern|: the last % gives way by one letter whenever the rest does not fit.

    >>> like("north", "n%t_"), like("north", "n%t")
    (True, False)
    """
    place, spot, percent, mark = 0, 0, -1, 0
    while place < len(text):
        if spot < len(pattern) and pattern[spot] == "%":
            percent, mark, spot = spot, place, spot + 1
        elif spot < len(pattern) and pattern[spot] in ("_", text[place]):
            place, spot = place + 1, spot + 1
        elif percent >= 0:
            mark += 1
            place, spot = mark, percent + 1
        else:
            return False
    return pattern[spot:].strip("%") == ""


def integer(text: str) -> int | None:
    """The integer that the text spells, None if none of at most 18 digits."""
    return int(text) if re.fullmatch(INTEGER, text) else None


def number(text: str) -> Fraction | None:
    """The number that the text spells, None if it spells none.

    >>> number("2.50"), number("1e-3"), number("one"), number("9" * 5000) == 10**5000 - 1
    (Fraction(5, 2), Fraction(1, 1000), None, True)
    """
    if not re.fullmatch(NUMBER, text):
        return None
    return Fraction(Decimal(text))  # by way of Decimal, for Python reads no int of more than 4,300 digits


def boolean(text: str) -> bool | None:
    """Whether the text says yes, None if it says neither."""
    low = text.lower()
    return True if low in TRUE else False if low in FALSE else None
