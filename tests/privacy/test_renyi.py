"""Rényi curves against direct sums and integrals."""

from fractions import Fraction as F

import mpmath
import pytest

from discreet.errors import BadValue
from discreet.privacy import renyi
from discreet.privacy.cost import Apart, Approx, Exponential, Gaussian, Group, Pure, Repeated, Sampled, Together, Zcdp

from .event import event

ORDERS = [F(101, 100), F(3, 2), F(2), F(5, 2), F(8), F(64)]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def number(x):
    return mpmath.mpf(x.numerator) / x.denominator


def of_two(p, q, order):
    """Rényi divergence of two finite laws, by its definition."""
    a = number(order)
    return mpmath.log(sum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True))) / (a - 1)


def response_laws(epsilon):
    keep = 1 / (1 + mpmath.exp(-number(epsilon)))
    return (keep, 1 - keep), (1 - keep, keep)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [F(1, 10**9), F(1, 10), F(1), F(20)])
def test_pure_is_the_randomized_response_curve(order, epsilon):
    truth = of_two(*response_laws(epsilon), order)
    divergence = number(renyi.divergence(Pure(epsilon), order).value)
    assert truth * (1 - mpmath.mpf(10) ** -25) <= divergence <= truth * (1 + mpmath.mpf(10) ** -12)
    assert divergence <= number(epsilon)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 10), F(9, 10)])
def test_sampled_pure_is_the_worse_direction_of_the_mixture(order, rate):
    p, q = response_laws(F(1))
    mixed = tuple((1 - number(rate)) * y + number(rate) * x for x, y in zip(p, q, strict=True))
    truth = max(of_two(mixed, q, order), of_two(q, mixed, order))
    divergence = number(renyi.divergence(Sampled(rate, Pure(1)), order).value)
    assert truth * (1 - mpmath.mpf(10) ** -25) <= divergence <= truth * (1 + mpmath.mpf(10) ** -12)


def sampled_gaussian_integral(rate, sigma, order):
    a, q, s = number(order), number(rate), mpmath.mpf(sigma)

    def density(x, centre):
        return mpmath.exp(-((x - centre) ** 2) / (2 * s * s)) / (s * mpmath.sqrt(2 * mpmath.pi))

    def moment(x):
        return density(x, 0) * (1 - q + q * mpmath.exp((2 * x - 1) / (2 * s * s))) ** a

    with mpmath.workdps(20):
        value = mpmath.quad(moment, [-12 * s, -2 * s, 0, 1, 4, 12, 12 + 12 * s])
    return mpmath.log(value) / (a - 1)


@pytest.mark.parametrize(("rate", "sigma", "order"), [("0.01", 1, 8), ("0.3", 2, 3), ("0.01", 4, 32), ("0.5", 1, 2)])
def test_sampled_gaussian_equals_the_integral_at_whole_orders(rate, sigma, order):
    truth = sampled_gaussian_integral(F(rate), sigma, F(order))
    divergence = number(renyi.divergence(Sampled(rate, Gaussian(sigma)), F(order)).value)
    assert truth * (1 - mpmath.mpf(10) ** -9) <= divergence <= truth * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.parametrize("order", [F(3, 2), F(5, 2), F(15, 2)])
def test_sampled_gaussian_between_whole_orders_is_an_upper_bound(order):
    truth = sampled_gaussian_integral(F(1, 100), 1, order)
    divergence = number(renyi.divergence(Sampled("0.01", Gaussian(1)), order).value)
    assert truth <= divergence <= 3 * truth


def test_sampled_gaussian_agrees_with_the_library():
    from dp_accounting.rdp import rdp_privacy_accountant as library

    accountant = library.RdpAccountant([2, 4, 16, 64])
    accountant.compose(event(Sampled("0.02", Gaussian("1.5"))), 1)
    for order, theirs in zip(accountant.orders, accountant._rdp, strict=True):
        ours = float(renyi.divergence(Sampled("0.02", Gaussian("1.5")), F(int(order))).value)
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_each_kind_and_each_way_of_composing_has_its_divergence():
    order = F(8)
    pure = renyi.divergence(Pure(1), order).value
    assert renyi.divergence(Zcdp("0.3"), order).value == 8 * F(3, 10)
    assert renyi.divergence(Gaussian(2), order).value == 1
    assert renyi.divergence(Exponential(1), order).value == min(pure, F(8, 8))
    assert renyi.divergence(Exponential("0.1"), order).value == 8 * F(1, 800)
    assert renyi.divergence(Together((Pure(1), Zcdp(1))), order).value == pure + 8
    assert renyi.divergence(Repeated(Pure(1), 5), order).value == 5 * pure
    assert renyi.divergence(Group(Gaussian(2), 3), order).value == 9
    assert renyi.divergence(Group(Pure(1), 3), order).value == renyi.divergence(Pure(3), order).value
    assert renyi.divergence(Approx(1, "1e-6"), order) == renyi.Divergence(pure, F(1, 10**6))
    assert renyi.divergence(Repeated(Approx(1, "1e-6"), 3), order).delta == F(3, 10**6)


def test_parts_cost_their_larger_curve_at_each_order():
    parts = Apart((Pure(2), Gaussian(1)))
    for order in ORDERS:
        expected = max(renyi.divergence(Pure(2), order).value, renyi.divergence(Gaussian(1), order).value)
        assert renyi.divergence(parts, order).value == expected
        assert renyi.divergence(Repeated(parts, 7), order).value == 7 * expected


def test_sample_of_a_mixture_is_priced_on_everyone():
    mixture = Together((Gaussian(2), Pure(1)))
    assert renyi.divergence(Sampled("0.01", mixture), F(4)) == renyi.divergence(mixture, F(4))


def test_enormous_numbers_never_crash():
    for cost in (
        Sampled("1e-9", Gaussian("1e-6")),
        Pure(10**6),
        Group(Pure(10**6), 10**9),
        Sampled("0.5", Pure(10**6)),
    ):
        for order in (F(1) + F(1, 10**9), F(2), F(10**12)):
            assert renyi.divergence(cost, order).value >= 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1, 0, -2, True, None, "9" * 5000, "1e13", "two"])
def test_bad_orders_are_refused(value):
    with pytest.raises(BadValue, match="order must be a number above 1"):
        renyi.order(value)
