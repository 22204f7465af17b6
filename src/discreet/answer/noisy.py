"""The input and the output of an estimate."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.query.recipe import MeanAmong, MeanOf

One = int | float | Fraction | str | bool
Value = One | tuple[One, ...]  # several favourites, best guess first


@dataclass(frozen=True)
class Noisy:
    """The released numbers of a part: a whole number per cell, a grid index (Ranks) or a row of value indices
    (Tops), and the law of its error, a mechanism or a noise.

    `rounding`: the most, in steps, by which one row was moved onto the lattice: ½, or 0 where all rows lie on it.
    """

    values: Any
    law: Any
    rounding: Fraction = Fraction(0)

    @property
    def noise(self) -> Any:
        """The noise behind a mechanism."""
        return getattr(self.law, "noise", self.law)


@dataclass(frozen=True)
class Estimates:
    """A value and the ends of its interval per cell; `ranks` and `shortfall` (in rows) where values have no ends."""

    value: list[Value]
    low: list[Any]
    high: list[Any]
    ranks: float | None = None
    shortfall: float | None = None


def certain_bounds(recipe: MeanOf | MeanAmong) -> tuple[Fraction, Fraction]:
    """The bounds that a mean cannot leave: its own, or the lattice's ends where these were rounded outward."""
    centre, lattice = recipe.centre, recipe.total.lattice
    lowest = min(-centre.half, lattice.low * lattice.step)
    return centre.middle + lowest, centre.middle + max(centre.half, lattice.high * lattice.step)
