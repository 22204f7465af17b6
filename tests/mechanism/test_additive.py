"""Added noise: the exact law of the output for neighbours, what is stated about its error, and its independence."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

from discreet import real
from discreet.bounded import Sensitivity, cells, scalar
from discreet.errors import BadValue
from discreet.mechanism.additive import (
    analytic_gaussian,
    classic_gaussian,
    discrete_gaussian,
    gaussian,
    laplace,
    least_error,
)
from discreet.mechanism.promise import LARGEST
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.privacy import analytic, price
from discreet.privacy.cost import Gaussian, Pure, Zcdp
from mechanism.exact_laws import ALARM, Fixed, assert_drawn_from, largest_loss, masses, number


def shifted(law, by, reach):
    """The output law around `by`, on the outputs a neighbour's law covers too."""
    return {k: law[k - by] for k in range(-reach, reach + 1)}


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3/2", "5"])
@pytest.mark.parametrize("step", [1, 2, 7])
def test_laplace_moves_odds_by_exactly_epsilon_at_the_sensitivity_and_less_before(epsilon, step):
    mechanism = laplace(scalar(step), epsilon)
    law = masses(mechanism.noise, 40)
    for moved in range(step + 1):
        loss = largest_loss(shifted(law, 0, 30), shifted(law, moved, 30))
        assert abs(loss - number(F(epsilon)) * moved / step) < 1e-30
    assert mechanism.cost == Pure(epsilon)


def test_laplace_vector_pays_the_sum_of_all_coordinates_moves():
    mechanism = laplace(cells(3, 1), 1)
    law = masses(mechanism.noise, 12)
    outputs = list(product(range(-4, 5), repeat=3))

    def output_law(x):
        return {y: mpmath.fprod(law[a - b] for a, b in zip(y, x, strict=True)) for y in outputs}

    here = output_law((0, 0, 0))
    for moved in product((-1, 0, 1), repeat=3):
        loss = largest_loss(here, output_law(moved))
        assert abs(loss - mpmath.mpf(sum(map(abs, moved))) / 3) < 1e-30


@pytest.mark.parametrize(("under", "scale"), [("add-remove", 10), ("replace-one", 20)])
def test_a_histogram_costs_one_under_add_remove_and_two_under_replace_one(under, scale):
    moved = cells(1, 1, under) if under == "add-remove" else cells(2, 1, under)
    assert laplace(moved, "0.1").noise == DiscreteLaplace(F(scale))


@pytest.mark.parametrize("sigma", ["1/2", "2", "31/3"])
def test_rounded_gaussian_is_never_less_private_than_its_continuous_price(sigma):
    mechanism = gaussian(scalar(2), sigma)
    law = masses(mechanism.noise, int(F(sigma) * 16) + 4)
    last = int(F(sigma) * 16)
    for epsilon in (0, F(1, 10), 1, 3):
        delta = sum(max(law[k] - mpmath.exp(number(F(epsilon))) * law[k - 2], 0) for k in range(-last, last + 1))
        assert delta <= number(price.delta(mechanism.cost, epsilon).value)


@pytest.mark.parametrize("order", [F(3, 2), 2, 5, 16])
@pytest.mark.parametrize("sigma", ["1/2", "1", "10/3"])
def test_discrete_gaussian_keeps_its_renyi_curve(sigma, order):
    mechanism = discrete_gaussian(scalar(1), sigma)
    law = masses(mechanism.noise, 60)
    power = mpmath.fsum(law[k] ** number(F(order)) * law[k - 1] ** number(1 - F(order)) for k in range(-40, 41))
    divergence = mpmath.log(power) / number(F(order) - 1)
    assert divergence <= number(order * mechanism.cost.rho) + mpmath.mpf(10) ** -25
    assert divergence > number(order * mechanism.cost.rho) / 2 or F(sigma) < 1


