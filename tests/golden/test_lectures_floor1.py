"""The worked figures of five lectures on noise, added noise, selection and randomized response, from what really runs.

L0 trustworthy AI, L1 privacy in machine learning, L2 responsible AI, L3 privacy-preserving learning, L4 privacy in AI.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import beta as beta_law

from discreet import real
from discreet.amounts import delta
from discreet.bounded import Sensitivity, cells, scalar
from discreet.errors import BadValue
from discreet.mechanism.additive import laplace
from discreet.mechanism.beta import bias
from discreet.mechanism.demonstration import all_or_nothing, name_and_shame
from discreet.mechanism.response import response, two_coins
from discreet.mechanism.select import exponential
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.privacy.odds import response_posterior

LN3 = math.log(3)


def loss(noise, moved):
    """max |ln P[X = k]/P[X = k − moved]|, from certified masses."""
    with real.precision(128):
        return max(abs(float((noise.mass(k) / noise.mass(k - moved)).log())) for k in range(-30, 60))


# --- noise and counts --------------------------------------------------------------------------------------------


def test_count_of_blue_eyes_at_a_tenth_has_scale_10() -> None:
    # L1, L2: how many have blue eyes, ε = 0.1: Laplace noise of scale 10, whatever the population.
    answer = laplace(scalar(1), "0.1")
    assert answer.noise == DiscreteLaplace(F(10))
    assert loss(answer.noise, 1) == pytest.approx(0.1, rel=1e-12)
    # Continuous: MSE 2(Δ/ε)² = 200, mean error Δ/ε = 10.  The integer law: 2a/(1−a)² and 2a/(1−a²), a = e^(−1/10).
    assert (round(answer.variance, 2), round(answer.mean_abs, 3)) == (199.83, 9.983)
    a = math.exp(-0.1)
    assert answer.variance == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-12)
    assert answer.mean_abs == pytest.approx(2 * a / (1 - a * a), rel=1e-12)


def test_cancer_count_is_three_or_four() -> None:
    # L2: one patient more, 3 becomes 4: Δ = 1.
    assert laplace(scalar(4 - 3), 1).noise.scale == 1
    assert loss(laplace(scalar(1), 1).noise, 4 - 3) == pytest.approx(1)


def test_means_of_the_ages_are_those_of_the_lecture() -> None:
    # L2: ages 31, 49, 26, 19, 27: mean 30.4; men (49, 19) 34, women (31, 26, 27) 28.
    ages, men = np.array([31, 49, 26, 19, 27]), np.array([0, 1, 0, 1, 0])
    almost_exact = laplace(cells(2, 110), "1e6")  # so little noise that none of it reaches one step
    total, count = almost_exact(np.array([ages.sum(), 5]), SYSTEM)
    his, hers = almost_exact(np.array([ages[men == 1].sum(), ages[men == 0].sum()]), SYSTEM)
    assert (total / count, his / 2, hers / 3) == (30.4, 34, 28)


def test_sum_over_three_to_five_has_sensitivity_5() -> None:
    # L2: a sum of 24 becomes 27 … 29 with one row more in [3, 5]: Δ = max(|3|, |5|) = 5.
    noise = laplace(scalar(5), "0.5").noise
    assert noise.scale == 10
    assert [loss(noise, after - 24) for after in (27, 28, 29)] == pytest.approx([0.3, 0.4, 0.5])


def test_heights_salaries_and_means_have_the_scales_of_the_lecture() -> None:
    # L1: heights up to 7 ft: Δ = 7.  L2: salaries up to £50K, four leave together: Δ = £200K.
    assert laplace(scalar(7), "0.1").noise.scale == 70
    assert laplace(scalar(4 * 50), 1).noise.scale == 200
    # L3, L4: the mean of n values in [0, 1], one replaced: Δ = 1/n, the sum's Δ = 1 over n.
    n = 1000
    assert laplace(scalar(1, "replace-one"), "0.1").noise.scale / n == F(1, n) / F("0.1")


@pytest.mark.parametrize("features", [1, 5, 12])
def test_naive_bayes_counts_of_d_features_have_scale_10_d(features: int) -> None:
    # L1: one person is in D joint counts, ε = 0.1: noise of scale 10·D, the same as D questions at ε/D.
    together = laplace(cells(features, 1), "0.1")
    assert together.noise.scale == 10 * features
    assert together.noise == laplace(scalar(1), F(1, 10) / features).noise


@pytest.mark.parametrize("size", [2, 5])
def test_group_of_k_multiplies_scale_and_loss_by_k(size: int) -> None:
    # L1, L3: for a group of k, Lap(k/ε); an ε-DP answer is kε-DP for k people.
    assert laplace(scalar(size), "0.1").noise.scale == 10 * size
    assert loss(laplace(scalar(1), "0.1").noise, size) == pytest.approx(0.1 * size, rel=1e-12)


# --- selection ---------------------------------------------------------------------------------------------------


def test_exponential_mechanism_keeps_its_shortfall_bound() -> None:
    # L1: P(loss ≥ L* + R) ≤ |Y| exp(−εR/2Δ): with probability 1 − δ within (2Δ/ε)(ln|Y| − ln δ).
    choice = exponential(scalar(1), "0.1")
    assert choice.rate == F(1, 20)
    assert choice.shortfall(200, "0.05") == pytest.approx(20 * (math.log(200) - math.log(0.05)))
    for candidates in (2, 200):
        for gap in (20, 100, 300):
            worst = (candidates - 1) * math.exp(-gap / 20) / (1 + (candidates - 1) * math.exp(-gap / 20))
            assert worst <= candidates * math.exp(-0.1 * gap / 2)


@pytest.mark.parametrize(("under", "step", "exponent"), [("add-remove", 2.303, 0.0217), ("replace-one", 2.197, 0.0228)])
def test_bernoulli_bias_has_the_exponent_of_the_lecture(under: str, step: float, exponent: float) -> None:
    # L1: θ in (0.1, 0.9), ε = 0.1, Δ = −ln 0.1 = 2.303: exponent ε/2Δ = 0.0217; by replacement Δ = ln 9, 0.0228.
    answer = bias("0.1", low="0.1", high="0.9", points=801, under=under)
    assert float(answer.choice.sensitivity.linf) / 2**12 == pytest.approx(step, abs=6e-4)  # ln θ is rounded to 1/4096
    assert round(answer.exponent, 4) == exponent
    # The answer tends to Beta(1 + 0.0217·N_H, 1 + 0.0217·N_T) cut to (0.1, 0.9).
    flips = (700, 300)
    weights = np.exp(float(answer.choice.rate) * (answer.scores(flips) - answer.scores(flips).max()))
    theta = np.array([float(answer.theta(i)) for i in range(801)])
    limit = beta_law(1 + answer.exponent * flips[0], 1 + answer.exponent * flips[1])
    inside = limit.cdf(0.9) - limit.cdf(0.1)
    mean = float(weights @ theta / weights.sum())
    assert mean == pytest.approx(limit.expect(lambda t: t, lb=0.1, ub=0.9) / inside, abs=5e-4)


# --- randomized response -----------------------------------------------------------------------------------------


def test_two_fair_coins_are_ln_3_private_and_move_2_percent_to_0_0577() -> None:
    # L1: P(yes | dodge) = 3/4, P(yes | no) = 1/4: ln 3-DP; prior 0.02 and a yes: 0.015/(0.015 + 0.245) = 0.0577.
    survey = two_coins()
    assert (survey.said_yes(1), survey.said_yes(0)) == (F(3, 4), F(1, 4))
    assert 0 <= float(survey.cost.epsilon) - LN3 < 1e-15
    assert response_posterior("0.02", survey.said_yes(1), survey.said_yes(0)) == F(15, 260)
    assert round(15 / 260, 4) == 0.0577


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 1.0])
def test_two_coin_estimate_has_the_variance_of_the_lecture(share: float) -> None:
    # L1: μ̂ = (2/N)ΣX − 1/2 with variance (4/N)(1/4 + μ/2)(3/4 − μ/2) ≥ 4·μ(1 − μ)/N, equal at μ = 1/2 only.
    survey, n = two_coins(), 1000
    assert survey.share([1] * 300 + [0] * 700).value == pytest.approx(2 * 0.3 - 0.5)
    stated = survey.variance(share, n)
    assert stated == pytest.approx(4 / n * (0.25 + share / 2) * (0.75 - share / 2))
    sampling = 4 * share * (1 - share) / n
    assert stated == pytest.approx(sampling) if share == 0.5 else stated > sampling * 1.1


def test_laplace_at_the_epsilon_of_two_coins_has_scale_0_910() -> None:
    # L1: scale 1/ln 3 ≈ 0.910 on the count, 2/(N ln 3)² on the mean; the integer law gives 1.5/N².
    count = laplace(scalar(1), two_coins().cost.epsilon)
    assert float(count.noise.scale) == pytest.approx(0.910, abs=5e-4)
    assert 2 * float(count.noise.scale) ** 2 == pytest.approx(2 / LN3**2)
    assert count.variance == pytest.approx(1.5)  # a = 1/3: 2a/(1 − a)²


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_randomized_response_keeps_and_estimates_by_the_formulas(epsilon: str) -> None:
    # L4: keep with e^ε/(1+e^ε); z = (y − 1/(1+e^ε))(e^ε+1)/(e^ε−1), Var z = e^ε/(e^ε−1)².
    mechanism, e = response(epsilon), math.exp(float(epsilon))
    assert mechanism.keep == pytest.approx(e / (1 + e))
    for said in (0, 1):
        assert mechanism.shares([said])[1].value == pytest.approx((said - 1 / (1 + e)) * (e + 1) / (e - 1))
    for truth in (0.0, 1.0):
        assert mechanism.variance(truth, 1) == pytest.approx(e / (e - 1) ** 2)


# --- why δ is small ----------------------------------------------------------------------------------------------


def test_name_and_shame_and_release_all_cost_delta_alone() -> None:
    # L0: NS_δ and "release all with probability δ" are (0, δ)-DP; at δ = 1/n one person is named on average.
    n = 10_000
    for demonstration in (name_and_shame(F(1, n)), all_or_nothing(F(1, n))):
        assert (demonstration.cost.epsilon, demonstration.cost.delta) == (0, F(1, n))
    assert name_and_shame(F(1, n)).mean_published(n) == 1
    with pytest.raises(BadValue, match="1e-6"):
        delta(F(1, n))  # so a question's δ has a public ceiling far below


def test_flipping_the_bits_of_a_picture_at_0_51_costs_0_04() -> None:
    # L2: flip probability p gives ε = |ln((1−p)/p)|: 0.04 at 0.51.
    assert abs(math.log(0.49 / 0.51)) == pytest.approx(0.0400, abs=5e-5)
    assert response(F(math.log(0.51 / 0.49))).keep == pytest.approx(0.51)


def test_sensitivities_hold_every_norm() -> None:
    # L0, L2: a vector in which a person is in k cells: l1 = k, l2 = √k.
    assert cells(9, 1) == Sensitivity(9, 9, 9, 1)
