"""Each theorem against a high-precision twin, and optimal composition against brute force."""

import itertools
from fractions import Fraction as F

import mpmath
import pytest

from discreet.errors import NotPriced
from discreet.privacy import convert

from . import textbook

CLOSE = F(1, 10**12)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


def above(value, truth):
    """Not below the truth (to the 50 digits it is known), and not above by more than 1e-12, relatively."""
    exact = mpmath.mpf(value.numerator) / value.denominator
    return truth - mpmath.mpf(10) ** -50 <= exact <= truth * (1 + mpmath.mpf(10) ** -12) + mpmath.mpf(10) ** -40


@pytest.mark.parametrize("order", [F(101, 100), F(3, 2), F(2), F(17), F(10**6)])
@pytest.mark.parametrize("delta", [F(1, 2), F(1, 10**5), F(1, 10**30)])
def test_renyi_to_epsilon_is_the_rounded_up_formula(order, delta):
    r, a, d = mpmath.mpf(3), mpmath.mpf(order.numerator) / order.denominator, mpmath.mpf(1) / delta.denominator
    truth = max(mpmath.mpf(0), r + mpmath.log(1 - 1 / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1))
    assert above(convert.epsilon_of_renyi(F(3), order, delta), truth)


@pytest.mark.parametrize("epsilon", [F(0), F(1), F(5), F(100)])
def test_renyi_to_delta_inverts_renyi_to_epsilon(epsilon):
    a = mpmath.mpf(5)
    truth = mpmath.exp((a - 1) * (2 - mpmath.mpf(int(epsilon)))) * (1 - 1 / a) ** a / (a - 1)
    assert above(convert.delta_of_renyi(F(2), F(5), epsilon), min(mpmath.mpf(1), truth))


@pytest.mark.parametrize("rho", ["1/1000000", "1/100", "1/2", "30"])
@pytest.mark.parametrize("delta", ["1/100", "1/1000000", "1/1000000000000000"])
def test_zcdp_conversion_finds_the_best_order(rho, delta):
    epsilon = convert.epsilon_of_zcdp(F(rho), F(delta))
    r, d = mpmath.mpf(F(rho).numerator) / F(rho).denominator, mpmath.mpf(1) / F(delta).denominator
    grid = [1 + mpmath.exp(mpmath.mpf(x) / 50) for x in range(-400, 900)]
    best = min(a * r + mpmath.log(1 - 1 / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1) for a in grid)
    assert float(epsilon) <= float(max(best, mpmath.mpf(0))) * (1 + 1e-9) + 1e-12
    assert float(epsilon) >= float(best) * (1 - 1e-3)
    assert convert.delta_of_zcdp(F(rho), epsilon) <= F(delta) * (1 + F(1, 10**6)) or epsilon == 0


def test_zcdp_conversion_beats_the_first_published_one():
    rho, delta = F(1, 2), F(1, 10**6)
    plain = 0.5 + 2 * (0.5 * 13.815510557964274) ** 0.5  # ρ + 2√(ρ ln(1/δ)), Bun & Steinke 2016
    assert float(convert.epsilon_of_zcdp(rho, delta)) < plain - 0.5


def brute_force_delta(epsilons, epsilon):
    """Σ over all 2^k outcomes of max(0, P − e^ε' Q), for randomized responses."""
    total = mpmath.mpf(0)
    for truths in itertools.product([0, 1], repeat=len(epsilons)):
        p = q = mpmath.mpf(1)
        for e, truth in zip(epsilons, truths, strict=True):
            keep = 1 / (1 + mpmath.exp(-e))
            p, q = p * (keep if truth else 1 - keep), q * (1 - keep if truth else keep)
        total += max(mpmath.mpf(0), p - mpmath.exp(epsilon) * q)
    return total


