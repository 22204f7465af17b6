"""The mechanism: a small database with odds ∝ e^(−ε·N·loss/(2m)), from the true counts of all queries.

m is how far one unit can move one of the counts; it is `sensitivity.linf`.  In steps of 1/(N·N̂) one unit moves the
loss of every candidate by at most N̂·m, so the rate is ε/(2·N̂·m) a step.  McSherry & Talwar (2007); Blum, Ligett &
Roth (2008).
Proof page: docs/proofs/synth/small.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.bounded import Sensitivity
from discreet.errors import bad_private
from discreet.mechanism.promise import lattice_vector
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Exponential
from discreet.synth.small.candidates import Candidates


@dataclass(frozen=True, eq=False)
class SmallDatabaseChoice:
    """One of all databases of N̂ rows, as counts by cell; the input is how many rows satisfy each query."""

    sensitivity: Sensitivity
    epsilon: Fraction
    candidates: Candidates

    @property
    def cost(self) -> Exponential:
        """ε-bounded range."""
        return Exponential(self.epsilon)

    @property
    def rate(self) -> Fraction:
        """The exponent of one step of the loss: ε/(2·N̂·m)."""
        return self.epsilon / (2 * self.candidates.size * self.sensitivity.linf)

    def __call__(self, exact: Any, source: Source) -> Ints:
        """How often each cell is in the database."""
        database: Ints = self.many(exact, 1, source)[0]
        return database

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """n independent databases, one a row, which cost n times as much: what an audit looks at."""
        return self.candidates.draw(self.targets(exact), self.rate, n, source)

    def targets(self, exact: Any) -> Ints:
        """N̂ times the count of each query; a count above the public N counts as N."""
        counts = lattice_vector(exact)
        if counts.shape != self.candidates.truths.shape[:1]:
            raise bad_private("counts", "must be one for each query", "Count the queries of the plan.")
        return self.candidates.size * np.clip(counts, 0, self.candidates.rows)
