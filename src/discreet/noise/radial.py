"""Vectors of uniform direction whose norm is Gamma(d, scale): in d dimensions, a density ∝ e^(−‖b‖/scale).

    b = scale · ‖Y‖ · Z      Y ~ N(0, I) in d + 1 dimensions, Z ~ N(0, I) in d, independent

‖Y‖·Z is a Gaussian whose variance is χ² with d + 1 degrees of freedom, and that mixture has the density above.  Normal
variables are drawn exactly and rounded to steps of 2⁻³⁶, so a drawn vector differs from b by at most `error`, a public
bound.  Whoever uses it pays for `error`: it is part of what a solver or a last step of noise has to cover.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from discreet import amounts
from discreet.ndarrays import Floats
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.source import Source

FINE = 2**36  # steps of a normal variable's 1
MOST_DIMENSIONS = 2**13  # so that doubles lose less than the bound leaves them
_BEYOND = 41  # ‖Y‖ and ‖Z‖ exceed √(d + 1) + 40 with a probability below 2⁻¹¹⁰⁰


@dataclass(frozen=True)
class Radial:
    """The law in that many dimensions.

    >>> float(Radial(100, Fraction(1)).error) < 2e-7
    True
    """

    dimension: int
    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", amounts.count(self.dimension, "dimension", 1, MOST_DIMENSIONS))
        object.__setattr__(self, "scale", amounts.positive(self.scale, "scale"))

    @property
    def error(self) -> Fraction:
        """How far a drawn vector lies from the real one at most: scale·(√(d + 1) + 41)²·2⁻³⁵."""
        reach = isqrt(self.dimension + 1) + 1 + _BEYOND
        return self.scale * reach**2 / 2**35

    def draw(self, source: Source) -> Floats:
        """One vector."""
        vector: Floats = self.draw_many(1, source)[0]
        return vector

    def draw_many(self, n: int, source: Source) -> Floats:
        """So many independent vectors, one a row."""
        numbers = RoundedGaussian(Fraction(FINE)).draw(n * (2 * self.dimension + 1), source).reshape(n, -1)
        length, direction = np.split(numbers.astype(np.float64) / FINE, [self.dimension + 1], axis=1)
        vectors: Floats = float(self.scale) * np.sqrt(np.square(length).sum(axis=1))[:, None] * direction
        return vectors
