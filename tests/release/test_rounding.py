"""Controlled rounding: every sum kept, every value floor or ceiling, at the least cost of all such tables."""

import itertools

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.check import violations
from discreet.release.fit import rounding
from discreet.release.fit.rounding import _by_flow, _one_cell, bounds_of, rounded
from discreet.release.tree import from_branches, from_edges, tree_sums
from release.fits import hay
from release.test_check import random_case, random_tree


def within(real, whole):
    return bool(np.all((np.floor(real + 1e-6) <= whole) & (whole <= np.ceil(real - 1e-6))))


def kept(tree, real, whole, rows):
    """Whether values everywhere, and first sums in these rows, are floor or ceiling."""
    firsts = np.cumsum(real, axis=1)[rows], np.cumsum(whole, axis=1)[rows]
    return within(real, whole) and within(*firsts)


def cost(real, whole):
    """∑ (|x − real| − |floor − real|) in the whole parts in which it is minimised."""
    bounds = bounds_of(real)
    return int(np.sum(bounds.cost * (whole - bounds.floor)))


def every_rounding(tree, real, rows):
    """All tables made of leaves up or down that keep values everywhere and first sums in these rows."""
    leaves = real[tree.leaves]
    choices = [sorted({np.floor(value), np.ceil(value)}) for value in leaves.ravel()]
    for some in itertools.product(*choices):
        whole = tree_sums(tree, np.array(some).reshape(leaves.shape)).astype(np.int64)
        if kept(tree, real, whole, rows):
            yield whole


def ends(tree):
    return [0, *tree.leaves]


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_small_tables_are_rounded_at_the_least_cost_of_all(cells):
    for seed in range(60):
        chance = np.random.default_rng(seed)
        tree = random_tree(seed, int(chance.integers(2, 7)))
        fine = (2, 4, 1024)[seed % 3]
        leaves = chance.integers(-2 * fine, 3 * fine, (len(tree.leaves), cells)) / fine
        leaves.ravel()[9:] = np.round(leaves.ravel()[9:])  # at most 2⁹ tables to try
        real = tree_sums(tree, leaves)
        whole = rounded(tree, real)
        every = list(every_rounding(tree, real, ends(tree)))
        assert any((whole == other).all() for other in every), seed
        assert cost(real, whole) == min(cost(real, other) for other in every), seed


def test_one_cell_without_a_flow_costs_what_the_flow_costs():
    for seed in range(150):
        chance = np.random.default_rng(seed)
        tree = random_tree(seed, int(chance.integers(2, 80)))
        leaves = chance.integers(0, 40, (len(tree.leaves), 1)) / (8 if seed % 2 else 7.3)
        real = tree_sums(tree, leaves)
        bounds = bounds_of(real)
        tables = [bounds.floor + raised for raised in (_one_cell(tree, bounds), _by_flow(tree, real, bounds))]
        assert all(violations(tree, table).count == 0 and within(real, table) for table in tables)
        assert cost(real, tables[0]) == cost(real, tables[1]), seed


def real_case(seed):
    """A real table that adds up: impossible cells are 0; in some the totals of the leaves, or of the top, are whole."""
    case, chance = random_case(seed), np.random.default_rng(seed)
    leaves = chance.gamma(0.5, 3, (len(case.tree.leaves), case.noisy.shape[1]))
    leaves = leaves if case.allowed is None else np.where(case.allowed, leaves, 0.0)
    sums = leaves.sum(axis=1, keepdims=True)
    if seed % 4 == 1:
        leaves = leaves * np.ceil(sums) / np.where(sums > 0, sums, 1)
    if seed % 4 == 2 and sums.sum() > 0:
        leaves = leaves * np.ceil(sums.sum()) / sums.sum()
    return case, tree_sums(case.tree, leaves)


def test_300_random_tables_break_no_rule():
    for seed in range(300):
        case, real = real_case(seed)
        whole = rounded(case.tree, real, allowed=case.allowed)
        known = {}
        if seed % 4 == 1:
            known["leaf_totals"] = np.round(real[case.tree.leaves].sum(axis=1)).astype(np.int64)
        if seed % 4 in (1, 2):
            known["total"] = round(real[0].sum())
        assert whole.dtype == np.int64
        assert violations(case.tree, whole, allowed=case.allowed, **known).count == 0, seed
        assert kept(case.tree, real, whole, ends(case.tree)), seed


