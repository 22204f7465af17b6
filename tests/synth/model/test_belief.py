"""Beliefs against the joint distribution, cell by cell: a slow twin."""

import warnings

import numpy as np
import pytest
from hypothesis import given

from discreet.synth.model.belief import Beliefs, marginal
from discreet.synth.model.junction import junction
from discreet.synth.model.possible import possible_cells
from synth.model.brute import joint, marginal_of, spread, trees

CLOSE = 1e-9


def potentials_of(tree, seed, *, width=2.0):
    """A table of logarithms for each clique."""
    chance = np.random.default_rng(seed)
    return [chance.normal(0, width, [tree.sizes[column] for column in clique]) for clique in tree.cliques]


@given(trees())
def test_beliefs_are_the_marginals_of_the_joint_distribution(drawn):
    tree, seed = drawn
    potentials = potentials_of(tree, seed)
    cells, log_sum = joint(tree, potentials)
    beliefs, own_log_sum = Beliefs(tree).of(potentials)
    assert own_log_sum == pytest.approx(log_sum, abs=CLOSE)
    for clique, table in zip(tree.cliques, beliefs, strict=True):
        assert np.allclose(table, marginal_of(cells, clique), atol=CLOSE)


@given(trees())
def test_a_marginal_is_in_the_order_in_which_columns_are_named(drawn):
    tree, seed = drawn
    potentials = potentials_of(tree, seed)
    cells, _ = joint(tree, potentials)
    beliefs, _ = Beliefs(tree).of(potentials)
    for draw in tree.draws:
        columns = (*draw.given, draw.column)
        assert np.allclose(marginal(tree, beliefs, columns), marginal_of(cells, columns), atol=CLOSE)


@given(trees())
def test_beliefs_do_not_change_what_they_are_given(drawn):
    tree, seed = drawn
    potentials = potentials_of(tree, seed)
    before = [table.copy() for table in potentials]
    Beliefs(tree).of(potentials)
    assert all(map(np.array_equal, before, potentials))


@given(trees())
def test_logarithms_that_differ_by_thousands_give_finite_beliefs_that_are_right(drawn):
    """Where numbers would vanish the same is computed by logarithms, as the twin does."""
    tree, seed = drawn
    potentials = potentials_of(tree, seed, width=2000.0)
    cells, log_sum = joint(tree, potentials)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        beliefs, own_log_sum = Beliefs(tree).of(potentials)
    assert own_log_sum == pytest.approx(log_sum, rel=1e-12, abs=1e-6)
    for clique, table in zip(tree.cliques, beliefs, strict=True):
        assert np.allclose(table, marginal_of(cells, clique), atol=1e-8)


def test_cliques_that_contradict_each_other_have_beliefs():
    tree = junction((2, 2, 2), [(0, 1), (1, 2)])
    potentials = [np.zeros((2, 2)), np.zeros((2, 2))]
    own, other = (clique.index(1) for clique in tree.cliques)
    np.moveaxis(potentials[0], own, 0)[0] += 2000
    np.moveaxis(potentials[1], other, 0)[1] += 2000
    beliefs, log_sum = Beliefs(tree).of(potentials)
    assert np.allclose(beliefs[0], 0.25)
    assert log_sum == pytest.approx(2000 + np.log(8))


@given(trees(most_columns=5, most_cells=3))
def test_possible_cells_are_those_that_some_row_can_have(drawn):
    tree, seed = drawn
    chance = np.random.default_rng(seed)
    masks = [(clique, chance.random([tree.sizes[c] for c in clique]) < 0.6) for clique in tree.cliques]
    allowed = np.ones(tree.sizes, dtype=bool)
    for clique, mask in masks:
        allowed = allowed & ~spread(mask, clique, len(tree.sizes))
    for clique, table in zip(tree.cliques, possible_cells(tree, masks), strict=True):
        assert np.array_equal(table, marginal_of(allowed.astype(int), clique) > 0)
