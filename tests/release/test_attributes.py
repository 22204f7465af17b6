"""Several noisy views of a place's cells as one estimate: unbiased, with the covariance that it says."""

import numpy as np
import pytest

from discreet.release.attributes import matrix, views
from discreet.release.measure import all_cells, marginal
from discreet.release.tree import from_branches, tree_sums
from release.fits import hay

NAMES, SIZES = ["age", "sex"], [3, 2]
VIEWS = (
    marginal([], NAMES, SIZES),
    marginal(["age"], NAMES, SIZES),
    marginal(["sex"], NAMES, SIZES),
    all_cells(NAMES, 6),
)
WEIGHTS = [4.0, 1.0, 2.0, 0.5]


def test_without_noise_the_cells_come_back():
    cells = np.arange(12).reshape(2, 6)
    seen = np.concatenate([view.of(cells) for view in VIEWS], axis=1)
    assert np.allclose(views(VIEWS, WEIGHTS).cells(seen), cells)


def test_a_matrix_adds_up_like_its_view():
    cells = np.arange(12).reshape(2, 6)
    for view in VIEWS:
        assert np.array_equal(cells @ matrix(view).T, view.of(cells))


def test_variances_are_those_of_independent_noise():
    combined = views(VIEWS, WEIGHTS)
    spread = np.concatenate([np.full(view.size, 1 / weight) for view, weight in zip(VIEWS, WEIGHTS, strict=True)])
    covariance = combined.weights.T @ (spread[:, None] * combined.weights)
    assert np.allclose(covariance, combined.covariance)
    for view in VIEWS:
        assert np.allclose(combined.variance(view), np.diag(matrix(view) @ covariance @ matrix(view).T))


def test_no_view_is_estimated_worse_than_it_was_measured():
    combined = views(VIEWS, WEIGHTS)
    for view, weight in zip(VIEWS, WEIGHTS, strict=True):
        assert (combined.variance(view) <= 1 / weight + 1e-12).all()


def test_cells_first_and_places_after_is_least_squares_of_all_at_once():
    tree = from_branches(("country", "region"), [("x", "a"), ("x", "b"), ("x", "c")])
    levels, draw = np.array([1, 3]), np.random.default_rng(4)
    noisy = draw.integers(-50, 50, (len(tree), sum(view.size for view in VIEWS)))
    by_turns = hay.estimates(
        tree, np.rint(views(VIEWS, WEIGHTS).cells(noisy) * 2**20).astype(np.int64), levels[tree.level], scale=2**20
    )
    leaves, seen = len(tree.leaves), np.concatenate([matrix(view) for view in VIEWS])
    adding = np.stack([tree_sums(tree, np.eye(leaves)[:, [leaf]])[:, 0] for leaf in range(leaves)], axis=1)
    weighing = np.concatenate([np.full(view.size, weight) for view, weight in zip(VIEWS, WEIGHTS, strict=True)])
    root = np.sqrt(np.kron(levels[tree.level], weighing))
    solution = np.linalg.lstsq(root[:, None] * np.kron(adding, seen), root * noisy.ravel(), rcond=None)[0]
    assert by_turns.values[tree.leaves].ravel() == pytest.approx(solution, abs=1e-3)
