"""Unbiased estimates: least squares over views and places is the dense solution, and ± holds as often as it says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from discreet.answer.spread import sum_radius
from discreet.errors import BadValue
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.release.attributes import matrix
from discreet.release.combined import Measured, reach, spreads
from discreet.release.measure import Form, all_cells, from_top, marginal
from discreet.release.tree import from_branches, from_edges, tree_sums
from discreet.release.unbiased import LEAST, MEASURED, as_measured, estimator, least
from release.test_check import random_tree

LEVEL = Fraction(95, 100)
NAMES, SIZES = ["age", "sex"], [3, 2]
AGE, SEX, ALL = marginal(["age"], NAMES, SIZES), marginal(["sex"], NAMES, SIZES), all_cells(NAMES, 6)
NONE = marginal([], NAMES, SIZES)
SINGLE = from_branches(("x",), [("a",)])
UNEVEN = from_edges([("x", "a"), ("x", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("c", "f")])
BINARY = from_branches([f"l{i}" for i in range(7)], [tuple(f"{n >> (6 - i):b}" for i in range(7)) for n in range(64)])


def gauss(tree, sigmas, ratios=(1,)):
    """Noise of σ by level, times a factor by marginal."""
    each = np.broadcast_to(sigmas, tree.depth)
    return [[RoundedGaussian(Fraction(int(1000 * s), 1000) * r) for r in ratios] for s in each]


def sigmas_of(laws):
    return [[law.sigma for law in each] for each in laws]


def dense(measured, laws):
    """(weights of all measured numbers in all places' cells and totals, σ² of each number): the normal equations."""
    tree, plain = measured.tree, measured.form is Form.PLAIN
    seen = np.concatenate([matrix(view) for view in measured.marginals])
    adding = tree_sums(tree, np.eye(len(tree.leaves)))
    sizes = [view.size for view in measured.marginals]
    by_level = [np.repeat([float(law.sigma) ** 2 for law in each], sizes) for each in laws]
    spread = np.concatenate([by_level[level] for level in tree.level])
    design = np.kron(adding, seen) / np.sqrt(spread)[:, None]
    numbers = np.kron(adding, np.eye(seen.shape[1])) @ np.linalg.pinv(design) / np.sqrt(spread)
    by_place = numbers.reshape(len(tree), seen.shape[1], -1)
    if plain:
        return by_place, by_place.sum(axis=1), spread
    cells = by_place - np.concatenate([by_place[:, 1:], np.zeros_like(by_place[:, :1])], axis=1)
    return cells, by_place[:, 0], spread


def cases():
    for seed in range(12):
        yield random_tree(seed, 2 + seed), Form.PLAIN, (all_cells(["x"], 1 + seed % 3),), (1,)
        yield random_tree(seed, 9), Form.FROM_TOP, (all_cells(["x"], 1 + seed % 4),), (1,)
        yield random_tree(seed, 2 + seed % 5), Form.PLAIN, (AGE, SEX, ALL), (1, Fraction(1, 2), 3)
    yield SINGLE, Form.PLAIN, (NONE, AGE, SEX, ALL), (1, 2, 1, 2)
    yield UNEVEN, Form.PLAIN, (NONE, ALL), (1, 5)
    yield SINGLE, Form.PLAIN, (all_cells(["x"], 1),), (1,)
    yield BINARY, Form.PLAIN, (all_cells(["x"], 1),), (1,)


CASES = list(cases())


def laws_of(number):
    tree, _, _, ratios = CASES[number]
    return gauss(tree, np.random.default_rng(number).uniform(4, 40, tree.depth), ratios)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_variances_and_values_are_those_of_the_dense_solution(number):
    tree, form, marginals, _ = CASES[number]
    measured, laws = Measured(tree, form, marginals), laws_of(number)
    spread_of, (cells, totals, spread) = spreads(measured, sigmas_of(laws)), dense(measured, laws)
    np.testing.assert_allclose(
        np.outer(spread_of.variance, spread_of.cells.variance)[spread_of.kind], cells**2 @ spread, rtol=1e-9
    )
    np.testing.assert_allclose(
        spread_of.variance[spread_of.kind] * spread_of.total.variance, totals**2 @ spread, rtol=1e-9
    )
    root = np.sqrt(spread) * (1 - 1e-9)
    largest, total_most = (
        np.outer(np.sqrt(spread_of.variance), spread_of.cells.largest)[spread_of.kind],
        spread_of.total.largest,
    )
    assert (np.abs(cells * root).max(axis=2) <= largest).all()
    assert (np.abs(totals * root).max(axis=1) <= np.sqrt(spread_of.variance)[spread_of.kind] * total_most).all()
    noisy = np.random.default_rng(number).integers(-(2**20), 2**20, (len(tree), measured.numbers))
    assert np.abs(spread_of.combined.cells(noisy) - cells @ noisy.ravel()).max() <= 0.5 + 1e-4
    assert np.abs(spread_of.combined.totals(noisy) - totals @ noisy.ravel()).max() <= 0.5 + 1e-4


@pytest.mark.parametrize("number", range(len(CASES)))
def test_no_other_unbiased_combination_varies_less_and_none_is_wider_than_measured(number):
    tree, form, marginals, _ = CASES[number]
    measured, laws = Measured(tree, form, marginals), laws_of(number)
    spread_of, (cells, _, spread) = spreads(measured, sigmas_of(laws)), dense(measured, laws)
    design = np.kron(tree_sums(tree, np.eye(len(tree.leaves))), np.concatenate([matrix(view) for view in marginals]))
    free = np.eye(len(design)) - design @ np.linalg.pinv(design)  # combinations whose mean is 0 whatever the counts
    for other in np.random.default_rng(number).normal(0, 0.1, (5, len(design))) @ free:
        assert ((cells + other) ** 2 @ spread >= cells**2 @ spread * (1 - 1e-9)).all()
    own = np.array([float(each[-1].sigma) ** 2 for each in laws])[tree.level]
    many = len(marginals[-1].index)
    twice = np.ones(many) if form is Form.PLAIN else np.append(np.full(many - 1, 2), 1)
    assert (
        np.outer(spread_of.variance, spread_of.cells.variance)[spread_of.kind] <= np.outer(own, twice) * (1 + 1e-9)
    ).all()
    chosen, today = estimator(tree, form, marginals, laws, LEVEL), as_measured(measured, laws, LEVEL)
    assert (chosen.radius <= today.radius).all()
    assert (chosen.total_radius <= today.total_radius).all()
    assert chosen.way == (LEAST if chosen.radius.sum() < today.radius.sum() else MEASURED)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_without_noise_the_exact_numbers_come_back_however_large(number):
    tree, form, marginals, _ = CASES[number]
    leaves = np.random.default_rng(number).integers(0, 2**44, (len(tree.leaves), len(marginals[-1].index)))
    exact = tree_sums(tree, leaves)
    seen = from_top(exact) if form is Form.FROM_TOP else exact
    noisy = np.concatenate([view.of(seen) for view in marginals], axis=1)
    for estimates in (estimator(tree, form, marginals, laws_of(number), LEVEL), _least(number)):
        assert np.array_equal(estimates.cells(noisy), exact)
        assert np.array_equal(estimates.totals(noisy), exact.sum(axis=1))


def _least(number):
    tree, form, marginals, _ = CASES[number]
    return least(Measured(tree, form, marginals), laws_of(number), LEVEL)


# --- the bound -------------------------------------------------------------------------------------------------------


def outside(coefficients, sigma, r):
    """P[|Σ a·X| ≥ r], X normal noise of σ rounded, by adding up all outcomes of up to three of them."""
    k = np.arange(-math.ceil(9 * sigma), math.ceil(9 * sigma) + 1)
    mass = norm.cdf((k + 0.5) / sigma) - norm.cdf((k - 0.5) / sigma)
    values, chances = np.zeros(1), np.ones(1)
    for a in coefficients:
        values, chances = np.add.outer(values, a * k).ravel(), np.multiply.outer(chances, mass).ravel()
    order = np.argsort(np.abs(values))
    tail = np.append(np.cumsum(chances[order][::-1])[::-1], 0.0)
    return tail[np.searchsorted(np.abs(values)[order], r - 1e-9)]


COEFFICIENTS = [(1,), (1, -1), (0.5, 0.5), (0.9, 0.3), (0.997, 0.05, 0.05), (2 / 3, 1 / 3, -1 / 3), (1, 0.01, 0.99)]


@pytest.mark.parametrize("sigma", [1, 1.3, 2, 5])
@pytest.mark.parametrize("coefficients", COEFFICIENTS)
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.95", "0.999"])
def test_the_radius_holds_for_combinations_whose_law_is_known(sigma, coefficients, level):
    z = reach(Fraction(sigma), len(coefficients), Fraction(level))
    if z is None:
        assert sigma == 1  # too coarse for a level so near 1
        assert level == "0.999"
        return
    r = z * sigma * np.linalg.norm(coefficients) + np.abs(coefficients).max() / 2
    assert outside(coefficients, sigma, r) <= 1 - float(level)


@pytest.mark.parametrize("sigma", [1, 1.2, 1.5, 2, 5, 20])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("numbers", [1, 1000])
def test_reach_keeps_its_formula_and_wastes_little(sigma, level, numbers):
    z = reach(Fraction(sigma), numbers, Fraction(str(level)))
    far = numbers / (2 * math.sqrt(math.pi) * sigma) * sum(math.exp(-((math.pi * m * sigma) ** 2)) for m in range(1, 5))
    if z is None:
        assert far > (1 - level) / 3
        return
    hazard = norm.pdf(z) / norm.sf(z)
    missed = 2 * norm.sf(z) * math.exp(hazard**2 / (24 * sigma**2)) + far
    slack = math.exp((z + 3) ** 2 / (24 * sigma**2) / 2)  # the hazard is taken a little further out
    assert missed <= 1 - level <= missed * slack


def test_half_a_step_is_needed_and_little_else():
    """σ = 20/1.961: without the half 20 would seem far enough out, and P[|X| ≥ 20] is above 5 %."""
    sigma = 20 / 1.961
    assert outside((1,), sigma, 20.0) > 0.05
    z = reach(Fraction(sigma), 1, LEVEL)
    assert 1.959 < z < 1.962
    assert reach(Fraction(1000), 10**8, LEVEL) == pytest.approx(1.959964, abs=1e-6)


def test_reach_is_refused_where_noise_is_too_coarse_or_the_level_too_near_one():
    assert reach(Fraction(99, 100), 1, LEVEL) is None
    assert reach(Fraction(1), 10**4, LEVEL) is None
    assert reach(Fraction(2), 10**8, LEVEL) is not None
    assert reach(Fraction(20), 10, 1 - Fraction(1, 10**201)) is None
    assert reach(Fraction(20), 10, 1 - Fraction(1, 10**150)) > 25


# --- coverage --------------------------------------------------------------------------------------------------------


def most_misses(draws, numbers):
    """More of them in one of so many numbers have a chance below 10⁻⁷ if each margin holds 95 times of 100."""
    return int(binom.isf(1e-7 / numbers, draws, 0.05))


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("tree", [UNEVEN, BINARY], ids=["leaves at all depths", "deep and binary"])
def test_margins_hold_on_every_place_and_a_tenth_less_does_not(tree, form):
    """N = 20,000 independent columns of one measurement stand for as many draws (10,000 pairs of them from the top)."""
    draws, sigma = 20_000, 30
    estimates = estimator(tree, form, [all_cells(["x"], draws)], gauss(tree, sigma), LEVEL)
    assert estimates.way == LEAST
    leaves = np.random.default_rng(5).integers(0, 50, (len(tree.leaves), draws))
    exact = tree_sums(tree, leaves)
    seen = from_top(exact) if form is Form.FROM_TOP else exact
    noisy = np.rint(seen + np.random.default_rng(6).normal(0, sigma, exact.shape)).astype(np.int64)
    off, radius = np.abs(estimates.cells(noisy) - exact), estimates.radius
    if form is Form.FROM_TOP:  # neighbours share a draw: every other one is independent
        off, radius = off[:, :-1:2], radius[:, :-1:2]
    allowed = most_misses(off.shape[1], len(tree))
    assert ((off > radius).sum(axis=1) <= allowed).all()
    assert ((off > 0.9 * radius).sum(axis=1) > allowed).all()
    assert ((off > 0.7 * radius).sum(axis=1) > 2 * allowed).all()


def test_margins_of_several_views_hold_for_cells_and_totals():
    """N = 2,400 draws on a tree with leaves at different depths; a radius 30 % too small is found in every number."""
    draws, marginals = 2400, (AGE, SEX, ALL)
    laws = gauss(UNEVEN, [12, 9, 15, 20], (1, Fraction(1, 2), 3))
    estimates, chance = estimator(UNEVEN, Form.PLAIN, marginals, laws, LEVEL), np.random.default_rng(8)
    exact = tree_sums(UNEVEN, chance.integers(0, 30, (len(UNEVEN.leaves), 6)))
    seen = np.concatenate([view.of(exact) for view in marginals], axis=1)
    sigma = np.concatenate(
        [
            np.repeat([[float(each[view_number].sigma)] for each in laws], view.size, axis=1)
            for view_number, view in enumerate(marginals)
        ],
        axis=1,
    )[UNEVEN.level]
    off = np.empty((draws, len(UNEVEN), 7))
    for draw in range(draws):
        noisy = np.rint(seen + chance.normal(0, sigma)).astype(np.int64)
        off[draw, :, :6] = estimates.cells(noisy) - exact
        off[draw, :, 6] = estimates.totals(noisy) - exact.sum(axis=1)
    radius = np.column_stack([estimates.radius, estimates.total_radius])
    allowed = most_misses(draws, radius.size)
    assert ((np.abs(off) > radius).sum(axis=0) <= allowed).all()
    assert ((np.abs(off) > 0.7 * radius).sum(axis=0) > allowed).all()
    unbiased_by = off.mean(axis=0) / (off.std(axis=0) / math.sqrt(draws))  # standard normal, nearly: 6.5 is below 10⁻⁸
    assert np.abs(unbiased_by).max() < 6.5


# --- as measured -----------------------------------------------------------------------------------------------------


def test_laplace_noise_is_left_as_measured_with_the_margins_of_its_law():
    laws = [[DiscreteLaplace(Fraction(5))], [DiscreteLaplace(Fraction(7))]] + [[DiscreteLaplace(Fraction(2))]] * 2
    noisy = np.random.default_rng(1).integers(-9, 99, (len(UNEVEN), 3))
    plain = estimator(UNEVEN, Form.PLAIN, [all_cells(["x"], 3)], laws, LEVEL)
    sizes = estimator(UNEVEN, "from the top", [all_cells(["x"], 3)], laws, LEVEL)
    assert plain.way == sizes.way == MEASURED
    for place, level in enumerate(UNEVEN.level):
        (law,) = laws[level]
        alone, two = law.radius(LEVEL), sum_radius(law, 2, LEVEL)
        assert plain.radius[place].tolist() == [alone] * 3
        assert plain.total_radius[place] == sum_radius(law, 3, LEVEL)
        assert sizes.radius[place].tolist() == [two, two, alone]
        assert sizes.total_radius[place] == alone
    assert np.array_equal(plain.cells(noisy), noisy)
    assert np.array_equal(plain.totals(noisy), noisy.sum(axis=1))
    assert np.array_equal(sizes.cells(noisy), np.column_stack([-np.diff(noisy, axis=1), noisy[:, -1]]))
    assert np.array_equal(sizes.totals(noisy), noisy[:, 0])


def test_a_total_is_the_sum_of_the_view_with_the_least_noise():
    names, sizes = ["a", "b", "c"], [2, 5, 8]
    marginals = [*(marginal([name], names, sizes) for name in names), all_cells(names, 80)]
    laws = [[DiscreteLaplace(Fraction(s)) for s in row] for row in ([10, 10, 10, 10], [90, 10, 10, 10])]
    tree = from_branches(("x", "y"), [("t", "p"), ("t", "q")])
    estimates = estimator(tree, Form.PLAIN, marginals, laws, LEVEL)
    noisy = np.random.default_rng(2).integers(-99, 99, (3, 95))
    assert estimates.totals(noisy).tolist() == [noisy[0, :2].sum(), noisy[1, 2:7].sum(), noisy[2, 2:7].sum()]
    assert estimates.total_radius.tolist() == [sum_radius(laws[0][0], n, LEVEL) for n in (2, 5, 5)]
    assert (estimates.total_radius < 0.3 * sum_radius(laws[0][0], 80, LEVEL)).all()
    gaussian = estimator(tree, Form.PLAIN, marginals, gauss(tree, 10, (1, 1, 1, 1)), LEVEL)
    assert (gaussian.total_radius < 0.13 * sum_radius(RoundedGaussian(Fraction(10)), 80, LEVEL)).all()


def test_on_a_deep_binary_tree_every_margin_is_much_narrower():
    estimates = estimator(BINARY, Form.PLAIN, [all_cells(["x"], 2)], gauss(BINARY, 50), LEVEL)
    assert estimates.way == LEAST
    assert estimates.radius.max() < 0.8 * 98


@pytest.mark.parametrize("tree", [SINGLE, from_branches(("x", "y"), [("t", str(i)) for i in range(500)])])
def test_where_the_tree_helps_no_margin_it_is_as_measured(tree):
    assert estimator(tree, Form.PLAIN, [all_cells(["x"], 1)], gauss(tree, 9.36), LEVEL).way == MEASURED


def test_a_number_that_is_nearer_as_measured_stays_so():
    """σ = 9.36 measures to ± 18, its exact law; the bound for a sum that is nearly one draw says 19."""
    tree = from_branches(("x", "y", "z"), [("t", str(i), f"{i}.{j}") for i in range(200) for j in range(3)])
    laws, marginals = gauss(tree, 9.36), [all_cells(["x"], 2)]
    estimates = estimator(tree, Form.PLAIN, marginals, laws, LEVEL)
    alone = least(Measured(tree, Form.PLAIN, tuple(marginals)), laws, LEVEL)
    assert estimates.way == LEAST
    assert (int(alone.radius[0, 0]), int(estimates.radius[0, 0])) == (19, 18)
    noisy = np.random.default_rng(3).integers(0, 99, (len(tree), 2))
    assert np.array_equal(estimates.cells(noisy)[0], noisy[0])
    assert np.array_equal(estimates.cells(noisy)[1:], alone.cells(noisy)[1:])


@pytest.mark.parametrize(
    "laws",
    [
        [[RoundedGaussian(Fraction(9)), RoundedGaussian(Fraction(9))], [RoundedGaussian(Fraction(9))] * 2][::-1]
        + [[RoundedGaussian(Fraction(9)), RoundedGaussian(Fraction(10))]] * 2,
        [[RoundedGaussian(Fraction(9)), DiscreteLaplace(Fraction(9))]] * 4,
        [[DiscreteGaussian(Fraction(9))] * 2] * 4,
        [[RoundedGaussian(Fraction(9)), RoundedGaussian(Fraction(1, 2))]] * 4,
        [[RoundedGaussian(Fraction(10**6)), RoundedGaussian(Fraction(1))]] * 4,
    ],
    ids=["ratios differ", "Laplace", "discrete Gaussian", "too coarse", "too far apart"],
)
def test_laws_without_a_proof_are_not_combined(laws):
    assert least(Measured(UNEVEN, Form.PLAIN, (SEX, ALL)), laws, LEVEL) is None
    assert estimator(UNEVEN, Form.PLAIN, (SEX, ALL), laws, LEVEL).way == MEASURED


def test_halves_are_rounded_exactly_however_floats_add_up():
    """A chain of six measures one number six times: halves are common, and go to the even side of the lowest number."""
    chain = from_edges([(str(i), str(i + 1)) for i in range(5)])
    estimates = estimator(chain, Form.PLAIN, [all_cells(["x"], 5000)], gauss(chain, 30), LEVEL)
    noisy = np.random.default_rng(9).integers(-50, 50, (6, 5000))
    from_lowest = [round(Fraction(int(sum(column)), 6) - int(column[-1])) for column in noisy.T]
    assert np.array_equal(estimates.cells(noisy), np.tile(noisy[-1] + from_lowest, (6, 1)))


GIVEN = {"form": Form.PLAIN, "marginals": (SEX, ALL), "laws": gauss(UNEVEN, 9, (1, 1)), "level": LEVEL}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"laws": gauss(UNEVEN, 9)}, "laws must be 2 for each"),
        ({"laws": GIVEN["laws"][:3]}, "of the 4 levels"),
        ({"level": Fraction(1)}, "level must"),
    ],
)
def test_facts_that_do_not_fit_are_refused(change, rule):
    with pytest.raises(BadValue, match=rule):
        estimator(UNEVEN, **(GIVEN | change))


@pytest.mark.parametrize(
    ("noisy", "rule"),
    [
        (np.zeros((7, 7), dtype=np.int64), "7 rows of 8 whole numbers"),
        (np.zeros((7, 8)), "7 rows of 8 whole numbers"),
        (np.full((7, 8), 2**57), "overflow"),
        (np.full((7, 8), -(2**62)), "overflow"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(noisy, rule):
    estimates = estimator(UNEVEN, **GIVEN)
    for estimated in (estimates.cells, estimates.totals):
        with pytest.raises(BadValue, match=rule):
            estimated(noisy)
