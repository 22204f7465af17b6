"""Certified digits of real numbers.

A `Real` maps a precision in bits to a ball that surely contains the number (python-flint's arb).  A comparison or a
digit is read off only when the ball leaves no doubt; otherwise it is asked again with more bits.  Nothing is guessed.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

Real = Callable[[], arb]  # evaluated under `precision`; any precision gives a true enclosure

_MOST_BITS = 1 << 20
_lock = threading.RLock()


def _new_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)  # a fork may happen while another thread holds the old one


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """FLINT's working precision is one global: hold it for as long as balls are made."""
    with _lock:
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """The enclosure of a rational at the working precision."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def floor(real: Real, bits: int = 0) -> int:
    """⌊x·2^bits⌋, certified.  `real` must not be exactly a dyadic number unless its ball is exact.

    >>> floor(lambda: ball(1).exp(), 4)   # e·16 = 43.49…
    43
    """
    digits = bits + 64
    while digits <= _MOST_BITS:
        with precision(digits):
            integer = (real() * arb(2) ** bits).floor().unique_fmpz()
        if integer is not None:
            return int(integer)
        digits *= 2
    raise ArithmeticError("a digit was still open at a million bits: the number is dyadic or its ball never shrinks")


def less(left: Real, right: Real, bits: int = 128) -> bool:
    """left < right, certified, for numbers that differ."""
    while bits <= _MOST_BITS:
        with precision(bits):
            a, b = left(), right()
            if a < b:
                return True
            if b < a:
                return False
        bits *= 2
    raise ArithmeticError("two numbers could not be told apart at a million bits")


def upper(real: Real, bits: int = 96) -> Fraction:
    """A rational just above: within 2^-bits or so, relatively, for a ball that shrinks."""
    with precision(bits):
        return exact(real().upper())


def lower(real: Real, bits: int = 96) -> Fraction:
    """A rational just below."""
    with precision(bits):
        return exact(real().lower())


def exact(point: arb) -> Fraction:
    """The rational value of an exact ball (what arb's upper(), lower() and mid() give)."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def exp(exponent: Fraction) -> Real:
    """e^exponent."""
    return lambda: ball(exponent).exp()


def normal_tail(x: arb) -> arb:
    """P[N(0,1) > x] = erfc(x/√2)/2."""
    return (x / arb(2).sqrt()).erfc() / 2
