"""Small exact tables, and many noisy draws of their parts: what the honesty of intervals is measured on."""

from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np
from scipy.stats import binom

from discreet.answer import Noisy
from discreet.bounded import Sensitivity
from discreet.mechanism.additive import gaussian, laplace
from discreet.noise.source import SYSTEM
from discreet.query.nodes import Col
from discreet.query.parts import Rows, RowSum
from discreet.query.recipe import Centre, CorrelationOf, CovarianceOf, MeanOf, VarianceOf
from discreet.schema import Lattice

DRAWS = 3_000
LEVEL = F(95, 100)
ALARM = 1e-7  # of one comparison: a file with ten of them stays below 1e-6
AGE, PAY = Centre(F(55), F(55)), Centre(F(10), F(10))  # ages 0 … 110, pay 0 … 20 in halves

COUNT = Rows((Col("age"),))
AGES = RowSum(Col("age"), Lattice(-55, 55, F(1)))
PAYS = RowSum(Col("pay"), Lattice(-20, 20, F(1, 2)))
AGE_SQUARES = RowSum(Col("age²"), Lattice(-3025, 3025, F(1, 2)))  # d² − 55²/2
PAY_SQUARES = RowSum(Col("pay²"), Lattice(-200, 200, F(1, 4)))  # e² − 10²/2
PRODUCTS = RowSum(Col("age·pay"), Lattice(-1100, 1100, F(1, 2)))

MEAN = MeanOf(COUNT, AGES, AGE)
VARIANCE = VarianceOf(COUNT, AGES, AGE_SQUARES, AGE, 1, F(1))
COVARIANCE = CovarianceOf(COUNT, AGES, PAYS, PRODUCTS, AGE, PAY, 1)
CORRELATION = CorrelationOf(COVARIANCE, AGE_SQUARES, PAY_SQUARES)


@dataclass(frozen=True)
class Rowset:
    """Exact ages and pays as distances from their middles; pays in whole numbers of halves."""

    d: np.ndarray
    e: np.ndarray

    def exact(self):
        d, e = self.d.astype(int), self.e.astype(int)
        return {
            COUNT: d.size,
            AGES: d.sum(),
            PAYS: e.sum(),
            AGE_SQUARES: (2 * d * d - 3025).sum(),
            PAY_SQUARES: (e * e - 200).sum(),
            PRODUCTS: (d * e).sum(),
        }


def rowset(n, spread=1.0):
    """n rows whose ages and pays go together, mostly."""
    i = np.arange(n)
    d = np.rint(spread * 40 * np.sin(1.7 * i + 0.4) + 9).astype(int).clip(-55, 55)
    e = np.rint(spread * 8 * np.sin(1.7 * i + 0.9) - 3).astype(int).clip(-20, 20)
    return Rowset(d, e)


def one(l1):
    return Sensitivity(F(1), F(l1), F(l1) ** 2, F(l1))


def by_laplace(part):
    return laplace(one(_moved(part)), F(1, 2))


def by_gaussian(part):
    return gaussian(one(_moved(part)), 4 * _moved(part))


def by_both(part):
    """Laplace noise on counts, Gaussian on sums."""
    return by_laplace(part) if isinstance(part, Rows) else by_gaussian(part)


def _moved(part):
    return part.lattice.largest if isinstance(part, RowSum) else 1


def noisy(rows, promise, draws=DRAWS):
    """The noisy parts of so many equal cells, each with noise of its own."""
    exact = rows.exact()
    return {
        part: Noisy(promise(part)(np.full(draws, value, dtype=np.int64), SYSTEM), promise(part))
        for part, value in exact.items()
    }


def fewest(draws=DRAWS, level=LEVEL):
    """Fewer covered ones than this happen with probability below ALARM if the coverage is `level`."""
    return int(binom.ppf(ALARM, draws, float(level)))


def covered(estimates, truth, slack=1e-9):
    """How many intervals hold the truth; the slack is for the truth's own rounding as a float."""
    low, high = np.array(estimates.low, dtype=float), np.array(estimates.high, dtype=float)
    return int(((low <= truth + slack) & (truth - slack <= high)).sum())
