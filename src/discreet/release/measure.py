"""Measure a table over a tree: which numbers are measured, how far one unit moves them, and their noise.

    counts        n_{r,c}   units (or rows) in place r and cell c; a unit is in at most m of the lowest
    group sizes   n_{r,s}   groups of size s in place r
    from the top  g_{r,s}   groups of size s or more, s = 1 … N;  n_s = g_s − g_{s+1}

One unit with at most m rows moves the numbers of any one level by a vector d with

                          add-remove                          replace-one
    counts, from the top  l0 m   l1 m   l2² m²   linf m       l0 2m  l1 2m  l2² 2m²  linf m
    sizes, persons        l0 2m  l1 2m  l2² 2m²  linf m       l0 4m  l1 4m  l2² 8m²  linf 2m

One person more turns a group of size s into one of size s + 1: two numbers n change, but of g only g_{s+1}.  So counts
from the top move half as much, need no public number of groups, and the first person of a group is no special case.
Proof page: docs/proofs/release/measure.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

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
from discreet.release.tree import Tree, tree_sums


class Form(StrEnum):
    """How a place's cells are measured: each by itself, or groups of at least each size."""

    PLAIN = "plain"
    FROM_TOP = "from the top"


def count_sensitivity(limit: int, relation: Relation) -> Sensitivity:
    """Of a unit that adds at most `limit` ones to the cells of a level; replacing it also removes as many elsewhere."""
    m = Fraction(limit)
    if relation is Relation.ADD_REMOVE:
        return Sensitivity(m, m, m * m, m, relation)
    return Sensitivity(2 * m, 2 * m, 2 * m * m, m, relation)


def size_sensitivity(rows: int, relation: Relation) -> Sensitivity:
    """Of a person with so many rows; each row moves one group from one size to another."""
    m = Fraction(rows if relation is Relation.ADD_REMOVE else 2 * rows)
    return Sensitivity(2 * m, 2 * m, 2 * m * m, m, relation)


@dataclass(frozen=True, eq=False)
class Marginal:
    """A coarser view of a place's cells: `index` says to which of its `size` numbers each cell is added."""

    names: tuple[str, ...]  # the attributes that it keeps
    index: Ints
    size: int

    def of(self, table: Ints) -> Ints:
        """The view of every row of a table."""
        if self.size == len(self.index):
            return table
        view = np.zeros((table.shape[0], self.size), dtype=np.int64)
        np.add.at(view.T, self.index, table.T)
        return view


def all_cells(names: Sequence[str], cells: int) -> Marginal:
    """The view that keeps every cell."""
    return Marginal(tuple(names), np.arange(cells, dtype=np.int64), cells)


def marginal(attributes: Sequence[str], names: Sequence[str], sizes: Sequence[int]) -> Marginal:
    """The view that keeps some of the attributes; cells lie row-major over all attributes.

    >>> marginal(["sex"], ["age", "sex"], [3, 2]).index.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    indices = np.indices(tuple(sizes)).reshape(len(sizes), -1)
    index = np.zeros(indices.shape[1], dtype=np.int64)
    for axis, name in enumerate(names):
        if name in attributes:
            index = index * sizes[axis] + indices[axis]
    return Marginal(tuple(name for name in names if name in attributes), index, int(index.max()) + 1)


def columns(marginals: Sequence[Marginal]) -> tuple[slice, ...]:
    """The columns of each marginal in a row of measured numbers."""
    ends = np.cumsum([0, *(marginal.size for marginal in marginals)]).tolist()
    return tuple(slice(*pair) for pair in pairwise(ends))


@dataclass(frozen=True, eq=False)
class Measurement:
    """One mechanism for a whole table: it takes the leaves' table and returns noisy views of all places.

    Every level has one mechanism for each marginal.  All run on the same units, so their costs add up.
    `leaf_sensitivity` is how far one unit may move the leaves' table.
    """

    tree: Tree
    form: Form
    marginals: tuple[Marginal, ...]
    leaf_sensitivity: Sensitivity
    mechanisms: tuple[tuple[Additive, ...], ...]  # by level, then by marginal

    @property
    def sensitivity(self) -> SideBySide:
        """The sensitivity that the noise of each marginal of each level covers."""
        return SideBySide(
            {
                (tree_level, marginal): mechanism.sensitivity
                for tree_level, mechanisms in enumerate(self.mechanisms)
                for marginal, mechanism in enumerate(mechanisms)
            }
        )

    @property
    def cost(self) -> Cost:
        """The cost of all levels and marginals together."""
        return Together(tuple(mechanism.cost for level in self.mechanisms for mechanism in level))

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each marginal in a row of measured numbers."""
        return columns(self.marginals)

    def __call__(self, exact: Any, source: Source) -> Ints:
        """Noisy numbers: a row for each place, the marginals side by side."""
        leaves = lattice_vector(exact)
        if leaves.ndim != 2 or leaves.shape != (len(self.tree.leaves), len(self.marginals[0].index)):
            raise bad("exact", "must have a row for each leaf and a column for each cell", leaves.shape, "Plan anew.")
        table = tree_sums(self.tree, from_top(leaves) if self.form is Form.FROM_TOP else leaves)
        noisy = np.empty((len(self.tree), self.columns[-1].stop), dtype=np.int64)
        for tree_level, mechanisms in enumerate(self.mechanisms):
            here = self.tree.places(tree_level)
            for mechanism, marginal, columns in zip(mechanisms, self.marginals, self.columns, strict=True):
                noisy[here, columns] = mechanism(marginal.of(table[here]), source)
        return noisy


