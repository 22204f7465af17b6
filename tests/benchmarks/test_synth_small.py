"""Small databases beside noise on every answer: the formulas, and figures that a table can be made of."""

import json
import math

import numpy as np
import pytest
from benchmarks.synth_small import best, crossing, random_queries, setting, small_figures
from benchmarks.synth_small_engine import engine_errors, engine_shares
from benchmarks.synth_small_noise import Noise, differing, fitted_counts
from scipy.optimize import minimize

from benchmarks import synth_small


@pytest.mark.parametrize("queries", [1, 10, 1000])
def test_errors_of_noise_are_those_of_draws(queries):
    """400 draws: quantiles of the integer noise are within a quarter of the formulas for continuous noise."""
    told = Noise(10**6)
    drawn = told.drawn(queries, 400)
    assert drawn["laplace"] == pytest.approx(told.laplace(queries), rel=0.25, abs=2e-6)
    assert drawn["gaussian"] == pytest.approx(told.gaussian(queries), rel=0.25, abs=2e-6)


@pytest.mark.parametrize("queries", [1, 3, 12])
def test_a_fit_is_the_nearest_table_of_so_many_rows(queries):
    """Against a general solver, on answers that no table would give."""
    truths = differing(random_queries(queries, 8, 4)).astype(np.float64)
    answers = truths @ np.full(8, 125.0) + np.random.default_rng(5).normal(0, 400, len(truths))
    fit = fitted_counts(truths, answers, 1000)
    assert fit.min() >= 0
    assert fit.sum() == pytest.approx(1000)

    def misses(counts):
        return ((truths @ counts - answers) ** 2).sum() / 10**6

    summing = {"type": "eq", "fun": lambda counts: counts.sum() - 1000}
    other = minimize(misses, np.full(8, 125.0), bounds=[(0, 1000)] * 8, constraints=[summing], options={"ftol": 1e-12})
    assert misses(fit) <= misses(other.x) + 1e-4
    assert misses(fit) == pytest.approx(other.fun, abs=1e-3)


def test_queries_are_answered_once():
    """Constant ones need no answer, and NOT φ has that of φ."""
    truths = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool)
    assert differing(truths).tolist() == [[False, True, False], [False, True, True]]
    nothing = Noise(100).answered(truths[:2], np.array([50, 30, 20]), 5)
    assert set(nothing.values()) == {0}


def test_fitted_noise_errs_less_where_many_are_asked():
    """400 draws, 28 queries on 8 cells: fits leave 0.51 of the error of Gaussian noise and 0.38 of Laplace noise, each
    with a deviation of 0.03 at most; 0.75 is more than seven of them away, a chance below 10⁻⁶."""
    told = Noise(1000).answered(random_queries(30, 8, 1), np.full(8, 125), 400)
    for law in ("laplace", "gaussian"):
        assert told[f"{law} fitted"] < 0.75 * told[law]


def test_the_bounds_of_the_notes():
    """ε = 1: K = 10³, |X| = 2¹⁰, N = 10⁴ gives 0.33 with 81 rows; K = 10⁶, |X| = 2²⁰, N = 10⁵ gives 0.24 with 286."""
    size, bound = best(10**3, 2**10, 10**4, "lecture_bound")
    assert bound == pytest.approx(0.33, abs=0.005)
    assert size == pytest.approx(81, rel=0.05)
    size, bound = best(10**6, 2**20, 10**5, "lecture_bound")
    assert bound == pytest.approx(0.24, abs=0.005)
    assert size == pytest.approx(286, rel=0.05)


def test_lectures_bound_says_nothing_where_sequences_can_be_enumerated():
    """|X|^N̂ ≤ 10⁶ on four cells: N̂ ≤ 9, so that α alone is at least 0.45 for 20 queries or more."""
    sizes = [size for size in range(1, 40) if 4**size <= 10**6]
    assert min(float(setting(20, 4, 10**9, size).size.alpha) for size in sizes) >= 0.45


def test_curves_cross_where_the_first_number_of_queries_pays():
    queries = crossing(2**10, 10**4, "lecture_bound", "gaussian")
    assert best(queries, 2**10, 10**4, "lecture_bound")[1] < Noise(10**4).gaussian(queries)
    before = queries - 10 ** int(math.log10(queries) - 1e-9)
    assert best(before, 2**10, 10**4, "lecture_bound")[1] >= Noise(10**4).gaussian(before)


def test_random_queries_are_different_sets_of_cells():
    truths = random_queries(10**5, 8, 1)
    assert truths.shape == (256, 8)
    assert len(np.unique(truths, axis=0)) == 256
    assert random_queries(1, 8, 1).shape == (1, 8)


