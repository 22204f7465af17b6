"""The real projection: equal to exact fractions and to a general solver, and a projection in every sense."""

import subprocess
import sys

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.fit import duals
from discreet.release.fit.kernels import duals as kernels
from discreet.release.tree import from_branches, from_edges, tree_sums
from release.cases import Case, census, exactly_projected, require_adds_up, small_case
from release.fits import relaxed

SLIDE = from_edges([("US", "GA"), ("US", "MI")])


def norm(weights, table):
    return float((np.asarray(weights)[:, None] * np.asarray(table, dtype=float) ** 2).sum())


@pytest.mark.parametrize("block", range(6))
def test_small_trees_equal_the_optimum_in_fractions(block):
    for seed in range(50 * block, 50 * block + 50):
        case = small_case(seed)
        table = duals.projection(*case.given, **case.known)
        require_adds_up(case, table, 1e-11)
        assert table == pytest.approx(np.array(exactly_projected(case), dtype=float), abs=1e-11, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_far_apart_weights_and_large_counts_keep_their_digits(seed):
    case = small_case(seed, reach=10**9)
    heavy = 2 ** np.random.default_rng(seed).integers(0, 21, len(case.tree))
    case = Case(case.tree, case.noisy, heavy, case.known)
    table = duals.projection(*case.given, **case.known)
    largest = 1 + float(np.abs(case.noisy).max()) / case.known["scale"]
    assert table / largest == pytest.approx(np.array(exactly_projected(case), dtype=float) / largest, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_a_general_solver_finds_the_same_table(seed):
    case = small_case(1000 + seed)
    tight = {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iter": 10**6}
    solved, _ = relaxed.fitted(*case.given, **case.known, solver="OSQP", **tight)
    assert duals.projection(*case.given, **case.known) == pytest.approx(solved, abs=1e-6)


def test_a_general_solver_finds_the_same_table_of_a_thousand_leaves():
    tree, exact, noisy = census(5, (1, 9, 80, 1000), cells=3)
    weights = 1 + tree.level
    solved, _ = relaxed.fitted(
        tree, noisy, weights, total=int(exact[0].sum()), solver="OSQP", eps_abs=1e-9, eps_rel=1e-9
    )
    assert duals.projection(tree, noisy, weights, total=int(exact[0].sum())) == pytest.approx(solved, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_without_noise_nothing_changes(seed):
    case = small_case(seed)
    leaves = np.random.default_rng(seed).integers(0, 9, (len(case.tree.leaves), case.noisy.shape[1]))
    allowed = case.known["allowed"]
    exact = tree_sums(case.tree, leaves if allowed is None else leaves * allowed)
    for total in (None, int(exact[0].sum())):
        fit = duals.projection(case.tree, exact, case.weights, total=total, allowed=allowed)
        assert fit == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_projecting_again_changes_nothing(seed):
    case = small_case(seed)
    once = duals.projection(*case.given, **case.known)
    fine = tree_sums(case.tree, np.rint(once[case.tree.leaves] * 2**20).astype(np.int64))
    projected_twice = duals.projection(case.tree, fine, case.weights, scale=2**20, allowed=case.known["allowed"])
    assert projected_twice == pytest.approx(fine / 2**20, abs=1e-11)


@pytest.mark.parametrize("seed", range(100))
def test_the_error_falls_by_what_the_projection_moved(seed):
    case = small_case(seed)
    scale, allowed = case.known["scale"], case.known["allowed"]
    leaves = np.random.default_rng(seed).integers(0, 7, (len(case.tree.leaves), case.noisy.shape[1]))
    exact = tree_sums(case.tree, leaves if allowed is None else leaves * allowed)
    noisy = scale * exact + case.noisy
    for total in (None, int(exact[0].sum())):
        fit = duals.projection(case.tree, noisy, case.weights, scale=scale, total=total, allowed=allowed)
        before, moved = norm(case.weights, noisy / scale - exact), norm(case.weights, fit - noisy / scale)
        assert norm(case.weights, fit - exact) <= before - moved + 1e-9 * (1 + before)


def test_chains_and_single_places_have_their_projection():
    chain = from_edges([(str(i), str(i + 1)) for i in range(60)])
    noisy = np.arange(len(chain))[:, None] - 10
    assert duals.projection(chain, noisy, np.ones(len(chain), int)) == pytest.approx(np.full(noisy.shape, noisy.mean()))
    single = from_branches(("x",), [("a",)])
    assert duals.projection(single, [[5, -2, 1]], [3]).tolist() == [[5, 0, 1]]
    assert duals.projection(single, [[5, -2, 1]], [3], total=4).tolist() == [[4, 0, 0]]
    assert duals.projection(single, [[5, -2, 1]], [3], total=5).tolist() == [[4.5, 0, 0.5]]
    assert duals.projection(single, [[5, -2, 1]], [3], total=0).tolist() == [[0, 0, 0]]


def test_negative_noise_and_a_total_of_zero_give_zeros():
    assert not duals.projection(SLIDE, [[-9], [-3], [-1]], [1, 1, 1]).any()
    assert not duals.projection(SLIDE, [[90], [30], [10]], [1, 1, 1], total=0).any()
    closed = np.zeros((2, 1), dtype=bool)
    assert not duals.projection(SLIDE, [[90], [30], [10]], [1, 1, 1], total=0, allowed=closed).any()
    assert not duals.projection(SLIDE, [[90], [30], [10]], [1, 1, 1], allowed=closed).any()


@pytest.mark.parametrize("seed", range(30))
def test_pairs_are_sorted_by_price_and_keep_together(seed):
    numbers = np.random.default_rng(seed)
    many = int(numbers.integers(0, 300))
    ordered = [np.sort(numbers.normal(size=int(numbers.integers(1, 40)))) for _ in range(20)]
    keys = np.concatenate(ordered)[:many] if seed % 2 else numbers.integers(0, 20, many).astype(float)
    tags = np.arange(len(keys), dtype=float)
    sorted_keys, sorted_tags = keys.copy(), tags.copy()
    spare = np.empty(len(keys))
    kernels.sort_by_dual(sorted_keys, sorted_tags, spare, spare.copy(), np.empty(len(keys) // 16 + 3, np.int64))
    order = np.argsort(keys, kind="stable")
    assert sorted_keys.tolist() == keys[order].tolist()
    assert sorted_tags.tolist() == tags[order].tolist()


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"noisy": [[2.5], [3], [0]]}, "noisy must be whole numbers"),
        ({"noisy": [[float("nan")], [3], [0]]}, "noisy must be whole numbers"),
        ({"noisy": [[2], [3]]}, "noisy must have a row for each place"),
        ({"noisy": [2, 3, 0]}, "noisy must have a row for each place"),
        ({"noisy": np.zeros((3, 0), int)}, "noisy must have a row for each place"),
        ({"noisy": [[2**60], [3], [0]]}, "noisy must lie between"),
        ({"noisy": np.array([[2**63], [3], [0]], dtype=np.uint64)}, "noisy must be whole numbers"),
        ({"noisy": [[True], [False], [True]]}, "noisy must be whole numbers"),
        ({"weights": [1, 1]}, "weights must be 3 whole numbers"),
        ({"weights": [1, 0, 1]}, "weights must be 3 whole numbers"),
        ({"weights": [1, 2**21, 1]}, "weights must be 3 whole numbers"),
        ({"weights": [1, float("nan"), 1]}, "weights must be whole numbers"),
        ({"scale": 0}, "scale must be a whole number"),
        ({"scale": 2.0}, "scale must be a whole number"),
        ({"total": -1}, "total must be a whole number"),
        ({"total": True}, "total must be a whole number"),
        ({"total": float("nan")}, "total must be a whole number"),
        ({"total": 2**60}, "total must be a whole number"),
        ({"allowed": np.ones((3, 1), bool)}, "allowed must be True or False"),
        ({"allowed": np.ones((2, 1), int)}, "allowed must be True or False"),
        ({"allowed": np.zeros((2, 1), bool), "total": 3}, "total must be 0 where no cell is allowed"),
    ],
)
def test_what_cannot_be_fitted_is_refused(changed, rule):
    given = {"noisy": [[2], [3], [0]], "weights": [1, 1, 1]} | changed
    with pytest.raises(BadValue, match=rule):
        duals.projection(SLIDE, **given)


def test_the_modules_load_no_compiler_and_no_solver():
    names = ["duals", "integer"]
    code = "".join(f"import discreet.release.fit.{name}\n" for name in names)
    code += "import sys\nassert not {'numba', 'cvxpy', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