@pytest.mark.parametrize(("epsilon", "times"), [(F(1), 1), (F(1, 2), 2), (F(3, 10), 7), (F(2), 5), (F(1, 10), 9)])
@pytest.mark.parametrize("total", [F(0), F(1, 3), F(1)])
@pytest.mark.parametrize("delta", [F(0), F(1, 1000)])
def test_optimal_composition_equals_brute_force(epsilon, times, total, delta):
    e, d = mpmath.mpf(epsilon.numerator) / epsilon.denominator, mpmath.mpf(delta.numerator) / delta.denominator
    pure = brute_force_delta([e] * times, mpmath.mpf(total.numerator) / total.denominator)
    assert above(textbook.optimal_delta(epsilon, delta, times, total), 1 - (1 - d) ** times * (1 - pure))


@pytest.mark.parametrize("delta_slack", [F(1, 10), F(1, 1000), F(1, 10**6)])
def test_optimal_epsilon_is_the_least_with_that_delta(delta_slack):
    for epsilon, delta, times in [(F(1, 2), F(0), 9), (F(1, 10), F(1, 10**8), 30), (F(2), F(0), 3)]:
        least = textbook.optimal_epsilon(epsilon, delta, times, delta_slack)
        assert textbook.optimal_delta(epsilon, delta, times, least) <= delta_slack * (1 + CLOSE)
        assert textbook.optimal_delta(epsilon, delta, times, least * (1 - F(1, 10**6))) > delta_slack


def test_unequal_mechanisms_compose_as_brute_force_says():
    shares = (convert.Copies(F(1, 2), F(0), 2), convert.Copies(F(1, 5), F(0), 3), convert.Copies(F(1), F(0), 1))
    epsilons = [mpmath.mpf(1) / 2] * 2 + [mpmath.mpf(1) / 5] * 3 + [mpmath.mpf(1)]
    for total in (F(0), F(1, 2), F(2)):
        truth = brute_force_delta(epsilons, mpmath.mpf(total.numerator) / total.denominator)
        assert above(convert.mixed_delta(shares, total), truth)


def test_optimal_composition_has_no_epsilon_below_its_own_delta():
    assert textbook.optimal_epsilon(F(1), F(1, 100), 3, F(1, 100)) is None
    with pytest.raises(NotPriced, match="at most"):
        textbook.optimal_delta(F(1), F(0), 10**6, F(1))


def test_advanced_composition_is_looser_than_optimal():
    advanced, delta = textbook.advanced(F(1, 10), F(0), 100, F(1, 10**5))
    assert 5.85 < advanced < 5.851
    assert delta == F(1, 10**5)
    assert textbook.optimal_epsilon(F(1, 10), F(0), 100, F(1, 10**5)) < advanced


def test_groups_multiply_each_kind_of_cost_by_its_formula():
    assert convert.group_pure(F(1, 2), 3) == F(3, 2)
    assert convert.group_zcdp(F(1, 2), 3) == F(9, 2)
    assert convert.group_gaussian(F(6), 3) == 2
    e, d = convert.group_approx(F(1), F(1, 10**6), 3)
    assert e == 3
    assert above(d, mpmath.mpf(10) ** -6 * (1 + mpmath.e + mpmath.e**2))
    assert convert.group_approx(F(1), F(1, 10**6), 10**9) == (10**9, 1)


@pytest.mark.parametrize("rate", [F(1, 10**6), F(1, 100), F(1, 2)])
def test_unsampling_inverts_sampling(rate):
    p = mpmath.mpf(rate.numerator) / rate.denominator
    epsilon = convert.sampled_epsilon(F(2), rate)
    assert above(epsilon, mpmath.log(1 + p * (mpmath.e**2 - 1)))
    assert 0 <= 2 - convert.unsampled_epsilon(epsilon, rate) + CLOSE < 2 * CLOSE


@pytest.mark.parametrize("alpha", [F(0), F(1, 2), F(1), F(3, 2)])
def test_curve_of_pure_is_randomized_response(alpha):
    truth = brute_force_delta([mpmath.mpf(1)], mpmath.mpf(alpha.numerator) / alpha.denominator)
    assert above(convert.delta_of_pure(F(1), alpha), truth)
    back = textbook.epsilon_of_pure(F(1), convert.delta_of_pure(F(1), alpha))
    assert min(alpha, F(1)) - CLOSE <= back <= min(alpha, F(1)) + CLOSE
