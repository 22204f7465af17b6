"""Cost tables and the convex merge: equal to trying every table."""

import itertools

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.tree import from_edges, tree_sums
from release.cases import require_adds_up, small_case
from release.fits import tables

SLIDE = from_edges([("US", "GA"), ("US", "MI")])
BOUND = 4


def every_table(case):
    """All tables that add up and have no value above the bound."""
    tree, noisy, known = case.tree, case.noisy, case.known
    shape = (len(tree.leaves), noisy.shape[1])
    allowed = np.ones(shape, bool) if known["allowed"] is None else known["allowed"]
    for values in itertools.product(*(range(BOUND + 1 if free else 1) for free in allowed.ravel())):
        table = tree_sums(tree, np.array(values, dtype=np.int64).reshape(shape))
        if table.max() <= BOUND and known["total"] in (None, int(table[0].sum())):
            yield table


@pytest.mark.parametrize("seed", range(150))
def test_small_trees_equal_trying_every_table(seed):
    case = small_case(seed, limit=3, cells=2, reach=3)
    if case.known["total"] is not None:
        case.known["total"] = min(case.known["total"], BOUND)
    scale = case.known["scale"]
    fit = tables.fitted(*case.given, **case.known, bound=BOUND)
    require_adds_up(case, fit)
    least = min(tables.cost(case.noisy, case.weights, table, scale=scale) for table in every_table(case))
    assert tables.cost(case.noisy, case.weights, fit, scale=scale) == least
    assert (tables.merged(*case.given, **case.known, bound=BOUND) == fit).all()


@pytest.mark.parametrize("seed", range(150))
def test_the_merge_gives_the_same_table(seed):
    case = small_case(seed)
    bound = 25 if case.known["total"] is None else None
    merged = tables.merged(*case.given, **case.known, bound=bound)
    require_adds_up(case, merged)
    assert (merged == tables.fitted(*case.given, **case.known, bound=bound)).all()


@pytest.mark.parametrize("seed", range(40))
def test_every_cost_table_is_convex(seed):
    case = small_case(seed)
    costs = tables.cost_tables(*case.given, bound=20, scale=case.known["scale"])
    assert (np.diff(costs, 2) > 0).all()


def test_values_that_are_not_allowed_cost_more_than_any_other():
    costs = tables.cost_tables(SLIDE, [[2], [3], [0]], [1, 1, 1], bound=2, allowed=np.array([[False], [True]]))
    assert costs[1, 0].tolist() == [9, tables.NEVER, tables.NEVER]
    assert costs[0, 0].tolist() == [4 + 9, 1 + 9 + 1, 0 + 9 + 4]


def test_cost_counts_in_parts_of_a_unit():
    assert tables.cost([[2048], [1024], [512]], [1, 3, 2], [[2], [1], [1]], scale=1024) == 2 * 512**2
    assert tables.cost([[2**50]], [2**20], [[0]]) == 2**120


@pytest.mark.parametrize("method", [tables.fitted, tables.merged])
@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({}, "bound must be a whole number"),
        ({"bound": -1}, "bound must be a whole number"),
        ({"bound": 2.5}, "bound must be a whole number"),
        ({"bound": 2**24}, "bound must be a whole number"),
        ({"bound": 4, "total": 5}, "bound must be a whole number between 5"),
        ({"bound": 4, "noisy": [[2**40], [3], [0]]}, "costs below 2⁶⁰"),
        ({"total": 3, "allowed": np.zeros((2, 1), bool)}, "total must be 0 where no cell is allowed"),
        ({"bound": 4, "weights": [1, 1, float("nan")]}, "weights must be whole numbers"),
    ],
)
def test_what_has_no_tables_is_refused(method, changed, rule):
    given = {"noisy": [[2], [3], [0]], "weights": [1, 1, 1]} | changed
    with pytest.raises(BadValue, match=rule):
        method(SLIDE, **given)
