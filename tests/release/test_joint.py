"""M_c^joint: the projection on tree and monotony at once; its error never grows; whole counts stay within one unit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release import leastsquares
from discreet.release.fit import integer, joint
from discreet.release.fit.cumulative import scaled_differences
from discreet.release.fit.kernels import isotonic as kernels
from discreet.release.tree import from_branches, tree_sums
from release.fits import hay
from release.test_cumulative import case


def programmed(tree, noisy, weights, total, totals):
    """The same projection by a general solver."""
    import cvxpy

    table = cvxpy.Variable(noisy.shape)
    rules = [table >= 0, table[:, :-1] <= table[:, 1:]]
    for place in range(len(tree)):
        children = list(range(tree.child[place], tree.child[place + 1]))
        if children:
            rules.append(cvxpy.sum(table[children], axis=0) == table[place])
    if total is not None:
        rules.append(table[0, -1] == total)
    if totals is not None:
        rules.append(table[tree.leaves, -1] == totals)
    squares = cvxpy.sum(cvxpy.multiply(weights[:, None] + 0 * noisy, cvxpy.square(table - noisy)))
    cvxpy.Problem(cvxpy.Minimize(squares), rules).solve(solver="CLARABEL")
    return table.value


def adds_up(tree, table):
    return (table == tree_sums(tree, table[tree.leaves])).all() and table.min() >= 0


def publics(exact, totals):
    return ({}, {"total": int(exact[0].sum())}, {"leaf_totals": totals})


@pytest.mark.parametrize("seed", range(51))
def test_the_joint_fit_converges_to_the_projection(seed):
    tree, exact, noisy, weights, totals = case(seed, places=10, sizes=4)
    public = publics(exact, totals)[seed % 3]
    fit = joint.cumulative_counts(tree, noisy, weights, sweeps=20_000, tolerance=1e-8, **public)
    best = programmed(tree, noisy, weights, public.get("total"), public.get("leaf_totals"))
    assert fit == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("sweeps", [1, 2, 5, 25])
def test_cumulative_error_never_grows(seed, sweeps):
    tree, exact, noisy, weights, totals = case(seed, places=40)
    for public in publics(exact, totals):
        fit = joint.cumulative_counts(tree, noisy, weights, sweeps=sweeps, **public)
        after, before = ((weights[:, None] * (x - exact.cumsum(axis=1)) ** 2).sum() for x in (fit, noisy))
        assert after <= before * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_consistent_and_monotone_counts_stay_as_they_are(seed):
    tree, exact, noisy, weights, totals = case(seed, noise=0)
    for public in publics(exact, totals):
        assert joint.cumulative_counts(tree, noisy, weights, **public) == pytest.approx(noisy, abs=1e-9)
        values, scale = scaled_differences(joint.cumulative_counts(tree, noisy, weights, **public))
        assert (values == exact * scale).all()
        assert (joint.whole_sizes(tree, noisy, weights, **public) == exact).all()


@pytest.mark.parametrize("seed", range(10))
def test_tree_step_is_weighted_least_squares(seed):
    tree, _, noisy, weights, _ = case(seed)
    shared = leastsquares.shares(tree, weights.astype(float))
    mine = leastsquares.consistent(shared, noisy.astype(float))
    assert mine == pytest.approx(hay.estimates(tree, noisy, weights).values, abs=1e-9)
    leaves = np.eye(len(tree.leaves))
    sums = tree_sums(tree, leaves) * np.sqrt(weights)[:, None]
    slow = np.linalg.lstsq(sums, noisy * np.sqrt(weights)[:, None], rcond=None)[0]
    assert mine == pytest.approx(tree_sums(tree, slow), abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_whole_counts_add_up_and_keep_every_public_number(seed):
    tree, exact, noisy, weights, totals = case(seed, places=2 + seed, noise=seed)
    for public in publics(exact, totals):
        table = joint.whole_sizes(tree, noisy, weights, **public)
        assert adds_up(tree, table)
        if public:
            assert table[0].sum() == exact[0].sum()
        if "leaf_totals" in public:
            assert (table[tree.leaves].sum(axis=1) == totals).all()


@pytest.mark.parametrize("seed", range(60))
def test_units_dealt_to_children_stay_within_one_of_their_targets(seed):
    chance = np.random.default_rng(seed)
    children, sizes = int(chance.integers(1, 12)), int(chance.integers(1, 9))
    steps = chance.uniform(0, 3, (children, sizes)) * (chance.random((children, sizes)) < 0.6)
    steps[0, :] += 1e-3
    curves = np.cumsum(steps, axis=1)
    whole = np.sort(chance.integers(0, int(curves[:, -1].sum()) + 3, sizes))
    targets, table = np.empty_like(curves), np.zeros(curves.shape, dtype=np.int64)
    kernels.bend_curves(curves, whole, targets)
    assert targets.sum(axis=0) == pytest.approx(whole, abs=1e-9)
    assert np.diff(targets, axis=1, prepend=0).min() >= -1e-12
    same = np.abs(targets - curves).sum(axis=0)  # all children move the same way: no further than their sum does
    assert same == pytest.approx(np.abs(whole - curves.sum(axis=0)), abs=1e-9)
    kernels.deal_units(targets, whole, np.full(children, 10**6), table)
    assert (table.sum(axis=0) == whole).all()
    assert np.diff(table, axis=1, prepend=0).min() >= 0
    assert np.abs(table - targets).max() < 1 + 2e-6


def test_a_unit_goes_to_the_child_that_needs_it_soonest():
    targets = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 1, 1], [0.5, 1, 1]])
    table = np.zeros(targets.shape, dtype=np.int64)
    kernels.deal_units(targets, np.array([2, 3, 3]), np.full(4, 9), table)
    assert table.tolist() == [[0, 1, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1]]


def test_long_tails_are_nearer_in_sizes_than_after_differencing():
    """24 places with sizes up to 200 and 60 groups each, 10 runs: the EMD is less than two thirds."""
    chance = np.random.default_rng(7)
    tree = from_branches(("top", "area", "place"), [("x", str(a), str(p)) for a in range(4) for p in range(6)])
    ratios = []
    for _ in range(10):
        leaves = np.array([np.bincount(np.minimum(chance.geometric(0.02, 60), 200), minlength=201) for _ in range(24)])
        exact = tree_sums(tree, leaves)
        noisy = exact.cumsum(axis=1) + np.rint(chance.laplace(0, 3, exact.shape)).astype(np.int64)
        weights, total = np.ones(len(tree), dtype=np.int64), int(exact[0].sum())
        values, scale = scaled_differences(joint.cumulative_counts(tree, noisy, weights, total=total))
        tables = (
            integer.fit(tree, values, weights, scale=scale, total=total),
            joint.whole_sizes(tree, noisy, weights, total=total),
        )
        ratios.append([np.abs((table - exact).cumsum(axis=1)).sum() for table in tables])
    by_counts, by_sizes = np.mean(ratios, axis=0)
    assert by_sizes < by_counts / 1.5


def test_result_does_not_depend_on_threads():
    tree, exact, noisy, weights, _ = case(4, places=60)
    total = int(exact[0].sum())
    alone = joint.whole_sizes(tree, noisy, weights, total=total)
    with ThreadPoolExecutor(4) as pool:
        for table in pool.map(lambda _: joint.whole_sizes(tree, noisy, weights, total=total), range(12)):
            assert (table == alone).all()


@pytest.mark.parametrize(
    ("weights", "options", "rule"),
    [
        (np.ones(3, dtype=np.int64), {}, "weights must be 14 whole numbers"),
        (np.ones(14), {}, "weights must be 14 whole numbers"),
        (np.zeros(14, dtype=np.int64), {}, "weights must be from 1 to"),
        (np.full(14, 2**21), {}, "weights must be from 1 to"),
        (np.ones(14, dtype=np.int64), {"sweeps": 0}, "sweeps must be at least 1"),
        (np.ones(14, dtype=np.int64), {"tolerance": float("nan")}, "tolerance not negative"),
        (np.ones(14, dtype=np.int64), {"total": -4}, "total must lie between"),
    ],
)
def test_counts_that_break_a_rule_are_refused(weights, options, rule):
    tree, _, noisy, _, _ = case(1)
    with pytest.raises(BadValue, match=rule):
        joint.cumulative_counts(tree, noisy, weights, **options)
