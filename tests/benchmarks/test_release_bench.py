"""The release bench on invented places: its trees, its errors, its tables; no timing is asserted."""

import numpy as np
from benchmarks.report import Aim

from benchmarks import release, release_accuracy, release_data
from discreet.release.tree import summed


def test_a_regular_tree_is_a_tree():
    exact = release_data.invented(2000, 3, (10, 10))
    tree = exact.tree
    assert len(tree.leaves) == 2000
    assert np.array_equal(exact.table, summed(tree, exact.table[tree.leaves]))
    assert np.diff(tree.first).tolist() == [1, 20, 200, 2000]
    assert all((tree.parent[tree.child[i] : tree.child[i + 1]] == i).all() for i in range(len(tree)))


def test_every_method_is_scored_and_the_whole_ones_break_nothing():
    exact = release_data.invented(60, 5, (6,))
    scores = release_accuracy.scores(exact, ("1",), 2)
    by_name = {score.method: score for score in scores}
    assert len(by_name) == 10
    whole = [name for name in by_name if name not in ("M_H raw", "M_H^r rounded", "Hay, rounded")]
    assert all(by_name[name].violations == 0 for name in whole)
    assert by_name["M_H raw"].violations > 0
    table = release._scores_table(exact, scores, 2)
    assert len(table.rows) == 10
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_country_is_timed_and_adds_up():
    found = release._country(release_data.invented(300, 4), Aim(most=1e9))
    assert found["integer"]["violations"] == found["topdown"]["violations"] == 0
    table = release._countries_table([found])
    assert [row[2] for row in table.rows] == ["integer", "topdown"]
