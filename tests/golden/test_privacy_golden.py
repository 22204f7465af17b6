"""Worked figures with their sources, and what the looser or wrong forms in common use would really give.

Sources: Dwork & Roth 2014 (Theorem A.1); Balle & Wang 2018 (analytic Gaussian); Kairouz, Oh & Viswanath 2015 (optimal
composition); Canonne, Kamath & Steinke 2020 (zCDP conversion); Balle, Barthe & Gaboardi 2018 (sampling).
"""

import math
from fractions import Fraction as F

import pytest

from discreet.bounded import scalar
from discreet.mechanism.additive import laplace
from discreet.privacy import analytic, calibrate, convert, price
from discreet.privacy.cost import Gaussian, Pure, Repeated, Sampled
from privacy.textbook import advanced

D = F(1, 10**5)


@pytest.mark.parametrize(("epsilon", "sigma"), [("0.1", 30.749566), ("1", 3.730632), ("10", 0.499889)])
def test_analytic_gaussian_at_one_in_a_hundred_thousand_has_the_known_sigma(epsilon, sigma):
    assert float(calibrate.gaussian_sigma(epsilon, "1e-5")) == pytest.approx(sigma, abs=1e-6)


def test_classic_gaussian_wastes_noise_below_one():
    assert float(analytic.classic_sigma("0.1", "1e-5")) == pytest.approx(48.448, abs=1e-3)
    assert analytic.classic_sigma("0.1", "1e-5") > F(3, 2) * analytic.sigma("0.1", "1e-5")


def test_classic_gaussian_is_not_private_at_ten():
    classic = math.sqrt(2 * math.log(1.25e5)) / 10
    assert classic == pytest.approx(0.4845, abs=1e-4)
    assert float(analytic.delta(F(classic), F(10))) > 1.9e-5  # almost twice the δ it claims


def test_log_form_read_as_a_variance_is_seven_hundred_times_less_private():
    sd = math.sqrt(math.log(1.25e5) / 0.1)
    assert sd == pytest.approx(10.83, abs=0.01)
    assert float(analytic.delta(F(sd), F(1, 10))) == pytest.approx(6.88e-3, rel=0.01)
    at_one = math.sqrt(math.log(1.25e5))
    assert at_one == pytest.approx(3.43, abs=0.01)
    assert float(analytic.delta(F(at_one), F(1))) > 1e-5


def test_log_form_read_as_a_deviation_wastes_three_to_four_times_the_noise():
    assert math.log(1.25e5) / 0.1 / float(analytic.sigma("0.1", "1e-5")) == pytest.approx(3.82, abs=0.01)
    assert math.log(1.25e5) / float(analytic.sigma(1, "1e-5")) == pytest.approx(3.15, abs=0.01)


@pytest.mark.parametrize(("times", "epsilon"), [(10**3, 1.828), (10**4, 6.188), (10**5, 25.573)])
def test_sampled_gaussian_is_priced_by_the_loss_distribution(times, epsilon):
    bound = price.epsilon(Repeated(Sampled("0.01", Gaussian(1)), times), D)
    assert epsilon - 0.0005 <= float(bound.value) <= epsilon * 1.0005
    assert "privacy loss distribution" in bound.route


def test_sampling_one_response_at_one_hundredth_costs_0_0170369():
    epsilon = price.epsilon(Sampled("0.01", Pure(1)), 0).value
    assert float(epsilon) == pytest.approx(0.0170369, abs=1e-7)
    assert epsilon > F(17, 10) * F(1, 100)  # the product qε is 1.7 times too small


def test_twice_p_epsilon_bounds_amplification_only_up_to_1_2564():
    tiny = F(1, 10**9)
    assert convert.sampled_epsilon(F("1.2564"), tiny) <= 2 * tiny * F("1.2564")
    assert convert.sampled_epsilon(F("1.2565"), tiny) > 2 * tiny * F("1.2565")
    assert convert.sampled_epsilon(F(5), F(1, 10)) > F(1)  # 2pε = 1, the true value is 2.75


def test_q_t_epsilon_is_unsound():
    """One step: at ε' = qε the true δ of randomized response on a sample is far from 0."""
    q, e = 0.01, math.e
    keep = e / (1 + e)
    true_delta = (1 - q) * (1 - keep) + q * keep - math.exp(q * 1) * (1 - keep)
    assert true_delta > 1.9e-3
    assert float(price.delta(Sampled("0.01", Pure(1)), "0.01").value) == pytest.approx(true_delta, rel=1e-9)


def test_q_epsilon_root_t_is_not_a_bound():
    """100 steps: qε√T = 0.1, while even the optimistic loss distribution at δ = 1e-5 is above 0.3."""
    from discreet.privacy import pld
    from discreet.privacy.flat import atoms_of

    steps = Repeated(Sampled("0.01", Pure(1)), 100)
    assert pld.optimistic(atoms_of(steps)).epsilon(1e-5) > 0.3
    assert float(price.epsilon(steps, D).value) < 0.5


def test_a_hundred_counts_are_priced_as_integer_noise_not_as_continuous_laplace():
    from dp_accounting.pld import privacy_loss_distribution as library

    bound = price.epsilon(Repeated(Pure("0.1"), 100), D)
    assert float(bound.value) == pytest.approx(4.30679, abs=1e-5)
    assert bound.route == "optimal composition"
    continuous = library.from_laplace_mechanism(10.0).self_compose(100).get_epsilon_for_delta(1e-5)
    assert continuous < 0.99 * float(bound.value)


def test_a_hundred_counts_cost_10_and_5_850_by_the_older_theorems():
    assert price.epsilon(Repeated(Pure("0.1"), 100), 0).value == 10
    assert float(advanced(F(1, 10), F(0), 100, D)[0]) == pytest.approx(5.850, abs=1e-3)


def test_tight_zcdp_conversion_is_below_the_plain_formula():
    plain = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
    assert plain == pytest.approx(5.7565, abs=1e-4)
    assert float(convert.epsilon_of_zcdp(F(1, 2), F(1, 10**6))) == pytest.approx(5.2215, abs=1e-4)


def _laplace_scale(moved, epsilon):
    return laplace(scalar(moved), epsilon).noise.scale


def test_group_of_k_multiplies_epsilon_and_noise():
    assert _laplace_scale(3, "0.1") == 30  # Lap(k/ε)
    assert price.epsilon(Repeated(Pure("0.1"), 3), 0).value == F(3, 10)


def test_laplace_scales_are_those_of_the_worked_examples():
    assert _laplace_scale(1, "0.1") == 10  # one count, whatever the population
    assert _laplace_scale(12, "0.1") == 120  # D = 12 counts of one person
    assert _laplace_scale(2, "0.1") == 20  # two counts by replacement