@pytest.mark.parametrize("square", [2, 3, "1/2", "7/3", 10**30 + 1, "1e-40"])
def test_irrational_sensitivity_is_rounded_to_the_dearer_side(square):
    moved = Sensitivity(1, 1, square, 1)
    for mechanism in (gaussian(moved, 5), analytic_gaussian(Sensitivity(1, 1, 2, 1), 1, "1e-6")):
        true_square = (mechanism.noise.sigma / mechanism.cost.sigma) ** 2
        assert true_square >= mechanism.sensitivity.l2_squared
        assert true_square <= mechanism.sensitivity.l2_squared * (1 + F(1, 10**15)) + F(1, 2**120)


def test_rational_sensitivity_stays_exact():
    assert gaussian(Sensitivity(1, 1, "9/4", 1), 3).cost == Gaussian(2)
    assert discrete_gaussian(cells(2, 3), 3).cost == Zcdp(1)


@pytest.mark.parametrize("epsilon", ["0.1", "0.9", "2"])
def test_calibrated_gaussian_meets_its_delta(epsilon):
    mechanism = analytic_gaussian(cells(3, 1), epsilon, "1e-6")
    assert analytic.delta(mechanism.cost.sigma, F(epsilon)) <= F(1, 10**6)
    if F(epsilon) < 1:
        assert classic_gaussian(cells(3, 1), epsilon, "1e-6").variance > mechanism.variance
    else:
        with pytest.raises(BadValue, match="below 1"):
            classic_gaussian(cells(3, 1), epsilon, "1e-6")


def test_least_error_is_the_smaller_of_the_two():
    for counts in (1, 2, 9, 50, 400):
        mechanism = least_error(cells(counts, 1), 1, "1e-6")
        both = laplace(cells(counts, 1), 1), analytic_gaussian(cells(counts, 1), 1, "1e-6")
        assert mechanism.variance == min(candidate.variance for candidate in both)
    assert least_error(cells(400, 1), 1, 0) == laplace(cells(400, 1), 1)


# --- what is stated ----------------------------------------------------------------------------------------------

