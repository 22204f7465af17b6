"""The worked table of the dynamic program on a tree (Fioretto 2024, lecture; Fioretto, Van Hentenryck & Zhu 2021)."""

import numpy as np

from discreet.release.fit import duals, integer
from discreet.release.tree import from_edges
from release.fits import tables

TREE = from_edges([("US", "GA"), ("US", "MI")])
NOISY, WEIGHTS = np.array([[2], [3], [0]]), np.array([1, 1, 1])  # US 2, GA 3, MI 0


def test_cost_tables_are_the_printed_ones() -> None:
    us, ga, mi = tables.cost_tables(TREE, NOISY, WEIGHTS, bound=4)[:, 0].tolist()
    assert ga == [9, 4, 1, 0, 1]
    assert mi == [0, 1, 4, 9, 16]
    assert us == [13, 5, 1, 1, 5]


def test_sums_inside_the_minima_are_the_printed_ones_but_for_a_misprint() -> None:
    us, ga, mi = tables.cost_tables(TREE, NOISY, WEIGHTS, bound=4)[:, 0].tolist()
    sums = [[ga[first] + mi[v - first] for first in range(v + 1)] for v in range(5)]
    assert sums[0] == [9 + 0]
    assert sums[1] == [9 + 1, 4 + 0]
    assert sums[2] == [9 + 4, 4 + 1, 1 + 0]  # printed as 0 + 4; 4 + 1; 1 + 0
    assert sorted(sums[3]) == sorted([0 + 0, 1 + 1, 4 + 4, 9 + 9])
    assert sums[4][4:1:-1] == [1 + 0, 0 + 1, 1 + 4]
    assert us == [(v - 2) ** 2 + min(sums[v]) for v in range(5)]


def test_both_optima_cost_1_and_the_choice_is_the_smaller() -> None:
    assert tables.cost(NOISY, WEIGHTS, [[2], [2], [0]]) == tables.cost(NOISY, WEIGHTS, [[3], [3], [0]]) == 1
    for _ in range(3):
        for fit in (tables.fitted(TREE, NOISY, WEIGHTS, bound=4), tables.merged(TREE, NOISY, WEIGHTS, bound=4)):
            assert fit.tolist() == [[2], [2], [0]]
        assert integer.fit(TREE, NOISY, WEIGHTS).tolist() == [[2], [2], [0]]
    assert integer.fit(TREE, NOISY, WEIGHTS, total=3).tolist() == [[3], [3], [0]]


def test_the_real_optimum_lies_between_the_two() -> None:
    assert duals.projection(TREE, NOISY, WEIGHTS).tolist() == [[2.5], [2.5], [0]]
