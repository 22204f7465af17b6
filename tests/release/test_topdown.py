"""The fit from the top down: sums, signs, totals and impossible cells always hold, and each step is the projection."""

import itertools

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.check import violations
from discreet.release.fit import chebyshev, topdown
from discreet.release.fit.kernels.topdown import simplex
from discreet.release.tree import from_edges
from release.fits import hay
from release.test_check import random_case

METHODS = [topdown.fit, chebyshev.fit]


@pytest.mark.parametrize("method", METHODS)
def test_300_random_tables_break_no_rule(method):
    for seed in range(300):
        case = random_case(seed)
        table = method(case.tree, case.noisy, case.weights, scale=case.scale, **case.known)
        assert table.dtype == np.int64
        assert violations(case.tree, table, **case.known).count == 0, seed


@pytest.mark.parametrize("method", METHODS)
def test_without_noise_nothing_changes_and_a_fit_is_its_own_fit(method):
    for seed in range(100):
        case = random_case(seed)
        exact = case.exact * case.scale
        assert (method(case.tree, exact, case.weights, scale=case.scale, **case.known) == case.exact).all()
        once = method(case.tree, case.noisy, case.weights, scale=case.scale, **case.known)
        assert (method(case.tree, once, case.weights, **case.known) == once).all()


def slow_simplex(values, variance, total):
    """Every set of places that may be above 0: the right one has x > 0 inside and gains nothing outside."""
    open_ = [i for i in range(len(values)) if variance[i] > 0]
    for size in range(1, len(open_) + 1):
        for kept in itertools.combinations(open_, size):
            price = (sum(values[i] for i in kept) - total) / sum(variance[i] for i in kept)
            real = np.array([values[i] - price * variance[i] if i in kept else 0.0 for i in range(len(values))])
            if all(real[i] > 0 for i in kept) and all(values[i] <= price * variance[i] for i in open_ if i not in kept):
                return real
    raise AssertionError


def slow_remainders(real, total):
    whole = np.floor(real + 2.0**-21).astype(int)
    parts = np.round((real - whole) * 2**20)
    for place in sorted(range(len(real)), key=lambda place: (-parts[place], place))[: total - whole.sum()]:
        whole[place] += 1
    return whole


def test_a_step_is_the_projection_on_the_simplex_and_largest_remainders():
    for seed in range(400):
        chance = np.random.default_rng(seed)
        count = int(chance.integers(1, 7))
        values = chance.integers(-9, 12, count) / 2 if seed % 2 else chance.normal(2, 6, count)
        variance = np.ones(count) if seed % 3 else chance.integers(0, 4, count) / 2
        variance[0] = max(variance[0], 0.5)
        total = int(chance.integers(1, 20))
        expected = slow_remainders(slow_simplex(values, variance, total), total)
        assert simplex(values, variance, total).tolist() == expected.tolist(), seed


def test_numbers_too_large_for_floats_still_add_up():
    values = np.array([2.0**58 + 3, -7.0, 2.0**57, 1.0])
    for total in (1, 2**53 + 1, 2**59 + 1, 2**60 - 1):
        fitted = simplex(values, np.ones(4), total)
        assert fitted.sum() == total
        assert (fitted >= 0).all()


def test_ties_go_to_lower_numbers():
    assert simplex(np.array([1.0, 1.0, 1.0, 1.0]), np.ones(4), 6).tolist() == [2, 2, 1, 1]


def test_where_nothing_is_cut_the_fit_is_the_rounded_least_squares_table():
    tree = from_edges([("x", "a"), ("x", "b"), ("a", "c"), ("a", "d"), ("a", "e")])
    noisy = np.array([[907, 500], [610, 290], [311, 190], [201, 99], [215, 104], [180, 77]])
    weights = np.array([3, 2, 2, 1, 1, 1])
    estimates = hay.estimates(tree, noisy, weights).values
    assert np.abs(topdown.fit(tree, noisy, weights) - estimates).max() < 2


@pytest.mark.parametrize("method", METHODS)
def test_negative_noise_zero_totals_and_closed_cells_are_fitted(method):
    tree, ones = from_edges([("x", "a"), ("x", "b")]), np.ones(3, dtype=np.int64)
    below = np.array([[-9, -9], [-5, -7], [-3, -1]])
    assert not method(tree, below, ones).any()
    assert not method(tree, -below, ones, total=0).any()
    assert method(tree, below, ones, total=5)[0].sum() == 5
    nowhere = np.zeros((2, 2), dtype=bool)
    assert not method(tree, -below, ones, allowed=nowhere).any()
    with pytest.raises(BadValue, match="no cell is allowed"):
        method(tree, below, ones, total=5, allowed=nowhere)
    for total in (-1, 2.5, True, 2**60):
        with pytest.raises(BadValue, match="total"):
            method(tree, below, ones, total=total)


@pytest.mark.parametrize("method", METHODS)
def test_one_place_alone_is_rounded_or_shared_out(method):
    tree, ones = from_edges([("x", "a")]), np.ones(2, dtype=np.int64)
    noisy = np.array([[-4, 3, 10], [-4, 3, 10]])
    assert method(tree, noisy, ones, scale=2).tolist() == [[0, 2, 5]] * 2
    assert method(tree, noisy, ones, total=11)[1].tolist() == [0, 2, 9]