def from_top(sizes: Ints) -> Ints:
    """g from n: in each row the sum of a cell and all after it."""
    return np.ascontiguousarray(np.cumsum(sizes[:, ::-1], axis=1)[:, ::-1])


@dataclass(frozen=True)
class Design:
    """What is measured, and how far one unit moves the leaves and any one marginal of any one level.

    A level is a sum of leaves: measured plainly it moves as far as they do, from the top half as far.
    """

    tree: Tree
    form: Form
    marginals: tuple[Marginal, ...]
    leaf_sensitivity: Sensitivity
    level_sensitivity: Sensitivity

    @property
    def sensitivity(self) -> SideBySide:
        """The sensitivity of each marginal of each level; the gate compares the noise with it."""
        slots = product(range(self.tree.depth), range(len(self.marginals)))
        return SideBySide(dict.fromkeys(slots, self.level_sensitivity))

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", Form(self.form))
        covered = self.level_sensitivity if self.form is Form.PLAIN else _twice(self.level_sensitivity)
        if not covered.covers(self.leaf_sensitivity):
            what, fix = "must cover what a unit can do to the leaves", "Derive both from one unit."
            raise bad("level_sensitivity", what, self.level_sensitivity, fix)

    def measured_by(self, mechanisms: Sequence[Sequence[Additive]]) -> Measurement:
        """The measurement of this design by mechanisms for each level and marginal."""
        every = tuple(map(tuple, mechanisms))
        return Measurement(self.tree, self.form, self.marginals, self.leaf_sensitivity, every)


def _twice(level: Sensitivity) -> Sensitivity:
    """How far n moves where g moves this far: each g counts in two n."""
    squared = 2 * level.l2_squared if level.relation is Relation.ADD_REMOVE else 4 * level.l2_squared
    far = level.linf if level.relation is Relation.ADD_REMOVE else 2 * level.linf
    return Sensitivity(2 * level.l0, 2 * level.l1, squared, far, level.relation)


Shares = Sequence[Sequence[Fraction]]  # of the whole price, by level and marginal; they add up to 1


def laplace(design: Design, epsilon: Fraction, shares: Shares) -> Measurement:
    """Two-sided geometric noise of scale l1/(share·ε): ε-DP, for the shares add up to 1."""
    level = design.level_sensitivity
    return design.measured_by([[additive.laplace(level, epsilon * share) for share in each] for each in shares])


def gaussian(design: Design, epsilon: Any, delta: Any, shares: Shares) -> Measurement:
    """Rounded Gaussian noise with σ·l2/√share: one Gaussian mechanism of σ on all levels and marginals side by side."""
    sigma = calibrate.gaussian_sigma(epsilon, delta)
    level = design.level_sensitivity
    return design.measured_by([[additive.gaussian_share(level, sigma, share) for share in each] for each in shares])


# --- shares ----------------------------------------------------------------------------------------------------------


def shares(tree: Tree, power: Fraction | float = 0, locked: dict[str, Fraction] | None = None) -> tuple[Fraction, ...]:
    """The share of each level: as locked, or else ∝ (places of the level)^power; the shares add up to 1.

    The sum of all variances is least for power 1/3 under Laplace noise and 1/2 under Gaussian noise; 0 shares evenly.

    >>> from discreet.release.tree import from_edges
    >>> shares(from_edges([("US", "GA"), ("US", "MI")]), locked={"level 1": Fraction(1, 4)})
    (Fraction(1, 4), Fraction(3, 4))
    """
    locked_shares = dict(locked or {})
    unknown = [name for name in locked_shares if name not in tree.levels]
    if unknown:
        raise bad("share", f"must name one of the levels {', '.join(tree.levels)}", unknown[0], "Name a level.")
    locked_sum = sum(locked_shares.values(), Fraction(0))
    open_levels = [level for level, name in enumerate(tree.levels) if name not in locked_shares]
    if any(share <= 0 for share in locked_shares.values()) or locked_sum > 1 or (locked_sum == 1) != (not open_levels):
        what = "must each be above 0 and leave something for every level that is not named"
        raise bad(
            "share", what, str(locked_sum), f"Let the shares add up to {'1' if not open_levels else 'less than 1'}."
        )
    sizes = np.diff(tree.first)
    roots = {level: _short(float(sizes[level]) ** float(power)) for level in open_levels}
    root_sum = sum(roots.values(), Fraction(0))
    return tuple(
        locked_shares[name] if name in locked_shares else (1 - locked_sum) * roots[level] / root_sum
        for level, name in enumerate(tree.levels)
    )


def _short(value: float) -> Fraction:
    """A nearby fraction with a small denominator; any will do, as the shares are divided by their sum."""
    return max(Fraction(value).limit_denominator(100), Fraction(1, 100))