LAWS = [DiscreteLaplace(F(s)) for s in ("1/2", "3", "101/7")] + [
    kind(F(s)) for kind in (RoundedGaussian, DiscreteGaussian) for s in ("1/2", "3", "31/3")
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_stated_errors_are_the_moments_of_the_law(law):
    mechanism = replace(laplace(scalar(1), 1), noise=law)
    spread = law.scale * 80 if isinstance(law, DiscreteLaplace) else law.sigma * 14
    law_masses = masses(law, int(spread) + 2)
    assert abs(mpmath.fsum(law_masses.values()) - 1) < 1e-25
    assert mechanism.variance == pytest.approx(float(mpmath.fsum(k * k * p for k, p in law_masses.items())), rel=1e-12)
    assert mechanism.mean_abs == pytest.approx(float(mpmath.fsum(abs(k) * p for k, p in law_masses.items())), rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("level", ["0.05", "0.5", "0.95", "0.999", "0.9999999"])
def test_stated_interval_is_the_shortest_that_covers(law, level):
    t = replace(laplace(scalar(1), 1), noise=law).radius(level)
    law_masses = masses(law, t + 1)
    covered = mpmath.fsum(law_masses[k] for k in range(-t, t + 1))
    assert covered >= number(F(level))
    assert t == 0 or covered - 2 * law_masses[t] < number(F(level))


@pytest.mark.parametrize("level", [0, 1, -1, 2, float("nan"), None, True, "9" * 5000])
def test_bad_level_is_refused(level):
    with pytest.raises(BadValue, match="level must be"):
        laplace(scalar(1), 1).radius(level)


# --- what runs ---------------------------------------------------------------------------------------------------


def test_output_is_the_input_plus_one_draw_a_coordinate():
    mechanism = replace(laplace(scalar(1), 1), noise=Fixed(5, -7, 0, 2**62))
    assert mechanism([10, 20, 30, LARGEST], SYSTEM).tolist() == [15, 13, 30, 2 * LARGEST]


@pytest.mark.parametrize("epsilon", ["2", "1/3"])
def test_laplace_draws_follow_the_law(epsilon):
    """N = 200,000."""
    exact, mechanism = 1000, laplace(scalar(1), epsilon)
    counts = Counter(int(y) - exact for y in mechanism(np.full(200_000, exact), SYSTEM))
    laws = [masses(DiscreteLaplace(mechanism.noise.scale * off), 250) for off in (1, F(11, 10))]
    assert_drawn_from(counts, *laws)


@pytest.mark.parametrize("make", [gaussian, discrete_gaussian])
def test_gaussian_draws_follow_the_law(make):
    """N = 200,000."""
    mechanism = make(scalar(1), "7/2")
    counts = Counter(mechanism(np.zeros(200_000, dtype=np.int64), SYSTEM).tolist())
    laws = [masses(type(mechanism.noise)(mechanism.noise.sigma * off), 60) for off in (1, F(11, 10))]
    assert_drawn_from(counts, *laws)


@pytest.mark.parametrize("mechanism", [laplace(scalar(1), 1), gaussian(scalar(1), 2), discrete_gaussian(scalar(1), 2)])
def test_every_coordinate_has_its_own_noise(mechanism):
    """N = 150,000 pairs: the joint table of two coordinates is the product law; shared noise would be its diagonal."""
    pairs = mechanism(np.zeros((150_000, 2), dtype=np.int64), SYSTEM)
    cut = np.clip(pairs, -3, 3)
    counts = Counter(map(tuple, cut.tolist()))
    single = masses(mechanism.noise, 2)
    single[3] = single[-3] = (1 - sum(single.values())) / 2
    apart = {(x, y): single[x] * single[y] for x in single for y in single}
    signs = {(x, y): int(np.sign(x) * np.sign(y)) for x, y in apart}
    bound = {pair: p * (1 + mpmath.mpf(signs[pair]) / 10) for pair, p in apart.items()}  # signs agree 10 % more often
    assert abs(sum(bound.values()) - 1) < 1e-25
    assert_drawn_from(counts, apart, bound)


def test_neighbouring_draws_in_one_call_do_not_repeat():
    """N = 100,000: |correlation| of coordinate i with i + 1 … i + 3 stays below 5.1/√N, false alarm 10⁻⁶."""
    noise = laplace(scalar(1), 1)(np.zeros(100_000, dtype=np.int64), SYSTEM).astype(float)
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(noise[:-lag], noise[lag:])[0, 1]) * 100_000**0.5 < 5.1
    assert ALARM == 1e-6


def test_noise_at_the_ends_of_the_range_does_not_wrap():
    ends = laplace(scalar(1), "1e-9")([10**30, -(10**30)], SYSTEM)
    assert ends[0] > 2**61
    assert ends[1] < -(2**61)


def test_scale_beyond_what_can_be_drawn_is_refused():
    with pytest.raises(BadValue, match="scale must be a positive number of at most 1e12"):
        laplace(scalar(10**6), "1e-9")
    with pytest.raises(BadValue, match="sigma"):
        gaussian(scalar(1), "1e13")


def test_tiny_scale_adds_nothing_and_states_so():
    mechanism = laplace(scalar("1e-150"), "1e6")
    assert mechanism([5, 6], SYSTEM).tolist() == [5, 6]
    assert (mechanism.variance, mechanism.mean_abs, mechanism.radius("0.999")) == (0.0, 0.0, 0)


def test_chance_of_reaching_the_cut_is_below_two_to_the_minus_thousand():
    for law in (DiscreteLaplace(F(10**12)), RoundedGaussian(F(10**12))):
        with real.precision(128):
            assert law.above(LARGEST) < real.ball(F(1, 2**1000))
