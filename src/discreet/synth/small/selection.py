"""The selection of a small database from public facts: its candidates, its bounds, its mechanism and its exact law.

It needs no table, so it serves lessons on invented counts as well as plans for a real table.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity, cells
from discreet.errors import NotAnswerable
from discreet.ndarrays import Bools, Ints
from discreet.relation import Relation
from discreet.synth.small.candidates import Candidates
from discreet.synth.small.choice import SmallDatabaseChoice
from discreet.synth.small.law import SmallLaw, law_of
from discreet.synth.small.multisets import number_of_multisets
from discreet.synth.small.size import LARGEST, LECTURE, Setting, size_of, told_apart

MOST_MULTISETS = 10**7
_MOST_BITS = 2048  # of the number of sequences
_MOST_WORK = 2 * 10**10  # numbers that are looked at: some twenty seconds
_MOST_ROWS = 2**40
_PRIME_BITS = 31


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates, bounds and price of one small database."""

    candidates: Candidates
    setting: Setting
    relation: Relation

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the counts of the queries: each by m at most, under either relation."""
        return cells(self.candidates.truths.shape[0], self.setting.unit_rows, self.relation)

    @property
    def mechanism(self) -> SmallDatabaseChoice:
        """The mechanism that is charged."""
        return SmallDatabaseChoice(self.sensitivity, self.setting.epsilon, self.candidates)

    @property
    def databases(self) -> int:
        """How many databases there are: multisets of N̂ rows over all cells."""
        return number_of_multisets(self.candidates.size, self.candidates.cells)

    @property
    def sequences(self) -> int:
        """How many lists of N̂ rows there are, |X|^N̂: the candidates of the lecture."""
        return self.candidates.multiplicity.total

    @cached_property
    def lecture_bound(self) -> float:
        """The lecture's bound on the worst error over all queries."""
        return self.setting.lecture_bound

    @cached_property
    def bound(self) -> float:
        """Our bound on it, which is never above the lecture's."""
        return self.setting.bound

    def law(self, histogram: Any) -> SmallLaw:
        """The exact law for an invented table: counts by cell that are public."""
        return law_of(self.candidates, histogram, self.mechanism.rate)

    def counts(self, histogram: Ints) -> Ints:
        """How many rows of a table satisfy each of the different queries, from its counts by cell."""
        return self.candidates.held(self.candidates.atom_counts(histogram))


def selection_of(
    truths: Bools,
    *,
    epsilon: Any,
    public_rows: Any,
    size: Any,
    alpha: Any = None,
    level: Any = "0.95",
    unit_rows: int = 1,
    relation: Relation = Relation.REPLACE_ONE,
) -> Selection:
    """The selection for queries that hold in the cells that `truths` says (queries × cells); refused if too large.

    >>> binary = np.array([[False, False, True, True], [False, True, False, True]])
    >>> selection_of(binary, epsilon=1, public_rows=1000, size=34).candidates.number
    7770
    """
    rows = amounts.count(public_rows, "public_rows", 1, _MOST_ROWS)
    chosen_size = size_of(size, alpha, truths.shape[0])
    different = np.unique(truths, axis=0)
    by_atom, atom_of = np.unique(different.T, axis=0, return_inverse=True)
    candidates = Candidates(chosen_size.rows, rows, atom_of.reshape(-1), np.ascontiguousarray(by_atom.T))
    setting = Setting(
        chosen_size,
        told_apart(candidates.truths),
        candidates.cells,
        candidates.atoms,
        min(candidates.multiplicity.each),
        rows,
        unit_rows,
        amounts.epsilon(epsilon),
        1 - amounts.inner_probability(level, "level"),
    )
    if not _is_enumerable(candidates.size, candidates):
        raise _too_many(candidates, size, truths.shape[0])
    return Selection(candidates, setting, relation)


def _too_many(candidates: Candidates, size: Any, queries: int) -> NotAnswerable:
    """The refusal of what would take too long: the limits are public, and nothing is charged."""
    number = candidates.number
    counted = f"{number:,}" if number < 10**15 else f"about 10^{math.log10(number):.0f}"
    what = f"There are too many databases of {candidates.size:,} rows: {counted} that the queries tell apart."
    why = (
        f"Each of them is weighed, so that the law is exact; at most {MOST_MULTISETS:,} are, and fewer with many "
        "queries or cells."
    )
    return NotAnswerable(what, why, _smaller(candidates, size, queries))


def _is_enumerable(size: int, candidates: Candidates) -> bool:
    bits = size * math.log2(candidates.cells)
    number = number_of_multisets(size, candidates.atoms)
    primes = 1 + int(bits) // _PRIME_BITS
    work = number * (candidates.truths.shape[0] * candidates.atoms + candidates.atoms * (1 + 8 * primes))
    return bits <= _MOST_BITS and number <= MOST_MULTISETS and work <= _MOST_WORK


def _smaller(candidates: Candidates, size: Any, queries: int) -> str:
    """What would work: the largest size that can be enumerated, or its α, rounded up."""
    low, high = 0, min(candidates.size, LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_enumerable(middle, candidates) else (low, middle)
    others = "ask about fewer columns or in coarser bins, or make a synthetic table with people.synthesize"
    if low == 0:
        return f"{others[0].upper()}{others[1:]}."
    if not isinstance(size, str):
        return f"Give size={low}, {others}."
    square = math.log2(queries) / low if size == LECTURE else math.log(2 * queries) / (2 * low)
    alpha = math.ceil(100 * math.sqrt(square)) / 100
    return f'Give alpha="{alpha:g}", {others}.' if alpha < 1 else f"{others[0].upper()}{others[1:]}."
