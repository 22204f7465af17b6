"""Values and intervals from noisy parts: honest for every recipe and law, shortest where that is known.

Each coverage test draws DRAWS = 3,000 noisy cells and fails when fewer are covered than happens with probability 1e-7
at coverage equal to the level.
"""

import time
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mpf

from answer.cells import (
    AGE,
    AGES,
    CORRELATION,
    COVARIANCE,
    DRAWS,
    LEVEL,
    MEAN,
    VARIANCE,
    by_both,
    by_gaussian,
    by_laplace,
    covered,
    fewest,
    noisy,
    rowset,
)
from discreet import real
from discreet.answer import Noisy, estimates_of
from discreet.bounded import rows as row_sensitivity
from discreet.errors import BadValue
from discreet.mechanism.additive import gaussian, laplace
from discreet.mechanism.quantile import quantile
from discreet.mechanism.select import top_k
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.query.nodes import Col
from discreet.query.parts import Grid, Ranks, Rows, RowSum, Tops
from discreet.query.recipe import MeanAmong, Picked, PickedTop, Single
from discreet.schema import Lattice
from mechanism.exact_laws import number

LAWS = [by_laplace, by_gaussian, by_both]
SIZES = [0, 1, 20, 1_000]


def truth(recipe, rows):
    """The exact value; where it has no meaning, one that the interval must hold all the same."""
    d, e, n = rows.d.astype(float), rows.e / 2, rows.d.size
    if recipe == MEAN:
        return 55 + d.mean() if n else 55.0
    if n < 2:
        return 0.0
    if recipe == VARIANCE:
        return d.var(ddof=1)
    return np.cov(d, e)[0, 1] if recipe == COVARIANCE else np.corrcoef(d, e)[0, 1]


# --- honesty -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("recipe", [MEAN, VARIANCE, COVARIANCE, CORRELATION], ids=lambda r: type(r).__name__)
def test_interval_holds_the_exact_value_at_its_level(recipe, n, law):
    rows = rowset(n)
    estimates = estimates_of(recipe, noisy(rows, law), LEVEL)
    assert covered(estimates, truth(recipe, rows)) >= fewest()
    assert all(a <= v <= b for v, a, b in zip(estimates.value, estimates.low, estimates.high, strict=True))


@pytest.mark.parametrize("law", [by_laplace, by_gaussian])
@pytest.mark.parametrize("spread", [0.0, 9.0])
def test_interval_holds_for_tables_at_the_ends_of_their_bounds(law, spread):
    rows = rowset(300, spread)  # all rows alike; or nearly all at one end or the other
    parts = noisy(rows, law)
    for recipe in (MEAN, VARIANCE, COVARIANCE):
        assert covered(estimates_of(recipe, parts, LEVEL), truth(recipe, rows)) >= fewest()


@pytest.mark.parametrize("law", [by_laplace, by_gaussian])
def test_intervals_of_large_cells_are_close_to_the_true_error(law):
    """An interval that is honest because it is huge is no use: its half is near the 95 % quantile of |error|."""
    rows = rowset(5_000)
    parts = noisy(rows, law)
    for recipe, ratio in ((MEAN, 1.15), (VARIANCE, 1.3), (COVARIANCE, 1.3), (CORRELATION, 2.6)):
        estimates = estimates_of(recipe, parts, LEVEL)
        error = np.quantile(np.abs(np.array(estimates.value) - truth(recipe, rows)), 0.95)
        assert np.median(np.subtract(estimates.high, estimates.low)) / 2 <= ratio * error


def test_coverage_test_sees_noise_a_tenth_wider_than_stated():
    """N = 20,000: coverage at a tenth more noise is 93.4 %, which the threshold refuses."""
    draws, stated, wider = 20_000, laplace(row_sensitivity(1), "0.02"), laplace(row_sensitivity(1), F(1, 55))
    drawn = wider(np.full(draws, 70), SYSTEM)
    recipe = Single(Rows(), F(1))
    assert covered(estimates_of(recipe, {Rows(): Noisy(drawn, stated)}, LEVEL), 70) < fewest(draws)
    assert covered(estimates_of(recipe, {Rows(): Noisy(drawn, wider)}, LEVEL), 70) >= fewest(draws)


