"""Kernels that count rows equal their slow twins, and no unit moves them further than they say."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import BadValue
from discreet.kernel.class_moments import squares
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
from discreet.relation import Relation
from discreet.schema import Column
from kernel.twins import TWINS, extremes, invented_for, unit_rows

CELLS = {
    "features": [{"edges": [0, 2, 5, 10]}, {"size": 3}, {"values": [0, 1, 2, 7]}],
    "target": {"size": 2},
    "tests": np.array([[0, 0, 1], [2, 1, 2]]),
    "sides": np.array(
        [
            [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 0]],
            [[0, 1, 0, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0]],
        ],
        dtype=np.uint8,
    ),
    "rows": 3,
}
BARE = {"tests": np.zeros((1, 0), dtype=np.int64), "sides": np.zeros((1, 0, 5), dtype=np.uint8)}
BY_CLASS = {
    "features": [{"low": 0, "high": 10}, {"edges": [0, 2, 10]}, {"low": 0, "high": 10, "scale": "log"}],
    "target": {"size": 2},
}
GROUPED = {
    "features": [{"edges": [0, 1, 5, 10]}, {"rows_of_unit": 3}, {"values": [7, 0, 1, 2]}, {"size": 3}],
    "groups": [np.array(groups) for groups in ([0, 1, 1, 2], [1, 0, 0, 1], [1, 0, 2, 2, 3], [1, 0, 0, 2])],
    "cliques": [np.array(clique) for clique in ([0], [3, 0], [2, 1, 0], [3, 2, 1, 0], [1, 3], [0, 3])],
    "weights": np.array([300, 100, 7000, 100, 1, 2000]),
    "rows": 3,
}
CASES = [
    ("leaves", CELLS, 4),
    ("leaves", CELLS | BARE | {"rows": 1, "target": {"values": [3, 0, 1]}}, 4),
    ("class_moments", BY_CLASS | {"rows": 3}, 4),
    ("class_moments", {"features": [{"size": 4}], "target": {"values": [0, 1]}}, 2),
    ("marginals", GROUPED, 3),
    ("marginals", GROUPED | {"each": "unit"}, 3),
    ("marginals", GROUPED | {"each": "unit", "rows": 1}, 3),
]


def names(columns):
    return [f"x{place}" for place in range(columns)]


def computed(kernel, units, public, columns):
    return kernel_of(kernel)(unit_rows(units, names(columns)), public)


@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_a_kernel_equals_its_slow_twin(kernel, public, columns):
    for seed in range(12):
        units = invented_for(public, seed, 40, wild=[0, 0.02, 0.3][seed % 3])
        total = computed(kernel, units, public, columns)
        assert total.dtype == np.int64
        assert total.tolist() == TWINS[kernel](units, public)


@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_a_unit_adds_the_same_wherever_it_lies(kernel, public, columns):
    """Sums over any chunks are equal, to the last step: what a unit adds depends on nothing beside it."""
    units = invented_for(public, 7, 61)
    whole = computed(kernel, units, public, columns)
    for sizes in ([1] * 61, [60, 1], [1, 60], [7, 8, 9, 16, 17, 4]):
        ends = np.cumsum(sizes)
        parts = [
            computed(kernel, units[end - size : end], public, columns) for size, end in zip(sizes, ends, strict=True)
        ]
        assert (np.sum(parts, axis=0) == whole).all()


def norms(change, relation):
    change = [int(x) for x in change]
    squares = sum(x * x for x in change)
    return Sensitivity(sum(x != 0 for x in change), sum(map(abs, change)), squares, max(map(abs, change)), relation)


def worst(kernel, public, columns, relation, seeds=range(8)):
    """Whether the stated sensitivity covers every pair of neighbours tried, and the largest share of l2² reached."""
    stated = kernel_of(kernel).sensitivity(public, RowLimit(4, relation))
    covered, share = True, Fraction(0)
    for seed in seeds:
        units = invented_for(public, seed, 6, wild=[0, 0.1][seed % 2])
        others = invented_for(public, seed + 1000, 2) + extremes(columns)
        if relation is Relation.ADD_REMOVE:
            neighbours = [(units, [*units[:place], *units[place + 1 :]]) for place in range(6)]
            neighbours += [(units, [other, *units]) for other in others]
        else:
            neighbours = [([*units, left], [*units, two]) for left in others for two in others]
        for first, two in neighbours:
            sums = [computed(kernel, rows, public, columns) for rows in (first, two)]
            moved = norms(sums[0] - sums[1], relation)
            covered = covered and stated.covers(moved)
            share = max(share, moved.l2_squared / stated.l2_squared)
    return covered, share


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_no_unit_moves_a_kernel_further_than_it_says(kernel, public, columns, relation):
    covered, share = worst(kernel, public, columns, relation)
    assert covered
    assert share > (Fraction(9, 10) if relation is Relation.ADD_REMOVE else Fraction(7, 10))


@pytest.mark.parametrize(("kernel", "public", "columns"), [case for case in CASES if case[1].get("rows", 1) == 3])
def test_a_kernel_that_counts_all_rows_of_a_unit_is_caught(monkeypatch, kernel, public, columns):
    by_units = type(kernel_of(kernel)).__call__

    def by_rows(self, chunk, stated):
        return by_units(self, UnitRows(chunk.columns, np.arange(chunk.size), chunk.size), stated)

    monkeypatch.setattr(type(kernel_of(kernel)), "__call__", by_rows)
    assert not any(worst(kernel, public, columns, relation)[0] for relation in Relation)


def test_the_norms_of_counts_by_leaf_and_of_moments_by_class():
    replace = RowLimit(5, Relation.REPLACE_ONE)
    assert kernel_of("leaves").sensitivity(CELLS, RowLimit(5)) == Sensitivity(6, 6, 18, 3)
    assert kernel_of("leaves").sensitivity(CELLS, RowLimit(1)) == Sensitivity(2, 2, 2, 1)
    assert kernel_of("leaves").sensitivity(CELLS, replace) == Sensitivity(12, 12, 36, 3, "replace-one")
    unit = 1024
    assert kernel_of("class_moments").sensitivity(BY_CLASS, RowLimit(5)) == Sensitivity(6, 6 * unit, 6 * unit**2, unit)
    moved = kernel_of("class_moments").sensitivity(BY_CLASS, replace)
    assert moved == Sensitivity(12, 12 * unit, Fraction("12.3") * unit**2, 2 * unit, "replace-one")


def test_the_norms_of_counts_by_clique():
    """The cliques have 3, 9, 24, 72, 6 and 9 counts, of which each row of a unit may add to another."""

    def stated(relation, **changed):
        return kernel_of("marginals").sensitivity(GROUPED | changed, RowLimit(5, relation))

    l1 = 300 + 100 + 7000 + 100 + 1 + 2000
    squares = 300**2 + 100**2 + 7000**2 + 100**2 + 1 + 2000**2
    assert stated(Relation.ADD_REMOVE, rows=1) == Sensitivity(6, l1, squares, 7000)
    assert stated(Relation.ADD_REMOVE) == Sensitivity(18, 3 * l1, 9 * squares, 21000)
    assert stated(Relation.ADD_REMOVE, each="unit") == Sensitivity(18, l1, squares, 7000)
    assert stated(Relation.REPLACE_ONE) == Sensitivity(33, 6 * l1, 18 * squares, 21000, "replace-one")
    assert stated(Relation.REPLACE_ONE, each="unit") == Sensitivity(33, 2 * l1, 2 * squares, 7000, "replace-one")
    assert stated(Relation.ADD_REMOVE, rows=9) == Sensitivity(28, 5 * l1, 25 * squares, 35000)


def test_two_numbers_of_one_class_differ_by_no_more_than_was_derived():
    """Over all pairs of steps; the derived bound is 5.15 squared units."""
    steps = np.arange(-1024.0, 1025.0)
    bent = squares(steps)
    furthest = max(((steps - step) ** 2 + (bent - other) ** 2).max() for step, other in zip(steps, bent, strict=True))
    assert 5.14 * 1024**2 < furthest <= 5.15 * 1024**2
    assert np.abs(bent).max() == 1024


NUMBER = Column("x", "number", bounds=(0, 1))
WIDE = Column("z", "number", bounds=(0, 2))
LISTED = Column("c", "category", values=("a", "b", "c"))
PAIR = Column("p", "category", values=("a", "b"))
WELL = [NUMBER, LISTED, WIDE, PAIR]
REFUSED = [
    ("leaves", CELLS, [NUMBER, LISTED, PAIR], "one for each feature"),
    ("leaves", CELLS, [NUMBER, PAIR, WIDE, PAIR], "3 public values"),
    ("leaves", CELLS | {"rows": 0}, WELL, "rows"),
    ("leaves", CELLS | {"depth": 3}, WELL, "known parameters"),
    ("leaves", CELLS | {"tests": CELLS["tests"] + 1}, WELL, "by number"),
    ("leaves", CELLS | {"sides": CELLS["sides"] * 2}, WELL, "sides 0 or 1"),
    ("leaves", CELLS | {"sides": CELLS["sides"][:1]}, WELL, "shape"),
    ("leaves", CELLS | {"tests": [[0]]}, WELL, "array of whole numbers"),
    ("leaves", CELLS | {"tests": np.zeros((1, 13), dtype=np.int64)}, WELL, "at most 12"),
    ("leaves", CELLS | {"features": [{"low": 0, "high": 1}]}, WELL, "by cells"),
    ("class_moments", BY_CLASS, [NUMBER, PAIR], "one for each feature"),
    ("class_moments", BY_CLASS | {"target": {"low": 0, "high": 1}}, WELL, "must have cells"),
    ("class_moments", BY_CLASS | {"features": [{"size": 2, "table": [0, 1]}]}, WELL, "no tables"),
]


COUNTED = [NUMBER, WIDE, LISTED]


def without(place, key):
    """The parameters without one of a list."""
    return GROUPED | {key: [*GROUPED[key][:place], *GROUPED[key][place + 1 :]]}


def instead(place, key, value):
    """The parameters with another in the place of one of a list."""
    return GROUPED | {key: [*GROUPED[key][:place], value, *GROUPED[key][place + 1 :]]}


REFUSED += [
    ("marginals", GROUPED, [NUMBER, LISTED], "one for each feature"),
    ("marginals", GROUPED, [NUMBER, WIDE, PAIR], "3 public values"),
    ("marginals", GROUPED | {"rows": 0}, COUNTED, "rows"),
    ("marginals", GROUPED | {"weight": 1}, COUNTED, "known parameters"),
    ("marginals", GROUPED | {"each": "table"}, COUNTED, "'row' or 'unit'"),
    ("marginals", GROUPED | {"weights": GROUPED["weights"][1:]}, COUNTED, "one for each clique"),
    ("marginals", GROUPED | {"weights": GROUPED["weights"] - 1}, COUNTED, "1 to 357,913,941 steps"),
    ("marginals", GROUPED | {"weights": GROUPED["weights"] * 2**18}, COUNTED, "1 to 357,913,941 steps"),
    ("marginals", GROUPED | {"weights": GROUPED["weights"] * 1.0}, COUNTED, "whole numbers"),
    ("marginals", GROUPED | {"cliques": []}, COUNTED, "list of 1"),
    ("marginals", instead(0, "cliques", [0]), COUNTED, "arrays of whole numbers"),
    ("marginals", instead(0, "cliques", np.array([True])), COUNTED, "arrays of whole numbers"),
    ("marginals", instead(0, "cliques", np.array([4])), COUNTED, "from 0 to 3"),
    ("marginals", instead(0, "cliques", np.array([-1])), COUNTED, "from 0 to 3"),
    ("marginals", instead(0, "cliques", np.array([2, 2])), COUNTED, "different numbers"),
    ("marginals", instead(0, "cliques", np.zeros(0, dtype=np.int64)), COUNTED, "1 to 4"),
    ("marginals", without(0, "groups"), COUNTED, "list of 4"),
    ("marginals", instead(0, "groups", np.array([0, 1, 2])), COUNTED, "4 whole numbers"),
    ("marginals", instead(0, "groups", np.array([0, 1, 1, 3])), COUNTED, "each of them used"),
    ("marginals", instead(0, "groups", np.array([0, 1, 1, -1])), COUNTED, "each of them used"),
    ("marginals", instead(0, "groups", np.array([0, 1, 1, 2**62])), COUNTED, "each of them used"),
    ("marginals", instead(0, "features", {"low": 0, "high": 1}), COUNTED, "by cells"),
    ("marginals", instead(3, "features", {"size": 3, "table": [0, 1, 2]}), COUNTED, "by cells"),
    ("marginals", instead(1, "features", {"rows_of_unit": 0}), COUNTED, "rows_of_unit"),
    ("marginals", GROUPED | {"features": [{"size": 2}] * 513}, COUNTED, "1 to 512"),
]


@pytest.mark.parametrize(("kernel", "public", "columns", "said"), REFUSED)
def test_parameters_without_meaning_are_refused(kernel, public, columns, said):
    with pytest.raises(BadValue, match=said):
        planned(kernel_of(kernel), public, columns)


def planned(kernel, public, columns):
    """What a view does before the charge."""
    kernel.require(public, columns)
    kernel.sensitivity(public, RowLimit(1))
