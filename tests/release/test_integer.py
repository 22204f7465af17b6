"""The whole-number projection: equal to full tables, adding up, exact at any size, the same every time."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.fit import duals, integer
from discreet.release.fit.kernels import windows as kernels
from discreet.release.tree import from_branches, from_edges, tree_sums
from release.cases import Case, census, require_adds_up, small_case
from release.fits import tables

SLIDE = from_edges([("US", "GA"), ("US", "MI")])


def cost(case, table):
    return tables.cost(case.noisy, case.weights, table, scale=case.known["scale"])


@pytest.mark.parametrize("block", range(20))
def test_a_thousand_small_trees_equal_the_full_cost_tables(block):
    for seed in range(50 * block, 50 * block + 50):
        case = small_case(seed)
        fit = integer.fit(*case.given, **case.known)
        require_adds_up(case, fit)
        full = tables.fitted(*case.given, **case.known, bound=40 if case.known["total"] is None else None)
        assert cost(case, fit) == cost(case, full)
        assert (fit == full).all()  # ties are broken alike
        real = duals.projection(*case.given, **case.known)
        least = (case.weights[:, None] * (case.known["scale"] * real - case.noisy) ** 2).sum()
        assert least <= cost(case, fit) * (1 + 1e-12) + 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_no_other_table_that_adds_up_costs_less(seed):
    case = small_case(seed)
    fit, numbers = integer.fit(*case.given, **case.known), np.random.default_rng(seed)
    least, allowed = cost(case, fit), case.known["allowed"]
    shape = (len(case.tree.leaves), case.noisy.shape[1])
    open_cells = np.flatnonzero(np.ones(shape, bool) if allowed is None else allowed)
    for _ in range(50 if len(open_cells) else 0):
        leaves = fit[case.tree.leaves].ravel()
        for _ in range(numbers.integers(1, 4)):
            giver, taker = numbers.choice(open_cells, 2)
            leaves[taker] += 1
            if case.known["total"] is not None:
                leaves[giver] -= 1
        if leaves.min() >= 0:
            assert cost(case, tree_sums(case.tree, leaves.reshape(shape))) >= least


@pytest.mark.parametrize("seed", range(60))
def test_nothing_rests_on_the_real_table(seed):
    case = small_case(seed)
    given = duals.fit_input(*case.given, **case.known)
    fit = integer.fit(*case.given, **case.known)
    numbers = np.random.default_rng(seed)
    for wrong in (np.zeros(case.noisy.shape), 30 * numbers.random(case.noisy.shape), np.full(case.noisy.shape, 1e3)):
        assert (integer.whole_table(given, wrong * given.free) == fit).all()


@pytest.mark.parametrize("total", [None, 0, 10, "exact", 2000])
def test_a_census_equals_the_convex_merge(total):
    tree, exact, noisy = census(3, (1, 6, 40, 300), cells=3)
    total = int(exact[0].sum()) if total == "exact" else total
    allowed = np.random.default_rng(1).random((300, 3)) < 0.8
    for weights in (np.ones(len(tree), int), 1 + 3 * tree.level, 100 - 30 * tree.level):
        case = Case(tree, noisy, weights, {"scale": 1, "total": total, "allowed": allowed})
        fit = integer.fit(*case.given, **case.known)
        require_adds_up(case, fit)
        assert (fit == tables.merged(*case.given, **case.known, bound=1500 if total is None else None)).all()


def test_windows_widen_where_heavy_leaves_pull_a_light_top_away():
    tree, _, noisy = census(7, (1, 400), spread=20)
    weights = np.where(np.arange(len(tree)) == 0, 1, 2**20)
    noisy = 1024 * np.abs(noisy) + 500  # every leaf a little below a half: the light top loses 400 times 0.49
    fit = integer.fit(tree, noisy, weights, scale=1024)
    assert (fit[1:] == noisy[1:] // 1024).all()
    real = duals.projection(tree, noisy, weights, scale=1024)
    assert real[0, 0] - fit[0, 0] > 100


def test_large_counts_are_exact():
    tree, exact, noisy = census(11, (1, 5, 60))
    weights = 1 + tree.level
    fits = []
    for shift in (2**10, 2**30, 2**50):
        base = tree_sums(tree, np.full((60, 1), shift // 64))
        fits.append(integer.fit(tree, noisy + base, weights, total=int(exact[0, 0] + base[0, 0])) - base)
    assert (fits[0] == fits[1]).all()
    assert (fits[0] == fits[2]).all()


@pytest.mark.parametrize("seed", range(40))
def test_without_noise_nothing_changes_and_fitting_again_changes_nothing(seed):
    case = small_case(seed)
    fit = integer.fit(*case.given, **case.known)
    for total in (None, int(fit[0].sum())):
        refitted = integer.fit(case.tree, fit, case.weights, total=total, allowed=case.known["allowed"])
        assert (refitted == fit).all()


def test_ties_go_to_the_lower_child_and_the_lower_cell():
    wide = from_edges([("top", name) for name in "abcd"])
    assert integer.fit(wide, [[2], [0], [0], [0], [0]], [9, 1, 1, 1, 1], total=2)[1:, 0].tolist() == [1, 1, 0, 0]
    single = from_branches(("x",), [("a",)])
    assert integer.fit(single, [[1, 1, 1]], [1], total=4).tolist() == [[2, 1, 1]]
    assert integer.fit(SLIDE, [[2], [3], [0]], [1, 1, 1]).tolist() == [[2], [2], [0]]
    assert integer.fit(single, [[3, 512]], [1], scale=1024).tolist() == [[0, 0]]  # a half stays below


def test_negative_noise_zero_totals_and_closed_cells_give_zeros():
    closed = np.zeros((2, 1), dtype=bool)
    assert not integer.fit(SLIDE, [[-9], [-3], [-1]], [1, 1, 1]).any()
    assert not integer.fit(SLIDE, [[90], [30], [10]], [1, 1, 1], total=0).any()
    assert not integer.fit(SLIDE, [[90], [30], [10]], [1, 1, 1], allowed=closed).any()


def test_the_inputs_stay_as_they_were():
    tree, exact, noisy = census(2, (1, 4, 30), cells=2)
    kept, allowed = noisy.copy(), np.ones((30, 2), bool)
    integer.fit(tree, noisy, np.ones(len(tree), int), total=int(exact[0].sum()), allowed=allowed)
    assert (noisy == kept).all()
    assert allowed.all()


@pytest.mark.parametrize("seed", range(60))
def test_ranks_are_those_of_sorting(seed):
    numbers = np.random.default_rng(seed)
    many = int(numbers.integers(1, 400))
    values = numbers.integers(-5, 5, many) if seed % 3 else np.arange(many)[:: -1 if seed % 2 else 1].copy()
    first = int(numbers.integers(0, many))
    last = min(many, first + int(numbers.integers(1, 90)))
    ranked = values.copy()
    kernels.put_in_rank(ranked, many, first, last)
    assert ranked[first:last].tolist() == np.sort(values)[first:last].tolist()
    assert np.sort(ranked).tolist() == np.sort(values).tolist()


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"noisy": [[2**45], [3], [0]], "weights": [2**20] * 3}, "must stay below 2⁶²"),
        ({"total": 2**45, "weights": [2**20] * 3}, "must stay below 2⁶²"),
        ({"noisy": [[float("nan")], [3], [0]]}, "noisy must be whole numbers"),
        ({"total": -1}, "total must be a whole number"),
        ({"allowed": np.zeros((2, 1), bool), "total": 3}, "total must be 0 where no cell is allowed"),
    ],
)
def test_what_cannot_be_fitted_is_refused(changed, rule):
    given = {"noisy": [[2], [3], [0]], "weights": [1, 1, 1]} | changed
    with pytest.raises(BadValue, match=rule):
        integer.fit(SLIDE, **given)