@pytest.mark.parametrize("law", [by_laplace, by_gaussian])
def test_rounding_of_rows_is_allowed_for_when_it_is_declared(law):
    """Every row moved by half a step in the same direction: a mean over many rows would miss its true value."""
    rows, promise = rowset(10**6), law(AGES)
    parts = {part: Noisy(law(part)(np.full(DRAWS, v), SYSTEM), law(part)) for part, v in rows.exact().items()}
    true_mean = 55 + rows.d.mean() + 0.5
    assert covered(estimates_of(MEAN, parts, LEVEL), true_mean) < DRAWS / 2
    declared = parts | {AGES: Noisy(parts[AGES].values, promise, F(1, 2))}
    assert covered(estimates_of(MEAN, declared, LEVEL), true_mean) >= fewest()


# --- one noisy number --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [DiscreteLaplace(F(s)) for s in ("0.2", "1", "10", "77.7")] + [RoundedGaussian(F(6))])
@pytest.mark.parametrize("level", [F(1, 2), F(95, 100), F(999, 1000)])
def test_count_interval_is_the_shortest_on_the_lattice(law, level):
    estimates = estimates_of(Single(Rows(), F(1)), {Rows(): Noisy([500], law)}, level)
    radius = estimates.high[0] - 500
    assert estimates.low == [500 - radius]
    with real.precision(200):
        missed, one_less = number(2 * law.above(radius)), number(2 * law.above(radius - 1)) if radius else 1
        allowed = mpf((1 - level).numerator) / (1 - level).denominator
    assert missed <= allowed < one_less


def test_counts_are_whole_and_given_as_drawn_below_zero_too():
    estimates = estimates_of(Single(Rows(), F(1)), {Rows(): Noisy(np.array([-8, 3]), DiscreteLaplace(F(2)))}, F(9, 10))
    assert estimates.value == [-8, 3]
    assert all(type(v) is int for v in estimates.value + estimates.low + estimates.high)


def test_sums_are_exact_multiples_of_their_step():
    part, big = RowSum(Col("pay"), Lattice(-20, 20, F(1, 3))), 2**61 + 1
    estimates = estimates_of(Single(part, F(1, 3)), {part: Noisy([7, big], DiscreteLaplace(F(3)))}, LEVEL)
    assert estimates.value == [F(7, 3), F(big, 3)]
    assert estimates.high[1] - estimates.value[1] == F(DiscreteLaplace(F(3)).radius(LEVEL), 3)


@pytest.mark.parametrize("law", [laplace(row_sensitivity(55), 1), gaussian(row_sensitivity(55), 200)])
def test_mean_among_a_public_number_scales_the_sum_exactly_and_is_honest(law):
    rows = rowset(400)
    drawn = law(np.full(DRAWS, rows.d.sum()), SYSTEM)
    estimates = estimates_of(MeanAmong(AGES, AGE, 400), {AGES: Noisy(drawn, law)}, LEVEL)
    assert covered(estimates, 55 + rows.d.mean()) >= fewest()
    assert estimates.high[0] - estimates.low[0] == pytest.approx(2 * law.radius(LEVEL) / 400)


def test_mean_among_is_cut_to_the_bounds():
    estimates = estimates_of(MeanAmong(AGES, AGE, 10), {AGES: Noisy([5000, -5000], DiscreteLaplace(F(5)))}, LEVEL)
    assert (estimates.value, estimates.high[0], estimates.low[1]) == ([110.0, 0.0], 110.0, 0.0)


# --- values ------------------------------------------------------------------------------------------------------


def test_values_are_the_plain_formulas_when_noise_is_small():
    rows = rowset(5_000)
    parts = {part: Noisy([value], DiscreteLaplace(F(1, 100))) for part, value in rows.exact().items()}
    for recipe in (MEAN, VARIANCE, COVARIANCE, CORRELATION):
        assert estimates_of(recipe, parts, LEVEL).value[0] == pytest.approx(truth(recipe, rows), rel=1e-9)
    root = estimates_of(replace(VARIANCE, power=F(1, 2)), parts, LEVEL)
    assert root.value[0] == pytest.approx(rows.d.std(ddof=1), rel=1e-9)
    plain = estimates_of(replace(VARIANCE, less=0), parts, LEVEL)
    assert plain.value[0] == pytest.approx(rows.d.var(), rel=1e-9)


