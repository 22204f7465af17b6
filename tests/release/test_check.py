"""Checks of a table: every broken rule is counted on its level, and a table that keeps them counts nothing."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release import check
from discreet.release.check import Violations, allowed_places, by_level, violations
from discreet.release.tree import Tree, from_edges, tree_sums


def random_tree(seed, places):
    """Leaves on several levels, chains of one child, wide places."""
    chance = random.Random(seed)
    reach = chance.choice([1, 3, places])
    edges = [(str(max(0, place - 1 - chance.randrange(reach))), str(place)) for place in range(1, places)]
    return from_edges(edges)


@dataclass(frozen=True)
class Case:
    """What a fit is given, and the exact table it is about."""

    tree: Tree
    exact: np.ndarray
    noisy: np.ndarray
    weights: np.ndarray
    scale: int
    total: int | None
    allowed: np.ndarray | None

    @property
    def known(self):
        return {"total": self.total, "allowed": self.allowed}


def random_case(seed):
    """A random tree with exact counts, impossible cells, a public total or none, and noise that is often negative."""
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, int(chance.integers(2, 60)))
    cells, leaves = int(chance.integers(1, 6)), len(tree.leaves)
    allowed = chance.random((leaves, cells)) < 0.6 if seed % 3 == 0 else None
    counts = chance.poisson(chance.gamma(0.4, 6, (leaves, cells)))
    exact = tree_sums(tree, counts if allowed is None else np.where(allowed, counts, 0))
    scale = (1, 1, 7, 1024)[seed % 4]
    noise = np.round(chance.laplace(-3 * (seed % 2), 6, exact.shape) * scale).astype(np.int64)
    weights = 2 ** chance.integers(0, 21, tree.depth)[tree.level]
    total = int(exact[0].sum()) if seed % 2 else None
    return Case(tree, exact, exact * scale + noise, weights, scale, total, allowed)


TREE = from_edges([("x", "a"), ("x", "b"), ("a", "c"), ("a", "d")])
GOOD = np.array([[9, 3], [5, 3], [4, 0], [3, 1], [2, 2]])


def test_a_table_that_adds_up_has_no_violation():
    allowed = np.array([[True, False], [True, True], [True, True]])
    known = {"total": 12, "leaf_totals": np.array([4, 4, 4]), "allowed": allowed}
    for table in (GOOD, GOOD.astype(float)):
        assert by_level(TREE, table, **known) == (Violations(),) * 3
        assert violations(TREE, table, **known).count == 0


@pytest.mark.parametrize(
    ("place", "cell", "value", "expected"),
    [
        (0, 0, 8, [Violations(sums=1, totals=1), Violations(), Violations()]),
        (1, 1, 7, [Violations(sums=1), Violations(sums=1), Violations()]),
        (2, 0, -4, [Violations(sums=1), Violations(signs=1, totals=1), Violations()]),
        (2, 1, 1, [Violations(sums=1), Violations(totals=1, zeros=1), Violations()]),
        (4, 0, 2.5, [Violations(), Violations(sums=1), Violations(fractions=1, totals=1)]),
        (3, 0, np.nan, [Violations(), Violations(sums=1), Violations(fractions=1, totals=1)]),
        (3, 0, np.inf, [Violations(), Violations(sums=1), Violations(fractions=1, totals=1)]),
        (0, 1, -np.inf, [Violations(sums=1, signs=1, fractions=1, totals=1), Violations(), Violations()]),
    ],
)
def test_each_broken_rule_counts_on_its_level(place, cell, value, expected):
    table = GOOD.astype(float)
    table[place, cell] = value
    known = {
        "total": 12,
        "leaf_totals": np.array([4, 4, 4]),
        "allowed": np.array([[True, False], [True, True], [True, True]]),
    }
    assert list(by_level(TREE, table, **known)) == expected
    assert violations(TREE, table, **known).count == sum(violations_of_level.count for violations_of_level in expected)


def test_infinities_on_both_sides_of_a_sum_are_counted():
    table = GOOD.astype(float)
    table[[0, 2], 0] = np.inf
    assert violations(TREE, table).sums == 1


def test_whole_numbers_are_compared_exactly_and_real_ones_nearly():
    large = np.array([[2**55 + 1], [2**55], [0], [2**55], [0]])
    assert violations(TREE, large).sums == 1
    nearly = GOOD + np.array([[1e-9], [0], [0], [0], [0]])
    assert violations(TREE, nearly) == Violations(fractions=2)


@pytest.mark.parametrize("seed", range(30))
def test_counts_are_those_of_a_plain_loop(seed):
    case = random_case(seed)
    tree, table = case.tree, case.noisy
    possible = allowed_places(tree, table.shape[1], case.allowed)
    sums = signs = zeros = 0
    for place in range(len(tree)):
        children = [c for c in range(len(tree)) if tree.parent[c] == place]
        under = [leaf for leaf in range(len(tree.leaves)) if place in ancestors(tree, tree.leaves[leaf])]
        for cell in range(table.shape[1]):
            sums += bool(children) and table[place, cell] != sum(table[c, cell] for c in children)
            signs += table[place, cell] < 0
            if case.allowed is not None:
                assert possible[place, cell] == any(case.allowed[leaf, cell] for leaf in under)
                zeros += table[place, cell] != 0 and not possible[place, cell]
    totals = int(case.total is not None and table[0].sum() != case.total)
    assert violations(tree, table, **case.known) == Violations(sums, signs, 0, totals, zeros)


def ancestors(tree, place):
    while place >= 0:
        yield place
        place = tree.parent[place]


@pytest.mark.parametrize(
    ("table", "known", "rule"),
    [
        (GOOD[:4], {}, "a row for each of the 5 places"),
        (GOOD.astype(np.int32), {}, "int64 or float64"),
        (GOOD * 2**58, {}, "overflow"),
        (GOOD, {"allowed": np.ones((5, 2), dtype=bool)}, "3 leaves and 2 cells"),
        (GOOD, {"allowed": np.ones((3, 2))}, "True or False"),
        (GOOD, {"leaf_totals": np.ones(5)}, "one for each leaf"),
    ],
)
def test_what_does_not_fit_the_tree_is_refused(table, known, rule):
    with pytest.raises(BadValue, match=rule):
        violations(TREE, table, **known)


def test_a_total_needs_a_cell_that_can_hold_it():
    with pytest.raises(BadValue, match="no cell is allowed"):
        check.require_reachable(3, np.zeros(2, dtype=bool))
    check.require_reachable(0, np.zeros(2, dtype=bool))
