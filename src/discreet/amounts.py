"""Decimals and Fractions in, lattice steps out; every rounding goes to the safe side.

Privacy amounts are decimals: a float is read as the decimal it prints as, so 0.1 means one tenth.  Only noise scales
take a float's exact binary value.  Each parser names its parameter, its rule, what was given and what to do.
"""

import math
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import bad

Number = int | float | str | Decimal | Fraction

MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**9), Fraction(10**6)
MAX_SCALE = Fraction(10**12)
DELTA_CEILING = Fraction(1, 10**6)  # the public default of a schema that declares no population
_LONGEST_TEXT = 80
_LARGEST_EXPONENT = 400
_LARGEST_BITS = 1400  # numerator and denominator; room for 80 digits and an exponent of 400
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?|[+-]?\d+/\d+")


def epsilon(value: Any, name: str = "epsilon") -> Fraction:
    """ε as an exact decimal in [10⁻⁹, 10⁶].

    >>> epsilon(0.1), epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    rule = "must be a decimal number between 1e-9 and 1e6"
    fix = "Give a number such as 1 or 0.1."
    parsed = decimal(value, name, rule, fix)
    if not MIN_EPSILON <= parsed <= MAX_EPSILON:
        raise bad(name, rule, value, fix)
    return parsed


def delta(value: Any, name: str = "delta", ceiling: Fraction = DELTA_CEILING) -> Fraction:
    """δ as an exact decimal in [0, ceiling].

    A δ near 1/n allows "publish one random person" (see docs/why/delta.md), so it has a public ceiling; the true n is
    private and is never what δ is compared with.
    """
    rule = f"must be a decimal number between 0 and {text_of(ceiling)}"
    fix = "Give a number such as 1e-7, or declare a public population so that the ceiling becomes 1/population."
    parsed = decimal(value, name, rule, fix)
    if not 0 <= parsed <= ceiling:
        raise bad(name, rule, value, fix)
    return parsed


def scale(value: Any, name: str = "scale") -> Fraction:
    """A noise scale in (0, 10¹²], in lattice steps; a float counts as its exact binary value.

    >>> scale(0.1) == Fraction(0.1) != Fraction(1, 10)
    True
    """
    rule = "must be a positive number of at most 1e12 steps"
    fix = "Give a number such as 10, '0.5' or Fraction(1, 3); for wider noise choose a coarser step."
    if isinstance(value, float) and math.isfinite(value):
        parsed = _small(Fraction(value), name, rule, value, fix)
    else:
        parsed = decimal(value, name, rule, fix)
    if not 0 < parsed <= MAX_SCALE:
        raise bad(name, rule, value, fix)
    return parsed


def probability(value: Any, name: str = "probability") -> Fraction:
    """A decimal in [0, 1]."""
    rule, fix = "must be a decimal number between 0 and 1", "Give a number such as 0.4 or '1/3'."
    parsed = decimal(value, name, rule, fix)
    if not 0 <= parsed <= 1:
        raise bad(name, rule, value, fix)
    return parsed


def inner_probability(value: Any, name: str) -> Fraction:
    """A decimal strictly between 0 and 1, for levels and priors, where the ends mean nothing."""
    rule, fix = "must be a decimal number strictly between 0 and 1", "Give a number such as 0.95."
    parsed = decimal(value, name, rule, fix)
    if not 0 < parsed < 1:
        raise bad(name, rule, value, fix)
    return parsed


def require_inner(probability: Fraction, name: str) -> None:
    """Refuses a probability, parsed before, at which nothing can be computed: 0, 1 or beyond."""
    if not 0 < probability < 1:
        raise bad(name, "must be strictly between 0 and 1", probability, "Give a number such as 0.95.")


def count(value: Any, name: str, least: int = 0, largest: int = 2**40) -> int:
    """A whole number in [least, largest]; a bool is not one."""
    rule, fix = f"must be a whole number between {least} and {largest}", f"Give an int such as {max(least, 1)}."
    whole = value if isinstance(value, int) and not isinstance(value, bool) else _index(value)
    if whole is None or not least <= whole <= largest:
        raise bad(name, rule, value, fix)
    return whole


def whole(value: Any, name: str, least: int, largest: int, *, such_as: int) -> int:
    """A whole number in [least, largest], from its text too; 1e5 is one.

    >>> whole("1e5", "runs", 200, 10**7, such_as=20_000)
    100000
    """
    rule, fix = f"must be a whole number between {least} and {largest}", f"Give a number such as {such_as}."
    number = decimal(value, name, rule, fix)
    if number.denominator != 1 or not least <= number <= largest:
        raise bad(name, rule, value, fix)
    return int(number)


def positive(value: Any, name: str) -> Fraction:
    """Any positive decimal or Fraction of reasonable size."""
    rule, fix = "must be a positive number", "Give a number such as 1 or '0.5'."
    parsed = decimal(value, name, rule, fix)
    if parsed <= 0:
        raise bad(name, rule, value, fix)
    return parsed


def decimal(value: Any, name: str, rule: str = "must be a number", fix: str = "Give a number such as 1.") -> Fraction:
    """The exact value of an int, Fraction, Decimal, decimal text or float-as-printed; refuses everything else."""
    if isinstance(value, bool) or value is None:
        raise bad(name, rule, value, fix)
    if isinstance(value, (int, Fraction)):
        return _small(Fraction(value), name, rule, value, fix)
    if isinstance(value, float) or type(value).__name__ == "float64":
        value_text = repr(float(value))
    elif isinstance(value, Decimal):
        value_text = str(value)
    elif isinstance(value, str):
        value_text = value.strip()
    elif (whole := _index(value)) is not None:
        return _small(Fraction(whole), name, rule, value, fix)
    else:
        raise bad(name, rule, value, fix)
    return _fraction_of(value_text, name, rule, value, fix)


def _fraction_of(text: str, name: str, rule: str, value: object, fix: str) -> Fraction:
    # Length and exponent are checked on the text: building Fraction("1e999999999") would be the attack.
    if len(text) > _LONGEST_TEXT or not text.isascii() or not _DECIMAL.fullmatch(text):
        raise bad(name, rule, value, fix)
    exponent = re.search(r"[eE]([+-]?\d+)$", text)
    if exponent and abs(int(exponent[1])) > _LARGEST_EXPONENT:
        raise bad(name, rule, value, fix)
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise bad(name, rule, value, fix) from None


def _small(parsed: Fraction, name: str, rule: str, value: object, fix: str) -> Fraction:
    if max(parsed.numerator.bit_length(), parsed.denominator.bit_length()) > _LARGEST_BITS:
        raise bad(name, rule, value, fix)
    return parsed


def _index(value: Any) -> int | None:
    """The integer behind a NumPy integer scalar, or None."""
    if isinstance(value, (bool, float, str)) or not hasattr(value, "__index__") or getattr(value, "shape", ()) != ():
        return None
    if getattr(getattr(value, "dtype", None), "kind", "i") not in "iu":
        return None
    return int(value.__index__())


# --- the lattice: value = steps · step ---------------------------------------------------------------------------


def steps(value: Fraction, step: Fraction) -> int:
    """The nearest lattice point, halves upward: ⌊value/step + ½⌋."""
    return math.floor(value / step + Fraction(1, 2))


def steps_down(value: Fraction, step: Fraction) -> int:
    """The last lattice point at or below: a lower bound rounded outward."""
    return math.floor(value / step)


def steps_up(value: Fraction, step: Fraction) -> int:
    """The first lattice point at or above: an upper bound, a sensitivity or a scale rounded outward."""
    return math.ceil(value / step)


def default_step(low: Fraction, high: Fraction) -> Fraction:
    """The largest power of two at or below (high − low)·2⁻²⁰: a grid of a million steps.

    >>> default_step(Fraction(0), Fraction(100))
    Fraction(1, 16384)
    """
    if high <= low:
        raise bad("bounds", "must have the upper above the lower", f"[{low}, {high}]", "Give bounds such as [0, 110].")
    return power_of_two_below((high - low) / 2**20)


def power_of_two_below(value: Fraction) -> Fraction:
    """The largest 2^k ≤ value, for value > 0."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** k
    return power if power <= value else power / 2


