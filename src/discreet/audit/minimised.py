"""Minimisers of a risk on tiny tables: many outputs of the real mechanism, and the law of the first weight.

A table is a tuple of rows (x, y), x a number from −1 to 1 and y a class, 0 or 1.  The minimum that output perturbation
adds noise to has no coin in it, so one call with n vectors of noise is n runs.  Objective perturbation solves a risk of
its own in every run.

Where every x is 0, the first weight w of objective perturbation depends on the first number b of its tilt alone: w ≤ t
if b ≥ −(Σ slopes at t + Λt), which the mechanism's own gradient gives.  With Gaussian tilts that is an exact law, of
the weights before their last step, which blurs them by far less than a cell.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from flint import arb

from discreet.audit.features import Outputs
from discreet.audit.laws import OutputLaw, above
from discreet.kernel.rows import UnitRows
from discreet.learn.risk.objective import GaussianTilt, ObjectivePerturbation
from discreet.learn.risk.output import OutputPerturbation
from discreet.learn.risk.spec import RiskSpec
from discreet.ndarrays import Floats
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.radial import Radial
from discreet.noise.source import Source

TinyTable = tuple[tuple[int, int], ...]
Minimiser = ObjectivePerturbation | OutputPerturbation
SPEC = RiskSpec(({"low": -1, "high": 1},), {"size": 2}, Fraction(1))
_CELLS, _REACH = 8, 6  # cells in a standard deviation of the tilt, and how many of these are told apart


@dataclass(frozen=True)
class Copies:
    """The noise of n runs at once: a row for each, 0 where the law is None."""

    law: Radial | None
    n: int

    def draw(self, source: Source) -> Floats:
        return np.zeros((self.n, SPEC.width)) if self.law is None else self.law.draw_many(self.n, source)


def rows_of(table: TinyTable) -> UnitRows:
    """The table as a view hands it out, each row a unit."""
    x, y = (np.array([row[place] for row in table]) for place in (0, 1))
    return UnitRows({"x": x.astype(np.float64), "y": y.astype(np.int64)}, np.arange(len(table)), len(table))


def draw_weights(mechanism: Minimiser, table: TinyTable, n: int, source: Source) -> Outputs:
    """n independent outputs on one table, one a row."""
    rows = rows_of(table)
    if isinstance(mechanism, OutputPerturbation):
        noise: Any = Copies(mechanism.noise, n)
        return replace(mechanism, noise=noise)(rows, source)
    return np.array([mechanism(rows, source) for _ in range(n)])


def intercept_law(mechanism: ObjectivePerturbation, table: TinyTable) -> OutputLaw:
    """The law of the first weight in cells of an eighth of σ/Λ."""
    if any(x for x, _ in table) or not isinstance(mechanism.tilt, GaussianTilt):
        raise ValueError("the law is known for Gaussian tilts and rows of x = 0")
    tilt, problem = mechanism.tilt, mechanism.spec.problem(rows_of(table), mechanism.loss, mechanism.ridge)
    noise, spread = RoundedGaussian(tilt.sigma / tilt.step), float(tilt.sigma / mechanism.ridge)

    def at_most(cell: int) -> arb:
        point = np.array([cell / _CELLS * spread, 0.0])
        least = Fraction(-float(problem.gradient(point)[0])) / tilt.step
        return above(noise, floor(least))

    ends = [at_most(cell) for cell in range(-_REACH * _CELLS, _REACH * _CELLS + 1)]
    below = [arb(0), *ends]
    return {place: up_to - before for place, (before, up_to) in enumerate(zip(below, [*ends, arb(1)], strict=True))}
