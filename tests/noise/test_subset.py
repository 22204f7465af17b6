"""Subsets of groups: each of so many members equally often, and ties of words drawn anew."""

import itertools
import math

import numpy as np

from discreet.noise.subset import uniform_subsets
from replay import Refusing, Replay


def test_every_order_of_words_chooses_its_own_subset():
    """All 24 orders of four words give each pair of members four times: exact, without chance."""
    chosen = [
        tuple(np.flatnonzero(uniform_subsets(np.array([4]), 2, Replay(words))))
        for words in itertools.permutations([10, 20, 30, 40])
    ]
    assert sorted(chosen.count(pair) for pair in set(chosen)) == [4] * math.comb(4, 2)


def test_a_group_with_equal_words_is_drawn_anew_and_no_other():
    source = Replay([5, 5, 9, 1, 2, 3, 3, 2, 1])
    chosen = uniform_subsets(np.array([3, 1, 3]), 1, source)
    assert chosen.tolist() == [False, False, True, True, True, False, False]
    assert source.asked == 9


def test_small_groups_draw_nothing():
    assert uniform_subsets(np.array([3, 0, 1]), 3, Refusing()).all()


def test_no_groups_give_no_members():
    assert uniform_subsets(np.array([], dtype=np.int64), 3, Refusing()).size == 0
