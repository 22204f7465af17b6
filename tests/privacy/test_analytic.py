"""The Gaussian's exact price against 60-digit arithmetic, and the search for the least noise."""

from fractions import Fraction as F

import mpmath
import pytest

from discreet.errors import BadValue
from discreet.privacy import analytic


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(80):
        yield


def truth(sigma, epsilon):
    mu, e = 1 / mpmath.mpf(sigma), mpmath.mpf(epsilon)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


@pytest.mark.parametrize("sigma", ["0.01", "0.3", "1", "5", "40", "1000", "1000000"])
@pytest.mark.parametrize("epsilon", ["0", "0.000000001", "0.01", "1", "8", "100"])
def test_delta_is_never_below_the_truth(sigma, epsilon):
    delta, exact = analytic.delta(sigma, F(epsilon)), truth(sigma, epsilon)
    value = mpmath.mpf(delta.numerator) / delta.denominator
    assert value >= exact
    assert value <= exact * (1 + mpmath.mpf(10) ** -12) or value < mpmath.mpf(10) ** -1200


@pytest.mark.parametrize("sigma", ["0.2", "1", "30"])
@pytest.mark.parametrize("delta", ["0.1", "1e-5", "1e-15", "1e-60"])
def test_epsilon_is_the_least_at_that_delta(sigma, delta):
    least = analytic.epsilon(sigma, F(delta))
    assert analytic.delta(sigma, least) <= F(delta)
    assert least == 0 or analytic.delta(sigma, least * (1 - F(1, 10**9))) > F(delta)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.01", "1", "50", "1e6"])
@pytest.mark.parametrize("delta", ["0.01", "1e-10", "1e-100"])
def test_sigma_is_the_least_and_rounded_to_the_noisier_side(epsilon, delta):
    sigma = analytic.sigma(epsilon, delta)
    assert analytic.delta(sigma, F(epsilon)) <= F(delta)
    assert analytic.delta(sigma * (1 - F(1, 10**9)), F(epsilon)) > F(delta)


def test_far_tails_are_bounded_not_computed():
    assert 0 < analytic.delta(F(10**11), F(10**6)) < F(1, 10**1000)
    assert analytic.delta("1e-300", F(1)) == 1
    assert analytic.epsilon("1e-300", F(1, 10**5)) > 10**599
    assert analytic.epsilon("1e300", F(1, 10**5)) == 0


def test_catch_rate_is_the_gaussian_trade_off():
    exact = mpmath.ncdf(mpmath.mpf("1") - mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf("0.05")))
    power = analytic.catch_rate(F(1), F(1, 20))
    assert 0 <= mpmath.mpf(power.numerator) / power.denominator - exact < 1e-9
    assert analytic.catch_rate(F(0), F(1, 20)) == F(1, 20)


def test_classic_formula_is_refused_where_it_is_not_proven():
    assert round(float(analytic.classic_sigma("0.1", "1e-5")), 2) == 48.45
    for epsilon in (1, 10):
        with pytest.raises(BadValue, match="below 1"):
            analytic.classic_sigma(epsilon, "1e-5")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0, True, None, "9" * 5000, 1, 2])
def test_bad_delta_is_refused(value):
    with pytest.raises(BadValue, match="delta"):
        analytic.sigma(1, value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0, True, None, "9" * 5000, "1e-10", "1e7"])
def test_bad_epsilon_is_refused(value):
    with pytest.raises(BadValue, match="epsilon"):
        analytic.sigma(value, "1e-5")