def rounded_up(value: Fraction, digits: int = 12) -> Decimal:
    """The smallest decimal of so many significant digits at or above: how a cost is stored and shown.

    >>> rounded_up(Fraction(1, 3), 3)
    Decimal('0.334')
    """
    size, below = abs(value.numerator), value.denominator  # whole numbers throughout: this runs for every shown number
    if not size:
        return Decimal(0)
    exponent = math.floor((size.bit_length() - below.bit_length()) * math.log10(2)) - digits + 1
    while True:
        top, unit = (size * 10**-exponent, below) if exponent < 0 else (size, below * 10**exponent)
        if top >= unit * 10**digits:
            exponent += 1
        elif top < unit * 10 ** (digits - 1):
            exponent -= 1
        else:
            break
    whole = -(-top // unit) if value > 0 else -(top // unit)
    text = str(abs(whole)).rstrip("0") or "0"
    exponent += len(str(abs(whole))) - len(text) if whole else 0
    # Made from its digits: arithmetic on Decimals rounds by the caller's context, and not always up.
    return Decimal((int(whole < 0), tuple(map(int, text)), exponent))


def text_of(value: Fraction | Decimal) -> str:
    """A short decimal for people and JSON: exact where short, else rounded up.

    >>> text_of(Fraction(1, 10)), text_of(Fraction(1, 10**7)), text_of(Fraction(3))
    ('0.1', '1e-7', '3')
    """
    number = rounded_up(Fraction(value))
    exponent = number.adjusted()
    if number and (exponent < -4 or exponent > 15):
        mantissa, power = f"{number:e}".split("e")
        return f"{mantissa}e{int(power)}"
    return f"{number:f}"


def text_up(value: Fraction, digits: int = 4) -> str:
    """A cost in few significant digits, rounded up, as `text_of` writes it.

    >>> text_up(Fraction(1, 3)), text_up(Fraction(10986123, 10**7))
    ('0.3334', '1.099')
    """
    return text_of(rounded_up(value, digits))


def exact_text(value: Fraction) -> str:
    """The number as it can be typed again, exactly.

    >>> exact_text(Fraction(1, 10**7)), exact_text(Fraction(1, 3))
    ('1e-7', '1/3')
    """
    text = text_of(value)
    return text if Fraction(text) == value else str(value)


def float_up(value: Fraction) -> float:
    """The smallest float at or above: the safe side for a cost."""
    nearest = _nearest(value)
    return nearest if nearest == math.inf or Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def float_down(value: Fraction) -> float:
    """The largest float at or below."""
    return -float_up(-value)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