def test_whole_tables_and_rounded_ones_stay_as_they_are():
    for seed in range(100):
        case, real = real_case(seed)
        assert (rounded(case.tree, case.exact.astype(float)) == case.exact).all()
        once = rounded(case.tree, real)
        assert (rounded(case.tree, once + 1e-9) == once).all()


def test_least_squares_tables_with_negative_values_are_rounded_too():
    for seed in range(0, 40, 2):
        case = random_case(seed)
        real = hay.estimates(case.tree, case.noisy, case.weights, scale=case.scale).values
        whole = rounded(case.tree, real)
        assert violations(case.tree, whole).sums == 0
        assert kept(case.tree, real, whole, ends(case.tree))


@pytest.mark.parametrize(
    ("children", "parent"),
    [([[0.25, 0, 0.75], [0, 0.5, 0]], [1, 0, 1]), ([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]], [1, 0, 1, 0])],
)
def test_a_parent_rounded_alone_can_leave_its_children_no_rounding(children, parent):
    """Why the flow runs over the whole tree: a good rounding of the parent, and none of its children sums to it."""
    tree = from_edges([("x", "a"), ("x", "b")])
    real = tree_sums(tree, np.array(children))
    assert kept(tree, real[:1], np.array([parent]), [0])
    every = list(every_rounding(tree, real, ends(tree)))
    assert every
    assert all(whole[0].tolist() != parent for whole in every)
    assert rounded(tree, real)[0].tolist() in [whole[0].tolist() for whole in every]


def test_first_sums_of_all_places_cannot_always_be_kept():
    """Why places between the top and the leaves keep their values but not their first sums."""
    tree = from_branches("abc", [("t", p, p + q) for p in "01" for q in "01"])
    real = tree_sums(tree, np.array([[0.5, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0, 0, 0]]))
    assert not list(every_rounding(tree, real, list(range(7))))
    assert list(every_rounding(tree, real, ends(tree)))
    assert kept(tree, real, rounded(tree, real), ends(tree))


def test_one_place_alone_keeps_its_first_sums():
    tree = from_branches(["a"], [("t",)])
    real = np.array([[0.6, 0.6, 0.6, 0.2]])
    assert kept(tree, real, rounded(tree, real), [0])
    assert rounded(tree, np.array([[2.5 + 1e-3]])).tolist() == [[3]]


TREE = from_edges([("x", "a"), ("x", "b")])
GOOD = np.array([[1.0, 2.5], [0.5, 1.0], [0.5, 1.5]])
CLOSED = np.array([[True, True], [False, True]])


@pytest.mark.parametrize(
    ("table", "allowed", "rule"),
    [
        (GOOD[:2], None, "each of the 3 places"),
        (GOOD.astype(int), None, "float64"),
        (GOOD + np.array([[1e-5], [0], [0]]), None, "sums that hold"),
        (GOOD * np.nan, None, "finite"),
        (GOOD * 2.0**40, None, "finite"),
        (GOOD, CLOSED, "0 where not allowed"),
    ],
)
def test_what_cannot_be_rounded_is_refused(table, allowed, rule):
    with pytest.raises(BadValue, match=rule):
        rounded(TREE, table, allowed=allowed)


@pytest.mark.parametrize("cells", [1, 2])
def test_small_gaps_are_closed_and_gaps_that_add_up_to_one_refused(cells, monkeypatch):
    tree = from_edges([("x", str(child)) for child in range(4)])
    near_one = tree_sums(tree, np.full((4, cells), 1 - 0.9e-6))
    assert rounded(tree, near_one).tolist() == [[4] * cells] + [[1] * cells] * 4
    monkeypatch.setattr(rounding, "NEAR", 0.3)
    with pytest.raises(BadValue, match="add up"):
        rounded(tree, tree_sums(tree, np.full((4, cells), 0.3 - 1e-9)))
