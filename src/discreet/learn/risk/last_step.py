"""The last step of a minimiser: real weights are rounded to a public lattice, and exact noise is added there.

Two vectors at most `distance` apart are, rounded to steps of h, at most distance/h + √d steps apart: the rounding is
part of what the noise covers.  h is a power of two, so that dividing by it is exact.
"""

from fractions import Fraction
from math import floor, log2

import numpy as np

from discreet.bounded import Sensitivity
from discreet.mechanism.additive import root_up
from discreet.ndarrays import Floats, Ints

FURTHEST = 2**20  # weights are clamped here, which moves no two of them further apart
_FINER = 2**12  # how much finer the lattice is than the distance, over √d
_FINEST = -40  # a power of two; so 2²⁰ is 2⁶⁰ steps at most, which 64 bits hold


def lattice_step(distance: Fraction, columns: int) -> Fraction:
    """A power of two, so fine that rounding adds at most 2⁻¹² of the distance, but never finer than 2⁻⁴⁰.

    >>> lattice_step(Fraction(1), 1)
    Fraction(1, 4096)
    """
    finest = distance / (_FINER * root_up(Fraction(columns)))
    return Fraction(2) ** max(floor(log2(finest)), _FINEST)


def rounded_sensitivity(distance: Fraction, step: Fraction, columns: int) -> Sensitivity:
    """How far vectors that were at most `distance` apart are after rounding, in steps."""
    root, far = root_up(Fraction(columns)), distance / step
    return Sensitivity(Fraction(columns), root * far + columns, (far + root) ** 2, far + 1)


def on_lattice(weights: Floats, step: Fraction) -> Ints:
    """The weights in whole steps."""
    return np.rint(np.clip(weights, -FURTHEST, FURTHEST) / float(step)).astype(np.int64)
