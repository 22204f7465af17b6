"""How one step divides its price among tables of different sizes, under Gaussian and under Laplace noise.

A step adds the same noise to every number of one vector; a table that is counted in w steps for each unit of weight
then has noise of s/w.  Over tables with c cells each, Σ c·E|noise| is least for

    Gaussian    w ∝ c^(1/3)      E|noise| summed: √(2/π)·(Σ c^(2/3))^(3/2)/m      m = 1/σ of the step
    Laplace     w ∝ c^(1/2)                       (Σ c^(1/2))²/m                  m = ε of the step

since the noise is in proportion to √(Σw²) and to Σw.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

import numpy as np

from discreet.learn.price import Price
from discreet.ndarrays import Floats
from discreet.relation import Relation


@dataclass(frozen=True)
class Law:
    """A law of noise, by the power of cells that tables share it by, and E|noise| for a scale of 1."""

    power: float  # of cells, in what is added up over tables
    mean_abs: float

    def weights(self, cells: Floats) -> Floats:
        """w for tables with so many cells, up to a common factor."""
        return np.power(cells, 1 - self.power)

    def parts(self, cells: Floats) -> Floats:
        """What each table adds to the sum whose power 1/`power` is the noise of all."""
        return np.power(cells, self.power)

    def noise(self, parts: float, precision: float) -> float:
        """Σ over all cells of E|noise|, for tables whose parts add up to that."""
        return float(self.mean_abs * max(parts, 0.0) ** (1 / self.power) / precision)


GAUSSIAN = Law(2 / 3, sqrt(2 / pi))
LAPLACE = Law(1 / 2, 1.0)


def law_of(price: Price) -> Law:
    """The law of the noise at that price."""
    return LAPLACE if price.is_pure else GAUSSIAN


def precision(price: Price, share: Fraction) -> float:
    """m of a step with that share of the price: 1/σ per unit of l2, or ε per unit of l1."""
    if price.is_pure:
        return float(price.terms.epsilon * share)
    return price.mu * sqrt(share)


def spread(price: Price, relation: Relation) -> float:
    """How much wider the noise of a table is under that relation: a replaced unit is in two cells."""
    if relation is Relation.ADD_REMOVE:
        return 1.0
    return 2.0 if price.is_pure else sqrt(2)


def mu(price: Price) -> float:
    """How well a unit can be told under the whole price, as 1/σ; for Laplace noise that of equal variance, ε/√2."""
    return float(price.terms.epsilon) / sqrt(2) if price.is_pure else price.mu
