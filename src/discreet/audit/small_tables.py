"""Small databases as the audit sees them: counts by cell of an invented table go in, those of a database come out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from discreet import real
from discreet.audit.features import Outputs
from discreet.audit.laws import OutputLaw
from discreet.bounded import Sensitivity
from discreet.bounded import rows as moved_rows
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost
from discreet.real import ball
from discreet.relation import Relation
from discreet.synth.small.candidates import Candidates
from discreet.synth.small.multisets import multisets, number_of_multisets
from discreet.synth.small.selection import Selection


@dataclass(frozen=True, eq=False)
class SmallTables:
    """The choice of a small database for a whole table, with the counts of its queries taken as a room takes them."""

    selection: Selection

    @property
    def cost(self) -> Cost:
        """What is charged."""
        return self.selection.mechanism.cost

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the counts by cell: its rows come, or its rows go and others come."""
        rows = Fraction(self.selection.setting.unit_rows)
        if self.selection.relation is Relation.ADD_REMOVE:
            return moved_rows(int(rows))
        return Sensitivity(2 * rows, 2 * rows, 2 * rows * rows, rows, Relation.REPLACE_ONE)

    def __call__(self, exact: Any, source: Source) -> Outputs:
        """The counts by cell of one database."""
        database: Outputs = self.many(exact, 1, source)[0]
        return database

    def many(self, exact: Any, n: int, source: Source) -> Outputs:
        """Of n independent ones, one a row."""
        return self.selection.mechanism.many(self._counts(exact), n, source)

    def exact_law(self, exact: Any) -> OutputLaw:
        """Every database with its probability."""
        mechanism = self.selection.mechanism
        return law_by_losses(self.selection.candidates, mechanism.targets(self._counts(exact)), mechanism.rate)

    def _counts(self, exact: Any) -> Ints:
        return self.selection.counts(np.asarray(exact, dtype=np.int64))


def databases(size: int, cells: int) -> list[tuple[int, ...]]:
    """All databases of that size as counts by cell.

    >>> databases(1, 2)
    [(0, 1), (1, 0)]
    """
    numbers = np.arange(number_of_multisets(size, cells))
    return list(map(tuple, multisets(numbers, size, cells).T.tolist()))


def law_by_losses(candidates: Candidates, targets: Ints, rate: Fraction) -> OutputLaw:
    """P[database] ∝ M·e^(−rate·loss), database by database."""
    listed = databases(candidates.size, candidates.cells)
    losses = [candidates.loss(candidates.atom_counts(np.array(counts)), targets) for counts in listed]
    least = min(losses)
    weights = [
        candidates.sequences(np.array(counts)) * real.exp(-rate * (loss - least))()
        for counts, loss in zip(listed, losses, strict=True)
    ]
    return law_of_weights(dict(zip(listed, weights, strict=True)))


def law_of_weights(weights: dict[Any, arb]) -> OutputLaw:
    """Weights divided by their sum."""
    total = sum(weights.values(), start=ball(0))
    return {output: weight / total for output, weight in weights.items()}
