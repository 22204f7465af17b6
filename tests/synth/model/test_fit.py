"""The fit against a slow twin over all cells: what it minimises, what it meets, and what cannot occur."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from discreet.synth.model.dual import SLACK, Target, fit
from discreet.synth.model.junction import junction
from synth.model.brute import graphs, joint, marginal_of, spread

SIZES, PAIRS, TOTAL = (2, 3, 2), [(0, 1), (1, 2)], 500.0


def table_of(seed, sizes=SIZES):
    """A distribution over all cells."""
    return np.random.default_rng(seed).dirichlet(np.full(int(np.prod(sizes)), 0.6)).reshape(sizes)


def targets_of(cells, deviation, seed=0, pairs=PAIRS, total=TOTAL):
    chance = np.random.default_rng(seed)
    columns = [*pairs, *((column,) for column in range(cells.ndim))]
    exact = [total * marginal_of(cells, own) for own in columns]
    return [
        Target(own, counts + chance.normal(0, deviation, counts.shape), deviation)
        for own, counts in zip(columns, exact, strict=True)
    ]


def even(sizes):
    return [np.full(size, 1 / size) for size in sizes]


def slow_fit(sizes, base, targets, total):
    """The same minimum over the joint distribution itself."""
    ends = np.cumsum([0, *(target.counts.size for target in targets)])
    roots = sum(spread(np.log(own), (column,), len(sizes)) for column, own in enumerate(base))

    def joint_of(duals):
        logs = roots + 0.0
        for target, begin, end in zip(targets, ends, ends[1:], strict=False):
            logs = logs + spread(duals[begin:end].reshape(target.counts.shape), target.columns, len(sizes))
        weights = np.exp(logs - logs.max())
        return weights / weights.sum(), logs.max() + np.log(weights.sum())

    def value(duals):
        observed = np.concatenate([target.counts.ravel() for target in targets])
        variance = np.concatenate([np.full(target.counts.size, target.deviation**2) for target in targets])
        return total * joint_of(duals)[1] - duals @ observed + SLACK / 2 * variance @ duals**2

    best = minimize(value, np.zeros(ends[-1]), method="BFGS", options={"gtol": 1e-6})
    return joint_of(best.x)[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_the_minimum_that_its_formula_names(seed):
    targets = targets_of(table_of(seed), 5.0, seed)
    tree = junction(SIZES, PAIRS)
    fitted = fit(tree, even(SIZES), targets, TOTAL, evaluations=2000)
    cells, _ = joint(tree, fitted.potentials)
    assert np.allclose(cells, slow_fit(SIZES, even(SIZES), targets, TOTAL), atol=2e-4)


def test_a_fit_without_noise_meets_every_table_and_adds_nothing_else():
    """Of all distributions with these pairs the one where the ends are independent given the middle."""
    cells = table_of(7)
    tree = junction(SIZES, PAIRS)
    fitted = fit(tree, even(SIZES), targets_of(cells, 1e-3), TOTAL, evaluations=5000)
    own, _ = joint(tree, fitted.potentials)
    for pair in PAIRS:
        assert np.allclose(marginal_of(own, pair), marginal_of(cells, pair), atol=1e-3)
    first, second, middle = (marginal_of(own, columns) for columns in ((0, 1), (1, 2), (1,)))
    expected = first[:, :, None] * second[None] / middle[None, :, None]
    assert np.allclose(own, expected, atol=1e-9)


def test_a_fit_without_targets_is_its_base():
    base = [np.array([0.2, 0.8]), np.array([0.5, 0.25, 0.25]), np.array([1.0, 0.0])]
    fitted = fit(junction(SIZES, []), base, (), TOTAL)
    for (column,), own in zip(fitted.tree.cliques, fitted.beliefs, strict=True):
        assert np.allclose(own, base[column], atol=1e-9)


@given(graphs(most_columns=5, most_cells=3))
@settings(max_examples=40, deadline=None)
def test_impossible_cells_have_no_chance_however_many_were_counted(graph):
    """Two combinations over the same columns are both kept, and each cell of theirs has the chance 0 exactly."""
    sizes, pairs, first = graph
    sizes = [size + 1 for size in sizes]
    if not pairs:
        return
    left, right = pairs[0]
    masks = []
    for cell in ((0, 0), (1, 1)):
        mask = np.zeros((sizes[left], sizes[right]), dtype=bool)
        mask[cell] = True
        masks.append(((left, right), mask))
    cells = np.zeros(sizes)
    cells[(0,) * len(sizes)] = 0.5
    cells[(1,) * len(sizes)] = 0.5
    tree = junction(sizes, pairs, first)
    fitted = fit(tree, even(sizes), targets_of(cells, 1.0, 1, pairs), TOTAL, forbidden=masks)
    own = fitted.beliefs[tree.home((left, right))]
    clique = tree.cliques[tree.home((left, right))]
    assert np.isfinite(own).all()
    assert own.sum() == pytest.approx(1)
    for _, mask in masks:
        hit = np.broadcast_to(mask.reshape([sizes[c] if c in (left, right) else 1 for c in clique]), own.shape)
        assert (own[hit] == 0).all()


@pytest.mark.parametrize("deviation", [1e-3, 0.03, 1e3])
@pytest.mark.parametrize("total", [1.0, 1e6])
def test_fits_to_counts_of_any_noise_are_distributions(deviation, total):
    """Next to no noise, next to no units, and noise that drowns all: beliefs are finite and no warning is raised."""
    for seed in range(6):
        sizes = (3, 4, 2, 5)
        cells, pairs = table_of(seed, sizes) ** 4, [(0, 1), (1, 2), (2, 3), (0, 3)]
        targets = targets_of(cells / cells.sum(), deviation, seed, pairs, total)
        base = [np.maximum(target.counts, 0) for target in targets[len(pairs) :]]
        base = [own / own.sum() if own.sum() else np.full(len(own), 1 / len(own)) for own in base]
        fitted = fit(junction(sizes, pairs), base, targets, total)
        for own in fitted.beliefs:
            assert np.isfinite(own).all()
            assert own.sum() == pytest.approx(1)
