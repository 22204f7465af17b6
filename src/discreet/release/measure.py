"""What is measured over a tree and how far one unit can move it: every place of every level gets noise of its own.

    counts        n_{r,c}   units (or rows) in place r and cell c; a unit is in at most m of the lowest
    group sizes   n_{r,s}   groups of size s in place r
    from the top  g_{r,s}   groups of size s or more, s = 1 … N;  n_s = g_s − g_{s+1}

One unit with at most m rows moves the numbers of any one level by a vector d with

                          add-remove                          replace-one
    counts, from the top  l0 m   l1 m   l2² m²   linf m       l0 2m  l1 2m  l2² 2m²  linf m
    sizes, persons        l0 2m  l1 2m  l2² 2m²  linf m       l0 4m  l1 4m  l2² 8m²  linf 2m

A person more in a group of size s takes one group out of s and puts one into s + 1, but adds to g_{s+1} alone: measured
from the top a person moves half as much, no public number of groups is needed, and a first person is no special case.
Proof page: docs/proofs/release/measure.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity, SideBySide
from discreet.errors import bad
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.mechanism.promise import lattice_vector
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy import calibrate
from discreet.privacy.cost import Cost, Together
from discreet.relation import Relation
from discreet.release.tree import Tree, summed


class Form(StrEnum):
    """How a place's cells are measured: each by itself, or groups of at least each size."""

    PLAIN = "plain"
    FROM_TOP = "from the top"


def moved(most: int, relation: Relation) -> Sensitivity:
    """Whoever adds at most `most` ones to the cells of a level; replaced, takes as many from others."""
    m = Fraction(most)
    if relation is Relation.ADD_REMOVE:
        return Sensitivity(m, m, m * m, m, relation)
    return Sensitivity(2 * m, 2 * m, 2 * m * m, m, relation)


def sizes_moved(rows: int, relation: Relation) -> Sensitivity:
    """A person with so many rows, each of which moves one group from one size to another."""
    m = Fraction(rows if relation is Relation.ADD_REMOVE else 2 * rows)
    return Sensitivity(2 * m, 2 * m, 2 * m * m, m, relation)


@dataclass(frozen=True, eq=False)
class Marginal:
    """A coarser view of a place's cells: `place` says which of its `size` numbers each cell is added to."""

    names: tuple[str, ...]  # the attributes that it keeps
    place: Ints
    size: int

    def of(self, table: Ints) -> Ints:
        """The view of every row of a table."""
        if self.size == len(self.place):
            return table
        seen = np.zeros((table.shape[0], self.size), dtype=np.int64)
        np.add.at(seen.T, self.place, table.T)
        return seen


def whole(names: Sequence[str], cells: int) -> Marginal:
    """All cells as they are."""
    return Marginal(tuple(names), np.arange(cells, dtype=np.int64), cells)


def marginal(kept: Sequence[str], names: Sequence[str], sizes: Sequence[int]) -> Marginal:
    """The view that keeps some of the attributes, whose values' cells lie row-major over all of them.

    >>> marginal(["sex"], ["age", "sex"], [3, 2]).place.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    at = np.indices(tuple(sizes)).reshape(len(sizes), -1)
    place = np.zeros(at.shape[1], dtype=np.int64)
    for axis, name in enumerate(names):
        if name in kept:
            place = place * sizes[axis] + at[axis]
    return Marginal(tuple(name for name in names if name in kept), place, int(place.max()) + 1)


def columns(marginals: Sequence[Marginal]) -> tuple[slice, ...]:
    """Where the numbers of each marginal lie, side by side in a row."""
    ends = np.cumsum([0, *(one.size for one in marginals)]).tolist()
    return tuple(slice(*pair) for pair in pairwise(ends))


@dataclass(frozen=True, eq=False)
class Measurement:
    """The promise of a whole table: leaves in, noisy views of all places out.

    Every level has one mechanism for each marginal, and all run on the same units, so that their costs add up.
    `leaf` is how far one unit may move the leaves' table, which is handed in.
    """

    tree: Tree
    form: Form
    marginals: tuple[Marginal, ...]
    leaf: Sensitivity
    mechanisms: tuple[tuple[Additive, ...], ...]  # by level, then by marginal

    @property
    def sensitivity(self) -> SideBySide:
        """What the noise of each marginal of each level is enough for."""
        return SideBySide(
            {
                (level, marginal): mechanism.sensitivity
                for level, mechanisms in enumerate(self.mechanisms)
                for marginal, mechanism in enumerate(mechanisms)
            }
        )

    @property
    def cost(self) -> Cost:
        """Of all levels and marginals together."""
        return Together(tuple(one.cost for level in self.mechanisms for one in level))

    @property
    def columns(self) -> tuple[slice, ...]:
        """Where each marginal's numbers lie in a row of what is measured."""
        return columns(self.marginals)

    def __call__(self, exact: Any, source: Source) -> Ints:
        """A row for each place, the marginals side by side."""
        leaves = lattice_vector(exact)
        if leaves.ndim != 2 or leaves.shape != (len(self.tree.leaves), len(self.marginals[0].place)):
            raise bad("exact", "must have a row for each leaf and a column for each cell", leaves.shape, "Plan anew.")
        table = summed(self.tree, from_top(leaves) if self.form is Form.FROM_TOP else leaves)
        noisy = np.empty((len(self.tree), self.columns[-1].stop), dtype=np.int64)
        for level, mechanisms in enumerate(self.mechanisms):
            here = self.tree.places(level)
            for mechanism, seen, columns in zip(mechanisms, self.marginals, self.columns, strict=True):
                noisy[here, columns] = mechanism(seen.of(table[here]), source)
        return noisy


