"""Junction trees: every pair in a clique, running intersection, and an order to draw in that needs one clique each."""

from itertools import combinations, pairwise
from math import prod

import pytest
from hypothesis import given

from discreet.synth.model.junction import junction, tree_cells
from synth.model.brute import graphs


@given(graphs(most_columns=9))
def test_every_pair_and_every_column_lies_in_a_clique(graph):
    sizes, pairs, first = graph
    tree = junction(sizes, pairs, first)
    for columns in [*pairs, *((column,) for column in range(len(sizes)))]:
        assert set(columns) <= set(tree.cliques[tree.home(columns)])
    assert not any(set(clique) < set(other) for clique in tree.cliques for other in tree.cliques)


@given(graphs(most_columns=9))
def test_the_cliques_of_a_column_hang_together(graph):
    """Running intersection: of the cliques with a column all but one have a parent with it."""
    sizes, pairs, first = graph
    tree = junction(sizes, pairs, first)
    assert all(parent < index for index, parent in enumerate(tree.parents))
    for column in range(len(sizes)):
        holders = [index for index, clique in enumerate(tree.cliques) if column in clique]
        tops = [index for index in holders if column not in tree.separators[index]]
        assert len(tops) == 1
        assert all(tree.parents[index] in holders for index in holders if index != tops[0])


@given(graphs(most_columns=9))
def test_a_column_is_drawn_given_columns_before_it_that_share_a_clique_with_it(graph):
    sizes, pairs, first = graph
    tree = junction(sizes, pairs, first)
    order = [draw.column for draw in tree.draws]
    assert sorted(order) == list(range(len(sizes)))
    assert set(order[: len(first)]) == set(first)
    for place, draw in enumerate(tree.draws):
        assert set(draw.given) <= set(order[:place])
        tree.home((*draw.given, draw.column))


@given(graphs(most_columns=9))
def test_the_cells_of_a_candidate_are_those_of_its_tree(graph):
    sizes, pairs, first = graph
    tree = junction(sizes, pairs, first)
    assert tree.cells == tree_cells(sizes, pairs, first) == sum(prod(sizes[c] for c in k) for k in tree.cliques)


@given(graphs(most_columns=7))
def test_cliques_are_all_that_their_own_graph_has(graph):
    """Columns that lie in a clique two by two lie in one all together: nothing was joined that no clique holds."""
    sizes, pairs, first = graph
    tree = junction(sizes, pairs, first)
    edges = {pair for clique in tree.cliques for pair in combinations(clique, 2)}
    assert set(pairs) <= edges
    for count in range(1, len(sizes) + 1):
        for columns in combinations(range(len(sizes)), count):
            is_complete = set(combinations(columns, 2)) <= edges
            assert is_complete == any(set(columns) <= set(clique) for clique in tree.cliques)


def test_a_ring_needs_cliques_of_three():
    ring = [*pairwise(range(6)), (0, 5)]
    assert {len(clique) for clique in junction([2] * 6, ring).cliques} == {3}
    assert tree_cells([2] * 6, ring) == 4 * 8


def test_columns_without_a_common_clique_have_no_home():
    with pytest.raises(ValueError, match="no clique"):
        junction((2, 2, 2), [(0, 1)]).home((0, 2))