def test_figures_become_tables_and_notes(monkeypatch):
    monkeypatch.setattr(synth_small, "QUERIES", (1, 20))
    monkeypatch.setattr(synth_small, "ROWS", (500,))
    monkeypatch.setattr(synth_small, "GROWTH", (300, 500))
    monkeypatch.setattr(synth_small, "KEPT", (("1", 400),))
    monkeypatch.setattr(synth_small, "KEPT_RUNS", 50)
    monkeypatch.setattr(synth_small, "LARGEST_SIZE", 6)
    monkeypatch.setattr(synth_small, "SETTINGS", ((2**10, 10**4),))
    told = json.loads(json.dumps(synth_small.figures(4)))
    tables = synth_small.tables(told)
    assert [len(table.rows) for table in tables] == [2, 2, 2, len(synth_small.BOUNDED_QUERIES)]
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    pays, everywhere, bounds = synth_small.notes(told)
    assert pays.startswith("When does a small database pay? On 8 cells at ε = 1, of the numbers of queries and of rows")
    assert "tried: with 500 rows below split Laplace" in pays
    assert "below the engine" in pays
    assert everywhere.endswith(("tried.", "rows."))
    assert bounds.startswith("1024 cells, 10000 rows, where bounds are first below noise as it was drawn")


RIVALS = ("laplace", "laplace fitted", "gaussian", "gaussian fitted", "cells", "engine")


def lines(*errors):
    return {"500": {str(n): {"different": n, "exact": exact} | rivals for n, exact, rivals in errors}}


def rivals(error):
    return dict.fromkeys(RIVALS, error)


def test_the_sentence_says_from_where_and_up_to_where_it_pays():
    drawn = lines((1, 0.1, rivals(0.01)), (10, 0.1, rivals(0.2) | {"engine": 0.05}), (100, 0.1, rivals(0.3)))
    growth = {
        str(rows): {"100": {"different": 70, "exact": 0.1} | rivals(error)} for rows, error in ((300, 0.2), (900, 0.02))
    }
    told = synth_small.when_it_pays({"drawn": drawn, "growth": growth})
    assert "below split Laplace from 10 different queries on" in told
    assert "below the engine from 100 different queries on" in told
    assert "with 70 different queries below split Laplace up to 300 rows" in told
    never = lines((1, 0.1, rivals(0.2)), (10, 0.1, rivals(0.05)))
    assert "below Gaussian at none of the 2 tried" in synth_small.when_it_pays({"drawn": never, "growth": growth})


def test_the_sentence_says_where_it_is_below_all_rivals():
    nowhere = lines((1, 0.1, rivals(0.2) | {"gaussian fitted": 0.05}), (10, 0.1, rivals(0.05)))
    assert synth_small.below_all({"drawn": nowhere, "growth": {}}).endswith("at none of the 2 settings tried.")
    somewhere = lines((1, 0.1, rivals(0.05)), (10, 0.1, rivals(0.2)))
    assert synth_small.below_all({"drawn": somewhere, "growth": {}}).endswith(
        "at 1 of the 2 settings tried: 10 different queries with 500 rows."
    )


@pytest.fixture(scope="module")
def line():
    return small_figures(30, 2000, runs=20)


def test_drawn_errors_are_below_their_bound(line):
    assert line["exact"] <= line["bound"] <= line["lecture"]
    assert line["drawn"] <= line["bound"]


def test_every_rival_is_there_with_errors_of_shares(line):
    assert line["different"] <= 30
    for name in RIVALS:
        assert 0 < line[name] < 1


def test_tables_of_the_engine_are_shares_of_the_same_cells():
    """At ε = 10 the noise of a cell is some rows of 4,000: 0.03 is 120 of them, more than ten standard deviations."""
    histogram = np.array([1000, 200, 1800, 1000])
    shares = engine_shares(histogram, 2, epsilon=10, delta="1e-9")
    assert shares.sum(axis=1) == pytest.approx([1, 1])
    truths = np.array([[True, True, False, False], [False, True, False, True]])
    assert engine_errors(truths, histogram, shares).max() < 0.03
    assert engine_errors(truths, histogram, np.array([[1, 0, 0, 0]])) == pytest.approx([0.7])
    with pytest.raises(ValueError, match="power of two"):
        engine_shares(np.array([1, 2, 3]), 1, epsilon=1, delta="1e-9")


def test_draws_keep_the_bounds_as_often_as_promised():
    """1,000 runs each: an exact miss is rarer than 10⁻⁶, so that 51 of them are no accident."""
    for told in synth_small.kept_figures():
        assert told["bound"] <= told["lecture"] < 1.01
        assert told["exact miss"] < 1e-6
        assert min(told["within"], told["within lecture"]) >= told["promised"]
