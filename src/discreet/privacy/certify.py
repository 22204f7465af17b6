"""Short rationals that are certainly above or below a real number; every price is rounded by them.

The number is computed with more bits until its ball is narrow.  The upper end of any of these balls is a true bound.
"""

from fractions import Fraction

from flint import arb

from discreet.real import Real, precision

_KEPT = 64  # bits of the answer
_GOOD = 56  # bits of relative accuracy worth asking for
_LADDER = (96, 192, 384, 1024, 3072)
_SMALLEST = -4000  # as a power of two: numbers nearer to 0 are rounded up to it, or down to 0


def up(real: Real) -> Fraction:
    """A rational of 64 bits at or above the number, normally within 2⁻⁵⁰ of it, relatively.

    >>> 0 < up(lambda: arb(2).sqrt()) ** 2 - 2 < Fraction(1, 2**50)
    True
    """
    return _outward(_ball(real).upper(), 1)


def down(real: Real) -> Fraction:
    """A rational of 64 bits at or below the number."""
    return _outward(_ball(real).lower(), -1)


def _ball(real: Real) -> arb:
    best = None
    for bits in _LADDER:
        with precision(bits):
            enclosure = real()
        if not enclosure.is_finite():
            continue
        best = enclosure
        if enclosure.rel_accuracy_bits() >= _GOOD or enclosure.is_exact():
            break
    if best is None:
        raise ArithmeticError("a number had no finite enclosure at 3072 bits")
    return best


def _outward(end: arb, side: int) -> Fraction:
    """The exact end of a ball, moved outward to 64 bits; `side` +1 rounds up, −1 down."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    if mantissa == 0:
        return Fraction(0)
    if exponent + mantissa.bit_length() < _SMALLEST:
        return Fraction(side, 2**-_SMALLEST) if side * mantissa > 0 else Fraction(0)
    spare = mantissa.bit_length() - _KEPT
    if spare > 0:
        mantissa = side * ((side * mantissa + (1 << spare) - 1) >> spare)
        exponent += spare
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
