"""How many rows a small database has, and how far its answers can be from the table's.

    lecture   N̂ = ⌈log₂K/α²⌉          tight   N̂ = ⌈ln(2K)/(2α²)⌉          K queries, each to be answered within α

With either, some database of N̂ rows is within α of a table of exactly N rows, for all K queries.  The chosen one is,
but for a probability of β, within

    lecture   α + (2m/(εN))·(N̂·ln|X| − ln β)
    ours      A + (2m/(εN))·(N̂·ln(|X|/g) − ln β),     A = min(√(ln(2K′)/(2N̂)), ⌊s²/4⌋/(s·N̂)),   s = min(S, K′ + 1)

|X| cells; S atoms, which are the sets of cells that no query tells apart, and g the cells of the smallest; K′ queries
that differ on them; m rows of one unit at most.  Proof page: docs/proofs/synth/small.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts, real
from discreet.errors import bad
from discreet.ndarrays import Bools
from discreet.real import ball

LECTURE, TIGHT = "lecture", "tight"
LARGEST = 2**12  # rows: an N̂ beyond has no bound of any use
_FIX = 'Give size="tight", size="lecture" or a whole number of rows.'


@dataclass(frozen=True)
class Size:
    """The number of rows N̂, and the α that some database of so many rows reaches for K queries."""

    rows: int
    alpha: Fraction


def size_of(size: Any, alpha: Any, queries: int) -> Size:
    """The size by its name and α, or as a whole number, for which α follows.

    >>> size_of("lecture", "0.3", 8).rows, size_of("tight", "0.3", 8).rows
    (34, 16)
    """
    if isinstance(size, str):
        if size not in (LECTURE, TIGHT):
            raise bad("size", "must be lecture, tight or a whole number", size, _FIX)
        if alpha is None:
            raise bad("alpha", f'must be given with size="{size}"', alpha, 'Give, for example, alpha="0.3".')
        rows = (lecture_size if size == LECTURE else tight_size)(queries, alpha)
        if rows > LARGEST:
            fix = f"Give a larger alpha: {rows:,} rows would be needed."
            raise bad("alpha", f"must be so large that a database of at most {LARGEST:,} rows will do", alpha, fix)
        return Size(rows, amounts.inner_probability(alpha, "alpha"))
    if alpha is not None:
        raise bad("alpha", "must be left out with a whole number of rows", alpha, "It follows from the size.")
    rows = amounts.count(size, "size", 1, LARGEST)
    return Size(rows, real.upper(lambda: (ball(2 * queries).log() / (2 * rows)).sqrt()))


def lecture_size(queries: int, alpha: Any) -> int:
    """⌈log₂K/α²⌉, for K ≥ 2."""
    square = amounts.inner_probability(alpha, "alpha") ** 2
    if queries < 2:
        fix = 'Give size="tight", or a whole number of rows.'
        raise bad("size", "must be tight or a number for a single query, since log₂ 1 is 0", LECTURE, fix)
    power = queries.bit_length() - 1
    if queries == 2**power:
        return math.ceil(power / square)
    return real.floor(lambda: ball(queries).log() / ball(2).log() / ball(square)) + 1  # irrational: above its floor


def tight_size(queries: int, alpha: Any) -> int:
    """⌈ln(2K)/(2α²)⌉: by Hoeffding's inequality for K averages at once."""
    square = amounts.inner_probability(alpha, "alpha") ** 2
    return real.floor(lambda: ball(2 * queries).log() / ball(2 * square)) + 1


@dataclass(frozen=True)
class Setting:
    """What both bounds depend on: public numbers alone.

    `told_apart` is K′, `cells` |X|, `atoms` S, `least_cells` g, `rows` N, `unit_rows` m, `missed` β.
    """

    size: Size
    told_apart: int
    cells: int
    atoms: int
    least_cells: int
    rows: int
    unit_rows: int
    epsilon: Fraction
    missed: Fraction

    @property
    def lecture_bound(self) -> float:
        """The lecture's bound, rounded up."""
        return amounts.float_up(real.upper(lambda: ball(self.size.alpha) + self._excess(Fraction(self.cells))))

    @property
    def bound(self) -> float:
        """Our bound, rounded up: never above the lecture's."""
        ratio = Fraction(self.cells, self.least_cells)
        return amounts.float_up(real.upper(lambda: ball(self.nearest) + self._excess(ratio)))

    @property
    def nearest(self) -> Fraction:
        """A: some database of that size is so near to any table of N rows; rounded up."""
        if self.told_apart == 0:
            return Fraction(0)
        support = min(self.atoms, self.told_apart + 1)
        rounded = Fraction(support * support // 4, support * self.size.rows)
        drawn = real.upper(lambda: (ball(2 * self.told_apart).log() / (2 * self.size.rows)).sqrt())
        return min(rounded, drawn)

    def _excess(self, ratio: Fraction) -> Any:
        """(2m/(εN))·(N̂·ln ratio − ln β)."""
        factor = 2 * self.unit_rows / (self.epsilon * self.rows)
        return ball(factor) * (self.size.rows * ball(ratio).log() - ball(self.missed).log())


def told_apart(truths: Bools) -> int:
    """K′: how many of the queries differ where some cell satisfies one and not the other, counting φ and NOT φ once.

    >>> told_apart(np.array([[True, False], [False, True], [True, True]]))
    1
    """
    turned = truths ^ truths[:, :1]
    return int(np.unique(turned[turned.any(axis=1)], axis=0).shape[0])
