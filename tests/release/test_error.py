"""Distances of a release from the exact table, level by level."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.check import Violations
from release.error import measures
from release.test_check import GOOD, TREE, random_case


def test_equal_tables_have_no_error():
    for level in measures(TREE, GOOD, GOOD):
        assert (level.l1, level.mean_l1, level.largest, level.emd, level.false_positives) == (0, 0, 0, 0, 0)
        assert level.violations == Violations()


def test_a_group_moved_by_one_size_is_one_step_of_earth():
    moved = GOOD + np.array([[0, 0], [0, 0], [0, 0], [1, -1], [-1, 1]])
    top, middle, low = measures(TREE, GOOD, moved)
    assert (top.l1, middle.l1) == (0, 0)
    assert (low.level, low.l1, low.mean_l1, low.largest, low.emd) == ("level 3", 4, 2, 1, 2)


@pytest.mark.parametrize("seed", range(20))
def test_measures_are_those_of_a_plain_loop(seed):
    case = random_case(seed)
    tree, exact, released = case.tree, case.exact, case.noisy
    for level, error in enumerate(measures(tree, exact, released)):
        l1 = largest = emd = empty = wrong = 0
        for place in np.flatnonzero(tree.level == level):
            ahead = 0
            for old, new in zip(exact[place], released[place], strict=True):
                ahead += new - old
                l1, largest, emd = l1 + abs(new - old), max(largest, abs(new - old)), emd + abs(ahead)
                empty, wrong = empty + (old == 0), wrong + (old == 0 and new != 0)
        places = np.sum(tree.level == level)
        assert (error.l1, error.mean_l1, error.largest, error.emd) == (l1, l1 / places, largest, emd)
        assert error.false_positives == wrong / max(1, empty)
        assert error.violations.signs == np.sum(released[tree.level == level] < 0)


def test_tables_of_two_shapes_are_not_compared():
    with pytest.raises(BadValue, match="shape"):
        measures(TREE, GOOD[:, :1], GOOD)
