"""Monotone rows: equal to the min-max formula, to SciPy, and in absolute values to a search over all values."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from discreet.errors import BadValue
from discreet.release.fit import isotonic


def slow_fit(row, weights):
    """xₛ = max over i ≤ s of min over j ≥ s of the weighted mean of y_i … y_j."""
    size = len(row)

    def mean(i, j):
        return np.dot(row[i : j + 1], weights[i : j + 1]) / weights[i : j + 1].sum()

    return [max(min(mean(i, j) for j in range(s, size)) for i in range(s + 1)) for s in range(size)]


def least_absolute_cost(row):
    values = np.unique(row)
    cost = np.zeros(len(values))
    for entry in row:
        cost = np.minimum.accumulate(cost) + np.abs(values - entry)
    return cost.min()


@pytest.mark.parametrize("seed", range(40))
def test_squares_fit_is_the_min_max_formula_and_scipys(seed):
    chance = np.random.default_rng(seed)
    rows = chance.integers(-9, 10, (4, seed % 11 + 1))
    weights = chance.integers(1, 6, rows.shape)
    fits = isotonic.fitted(rows, weights)
    for row, weight, fit in zip(rows, weights, fits, strict=True):
        assert fit == pytest.approx(slow_fit(row, weight), abs=1e-12)
        assert fit == pytest.approx(isotonic_regression(row, weights=weight).x, abs=1e-12)
    assert (isotonic.fitted(rows, weights[0])[0] == fits[0]).all()
    assert (isotonic.fitted(rows) == isotonic.fitted(rows, np.ones(rows.shape[1]))).all()


@pytest.mark.parametrize("seed", range(40))
def test_absolute_fit_is_monotone_whole_and_of_least_cost(seed):
    rows = np.random.default_rng(seed).integers(-9, 10, (8, seed % 13 + 1))
    fits = isotonic.medians(rows)
    assert fits.dtype == np.int64
    assert (np.diff(fits, axis=1) >= 0).all()
    for row, fit in zip(rows, fits, strict=True):
        assert np.abs(row - fit).sum() == least_absolute_cost(row)


def test_middle_of_the_absolute_fits_leans_to_neither_side():
    rows = np.random.default_rng(3).integers(-500, 500, (4000, 6))
    flipped = -isotonic.medians(-rows[:, ::-1])[:, ::-1]
    gap = flipped - isotonic.medians(rows)
    assert gap.min() >= 0  # rounded down on one side, up on the other, and by no more
    assert gap.max() <= 1


@pytest.mark.parametrize("seed", range(20))
def test_bounded_fit_is_no_further_than_any_bounded_monotone_row(seed):
    chance = np.random.default_rng(seed)
    rows = chance.integers(-6, 12, (1, 5)).astype(float)
    fit = isotonic.bounded(rows, lowest=0, highest=np.array([5.0]))
    assert ((fit >= 0) & (fit <= 5)).all()
    others = np.sort(chance.uniform(0, 5, (20_000, 5)), axis=1)
    # at a projection x on a convex set (y − x)·(z − x) ≤ 0 for every z of the set
    assert ((others - fit) @ (rows - fit).T).max() <= 1e-9


def test_monotone_rows_stay_as_they_are():
    rows = np.sort(np.random.default_rng(1).integers(-50, 50, (100, 9)), axis=1)
    assert (isotonic.fitted(rows) == rows).all()
    assert (isotonic.medians(rows) == rows).all()


def test_result_does_not_depend_on_threads():
    rows = np.random.default_rng(2).integers(-50, 50, (4000, 9))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(isotonic.fitted, np.array_split(rows, 16)))
        whole = list(pool.map(isotonic.medians, np.array_split(rows, 16)))
    assert (np.concatenate(parts) == isotonic.fitted(rows)).all()
    assert (np.concatenate(whole) == isotonic.medians(rows)).all()


@pytest.mark.parametrize(
    ("rows", "weights", "rule"),
    [
        (np.array([1, 2]), None, "rows must form a table"),
        (np.zeros((3, 0)), None, "rows must form a table"),
        (np.array([[2**41, 0]]), None, "rows must lie between"),
        (np.array([[0.0, np.nan]]), None, "rows must lie between"),
        (np.array([[1, 2]]), np.array([1, 2, 3]), "weights must be one for each"),
        (np.array([[1, 2]]), np.array([1, 0]), "weights must be positive"),
        (np.array([[1, 2]]), np.array([1, np.nan]), "weights must be positive"),
    ],
)
def test_what_cannot_be_fitted_is_refused(rows, weights, rule):
    with pytest.raises(BadValue, match=rule):
        isotonic.fitted(rows, weights)


def test_bounds_that_exclude_everything_are_refused():
    with pytest.raises(BadValue, match="highest must have one bound"):
        isotonic.bounded(np.array([[1, 2]]), lowest=0, highest=np.array([-1.0]))
