"""The parts of a question: the few shapes of exact integers that an engine hands to a mechanism.

A part is one vector of integers, a number per group.  Every aggregate is a function of noisy parts, so that a count
that two aggregates need is measured, and paid for, once.
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet.query.nodes import Expr
from discreet.schema import Lattice


@dataclass(frozen=True)
class Rows:
    """Rows per group, of those whose `of` are all not empty."""

    of: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Units:
    """Privacy units per group."""


@dataclass(frozen=True)
class Distinct:
    """Different values of the item per group."""

    item: Expr


@dataclass(frozen=True)
class RowSum:
    """Σ over rows of `item`, each rounded to steps of the lattice and clamped to its ends; an empty one adds 0.

    `item` may be an expression such as (x − c)·(y − d); rows where it is NULL add 0.
    """

    item: Expr
    lattice: Lattice


@dataclass(frozen=True)
class Grid:
    """The public values first, first + step … that a quantile is chosen from."""

    first: Fraction
    step: Fraction
    points: int


@dataclass(frozen=True)
class Ranks:
    """Rows per group and grid point (nearest, clamped to the grid's ends), by which a quantile is chosen."""

    item: Expr
    grid: Grid
    q: Fraction


@dataclass(frozen=True)
class Tops:
    """Rows per group and public value, by which the most frequent is chosen."""

    item: Expr
    values: tuple[str | int | bool, ...]
    k: int


@dataclass(frozen=True)
class Present:
    """Privacy units per group that has any row, by which private keys are selected."""


@dataclass(frozen=True)
class Sizes:
    """Groups per cell and size − 1: a group is all rows of a cell with one value of the column `group`, or of one unit
    where it is None; what is larger counts as `largest`."""

    group: str | None
    largest: int


Additive = Rows | Units | Distinct | RowSum
Chosen = Ranks | Tops
Part = Additive | Chosen | Present | Sizes
