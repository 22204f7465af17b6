"""Rows from chances: every count is within one of what is expected, and its mean is that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synth.model.belief import Beliefs
from discreet.synth.model.draw import conditional_draws, draw_column
from discreet.synth.model.dual import Fitted
from synth.model.brute import joint, marginal_of, trees


def drawn_columns(tree, potentials, rows, seed):
    beliefs, _ = Beliefs(tree).of(potentials)
    fitted, codes = Fitted(tree, tuple(potentials), tuple(beliefs)), {}
    chance = np.random.default_rng(seed)
    for draw in tree.draws:
        codes[draw.column] = draw_column(fitted, draw, codes, rows, chance)
    return codes


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 7), st.integers(0, 400))
def test_each_cell_of_a_group_is_drawn_within_one_of_what_is_expected(seed, groups, cells, rows):
    chance = np.random.default_rng(seed)
    table = chance.dirichlet(np.full(cells, 0.4), groups) * (chance.random((groups, cells)) < 0.8)
    own = chance.integers(0, groups, rows)
    drawn = conditional_draws(own, table, chance)
    for group in range(groups):
        counts = np.bincount(drawn[own == group], minlength=cells)
        weights = table[group] if table[group].sum() > 0 else np.ones(cells)
        expected = weights / weights.sum() * counts.sum()
        assert (np.abs(counts - expected) < 1 + 1e-9).all()
        assert (counts[weights == 0] == 0).all()


@pytest.mark.parametrize("rows", [0, 1, 999])
def test_no_row_falls_into_a_last_cell_without_a_chance(rows):
    """Rounded sums end just below the number of rows; what is left over belongs to the last cell that has a chance."""

    class Least:
        """The smallest uniform number, every time."""

        def random(self, shape):
            return np.zeros(shape)

        def permutation(self, count):
            return np.arange(count)

    table = np.array([[0.1] * 10 + [0.0]])
    drawn = conditional_draws(np.zeros(rows, dtype=np.int64), table, Least())
    assert len(drawn) == rows
    assert (drawn < 10).all()


@given(trees(most_columns=5))
def test_rows_of_a_tree_have_the_pairs_that_it_says(drawn):
    """Each draw is within one of its own expectation; what is expected of all follows from those before."""
    tree, seed = drawn
    chance, rows = np.random.default_rng(seed), 500
    potentials = [chance.normal(0, 1, [tree.sizes[column] for column in clique]) for clique in tree.cliques]
    codes = drawn_columns(tree, potentials, rows, seed)
    cells, _ = joint(tree, potentials)
    for draw in tree.draws:
        table = marginal_of(cells, (*draw.given, draw.column))
        number = np.zeros(rows, dtype=int)
        for column in draw.given:
            number = number * tree.sizes[column] + codes[column]
        for group in np.unique(number):
            given_row = table.reshape(-1, table.shape[-1])[group]
            counts = np.bincount(codes[draw.column][number == group], minlength=table.shape[-1])
            assert (np.abs(counts - given_row / given_row.sum() * counts.sum()) < 1 + 1e-6).all()


def test_the_mean_of_draws_is_what_is_expected():
    """N = 4,000 draws of 7 rows; 6 standard deviations of at most ½ each, a false alarm below 10⁻⁸."""
    chance, table = np.random.default_rng(5), np.array([[0.05, 0.3, 0.65]])
    counts = [np.bincount(conditional_draws(np.zeros(7, dtype=int), table, chance), minlength=3) for _ in range(4000)]
    assert (np.abs(np.mean(counts, axis=0) - 7 * table[0]) < 6 * 0.5 / np.sqrt(4000)).all()


def test_which_rows_of_a_group_get_a_cell_is_shuffled():
    """N = 40,000 rows: in half of them the first of two equally likely cells, ± 6 standard deviations."""
    drawn = conditional_draws(np.zeros(40_000, dtype=int), np.array([[0.5, 0.5]]), np.random.default_rng(2))
    assert abs(int((drawn[:20_000] == 0).sum()) - 10_000) < 6 * 71
