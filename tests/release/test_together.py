"""Cells and marginals fitted at once: the real step as a QP solver finds it, every rule, and far better totals."""

import numpy as np
import pytest

from discreet.release import check
from discreet.release.attributes import matrix
from discreet.release.fit import choice, together
from discreet.release.known import Known
from discreet.release.measure import all_cells, marginal
from discreet.release.plan import plan_of
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import from_branches, tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from release.test_tree import random_tree
from replay import Seeded

NAMES, SIZES = ("sex", "age", "home"), (2, 3, 2)
VIEWS = (*(marginal([name], NAMES, SIZES) for name in NAMES), all_cells(NAMES, 12))
SEEN = together.MeasuredViews(VIEWS, (3.0, 1.0, 2.0, 1.0))


def case(seed):
    """A random tree, exact counts, what noise of 0, 3 or 40 made of their views, weights, and what is known."""
    chance = np.random.default_rng(seed)
    tree = random_tree(seed, int(chance.integers(2, 20)))
    allowed = chance.random((len(tree.leaves), 12)) < (0.4, 0.8, 1.1)[seed % 3]
    leaves = chance.integers(0, 9, allowed.shape) * allowed
    exact = tree_sums(tree, leaves)
    noise = (0, 3, 40)[seed // 3 % 3]
    noisy = np.concatenate([view.of(exact) for view in VIEWS], axis=1)
    noisy = noisy + chance.integers(-noise, noise + 1, noisy.shape)
    totals = leaves.sum(axis=1)
    held = (
        Known(total=int(totals.sum())),
        Known(total=int(totals.sum()), leaf_totals=totals),
        Known(total=int(totals.sum()), allowed=allowed),
        Known(total=int(totals.sum()), leaf_totals=totals, allowed=allowed),
    )[seed // 9 % 4]
    return tree, exact, noisy, chance.integers(1, 6, len(tree)), held, noise


@pytest.mark.parametrize("seed", range(108))
def test_nothing_is_ever_broken_and_without_noise_nothing_changes(seed):
    tree, exact, noisy, weights, held, noise = case(seed)
    table = together.whole_table(tree, noisy, weights, SEEN, held)
    assert held.violations(tree, table) == check.Violations()
    if not noise:
        assert np.array_equal(table, exact)


def solved(tree, noisy, weights, held):
    """The same program by a general solver: every view's squares, weighted by place and view."""
    import cvxpy

    x = cvxpy.Variable((len(tree), 12))
    start, parts = 0, []
    for view, weight in zip(VIEWS, SEEN.weights, strict=True):
        seen = x @ matrix(view).T - noisy[:, start : start + view.size]
        parts.append(weight * cvxpy.sum(cvxpy.multiply(weights[:, None], cvxpy.square(seen))))
        start += view.size
    rules = [x >= 0]
    for place in range(len(tree)):
        children = range(tree.child[place], tree.child[place + 1])
        if children:
            rules.append(x[place] == sum(x[child] for child in children))
    possible = held.possible(tree)
    if possible is not None:
        rules.append(cvxpy.multiply((~possible).astype(float), x) == 0)
    if held.leaf_totals is not None:
        rules.append(cvxpy.sum(x, axis=1) == held.totals(tree))
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(parts)), rules).solve(
        solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    return x.value


@pytest.mark.parametrize("seed", range(3, 39, 4))
def test_the_real_table_is_that_of_a_general_solver(monkeypatch, seed):
    monkeypatch.setattr(together, "SWEEPS", 20_000)
    monkeypatch.setattr(together, "TOLERANCE", 1e-8)
    tree, _, noisy, weights, held, _ = case(seed)
    assert together.real_table(tree, noisy, weights, SEEN, held) == pytest.approx(
        solved(tree, noisy, weights, held), abs=2e-4
    )


def test_the_real_table_of_few_sweeps_is_within_half_a_count(monkeypatch):
    tree, _, noisy, weights, held, _ = case(6)
    computed = together.real_table(tree, noisy, weights, SEEN, held)
    monkeypatch.setattr(together, "SWEEPS", 20_000)
    monkeypatch.setattr(together, "TOLERANCE", 1e-8)
    assert np.abs(computed - together.real_table(tree, noisy, weights, SEEN, held)).max() < 0.5


# --- what it is for --------------------------------------------------------------------------------------------------

WARDS = tuple(("x", f"r{region}", f"w{region}.{ward}") for region in range(6) for ward in range(8))
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=WARDS)
COLUMNS = [
    Column("ward", "category", values=GEO.leaves),
    Column("sex", "category", values=("f", "m")),
    Column("age", "category", values=tuple("abcde")),
    Column("state", "category", values=tuple("smdw")),
]
SCHEMA = Schema("people", COLUMNS, Unit("person", 1), "add-remove", None, (GEO,))


def test_totals_and_marginals_of_places_are_far_nearer_than_cell_by_cell():
    """One seeded draw; wards of 20 to 2,000 people in 40 cells, most of them small."""
    about = subject(ReleaseSpec("geo", by=("sex", "age", "state")), SCHEMA)
    plan, alone = plan_of(about, Terms.parse(1)), plan_of(about, Terms.parse(1), method="integer")
    assert plan.method == "together"
    chance = np.random.default_rng(1)
    share = chance.dirichlet(np.full(40, 0.3))
    leaves = np.stack(
        [chance.multinomial(int(size), share) for size in np.geomspace(20, 2_000, len(about.tree.leaves))]
    )
    exact, noisy = tree_sums(about.tree, leaves), plan.measurement(leaves, Seeded(2))
    joint_error, far = (choice.table_of(each, noisy) - exact for each in (plan, alone))
    wards = about.tree.places(2)
    for off in (lambda table: table.sum(axis=1), plan.measurement.marginals[0].of):
        assert np.square(off(joint_error[wards])).mean() < 0.3 * np.square(off(far[wards])).mean()
    assert np.abs(joint_error[wards]).sum() < np.abs(far[wards]).sum()


def test_trees_of_one_place_and_of_one_leaf_keep_their_total():
    for branches in ([("x",)], [("x", "a")]):
        tree = from_branches(("a", "b")[: len(branches[0])], branches)
        noisy = np.full((len(tree), sum(view.size for view in VIEWS)), 3)
        table = together.whole_table(tree, noisy, np.ones(len(tree), dtype=np.int64), SEEN, Known(total=7))
        assert table.sum(axis=1).tolist() == [7] * len(tree)
