"""Monotone rows: equal to the min-max formula, to SciPy, and in absolute values to a search over all values."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from discreet.errors import BadValue
from discreet.release.fit import isotonic
from release.fits.countofcounts import medians


def slow_fit(row):
    """xₛ = max over i ≤ s of min over j ≥ s of the mean of y_i … y_j."""
    size = len(row)

    def mean(i, j):
        return row[i : j + 1].mean()

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
    for row, fit in zip(rows, isotonic.monotone(rows), strict=True):
        assert fit == pytest.approx(slow_fit(row), abs=1e-12)
        assert fit == pytest.approx(isotonic_regression(row).x, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_absolute_fit_is_monotone_whole_and_of_least_cost(seed):
    rows = np.random.default_rng(seed).integers(-9, 10, (8, seed % 13 + 1))
    fits = medians(rows)
    assert fits.dtype == np.int64
    assert (np.diff(fits, axis=1) >= 0).all()
    for row, fit in zip(rows, fits, strict=True):
        assert np.abs(row - fit).sum() == least_absolute_cost(row)


def test_middle_of_the_absolute_fits_leans_to_neither_side():
    rows = np.random.default_rng(3).integers(-500, 500, (4000, 6))
    flipped = -medians(-rows[:, ::-1])[:, ::-1]
    gap = flipped - medians(rows)
    assert gap.min() >= 0  # rounded down on one side, up on the other, and by no more
    assert gap.max() <= 1


@pytest.mark.parametrize("seed", range(20))
def test_bounded_fit_is_no_further_than_any_bounded_monotone_row(seed):
    chance = np.random.default_rng(seed)
    rows = chance.integers(-6, 12, (1, 5)).astype(float)
    fit = isotonic.monotone(rows, lowest=0, highest=np.array([5.0]))
    assert ((fit >= 0) & (fit <= 5)).all()
    others = np.sort(chance.uniform(0, 5, (20_000, 5)), axis=1)
    # at a projection x on a convex set (y − x)·(z − x) ≤ 0 for every z of the set
    assert ((others - fit) @ (rows - fit).T).max() <= 1e-9


def test_monotone_rows_stay_as_they_are():
    rows = np.sort(np.random.default_rng(1).integers(-50, 50, (100, 9)), axis=1)
    assert (isotonic.monotone(rows) == rows).all()
    assert (medians(rows) == rows).all()


def test_result_does_not_depend_on_threads():
    rows = np.random.default_rng(2).integers(-50, 50, (4000, 9))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(isotonic.monotone, np.array_split(rows, 16)))
        whole = list(pool.map(medians, np.array_split(rows, 16)))
    assert (np.concatenate(parts) == isotonic.monotone(rows)).all()
    assert (np.concatenate(whole) == medians(rows)).all()


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (np.array([1, 2]), "rows must form a table"),
        (np.zeros((3, 0)), "rows must form a table"),
        (np.array([[2**41, 0]]), "rows must lie between"),
        (np.array([[0.0, np.nan]]), "rows must lie between"),
    ],
)
def test_rows_that_cannot_be_fitted_are_refused(rows, rule):
    with pytest.raises(BadValue, match=rule):
        isotonic.monotone(rows)


def test_bounds_that_exclude_everything_are_refused():
    with pytest.raises(BadValue, match="highest must have one bound"):
        isotonic.monotone(np.array([[1, 2]]), lowest=0, highest=np.array([-1.0]))
