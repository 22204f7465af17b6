"""A unit's numbers clipped to a public l2 norm and rounded to whole steps, and how far one unit then moves their sum.

With R = clip/step, d numbers, and a unit's numbers scaled down to norm ≤ clip·(1 − 2⁻¹⁰) where they are longer:

                  nearest rounding                             stochastic rounding
    n             min(d, ⌊4R²⌋), that are not 0 at most        d
    l0            n                                            n
    l1            R√n + n/2                                    R√n + n
    l2            R + √n/2                                     R + √n
    linf          ⌊R + ½⌋                                      ⌈R⌉

Under replace-one a unit takes its own away and brings another's: twice l1, l2 and linf, and min(d, 2n) numbers.  Where
no two units' numbers point apart (v·w ≥ 0, as second moments), l2 is also at most √2·R + √d, with coins √2·R + 2√d.
Numbers that are not finite count as 0, all of that unit.  Proof page: docs/proofs/kernel.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import MOST_STEPS, Public
from discreet.ndarrays import Floats, Ints
from discreet.noise.source import Source
from discreet.relation import Relation

ROUNDINGS = ("nearest", "stochastic")
_SHORT = 1 - Fraction(1, 2**10)  # what doubles get wrong is far below the rest
_LEAST, _MOST = Fraction(1, 10**100), Fraction(10**100)


@dataclass(frozen=True)
class Clip:
    """The norm that one unit's numbers are clipped to, the step they are counted in, and the rounding."""

    clip: Fraction
    step: Fraction
    rounding: str = "nearest"

    @classmethod
    def parse(cls, public: Public) -> "Clip":
        """From the parameters `clip`, `step` and `rounding`."""
        clip, step = (_within(public[name], name) for name in ("clip", "step"))
        rounding = public.get("rounding", "nearest")
        if rounding not in ROUNDINGS:
            raise bad("rounding", "must be 'nearest' or 'stochastic'", rounding, "Leave it out for 'nearest'.")
        if not 1 <= clip / step < MOST_STEPS:
            rule = f"must be at most clip, and more than clip/{MOST_STEPS}"
            raise bad("step", rule, public["step"], f"Give, for example, step = {amounts.text_of(clip / 2**16)}.")
        return cls(clip, step, rounding)

    @property
    def radius(self) -> Fraction:
        """The norm in steps."""
        return self.clip / self.step

    def sensitivity(self, numbers: int, relation: Relation, *, acute: bool = False) -> Sensitivity:
        """How far one unit moves the sum of so many numbers; `acute`: v·w ≥ 0 for what any two units can have."""
        if self.rounding == "nearest":
            nonzero, off, linf = (
                min(numbers, floor(4 * self.radius**2)),
                Fraction(1, 2),
                floor(self.radius + Fraction(1, 2)),
            )
        else:
            nonzero, off, linf = numbers, Fraction(1), ceil(self.radius)
        root = _root_up(nonzero)
        l1, l2 = self.radius * root + off * nonzero, self.radius + off * root
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(Fraction(nonzero), l1, l2**2, Fraction(linf), relation)
        l2 = 2 * l2
        if acute:
            l2 = min(l2, self.radius * _root_up(2) + 2 * off * _root_up(numbers))
        return Sensitivity(Fraction(min(numbers, 2 * nonzero)), 2 * l1, l2**2, Fraction(2 * linf), relation)

    def total(self, numbers: list[Floats], coins: Source) -> Ints:
        """Σ over units of their numbers, clipped and rounded; `numbers` holds an array over units for each number.

        The arrays are worked on in place and mean nothing afterwards: new ones took a third of a pass.
        """
        with np.errstate(all="ignore"):  # what is not finite is set to 0
            scaled = self._clipped(numbers)
        fractions = self._fractions(len(scaled[0]), len(scaled), coins) if self.rounding == "stochastic" else None
        rounded = np.zeros(len(scaled), dtype=np.int64)
        for place, values in enumerate(scaled):
            if fractions is None:
                np.rint(values, out=values)
            else:
                below = np.floor(values)
                np.add(below, fractions[:, place] < values - below, out=values)
            rounded[place] = values.astype(np.int64).sum()
        return rounded

    def _clipped(self, numbers: list[Floats]) -> list[Floats]:
        """The numbers in steps, those of each unit shortened to the norm; number by number, see `contract`."""
        largest, spare = np.zeros_like(numbers[0]), np.empty_like(numbers[0])
        for values in numbers:
            np.maximum(largest, np.abs(values, out=spare), out=largest)  # NaN stays
        finite = np.isfinite(largest)
        scale = np.where(finite & (largest > 0), largest, 1.0)
        squares = np.zeros_like(scale)
        for values in numbers:
            squares += np.square(np.divide(values, scale, out=spare), out=spare)
        root = np.sqrt(squares)
        longer = scale * root > float(self.clip * _SHORT)
        divisor = np.where(longer, scale, float(self.step))
        factor = np.where(longer, float(self.radius * _SHORT) / np.where(longer, root, 1.0), 1.0)
        for values in numbers:
            np.divide(values, divisor, out=values)
            np.multiply(values, factor, out=values)
            np.copyto(values, 0.0, where=~finite)
        return numbers

    def _fractions(self, units: int, numbers: int, coins: Source) -> Floats:
        """Uniform multiples of 2⁻⁵³ in [0, 1), in the order of units, whatever the chunks are."""
        words = coins.words(units * numbers) >> np.uint64(11)
        return (words.astype(np.float64) * 2.0**-53).reshape(units, numbers)


def _within(value: Any, name: str) -> Fraction:
    parsed = amounts.positive(value, name)
    if not _LEAST <= parsed <= _MOST:
        raise bad(name, "must lie between 1e-100 and 1e100", value, "Give it in another unit.")
    return parsed


def _root_up(number: int) -> Fraction:
    """√whole, at most 2⁻²⁰ too large.

    >>> _root_up(16), _root_up(2) ** 2 >= 2
    (Fraction(4, 1), True)
    """
    return Fraction(isqrt((number << 40) - 1) + 1, 2**20) if number else Fraction(0)
