"""Functions of text on public values."""

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
    letter, symbol, percent, restart = 0, 0, -1, 0
    while letter < len(text):
        if symbol < len(pattern) and pattern[symbol] == "%":
            percent, restart, symbol = symbol, letter, symbol + 1
        elif symbol < len(pattern) and pattern[symbol] in ("_", text[letter]):
            letter, symbol = letter + 1, symbol + 1
        elif percent >= 0:
            restart += 1
            letter, symbol = restart, percent + 1
        else:
            return False
    return pattern[symbol:].strip("%") == ""


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
    """Whether the text means yes; None if it means neither yes nor no."""
    low = text.lower()
    return True if low in TRUE else False if low in FALSE else None
