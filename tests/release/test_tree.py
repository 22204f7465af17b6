"""Trees: numbered level by level, children side by side; what is no tree is refused."""

import random

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.tree import from_branches, from_edges, of_children, tree_sums


def slow_sums(tree, leaves):
    table = np.zeros((len(tree), leaves.shape[1]), dtype=leaves.dtype)
    for row, leaf in zip(leaves, tree.leaves, strict=True):
        place = leaf
        while place >= 0:
            table[place] += row
            place = tree.parent[place]
    return table


def random_tree(seed, places=40):
    chance = random.Random(seed)
    return from_edges([(str(chance.randrange(place)), str(place)) for place in range(1, places)])


@pytest.mark.parametrize("seed", range(20))
def test_children_lie_side_by_side_and_sums_are_those_of_the_paths(seed):
    tree = random_tree(seed)
    for place in range(len(tree)):
        children = range(tree.child[place], tree.child[place + 1])
        assert [c for c in range(len(tree)) if tree.parent[c] == place] == list(children)
    assert tree.level[tree.places(tree.depth - 1)].tolist() == [tree.depth - 1] * int(
        np.sum(tree.level == tree.depth - 1)
    )
    leaves = np.random.default_rng(seed).integers(-9, 9, (len(tree.leaves), 3))
    table = tree_sums(tree, leaves)
    assert (table == slow_sums(tree, leaves)).all()
    for level in range(tree.depth):
        inner = np.diff(tree.child)[tree.places(level)] > 0
        assert (of_children(tree, table, level)[inner] == table[tree.places(level)][inner]).all()


def test_a_branch_may_end_early():
    tree = from_branches(
        ("country", "region", "ward"), [("x", "north", "n1"), ("x", "north", "n2"), ("x", "south", "")]
    )
    assert [tree.names[leaf] for leaf in tree.leaves] == ["south", "n1", "n2"]
    assert tree.path(4) == ("x", "north", "n2")


def test_several_tops_get_one_above_them():
    tree = from_branches(("region", "ward"), [("north", "a"), ("south", "a")])
    assert tree.levels == ("all", "region", "ward")
    assert tree.names == ("all", "north", "south", "a", "a")


def test_a_single_place_is_a_tree():
    tree = from_branches(("country",), [("x",)])
    assert (len(tree), tree.leaves.tolist(), tree.depth) == (1, [0], 1)
    assert tree_sums(tree, np.array([[5]])).tolist() == [[5]]


@pytest.mark.parametrize(
    ("edges", "rule"),
    [
        ([("a", "b"), ("c", "b"), ("a", "c")], "one parent"),
        ([("a", "b"), ("b", "a")], "no cycle"),
        ([("t", "s"), ("a", "b"), ("b", "c"), ("c", "a")], "no cycle"),
        ([("a", "b"), ("c", "d")], "one place at the top"),
        ([], "one place at the top"),
    ],
)
def test_edges_that_are_no_tree_are_refused(edges, rule):
    with pytest.raises(BadValue, match=rule):
        from_edges(edges)


@pytest.mark.parametrize(
    ("branches", "rule"),
    [
        ([], "at least one"),
        ([("a",)], "all 2 levels"),
        ([("a", "b"), ("a", "b")], "once"),
        ([("", "b")], "empty only at the end"),
        ([("a", ""), ("a", "b")], "where another goes on"),
    ],
)
def test_branches_that_make_no_tree_are_refused(branches, rule):
    with pytest.raises(BadValue, match=rule):
        from_branches(("x", "y"), branches)
