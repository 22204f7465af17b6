"""Noise on the sum of clipped gradients: by whole numbers on a public lattice, or in single precision on request.

    h        the largest power of two with √d·h ≤ C·2⁻¹²                    the step of the lattice
    ⌊s/h⌉    the sum in whole steps; a person moves it by at most C/h + √d     rounding adds √d, not half of it
    noise    RoundedGaussian of σ·(C/h + ⌈√d⌉) steps on each number         cost Gaussian(σ)

d: numbers of the sum; C: the length of a clipped gradient.  Whole numbers below 2⁵² are added in doubles, exactly.
Noise for several steps is drawn at once where sums are short.  Proof page: docs/proofs/deep/training/noise.md.
"""

import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, Protocol

import numpy as np

from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Floats, Ints
from discreet.noise.float_gaussian import add_normal
from discreet.noise.source import Source

EXACT, FLOAT = "exact", "float"
FORMS = (EXACT, FLOAT)
_FINENESS = 2**12  # how much shorter than C the rounding of a sum is
_FURTHEST = 2.0**51  # sums saturate here; noise is far below it too, so doubles add both exactly
_AHEAD = 1 << 15  # numbers drawn at once for several steps
_CHUNK = 1 << 14  # numbers that stay in a core's cache


class SumNoise(Protocol):
    """Noise for the steps of one block; never shared between processes."""

    def add(self, total: Any) -> None:
        """Turn an exact sum, a flat array of numpy, into a noisy one, in place."""


@dataclass(frozen=True)
class Lattice:
    """The public lattice of sums of `size` numbers, and the noise on it.

    >>> lattice = Lattice(100, Fraction(1), Fraction(2))
    >>> lattice.step, lattice.mechanism.cost
    (Fraction(1, 65536), Gaussian(sigma=Fraction(2, 1)))
    """

    size: int
    clip: Fraction
    sigma: Fraction

    @cached_property
    def step(self) -> Fraction:
        """h: the largest power of two with d·h² ≤ (C·2⁻¹²)²."""
        largest = (self.clip / _FINENESS) ** 2 / self.size
        power = (largest.numerator.bit_length() - largest.denominator.bit_length()) // 2 + 1
        while Fraction(4) ** power > largest:
            power -= 1
        return Fraction(2) ** power

    @cached_property
    def mechanism(self) -> Additive:
        """The noise, as a promise about vectors of whole steps."""
        root = isqrt(self.size - 1) + 1
        norm = self.clip / self.step + root
        sensitivity = Sensitivity(Fraction(self.size), root * norm, norm**2, norm)
        return additive.gaussian(sensitivity, self.sigma * norm)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each number of the sum, in units of gradients."""
        return float(self.step) * self.mechanism.variance**0.5


class LatticeNoise:
    """Exact noise: drawn for as many steps ahead as fit into a small array, and forgotten with the block."""

    def __init__(self, lattice: Lattice, source: Source) -> None:
        self._lattice, self._source, self._process = lattice, source, os.getpid()
        self._steps_per_unit, self._step = float(1 / lattice.step), float(lattice.step)
        self._ahead: list[Ints] = []

    def add(self, total: Floats) -> None:
        """Round the sum to the lattice, add noise of its own, and return to units of gradients, in place."""
        require_finite(total)
        noise = self._next_noise()
        for start in range(0, total.size, _CHUNK):
            part = total[start : start + _CHUNK]
            part *= self._steps_per_unit
            np.rint(part, out=part)
            np.clip(part, -_FURTHEST, _FURTHEST, out=part)
            part += noise[start : start + _CHUNK]
            part *= self._step

    def _next_noise(self) -> Ints:
        """Noise that nothing else gets, in steps."""
        if self._process != os.getpid():  # a forked child has a copy of what its parent drew
            self._ahead, self._process = [], os.getpid()
        if not self._ahead:
            size, steps = self._lattice.size, max(1, _AHEAD // self._lattice.size)
            drawn = self._lattice.mechanism.noise.draw(size * steps, self._source)
            self._ahead = list(drawn.reshape(steps, size))
        return self._ahead.pop()


class FloatNoise:
    """Noise of single precision: the numbers of a proof in real arithmetic."""

    def __init__(self, lattice: Lattice, source: Source) -> None:
        self._deviation, self._source = float(lattice.clip * lattice.sigma), source

    def add(self, total: Any) -> None:
        """Add noise of standard deviation σ·C to each number, in place."""
        require_finite(total)
        add_normal(total, self._deviation, self._source)


def require_form(form: Any) -> str:
    """Refuses a name of no form of noise."""
    if form not in FORMS:
        raise bad("noise", "must be 'exact' or 'float'", form, "Leave it out: exact noise is the default.")
    return str(form)


def require_finite(total: Any) -> None:
    """Refuses a sum that clipping did not bound: inside a block this ends in the one fixed reply."""
    if not np.isfinite(total.sum()):
        raise ArithmeticError
