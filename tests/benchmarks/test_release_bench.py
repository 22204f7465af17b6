"""The release bench on invented places: its trees, its errors, its tables; no timing is asserted."""

from dataclasses import replace

import numpy as np
from benchmarks.release_accuracy import Public
from benchmarks.report import Aim

from benchmarks import release, release_accuracy, release_data, release_speed
from discreet.noise.source import SYSTEM
from discreet.release.fit import choice
from discreet.release.measure import Form
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import tree_sums


def test_a_regular_tree_is_a_tree():
    exact = release_data.invented(2000, 3, (10, 10))
    tree = exact.tree
    assert len(tree.leaves) == 2000
    assert np.array_equal(exact.table, tree_sums(tree, exact.table[tree.leaves]))
    assert np.diff(tree.first).tolist() == [1, 20, 200, 2000]
    assert all((tree.parent[tree.child[i] : tree.child[i + 1]] == i).all() for i in range(len(tree)))


def test_every_method_is_scored_and_the_whole_ones_break_nothing():
    exact = release_data.invented(60, 5, (6,))
    scores = release_accuracy.scores(exact, ("1",), 2)
    by_name = {(score.public, score.method): score for score in scores}
    assert [sum(public is each for public, _ in by_name) for each in Public] == [8, 6, 4]
    rounded = ("M_H raw", "M_H^r rounded", "Hay, rounded")
    assert all(score.violations == 0 for (_, name), score in by_name.items() if name not in rounded)
    assert by_name[Public.NOTHING, "M_H raw"].violations > 0
    tables = [release._scores_table(exact, public, scores, 2) for public in Public]
    assert [len(table.rows) for table in tables] == [8, 6, 4]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_every_method_has_the_public_totals_of_its_table_and_no_others():
    exact = release_data.invented(60, 5, (6,))
    nothing, top, leaves = (release_accuracy.known_of(exact, public) for public in Public)
    assert (nothing.total, nothing.leaf_totals) == (None, None)
    assert (top.total, top.leaf_totals) == (exact.total, None)
    assert leaves.leaf_totals.tolist() == exact.table[exact.tree.leaves].sum(axis=1).tolist()
    plans = {form: release_accuracy.plan_of(exact, "0.01", form) for form in Form}
    draws = {form: plan.measurement(exact.table[exact.tree.leaves], SYSTEM) for form, plan in plans.items()}
    measured = {choice.top_total(plans[form], draws[form]) for form in Form}
    products = {name for name, *_ in release_accuracy.PRODUCTS}
    for name, table in release_accuracy._released(plans, draws, nothing):
        assert name not in products or table[0].sum() in measured
    for known in (top, leaves):
        tables = dict(release_accuracy._released(plans, draws, known))
        assert all(table[0].sum() == exact.total for name, table in tables.items() if "rounded" not in name)
    assert all(np.array_equal(table[exact.tree.leaves].sum(axis=1), leaves.leaf_totals) for table in tables.values())


def test_the_first_method_is_the_products_default():
    exact = release_data.invented(60, 5, (6,))
    name, form, method = release_accuracy.PRODUCTS[0]
    assert name.endswith("the default")
    places = release_accuracy.plan_of(exact, "1", form)
    assert places.method == method
    assert places.subject.spec.form is form
    default = replace(places.subject.spec, form=ReleaseSpec("places", groups="group", largest=5).form)
    assert subject(default, places.subject.schema).design.form is form


def test_solvers_called_directly_find_the_table_of_our_real_fit():
    given = release_speed.made((1, 4, 30), 3)
    asked = release_speed.program(given)
    ours = given.real().ravel()
    assert np.abs(release_speed.by_clarabel(asked).table - ours).max() < 1e-3
    assert np.abs(release_speed.by_osqp(asked).table - ours).max() < 0.5  # its own default tolerance is 10⁻³ of each


def test_a_country_is_timed_and_adds_up():
    country = release._country(release_data.invented(300, 4), Aim(at_most=1e9))
    assert country["integer"]["violations"] == country["topdown"]["violations"] == 0
    table = release._countries_table([country])
    assert [row[2] for row in table.rows] == ["integer", "topdown"]


def test_margins_are_scored_on_every_level():
    exact = release_data.invented(40, 3, (8,))
    margins = release_accuracy.margins(exact, ("1",), 2, runs=19)
    levels, intervals = exact.tree.levels, ("proven", "re-simulated", "of its own runs")
    assert len(levels) == 3
    assert [(margin.form, margin.level, margin.interval) for margin in margins] == [
        (str(form), level, interval) for form in Form for level in levels for interval in intervals
    ]
    proven, resimulated, alone = (margins[first::3] for first in range(3))
    assert all(0.5 < margin.held <= 1 for margin in proven if margin.level == levels[-1])  # of 240 numbers each
    assert all(0 < narrow.width <= wide.width for narrow, wide in zip(alone, resimulated, strict=True))
    assert all(narrow.held <= wide.held for narrow, wide in zip(alone, resimulated, strict=True))
    table = release._margins_table(exact, margins, 2)
    assert len(table.rows) == len(margins)
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_shares_of_margins_are_of_the_cells_that_they_name():
    tree = release_data.invented(2, 4, ()).tree
    exact = release_data.Exact("two", tree, np.array([[0, 4, 30, 12], [0, 0, 20, 12], [0, 4, 10, 0]]))
    totals = np.column_stack([exact.table, exact.table.sum(axis=1)])
    low, high = totals.copy(), totals + 2
    low[1, 2] = low[2, 1] = high[2, 1] = 21  # misses 20 of one place and 4 of the other
    high[0, -1] = low[0, -1] = 0
    top, leaves = (release_accuracy._margin(exact, ("", ""), level, "", [(low, high)]) for level in (0, 1))
    assert (top.held, top.totals, top.width) == (1, 0, 2)
    assert (leaves.held, leaves.empty, leaves.below_10, leaves.large) == (6 / 8, 1, 0, 2 / 3)
    assert (leaves.totals, leaves.width) == (1, (6 * 2 + 1 + 0) / 8)


def test_a_sparse_table_is_nearer_once_it_has_the_measured_total():
    """200 leaves × 20 cells, 19 in 20 of them 0, and noise of scale 60: both differences are beyond any chance."""
    tree = release_data.invented(200, 20, (10,)).tree
    leaves = np.zeros((200, 20), dtype=np.int64)
    leaves[:, 0] = 100
    exact = release_data.Exact("sparse", tree, tree_sums(tree, leaves))
    tops = release_accuracy.without_total(exact, ("0.1", "1"), 2)
    assert [(top.epsilon, top.held) for top in tops] == [
        (epsilon, held) for epsilon in ("0.1", "1") for held in ("nothing", "the measured total")
    ]
    free, held = tops[:2]
    assert len(free.l1) == len(held.l1) == 3
    assert held.total < free.total
    assert held.l1[-1] < free.l1[-1]
    assert tops[2].l1[-1] < free.l1[-1]
    table = release._totals_table(exact, tops, 2)
    assert len(table.rows) == 4
    assert all(len(row) == len(table.columns) for row in table.rows)