def from_top(sizes: Ints) -> Ints:
    """g from n: in each row the sum of a cell and all behind it."""
    return np.ascontiguousarray(np.cumsum(sizes[:, ::-1], axis=1)[:, ::-1])


@dataclass(frozen=True)
class Design:
    """What is measured and how far one unit moves the leaves, and any one marginal of any one level.

    A level is a sum of leaves: measured plainly it can move as far as they do, and from the top half as far.
    """

    tree: Tree
    form: Form
    marginals: tuple[Marginal, ...]
    leaf: Sensitivity
    level: Sensitivity

    @property
    def sensitivity(self) -> SideBySide:
        """How far one unit can move each marginal of each level: what the gate compares the noise with."""
        slots = product(range(self.tree.depth), range(len(self.marginals)))
        return SideBySide(dict.fromkeys(slots, self.level))

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", Form(self.form))
        moves = self.level if self.form is Form.PLAIN else _twice(self.level)
        if not moves.covers(self.leaf):
            raise bad("level", "must cover what a unit can do to the leaves", self.level, "Derive both from one unit.")


def _twice(level: Sensitivity) -> Sensitivity:
    """How far sizes move where numbers of groups of at least each size move by this: one of them is two sizes."""
    squared = 2 * level.l2_squared if level.relation is Relation.ADD_REMOVE else 4 * level.l2_squared
    far = level.linf if level.relation is Relation.ADD_REMOVE else 2 * level.linf
    return Sensitivity(2 * level.l0, 2 * level.l1, squared, far, level.relation)


Shares = Sequence[Sequence[Fraction]]  # of the whole price, by level and marginal; they add up to 1


def laplace(design: Design, epsilon: Fraction, shares: Shares) -> Measurement:
    """Two-sided geometric noise of scale l1/(share·ε): ε-DP, for the shares add up to 1."""
    return _measurement(design, [[additive.laplace(design.level, epsilon * one) for one in each] for each in shares])


def gaussian(design: Design, epsilon: Any, delta: Any, shares: Shares) -> Measurement:
    """Rounded Gaussian noise with σ·l2/√share: one Gaussian mechanism of σ on all levels and marginals side by side."""
    sigma = calibrate.gaussian_sigma(epsilon, delta)

    def made(share: Fraction) -> Additive:
        wide = sigma * additive.root_up(design.level.l2_squared / share) * _SLACK
        return additive.gaussian(design.level, Fraction(amounts.rounded_up(wide, 12)))

    return _measurement(design, [[made(share) for share in each] for each in shares])


def _measurement(design: Design, mechanisms: Sequence[Sequence[Additive]]) -> Measurement:
    return Measurement(design.tree, design.form, design.marginals, design.leaf, tuple(map(tuple, mechanisms)))


_SLACK = 1 + Fraction(1, 2**40)  # so that rounded roots still add up to the price


# --- shares ----------------------------------------------------------------------------------------------------------


def shares(tree: Tree, power: Fraction | float = 0, locked: dict[str, Fraction] | None = None) -> tuple[Fraction, ...]:
    """The share of each level, adding up to 1: in proportion to (places of the level)^power, but where it is locked.

    The sum of all variances is least for power 1/3 under Laplace noise and 1/2 under Gaussian noise; 0 shares evenly.

    >>> from discreet.release.tree import from_edges
    >>> shares(from_edges([("US", "GA"), ("US", "MI")]), locked={"level 1": Fraction(1, 4)})
    (Fraction(1, 4), Fraction(3, 4))
    """
    held = dict(locked or {})
    unknown = [name for name in held if name not in tree.levels]
    if unknown:
        raise bad("share", f"must name one of the levels {', '.join(tree.levels)}", unknown[0], "Name a level.")
    taken = sum(held.values(), Fraction(0))
    open_levels = [level for level, name in enumerate(tree.levels) if name not in held]
    if any(share <= 0 for share in held.values()) or taken > 1 or (taken == 1) != (not open_levels):
        what = "must each be above 0 and leave something for every level that is not named"
        raise bad("share", what, str(taken), f"Let the shares add up to {'1' if not open_levels else 'less than 1'}.")
    sizes = np.diff(tree.first)
    roots = {level: _short(float(sizes[level]) ** float(power)) for level in open_levels}
    whole = sum(roots.values(), Fraction(0))
    return tuple(
        held[name] if name in held else (1 - taken) * roots[level] / whole for level, name in enumerate(tree.levels)
    )


def _short(value: float) -> Fraction:
    """A short fraction nearby: which one is public taste, that shares add up to 1 is what counts."""
    return max(Fraction(value).limit_denominator(100), Fraction(1, 100))
