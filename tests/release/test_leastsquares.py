"""Least squares over a tree: two passes give the dense solution, and the variances on the diagonal of its inverse."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.check import violations
from discreet.release.leastsquares import consistent, from_below, shares, variances
from discreet.release.tree import from_branches, from_edges, tree_sums
from release.fits import hay
from release.test_check import random_case, random_tree


def dense(tree, noisy, weights, scale):
    """The normal equations in the leaves: x = A(AᵀWA)⁻¹AᵀW·y, variances diag(A(AᵀWA)⁻¹Aᵀ)."""
    above = tree_sums(tree, np.eye(len(tree.leaves)))
    root = np.sqrt(weights)[:, None]
    shrunk = np.linalg.pinv(root * above)  # (AᵀWA)⁻¹AᵀW^½, without squaring the condition number
    return above @ (shrunk @ (root * noisy / scale)), np.sum((above @ shrunk) ** 2, axis=1)


@pytest.mark.parametrize("seed", range(200))
def test_values_and_variances_are_those_of_the_dense_solution(seed):
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, int(chance.integers(1, 40)) + 1)
    weights = chance.integers(1, 50, len(tree)) if seed % 2 else np.repeat(1, len(tree))
    noisy = chance.integers(-100, 900, (len(tree), 3))
    estimates = hay.estimates(tree, noisy, weights, scale=1 + seed % 3)
    values, variance = dense(tree, noisy, weights, 1 + seed % 3)
    np.testing.assert_allclose(estimates.variance, variance, rtol=1e-9)
    np.testing.assert_allclose(estimates.values, values, rtol=1e-9, atol=1e-9)


def exact_variances(tree, weights):
    """diag(A(AᵀWA)⁻¹Aᵀ) in fractions: no cancellation hides in it."""
    above = tree_sums(tree, np.eye(len(tree.leaves), dtype=np.int64))
    size = above.shape[1]
    rows = [[Fraction(int(v)) for v in row] for row in np.hstack([(above.T * weights) @ above, np.eye(size)])]
    for pivot in range(size):  # positive definite: a pivot is never 0
        rows[pivot] = [value / rows[pivot][pivot] for value in rows[pivot]]
        for other in set(range(size)) - {pivot}:
            factor = rows[other][pivot]
            rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    under = [np.flatnonzero(row) for row in above]
    return [float(sum(rows[i][size + j] for i in leaves for j in leaves)) for leaves in under]


@pytest.mark.parametrize("seed", range(40))
def test_weights_of_any_size_keep_the_variances_exact(seed):
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, 14)
    weights = 2 ** chance.integers(0, 21, len(tree))
    estimates = hay.estimates(tree, chance.integers(0, 9, (len(tree), 1)), weights)
    np.testing.assert_allclose(estimates.variance, exact_variances(tree, weights), rtol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_precisions_may_be_any_positive_numbers(seed):
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, 2 + seed)
    precision, table = 10.0 ** chance.uniform(-6, 3, len(tree)), chance.normal(0, 9, (len(tree), 2))
    shared, (values, variance) = shares(tree, precision), dense(tree, table, precision, 1)
    np.testing.assert_allclose(variances(shared)[:, 0], variance, rtol=1e-7)
    np.testing.assert_allclose(consistent(shared, table), values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_table_that_adds_up_comes_back_to_the_last_digit(seed):
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, 30)
    table = tree_sums(tree, chance.integers(0, 2**40, (len(tree.leaves), 2))).astype(float)
    assert np.array_equal(consistent(shares(tree, chance.uniform(0.1, 9, len(tree))), table), table)


def test_a_public_top_is_kept_and_shared_out_by_variance():
    tree = from_edges([("x", "a"), ("x", "b")])
    shared = shares(tree, np.array([1.0, 1.0, 0.5]))
    table = np.array([[9.0, 9.0], [2.0, 2.0], [4.0, 4.0]])
    known = consistent(shared, table, np.array([12.0, np.nan]))
    np.testing.assert_allclose(known[:, 0], [12.0, 4.0, 8.0])
    np.testing.assert_allclose(known[:, 1], consistent(shared, table)[:, 1])


@pytest.mark.parametrize("precision", [np.ones(2), np.zeros(3), -np.ones(3), np.full(3, np.nan), np.full(3, np.inf)])
def test_precisions_that_are_none_are_refused(precision):
    with pytest.raises(BadValue, match="precision must be 3 positive numbers"):
        shares(TREE, precision)


def test_a_chain_is_one_count_measured_often():
    tree = from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    estimates = hay.estimates(tree, np.array([[10], [20], [30], [40]]), np.array([1, 2, 3, 4]))
    np.testing.assert_allclose(estimates.values, 30.0)
    np.testing.assert_allclose(estimates.variance, 0.1)


def test_the_uniform_binary_tree_has_the_published_estimate():
    """Hay et al. 2010: z = (kˡ − kˡ⁻¹)/(kˡ − 1)·y + (kˡ⁻¹ − 1)/(kˡ − 1)·∑z of the children, l the height of a place."""
    tree = from_branches("abc", [("t", p, p + q) for p in "01" for q in "01"])
    noisy = np.array([[20], [7], [9], [1], [2], [3], [4]])
    up = from_below(tree, noisy, np.ones(7, dtype=np.int64)).values.ravel()
    assert up[1] == pytest.approx(2 / 3 * 7 + 1 / 3 * 3)
    assert up[0] == pytest.approx(4 / 7 * 20 + 3 / 7 * (up[1] + up[2]))


@pytest.mark.parametrize("seed", range(30))
def test_without_noise_nothing_changes_and_sums_always_hold(seed):
    case = random_case(seed)
    same = hay.estimates(case.tree, case.exact * case.scale, case.weights, scale=case.scale).values
    np.testing.assert_allclose(same, case.exact, atol=1e-9)
    assert violations(case.tree, hay.estimates(case.tree, case.noisy, case.weights, scale=case.scale).values).sums == 0


def test_a_cell_that_cannot_be_is_known_without_noise():
    tree = from_edges([("x", "a"), ("x", "b")])
    allowed = np.array([[True, False], [True, False], [False, False]])
    up = from_below(tree, np.array([[9, 9], [5, 5], [7, 7]]), np.ones(3, dtype=np.int64), allowed=allowed)
    assert up.values.tolist() == [[7.0, 0.0], [5.0, 0.0], [0.0, 0.0]]
    assert up.variance.tolist() == [[0.5, 0.0], [1.0, 0.0], [0.0, 0.0]]


TREE = from_edges([("x", "a"), ("x", "b")])
ONES = np.ones(3, dtype=np.int64)
NOISY = np.array([[9], [2], [4]])


@pytest.mark.parametrize(
    ("noisy", "weights", "scale", "rule"),
    [
        (NOISY[:2], ONES, 1, "each of the 3 places"),
        (NOISY[:, :0], ONES, 1, "one column or more"),
        (NOISY / 2, ONES, 1, "whole numbers"),
        (NOISY, ONES[:2], 1, "one for each place"),
        (NOISY, ONES * np.nan, 1, "whole numbers"),
        (NOISY, ONES * 0, 1, "from 1 to 2\\^20"),
        (NOISY, ONES * 2**21, 1, "from 1 to 2\\^20"),
        (NOISY, ONES, 0, "scale"),
        (NOISY, ONES, 1.5, "scale"),
        (NOISY, ONES, True, "scale"),
        (NOISY * 2**58, ONES, 1, "overflow"),
        (-NOISY * 2**58, ONES, 1, "overflow"),
    ],
)
def test_what_does_not_fit_is_refused_before_computing(noisy, weights, scale, rule):
    with pytest.raises(BadValue, match=rule):
        hay.estimates(TREE, noisy, weights, scale=scale)
