"""The rules of sensitivity against brute force: every small table, every unit taken out, put in or replaced."""

import itertools
from fractions import Fraction

import pytest

from discreet.query.nodes import Col
from discreet.query.parts import Distinct, Rows, RowSum, Units
from discreet.query.sensitivity import Reach, sensitivity
from discreet.relation import Relation
from discreet.schema import Lattice

CELLS = 3
LATTICES = [
    Lattice(0, 2, Fraction(1)),
    Lattice(-2, 1, Fraction(1)),
    Lattice(1, 2, Fraction(1)),
    Lattice(-3, -1, Fraction(1)),
]
BASES = [(), ((0, 1), (1, 1)), ((0, 0), (1, 2), (2, 2))]  # rows of other units


def contributions(rows, groups, lattice):
    """All multisets of up to `rows` rows (cell, value) in at most `groups` cells, empty values left out."""
    cells = range(CELLS)
    row_kinds = [
        (cell, value)
        for cell in cells
        for value in (lattice.low, 0, 1, lattice.high)
        if lattice.low <= value <= lattice.high
    ]
    for size in range(rows + 1):
        for chosen in itertools.combinations_with_replacement(sorted(set(row_kinds)), size):
            if len({cell for cell, _ in chosen}) <= groups:
                yield chosen


def measured(part, base, own, single):
    """The exact part: a number a cell."""
    everyone = [(None, row) for row in base] + [("u", row) for row in own]
    place = (lambda cell: 0) if single else (lambda cell: cell)
    cells = [
        [(who, value) for who, (cell, value) in everyone if place(cell) == c] for c in range(1 if single else CELLS)
    ]
    match part:
        case Rows():
            return [len(rows) for rows in cells]
        case Units():  # all other rows are units of their own
            return [sum(who is None for who, _ in rows) + any(who == "u" for who, _ in rows) for rows in cells]
        case Distinct():
            return [len({value for _, value in rows}) for rows in cells]
        case RowSum():
            return [sum(value for _, value in rows) for rows in cells]


def norms(change):
    return (
        sum(x != 0 for x in change), sum(map(abs, change)), sum(x * x for x in change), max(map(abs, change), default=0)
    )  # fmt: skip


def changes(part, *, rows, groups, single, relation, lattice):
    owns = list(contributions(rows, CELLS if single else groups, lattice))
    for base in BASES:
        for old, new in itertools.product(owns, owns if relation is Relation.REPLACE_ONE else [()]):
            before, after = measured(part, base, old, single), measured(part, base, new, single)
            yield [a - b for a, b in zip(after, before, strict=True)]


PARTS = [Rows(), Units(), Distinct(Col("x")), *(RowSum(Col("x"), lattice) for lattice in LATTICES)]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("single", [True, False], ids=["single", "cells"])
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_no_neighbour_moves_a_part_further_and_some_move_it_as_far(part, rows, groups, single, relation):
    if relation is Relation.REPLACE_ONE and rows == 3:
        rows = 2  # the world squared is small enough
    reach = Reach(rows, 1 if single else groups, single, relation)
    bound = sensitivity(part, reach)
    lattice = part.lattice if isinstance(part, RowSum) else LATTICES[0]
    worst = [0, 0, 0, 0]
    for change in changes(part, rows=rows, groups=groups, single=single, relation=relation, lattice=lattice):
        worst = [max(pair) for pair in zip(worst, norms(change), strict=True)]
    assert worst[0] <= bound.l0
    assert worst[1] <= bound.l1
    assert worst[2] <= bound.l2_squared
    assert worst[3] <= bound.linf
    assert worst[3] == bound.linf, "the largest change of one cell is reached"


def test_squares_of_a_unit_in_one_group_are_those_of_all_its_rows():
    """l2 is the row cap and not its root: five rows may lie in one group."""
    assert sensitivity(Rows(), Reach(5, 5, False, Relation.ADD_REMOVE)).l2_squared == 25
