"""The exact law of a small database and of its worst error, for counts that are public or invented.

The law follows from the true counts, so it is never computed from private rows: whoever asks for it gives a histogram,
or takes the released database in place of the table.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb

from discreet import amounts, real
from discreet.errors import bad
from discreet.ndarrays import Floats, Ints
from discreet.synth.small.candidates import Candidates

_BITS = 192


@dataclass(frozen=True, eq=False)
class SmallLaw:
    """P[database] ∝ M·e^(−rate·loss), M the number of sequences of rows that the database stands for."""

    candidates: Candidates
    targets: Ints
    rate: Fraction

    @cached_property
    def _classes(self) -> tuple[list[int], list[arb], arb]:
        """The losses that some database has, rising, their weights and the sum of these."""
        losses = self.candidates.losses(self.targets)
        weights = self.candidates.weights(losses)
        pairs = [(loss, weight) for loss, weight in zip(losses.values.tolist(), weights, strict=True) if weight]
        with real.precision(_BITS):
            scaled = [real.exp(-self.rate * (loss - pairs[0][0]))() * real.ball(weight) for loss, weight in pairs]
            return [loss for loss, _ in pairs], scaled, list(accumulate(scaled))[-1]

    @property
    def errors(self) -> Floats:
        """The worst errors that occur, rising."""
        return np.array(self._classes[0]) / (self.candidates.rows * self.candidates.size)

    @cached_property
    def chances(self) -> Floats:
        """The probability of each of these errors."""
        _, weights, total = self._classes
        with real.precision(_BITS):
            return np.array([float(weight / total) for weight in weights])

    @property
    def nearest(self) -> float:
        """The worst error of the best database."""
        return float(self.errors[0])

    @property
    def mean(self) -> float:
        """The expected worst error."""
        return float(self.errors @ self.chances)

    def quantile(self, level: Any = "0.95") -> float:
        """The least error that is not exceeded with that probability."""
        reached = np.cumsum(self.chances) >= float(amounts.inner_probability(level, "level"))
        return float(self.errors[int(np.argmax(reached))]) if reached.any() else float(self.errors[-1])

    def probability(self, database: Any) -> float:
        """The probability of one database, given as counts by cell."""
        counts = counts_by_cell(database, self.candidates, "database")
        if counts.sum() != self.candidates.size:
            fix = f"Give counts that add up to {self.candidates.size}."
            raise bad("database", "must have as many rows as the small databases", int(counts.sum()), fix)
        losses, _, total = self._classes
        own = self.candidates.loss(self.candidates.atom_counts(counts), self.targets)
        ways = self.candidates.sequences(counts)
        with real.precision(_BITS):
            return float(real.exp(-self.rate * (own - losses[0]))() * real.ball(ways) / total)


def law_of(candidates: Candidates, histogram: Any, rate: Fraction) -> SmallLaw:
    """The law for a table with that invented histogram over cells."""
    counts = counts_by_cell(histogram, candidates, "histogram")
    held = candidates.held(candidates.atom_counts(counts))
    return SmallLaw(candidates, candidates.size * np.clip(held, 0, candidates.rows), rate)


def counts_by_cell(given: Any, candidates: Candidates, name: str) -> Ints:
    """Public counts, one for each cell."""
    fix = f"Give {candidates.cells:,} whole numbers, in the order of the cells."
    listed = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(listed, (list, tuple)) or len(listed) != candidates.cells:
        raise bad(name, "must have one count for each cell", given, fix)
    return np.array([amounts.count(number, name) for number in listed], dtype=np.int64)
