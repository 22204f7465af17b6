"""M_c^dp: each place monotone and within what is public, then differenced, then whole numbers that add up."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.fit import cumulative, integer, isotonic
from discreet.release.tree import tree_sums
from release.test_tree import random_tree


def case(seed, places=14, sizes=5, noise=9):
    """A tree, exact counts, their noisy cumulative counts, weights and the leaves' totals."""
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, places)
    leaves = chance.integers(0, 8, (len(tree.leaves), sizes))
    exact = tree_sums(tree, leaves)
    noisy = exact.cumsum(axis=1) + chance.integers(-noise, noise + 1, exact.shape)
    return tree, exact, noisy, chance.integers(1, 5, len(tree)), leaves.sum(axis=1)


@pytest.mark.parametrize("seed", range(20))
def test_differences_are_those_of_each_places_bounded_fit(seed):
    tree, exact, noisy, _, totals = case(seed)
    total = int(exact[0].sum())
    free = isotonic.monotone(noisy)
    values, scale = cumulative.differences(tree, noisy)
    assert (values == np.diff(np.rint(np.maximum(free, 0) * scale), axis=1, prepend=0)).all()
    values, scale = cumulative.differences(tree, noisy, total=total)
    assert (values[1:] == np.diff(np.rint(np.clip(free[1:], 0, total) * scale), axis=1, prepend=0)).all()
    assert values[0].sum() == total * scale
    values, scale = cumulative.differences(tree, noisy, leaf_totals=totals)
    assert (values.sum(axis=1) == exact.sum(axis=1) * scale).all()
    assert (values >= 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_after_the_integer_step_everything_adds_up(seed):
    tree, exact, noisy, weights, _ = case(seed)
    total = int(exact[0].sum())
    values, scale = cumulative.differences(tree, noisy, total=total)
    table = integer.fit(tree, values, weights, scale=scale, total=total)
    assert (table == tree_sums(tree, table[tree.leaves])).all()
    assert table.min() >= 0
    assert table[0].sum() == total


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_the_counts_come_back(seed):
    tree, exact, noisy, _, totals = case(seed, noise=0)
    for public in ({}, {"total": int(exact[0].sum())}, {"leaf_totals": totals}):
        values, scale = cumulative.differences(tree, noisy, **public)
        assert (values == exact * scale).all()


def test_counts_from_the_top_are_cumulative_in_the_opposite_order():
    tree, exact, _, _, _ = case(1)
    at_least = np.cumsum(exact[:, ::-1], axis=1)[:, ::-1]
    values, scale = cumulative.differences(tree, at_least[:, ::-1])
    assert (values[:, ::-1] == exact * scale).all()


def test_one_person_more_moves_one_cumulative_count_a_level():
    tree, exact, _, _, _ = case(2, sizes=4)
    for leaf in range(len(tree.leaves)):
        for size in range(4):
            leaves = exact[tree.leaves].copy()
            if leaves[leaf, size]:
                leaves[leaf, size] -= 1
                leaves[leaf, min(size + 1, 3)] += 1  # the last size holds all larger ones too
                moved = np.abs(tree_sums(tree, leaves).cumsum(axis=1) - exact.cumsum(axis=1))
                path = len(tree.path(int(tree.leaves[leaf])))
                assert moved.sum() == (path if size < 3 else 0)
                assert moved[:, -1].sum() == 0


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"noisy": np.zeros((3, 4), dtype=np.int64)}, "noisy must have a row for each"),
        ({"noisy": np.zeros((14, 1), dtype=np.int64)}, "two at least"),
        ({"noisy": np.zeros((14, 4))}, "noisy must be whole numbers"),
        ({"noisy": np.full((14, 4), 2**50)}, "noisy must lie between"),
        ({"noisy": np.full((14, 4), -(2**63))}, "noisy must lie between"),
        ({"total": -1}, "total must lie between"),
        ({"leaf_totals": np.array([1])}, "leaf_totals must be"),
        ({"leaf_totals": "negative"}, "leaf_totals must not be negative"),
        ({"total": 3, "leaf_totals": "right"}, "total must be the sum"),
    ],
)
def test_public_facts_that_do_not_fit_are_refused(change, rule):
    tree, _, noisy, _, totals = case(1)
    named = {"negative": -1 - totals, "right": totals}
    given = {"noisy": noisy} | {key: named[value] if isinstance(value, str) else value for key, value in change.items()}
    with pytest.raises(BadValue, match=rule):
        cumulative.differences(tree, given.pop("noisy"), **given)
