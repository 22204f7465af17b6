"""The lectures' formulas about DP-SGD: what each says, and the ε or δ that is true.

"true at least" is dp-accounting's optimistic distribution or a closed form of one event, so a formula below it is wrong
for certain; "true at most" is the package's price.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from discreet.deep.accounting.plan import plan
from discreet.errors import BadValue
from discreet.privacy import analytic, calibrate, convert, pld, price
from discreet.privacy.cost import Gaussian, Pure, Repeated, Sampled
from discreet.privacy.flat import atoms_of

DELTA = F(1, 10**5)


def lecture_sigma(epsilon):
    """√(2 ln(1.25/δ))/ε, which the lecture puts into every step."""
    return F(math.sqrt(2 * math.log(1.25 / float(DELTA))) / float(epsilon)).limit_denominator(10**9)


def least_epsilon(cost, delta):
    """A lower bound on ε."""
    return pld.optimistic(atoms_of(cost)).epsilon(float(delta))


def steps_of(epsilon, rate, times):
    """T steps, each with the least noise that is (ε, δ)-DP on its own, on Poisson samples."""
    return Repeated(Sampled(rate, Gaussian(analytic.sigma(epsilon, DELTA))), times)


def test_l3_the_clipped_gradient_of_a_whole_batch_moves_by_two_clips():
    """L3 clips the gradient of "a point or batch", whose influence it takes to be C.

    A batch of one gradient 3C, to which −7C is added, turns from C to −C: the sensitivity is 2C.  At the noise for
    ε = 1 the true ε is 2.15, and δ at ε = 1 is 0.0104 and not 10⁻⁵.
    """
    clip = 1.0

    def of_a_batch(gradients):
        total = sum(gradients)
        return total / max(1.0, abs(total) / clip)

    def of_each_point(gradients):
        return sum(g / max(1.0, abs(g) / clip) for g in gradients)

    assert abs(of_a_batch([3.0]) - of_a_batch([3.0, -7.0])) == 2 * clip
    assert abs(of_each_point([3.0]) - of_each_point([3.0, -7.0])) == clip
    sigma = calibrate.gaussian_sigma(1, DELTA)
    assert float(price.epsilon(Gaussian(sigma / 2), DELTA).value) == pytest.approx(2.1547, abs=1e-4)
    assert float(price.delta(Gaussian(sigma / 2), 1).value) == pytest.approx(0.010395, abs=1e-6)
    assert price.epsilon(Gaussian(sigma), DELTA).value <= 1  # each point clipped on its own


def test_l3_the_classic_sigma_is_not_private_at_epsilon_ten():
    """L3's σ = √(2 ln(1.25/δ))/ε gives no range.  At ε = 10: 0.484, where 0.500 is needed; the true ε is 10.39."""
    sigma = lecture_sigma(10)
    assert float(sigma) == pytest.approx(0.48448, abs=1e-5)
    assert float(price.delta(Gaussian(sigma), 10).value) == pytest.approx(2.265e-5, rel=1e-3)
    assert float(price.epsilon(Gaussian(sigma), DELTA).value) == pytest.approx(10.394, abs=1e-3)
    with pytest.raises(BadValue):
        analytic.classic_sigma(10, DELTA)
    assert plan(rows=10, rate=1, steps=1, epsilon=10, delta=DELTA).sigma > F("0.4998")


def test_l0_the_variance_without_its_square_has_a_large_delta():
    """L0's N(0, ln(1.25/δ)·Δ/ε), read as a variance: at ε = 0.1 δ is 0.0069 and not 10⁻⁵."""
    sigma = F(math.sqrt(math.log(1.25 / float(DELTA)) / 0.1)).limit_denominator(10**9)
    assert float(price.delta(Gaussian(sigma), "0.1").value) == pytest.approx(6.877e-3, rel=1e-3)
    assert plan(rows=10, rate=1, steps=1, epsilon="0.1", delta=DELTA).sigma > 2 * sigma


@pytest.mark.parametrize(
    ("epsilon", "times", "truth"), [(1, 1, 0.01702), (2, 1, 0.0619), (4, 1, 0.429), (4, 10, 0.4418)]
)
def test_l3_amplified_costs_do_not_add_up_to_q_t_epsilon(epsilon, times, truth):
    """L3: T steps at rate q are (qTε, qTδ)-DP.  At q = 0.01 the true ε is larger, by up to ten times."""
    q = F(1, 100)
    claimed, claimed_delta = q * times * epsilon, q * times * DELTA
    least = least_epsilon(steps_of(epsilon, q, times), claimed_delta)
    assert least > claimed
    assert least == pytest.approx(truth, rel=2e-3)


