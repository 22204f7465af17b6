"""A training of a few steps on a handful of persons, as the audit of mechanisms sees it: its cost and its outputs.

This module needs no torch; `steps`, which draws, does.
"""

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from discreet.bounded import RowLimit
from discreet.ndarrays import Floats
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Gaussian, Repeated, Sampled, Together

PersonRows = tuple[tuple[float, float], ...]
TinyTable = tuple[PersonRows, ...]


@dataclass(frozen=True)
class Steps:
    """So many steps at a rate, with noise of σ clips; `divisor` is the public expected batch.

    A row is the gradient that it has, two numbers, and a person has several rows.
    """

    rate: Fraction
    sigma: Fraction
    steps: int
    max_rows: int = 1
    divisor: int = 1
    clip: Any = 1

    @property
    def sensitivity(self) -> RowLimit:
        """Rows of which each person brings at most so many to a step."""
        return RowLimit(self.max_rows)

    @property
    def cost(self) -> Cost:
        """What a plan of these steps costs."""
        if self.rate == 1:
            return Together((Gaussian(self.sigma),) * self.steps)
        return Repeated(Sampled(self.rate, Gaussian(self.sigma)), self.steps)

    def __call__(self, exact: TinyTable, source: Source) -> Floats:
        """The noisy sums of one run."""
        sums: Floats = self.many(exact, 1, source)[0]
        return sums

    def many(self, exact: TinyTable, n: int, source: Source) -> Floats:
        """The noisy sums of n runs in clips, a run in each row: both numbers of each step side by side."""
        sums: Floats = import_module("discreet.deep.audit.steps").draw_sums(self, exact, n, source)
        return sums