def test_a_count_of_nothing_leaves_the_whole_public_range():
    parts = {part: Noisy([-3], by_laplace(part)) for part in rowset(0).exact()}
    estimates = estimates_of(MEAN, parts, LEVEL)
    assert (estimates.value, estimates.low, estimates.high) == ([55.0], [0.0], [110.0])
    estimates = estimates_of(replace(VARIANCE, less=0), parts, LEVEL)
    assert (estimates.low, estimates.high) == ([0.0], [3025.0])
    estimates = estimates_of(VARIANCE, parts, LEVEL)  # two rows at both ends have variance 2·55²
    assert (estimates.low[0], estimates.high[0]) == (0.0, pytest.approx(6050))
    estimates = estimates_of(CORRELATION, parts, LEVEL)
    assert (estimates.value, estimates.low, estimates.high) == ([0.0], [-1.0], [1.0])


def test_each_cell_is_estimated_from_its_own_numbers_alone():
    together = noisy(rowset(60), by_laplace, draws=5)
    for recipe in (MEAN, VARIANCE, COVARIANCE, CORRELATION):
        many = estimates_of(recipe, together, LEVEL)
        for i in range(5):
            alone = {part: Noisy([int(noisy_part.values[i])], noisy_part.law) for part, noisy_part in together.items()}
            single = estimates_of(recipe, alone, LEVEL)
            for ends in ("value", "low", "high"):
                assert getattr(many, ends)[i] == pytest.approx(getattr(single, ends)[0], rel=1e-9)


def test_ten_thousand_cells_take_far_less_than_a_millisecond_each():
    parts = noisy(rowset(50), by_laplace, draws=10_000)
    start = time.perf_counter()
    estimates_of(CORRELATION, parts, LEVEL)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("level", [F(0), F(1), F(95)])
def test_levels_outside_of_zero_and_one_are_refused(level):
    with pytest.raises(BadValue, match="level must be"):
        estimates_of(Single(Rows(), F(1)), {Rows(): Noisy([1], DiscreteLaplace(F(1)))}, level)


# --- chosen ones -------------------------------------------------------------------------------------------------


def test_quantiles_are_grid_points_whose_error_is_in_ranks():
    mechanism = quantile(row_sensitivity(1), 1, q="0.5")
    part = Ranks(Col("age"), Grid(F(1, 2), F(1, 4), 400), F(1, 2))
    estimates = estimates_of(Picked(part), {part: Noisy([0, 2, 399], mechanism)}, LEVEL)
    assert estimates.value == [F(1, 2), 1, F(401, 4)]
    assert estimates.low == estimates.high == [None] * 3
    assert estimates.ranks == mechanism.rank_error(400, F(5, 100))


def test_rank_error_of_quantiles_holds_at_its_level():
    """N = 3,000 medians of 200 rows on 50 grid points; rank errors are counted on the exact rows."""
    counts = np.full(50, 4)
    mechanism = quantile(row_sensitivity(1), 1, q="0.5")
    part = Ranks(Col("age"), Grid(F(0), F(1), 50), F(1, 2))
    drawn = mechanism.many(counts, DRAWS, SYSTEM)
    estimates = estimates_of(Picked(part), {part: Noisy(drawn, mechanism)}, LEVEL)
    below = 4 * np.array(estimates.value, dtype=float)
    error = np.maximum(below - 100, 96 - below)  # 4 rows are tied at the point itself
    assert (error < estimates.ranks).sum() >= fewest()


def test_top_values_are_named_and_their_shortfall_holds_for_all_places_at_once():
    mechanism = top_k(row_sensitivity(1), 2, 2)
    part = Tops(Col("illness"), ("flu", "cold", "gout", "none"), 2)
    counts = np.array([60, 50, 45, 5])
    drawn = mechanism.many(counts, DRAWS, SYSTEM)
    estimates = estimates_of(PickedTop(part), {part: Noisy(drawn, mechanism)}, LEVEL)
    assert set(estimates.value) <= {(a, b) for a in part.values for b in part.values if a != b}
    best_left = np.where(drawn[:, 0] == 0, 50, 60)
    held = (60 - counts[drawn[:, 0]] < estimates.shortfall) & (best_left - counts[drawn[:, 1]] < estimates.shortfall)
    assert held.sum() >= fewest()
    alone = Tops(Col("n"), (3, 5), 1)
    assert estimates_of(PickedTop(alone), {alone: Noisy([[1]], None)}, LEVEL).value == [5]
