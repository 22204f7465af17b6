"""Interval arithmetic on public ranges.

An interval is a pair of exact ends; None is "no public bounds".  Every rounding goes outward.
"""

from fractions import Fraction
from math import ceil, floor, gcd, isqrt

from discreet import real

Ends = tuple[Fraction, Fraction]

LARGEST = Fraction(10) ** 300  # beyond it a double may overflow, so nothing beyond counts as bounded
_EXPONENTS = 300
_ROOT_BITS = 64
_HALF = Fraction(1, 2)


def tame(ends: Ends | None) -> Ends | None:
    """The interval if a double surely holds every number in it."""
    return ends if ends is not None and max(abs(ends[0]), abs(ends[1])) <= LARGEST else None


def hull(*intervals: Ends | None) -> Ends | None:
    """The smallest interval around all of them.

    >>> hull((Fraction(0), Fraction(1)), (Fraction(5), Fraction(6)))
    (Fraction(0, 1), Fraction(6, 1))
    """
    bounded = [ends for ends in intervals if ends is not None]
    if len(bounded) < len(intervals) or not bounded:
        return None
    return min(low for low, _ in bounded), max(high for _, high in bounded)


def operation_ends(op: str, left: Ends | None, right: Ends | None) -> Ends | None:
    """The interval of left op right.

    >>> operation_ends("*", (Fraction(-2), Fraction(3)), (Fraction(4), Fraction(5)))
    (Fraction(-10, 1), Fraction(15, 1))
    """
    if left is None or right is None:
        return None
    match op:
        case "+":
            return tame((left[0] + right[0], left[1] + right[1]))
        case "-":
            return tame((left[0] - right[1], left[1] - right[0]))
        case "*":
            return tame(_around([a * b for a in left for b in right]))
        case "/":
            return None if has_zero(right) else tame(_around([a / b for a in left for b in right]))
        case "%":
            return _remainder(left, right)
        case _:
            raise ValueError(f"{op} is no operator")


def has_zero(ends: Ends | None) -> bool:
    """Whether 0 may occur; without bounds it may."""
    return ends is None or ends[0] <= 0 <= ends[1]


def _around(corners: list[Fraction]) -> Ends:
    return min(corners), max(corners)


def _remainder(left: Ends, right: Ends) -> Ends:
    """The remainder has the sign of the left and is no larger than either."""
    largest = max(abs(right[0]), abs(right[1]))
    return max(min(left[0], Fraction(0)), -largest), min(max(left[1], Fraction(0)), largest)


def function_ends(name: str, ends: Ends | None) -> Ends | None:
    """The interval of a function of one number.

    >>> function_ends("abs", (Fraction(-2), Fraction(1)))
    (Fraction(0, 1), Fraction(2, 1))
    """
    if ends is None:
        return None
    low, high = ends
    match name:
        case "abs":
            lowest = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
            return lowest, max(abs(low), abs(high))
        case "floor":
            return Fraction(floor(low)), Fraction(floor(high))
        case "ceil":
            return Fraction(ceil(low)), Fraction(ceil(high))
        case "round":
            return Fraction(floor(low + _HALF)), Fraction(floor(high + _HALF))
        case "sqrt":
            return None if high < 0 else (_root_below(max(low, Fraction(0))), _root_above(high))
        case "ln":
            return None if low <= 0 else (real.lower(_log(low)), real.upper(_log(high)))
        case "exp":
            wild = max(abs(low), abs(high)) > _EXPONENTS
            return None if wild else (real.lower(real.exp(low)), real.upper(real.exp(high)))
        case _:
            raise ValueError(f"{name} is no function of one number")


def _log(value: Fraction) -> real.Real:
    return lambda: real.ball(value).log()


def _root_below(value: Fraction) -> Fraction:
    return Fraction(isqrt(floor(value * 4**_ROOT_BITS)), 2**_ROOT_BITS)


def _root_above(value: Fraction) -> Fraction:
    below = _root_below(value)
    return below if below * below == value else below + Fraction(1, 2**_ROOT_BITS)


def common_step(left: Fraction, right: Fraction) -> Fraction:
    """The widest step that both are whole multiples of.

    >>> common_step(Fraction(1, 2), Fraction(1, 3))
    Fraction(1, 6)
    """
    return Fraction(
        gcd(left.numerator * right.denominator, right.numerator * left.denominator),
        left.denominator * right.denominator,
    )