def test_l3_one_amplified_step_costs_more_than_q_epsilon():
    """ln(1 + q(e^ε − 1)) is 0.01704 at ε = 1 and q = 0.01, and T steps by basic composition T times that."""
    q = F(1, 100)
    step = price.epsilon(Sampled(q, Pure(1)), 0).value
    assert float(step) == pytest.approx(0.017037, abs=1e-6)
    assert price.epsilon(Repeated(Sampled(q, Pure(1)), 50), 0).value >= 50 * step * F(999_999, 10**6)
    assert step > F(17, 10) * q


def test_l3_q_t_epsilon_is_forty_where_one_is_true():
    """The same formula errs to the other side for many steps: 40 at ε = 4, q = 0.01, T = 1,000, in truth 1.3."""
    cost, q = steps_of(4, F(1, 100), 1000), F(1, 100)
    assert price.epsilon(cost, q * 1000 * DELTA).value < F("1.3")


@pytest.mark.parametrize(("times", "claimed", "truth"), [(1, 0.04, 0.1509), (10, 0.1265, 0.2875), (100, 0.4, 0.5694)])
def test_l3_q_epsilon_root_t_is_an_order_of_growth_and_no_bound(times, claimed, truth):
    """L3: "tighter, (qε√T, δ)".  At ε = 4 and q = 0.01 the true ε is up to 3.8 times as large."""
    least = least_epsilon(steps_of(4, F(1, 100), times), DELTA)
    assert 0.01 * 4 * math.sqrt(times) == pytest.approx(claimed, rel=1e-3)
    assert least == pytest.approx(truth, rel=2e-3)
    assert least > 1.4 * claimed


def test_l3_twice_p_epsilon_is_no_bound_beyond_1_2564():
    """L3: ln(1 + p(e^ε − 1)) ≤ 2pε.  At ε = 2 and p = 0.01 the left side is 0.0619, and the right 0.04."""
    p = F(1, 100)
    assert convert.sampled_epsilon(F(2), p) > F("0.0619") > 2 * p * 2
    assert float(price.epsilon(Sampled(p, Pure(2)), 0).value) == pytest.approx(0.06194, abs=1e-5)
    assert convert.sampled_epsilon(F("1.2564"), F(1, 10**6)) <= 2 * F("1.2564") / 10**6
    assert convert.sampled_epsilon(F("1.2565"), F(1, 10**6)) > 2 * F("1.2565") / 10**6


def test_l3_the_whole_recipe_says_56_and_is_neither_valid_nor_near():
    """N = 60,000, B = 250, σ = 1.3, 15 epochs: qTε = 55.9 with an ε of a step of 3.73, where its σ is not valid."""
    q, times, sigma = F(250, 60_000), 3600, 1.3
    step = math.sqrt(2 * math.log(1.25 / float(DELTA))) / sigma
    assert step == pytest.approx(3.727, abs=1e-3)
    assert float(q) * times * step == pytest.approx(55.9, abs=0.1)
    assert plan(rows=60_000, batch_size=250, epochs=15, sigma="1.3", delta=DELTA).epsilon < F("0.86")


def shuffled_delta(times, sigma, epsilon):
    """A lower bound on δ(ε) of one epoch of shuffled batches of one row: her gradient is C or 0, all others' −C.

    The event "the largest noisy sum is above c" has 1 − Φ((c − 1)/σ)·Φ((c + 1)/σ)^{T−1} with her and
    1 − Φ(c/σ)·Φ((c + 1)/σ)^{T−1} without (the example of Chua et al. 2024).
    """
    cut = np.linspace(-1, 8, 600)
    others = (times - 1) * stats.norm.logcdf((cut + 1) / sigma)
    there = -np.expm1(stats.norm.logcdf((cut - 1) / sigma) + others)
    absent = -np.expm1(stats.norm.logcdf(cut / sigma) + others)
    return float(np.max(there - math.exp(epsilon) * absent))


def test_l3_batches_of_a_shuffled_epoch_are_no_samples():
    """L3 takes batches "that are q fraction of data".  Shuffled once, 100 batches at σ = 1 have ε ≥ 4 and not 0.72."""
    sampled = price.epsilon(Repeated(Sampled(F(1, 100), Gaussian(1)), 100), DELTA).value
    assert float(sampled) == pytest.approx(0.718, abs=1e-3)
    assert shuffled_delta(100, 1.0, float(sampled)) > 0.02
    assert shuffled_delta(100, 1.0, 4.0) > 1e-5
    assert price.epsilon(Gaussian(1), DELTA).value > 4  # what an epoch without sampling is charged
