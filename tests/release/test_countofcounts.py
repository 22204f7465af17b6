"""Groups matched by size, as in Kuo et al. (2018): the run-length code equals matching group by group."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.tree import tree_sums
from release.fits import countofcounts
from release.fits.countofcounts import Sizes, matched, shared_out
from release.test_cumulative import case


def slow_matched(above, below):
    """Group by group: the k-th smallest of the parent with the k-th smallest of the one child."""
    sizes = np.repeat(np.arange(len(above.counts)), above.counts)
    others = np.repeat(np.arange(len(above.counts)), below.counts[0])
    new = np.zeros_like(below.counts[0])
    for size, other in zip(sizes, others, strict=True):
        a, b = above.precision[size], below.precision[0, other]
        new[int(np.rint(other + a / (a + b) * (size - other)))] += 1
    return new


@pytest.mark.parametrize("seed", range(30))
def test_one_childs_groups_are_matched_in_order(seed):
    chance = np.random.default_rng(seed)
    groups = int(chance.integers(1, 30))
    counts = np.array([np.bincount(chance.integers(0, 6, groups), minlength=6) for _ in range(2)])
    precision = counts * chance.uniform(0.5, 2, (2, 1))
    above, below = Sizes(counts[0], precision[0]), Sizes(counts[1:], precision[1:])
    assert (matched(above, below).counts[0] == slow_matched(above, below)).all()


@pytest.mark.parametrize("seed", range(30))
def test_everything_adds_up_and_every_leaf_keeps_its_groups(seed):
    tree, _, noisy, weights, totals = case(seed, places=2 + seed, noise=seed)
    table = countofcounts.fitted(tree, noisy, weights, totals)
    assert (table == tree_sums(tree, table[tree.leaves])).all()
    assert (table[tree.leaves].sum(axis=1) == totals).all()
    assert table.min() >= 0


def test_without_noise_the_counts_come_back():
    for seed in range(10):
        tree, exact, noisy, weights, totals = case(seed, noise=0)
        assert (countofcounts.fitted(tree, noisy, weights, totals) == exact).all()


@pytest.mark.parametrize("seed", range(30))
def test_shares_are_proportional_and_never_more_than_there_is(seed):
    chance = np.random.default_rng(seed)
    among = chance.integers(0, 9, 6) + np.eye(6, dtype=np.int64)[0]
    for units in range(int(among.sum()) + 1):
        parts = shared_out(units, among)
        assert parts.sum() == units
        assert (parts <= among).all()
        assert np.abs(parts - units * among / among.sum()).max() < 1


def test_averages_lean_to_the_more_precise_side():
    above = Sizes(np.array([0, 0, 0, 0, 2]), np.array([0, 0, 0, 0, 3.0]))
    below = Sizes(np.array([[2, 0, 0, 0, 0]]), np.array([[1.0, 0, 0, 0, 0]]))
    pairs = matched(above, below)
    assert pairs.counts.tolist() == [[0, 0, 0, 2, 0]]
    assert pairs.precision[0, 3] == 4.0


def test_totals_that_do_not_fit_are_refused():
    tree, _, noisy, weights, totals = case(1)
    with pytest.raises(BadValue, match="leaf_totals must"):
        countofcounts.fitted(tree, noisy, weights, totals[:-1])
