"""How far one privacy unit can move each part: one rule per shape, from public caps and bounds alone.

With at most m rows of a unit, in at most g groups, and B the most one row adds to a sum (in steps):

                        add-remove                       replace-one: one cell   over cells
    Rows, Distinct      l0 g  l1 m   l2² m²     linf m          m                2g  2m   2m²               m
    Units               l0 g  l1 g   l2² g      linf 1          1                2g  2g   2g                1
    Sizes of units      l0 g  l1 g   l2² g      linf 1          1                2g  2g   2g                1
    Sizes by a column   l0 2m l1 2m  l2² 2m²    linf m          2m               4m  4m   8m²               2m
    RowSum              l0 g  l1 mB  l2² (mB)²  linf mB         D                2g  2mB  max(D², 2(mB)²)   D

D = max(0, m·high) − min(0, m·low): a unit's rows, old or new, add something between the two.  l2 is m and not √m, for
all rows of a unit may lie in one group.  A row moves a group of a column from one size to another, so two cells.
Counts by which a value is chosen lie in many cells even for one group.
Proof page: docs/proofs/query.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.bounded import Sensitivity
from discreet.query.parts import Distinct, Part, Present, Ranks, Rows, RowSum, Sizes, Tops, Units
from discreet.relation import Relation


@dataclass(frozen=True)
class Reach:
    """Where one unit can be: at most `rows` rows in at most `groups` of the cells; `single`: there is one cell."""

    rows: int
    groups: int
    single: bool
    relation: Relation


def sensitivity(part: Part, reach: Reach) -> Sensitivity:
    """The norms by which adding, removing or replacing one unit can move the part."""
    match part:
        case Rows() | Distinct():
            return _row_norms(reach, Fraction(reach.rows), Fraction(reach.rows))
        case Ranks() | Tops():
            return _row_norms(replace(reach, single=False), Fraction(reach.rows), Fraction(reach.rows))
        case Units() | Present():
            return _unit_norms(reach)
        case Sizes(group=None):
            return _unit_norms(replace(reach, single=False))
        case Sizes():
            rows = Fraction(reach.rows if reach.relation is Relation.ADD_REMOVE else 2 * reach.rows)
            return Sensitivity(2 * rows, 2 * rows, 2 * rows * rows, rows, reach.relation)
        case RowSum():
            low, high = Fraction(reach.rows * part.lattice.low), Fraction(reach.rows * part.lattice.high)
            return _row_norms(reach, max(-low, high, Fraction(0)), max(high, Fraction(0)) - min(low, Fraction(0)))


def rule(part: Part) -> str:
    """The rule in words, for people who check it."""
    match part:
        case Rows():
            return "each row of a unit counts once"
        case Distinct():
            return "each row of a unit can bring one new value"
        case Units() | Present():
            return "a unit counts once in every group it is in"
        case RowSum():
            return "each row of a unit adds at most the larger end of its bounds"
        case Ranks():
            return "each row of a unit moves ranks by one"
        case Tops():
            return "each row of a unit adds one to one value's count"
        case Sizes():
            return "each row of a unit moves one group from one size to another"


def _row_norms(reach: Reach, size: Fraction, width: Fraction) -> Sensitivity:
    """A unit's contribution has l1 norm ≤ size in all, and lies in an interval of that width in each cell."""
    if reach.relation is Relation.ADD_REMOVE:
        return Sensitivity(Fraction(reach.groups), size, size * size, size, reach.relation)
    if reach.single:
        return Sensitivity(Fraction(1), width, width * width, width, reach.relation)
    squared = max(width * width, 2 * size * size)
    return Sensitivity(Fraction(2 * reach.groups), 2 * size, squared, width, reach.relation)


def _unit_norms(reach: Reach) -> Sensitivity:
    replaced = 1 if reach.single else 2 * reach.groups
    cells = Fraction(reach.groups if reach.relation is Relation.ADD_REMOVE else replaced)
    return Sensitivity(cells, cells, cells, Fraction(1), reach.relation)
