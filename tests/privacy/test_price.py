"""The tightest proven route, and the traps where a tempting one is unsound."""

import contextlib
import itertools
import subprocess
import sys
from fractions import Fraction as F

import mpmath
import pytest

from discreet.errors import BadValue, NotPriced
from discreet.privacy import analytic, convert, price
from discreet.privacy.cost import (
    FREE,
    Apart,
    Approx,
    Exponential,
    Gaussian,
    Group,
    Pure,
    Repeated,
    Response,
    Sampled,
    Together,
    Zcdp,
)

from .event import event
from .textbook import optimal_epsilon

D = F(1, 10**5)
MANY = Repeated(Sampled("0.01", Gaussian(1)), 1000)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(30):
        yield


def eps(cost, delta=D):
    return price.epsilon(cost, delta).value


# --- the routes -----------------------------------------------------------------------------------------------------


def test_each_kind_takes_its_own_closed_form():
    assert eps(Pure(1), 0) == eps(Response(1), 0) == eps(Exponential(1), 0) == 1
    assert eps(Gaussian(2)) == analytic.epsilon(2, D)
    assert eps(Zcdp("0.1")) == convert.epsilon_of_zcdp(F(1, 10), D)
    assert eps(Approx(1, "1e-6"), "1e-6") == 1
    assert eps(Repeated(Pure("0.1"), 100)) == optimal_epsilon(F(1, 10), F(0), 100, D)
    assert eps(FREE, 0) == 0
    assert price.delta(FREE, 0).value == 0


def test_gaussians_compose_into_one():
    assert eps(Repeated(Gaussian(10), 25)) == eps(Gaussian(2))
    assert eps(Together((Gaussian(3), Gaussian(4)))) == eps(Gaussian("12/5"))


def test_the_route_is_named_and_slack_is_stated():
    assert price.epsilon(Pure(1), 0).route == "closed form"
    assert price.epsilon(Repeated(Pure(1), 2), 0).route == "basic composition"
    assert "optimal" in price.epsilon(Repeated(Pure("0.1"), 9), D).route
    by_loss = price.epsilon(MANY, D)
    assert "privacy loss distribution" in by_loss.route
    assert 0 < by_loss.slack < D / 1000
    by_order = price.epsilon(MANY, "1e-15")
    assert "Rényi" in by_order.route
    assert "looser" in by_order.route
    assert by_order.slack == 0


def test_delta_and_epsilon_are_inverse_to_each_other():
    for cost in (Gaussian(2), Zcdp("0.1"), Repeated(Pure("0.1"), 50), MANY, Together((Pure(1), Gaussian(1)))):
        bound = eps(cost)
        assert price.delta(cost, F(round(bound * 10**12) + 10**4, 10**12)).value <= D


def test_delta_is_at_most_one_and_says_so_where_nothing_is_promised():
    bound = price.delta(Zcdp(1000), 1)
    assert bound.value == 1


def test_cost_without_an_epsilon_is_refused_with_a_reason():
    for cost in (Gaussian(1), Zcdp(1), MANY):
        with pytest.raises(NotPriced, match="larger δ"):
            price.epsilon(cost, 0)
    with pytest.raises(NotPriced):
        price.epsilon(Approx(1, "1e-3"), D)


def test_renyi_states_the_delta_paid_apart():
    bound = price.renyi(Together((Approx(1, "1e-6"), Gaussian(1))), 8)
    assert bound.apart == F(1, 10**6)
    assert "apart" in bound.route


def test_each_kind_has_its_zcdp_or_is_refused():
    assert (
        price.zcdp(Together((Pure(1), Exponential(1), Gaussian(2), Zcdp(1)))).value == F(1, 2) + F(1, 8) + F(1, 8) + 1
    )
    assert price.zcdp(Apart((Pure(1), Zcdp(1)))).value == 1
    assert price.zcdp(Group(Pure(1), 3)).value == F(9, 2)
    with pytest.raises(NotPriced, match="not zCDP"):
        price.zcdp(Approx(1, "1e-9"))


def test_trade_off_of_pure_is_two_straight_lines():
    e = float(mpmath.e)
    for alarm in (0.01, 0.1, 0.3, 0.9):
        expected = min(e * alarm, 1 - (1 - alarm) / e)
        assert float(price.tradeoff(Pure(1), alarm).value) == pytest.approx(expected, rel=1e-9)
    assert price.tradeoff(FREE, "0.3").value == F(3, 10)


def test_trade_off_of_a_composition_lies_above_the_gaussian_limit():
    power = float(price.tradeoff(Repeated(Gaussian(3), 9), "0.05").value)
    assert power == pytest.approx(0.25951, abs=1e-5)
    mixed = float(price.tradeoff(Together((Gaussian(1), Pure("0.001"))), "0.05").value)
    assert 0.2595 < mixed < 0.27


@pytest.mark.parametrize(
    "cost",
    [
        Gaussian("1e-300"),
        Gaussian("1e300"),
        Zcdp("1e-300"),
        Zcdp("1e300"),
        Repeated(Pure(10**6), 10**9),
        Repeated(Sampled("1e-9", Gaussian("1e-3")), 10**9),
        Repeated(Sampled("0.5", Gaussian("1e9")), 10**9),
        Sampled("1e-300", Gaussian("1e-300")),
        Group(Repeated(Sampled("0.5", Pure(100)), 10**6), 10**9),
        Group(Approx(10**6, "0.5"), 10**9),
        Sampled(0, Pure(1)),
        Approx(0, 1),
    ],
)
def test_out_of_range_is_a_looser_bound_or_a_refusal_never_a_crash(cost):
    for delta in ("0.5", "1e-5", "1e-300"):
        with contextlib.suppress(NotPriced):
            assert price.epsilon(cost, delta).value >= 0
    for epsilon in (0, "1e-9", 1, 10**6):
        assert 0 <= price.delta(cost, epsilon).value <= 1
    assert price.renyi(cost, 2).value >= 0


# --- traps: each would be cheaper, and wrong ------------------------------------------------------------------------


def adaptive_parts_truth():
    """Two rounds of Apart((Pure(1), Gaussian(1))), the unit's part in round two chosen by round one's answer.

    Round one is randomized response; after each answer the part that hurts more goes on.  Its δ at ε = 1, exactly.
    """

    def gaussian(e):
        return mpmath.ncdf(mpmath.mpf("0.5") - e) - mpmath.exp(e) * mpmath.ncdf(-mpmath.mpf("0.5") - e)

    def response(e):
        return max(mpmath.mpf(0), (mpmath.e - mpmath.exp(e)) / (1 + mpmath.e), 1 - mpmath.exp(e))

    keep = 1 / (1 + mpmath.exp(-1))
    return float(sum(p * max(gaussian(e), response(e)) for p, e in ((keep, mpmath.mpf(0)), (1 - keep, mpmath.mpf(2)))))


def test_trap_1_parts_chosen_adaptively_are_paid_at_a_fixed_order_or_all():
    parts, truth = Apart((Pure(1), Gaussian(1))), adaptive_parts_truth()
    fixed = [Together(pair) for pair in itertools.combinations_with_replacement(parts.costs, 2)]
    assert truth > max(float(price.delta(cost, 1).value) for cost in fixed)  # no fixed choice of parts bounds it
    assert float(price.delta(Repeated(parts, 2), 1).value) >= truth
    assert eps(parts) == max(eps(c) for c in parts.costs)
    assert eps(Repeated(Apart((Pure(1), Pure("0.3"))), 4)) == eps(Repeated(Pure(1), 4))


def test_trap_2_a_group_inside_a_sample_is_not_amplified_at_the_rate():
    assert eps(Sampled("0.01", Group(Gaussian(4), 2))) == eps(Gaussian(2))
    assert eps(Sampled("0.01", Together((Group(Pure(1), 2), Pure(1)))), 0) == 3
    assert eps(Repeated(Sampled("0.01", Group(Gaussian(4), 3)), 5)) == eps(Repeated(Gaussian("4/3"), 5))
    assert eps(Sampled("0.01", Group(Pure(1), 1)), 0) == eps(Sampled("0.01", Pure(1)), 0)


def test_trap_3_a_group_of_a_sampled_plan_goes_through_epsilon_delta_or_everyone():
    plan = Repeated(Sampled("0.05", Gaussian(2)), 50)
    bound = price.epsilon(Group(plan, 3), D)
    assert "group of 3" in bound.route
    inner = F(bound.value, 3)
    assert convert.group_approx(inner, price.delta(plan, F(round(inner * 10**15), 10**15)).value, 3)[1] <= D * F(
        10001, 10**4
    )
    assert bound.value <= eps(Repeated(Gaussian("2/3"), 50))
    assert eps(Group(Sampled("0.01", Pure(1)), 3), 0) == 3 * eps(Sampled("0.01", Pure(1)), 0)


def test_trap_3_sharper_noise_inside_the_sample_is_no_price_for_two_units():
    """Two units, each sampled at 1/10, move a Gaussian count by 0, 1 or 2: one of them is in nearly twice as often."""
    sigma, target, q = mpmath.mpf(1) / 4, mpmath.mpf("0.1"), mpmath.mpf(1) / 10

    def excess(x):
        law = [(1 - q) ** 2, 2 * q * (1 - q), q**2]
        both = sum(weight * mpmath.npdf(x, k, sigma) for k, weight in enumerate(law))
        return max(mpmath.mpf(0), both - mpmath.exp(target) * mpmath.npdf(x, 0, sigma))

    truth = float(mpmath.quad(excess, [-2, -1, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]))
    tempting = float(price.delta(Sampled("0.1", Gaussian("0.125")), "0.1").value)
    assert tempting < 0.6 * truth
    assert truth <= float(price.delta(Group(Sampled("0.1", Gaussian("0.25")), 2), "0.1").value)
    assert truth <= float(price.delta(Sampled("0.1", Group(Gaussian("0.25"), 2)), "0.1").value)


def test_trap_4_prices_never_round_down_to_nothing():
    tiny = Repeated(Sampled("1e-3", Gaussian(50)), 10)
    assert eps(tiny, "1e-9") > 0
    assert price.delta(tiny, "1e-9").value > 0
    assert eps(Pure("1e-9"), 0) == F(1, 10**9)
    assert eps(Repeated(Pure("1e-9"), 10**9), 0) == 1
    assert eps(MANY, "1e-11") > eps(MANY, "1e-9") > eps(MANY)


def test_trap_5_permute_and_flip_is_pure_not_bounded_range():
    """Its own order-2 divergence on scores (0,0) against (1,−1) is above α·ε²/8 and below α·ε²/2."""
    e = mpmath.mpf("0.1")
    low = mpmath.exp(-e) / 2
    divergence = mpmath.log(((1 - low) ** 2 + low**2) / mpmath.mpf("0.5"))
    assert (
        2 * float(price.zcdp(Exponential("0.1")).value) < float(divergence) < 2 * float(price.zcdp(Pure("0.1")).value)
    )
    assert eps(Repeated(Exponential("0.1"), 100)) < eps(Repeated(Pure("0.1"), 100))


def test_trap_6_discrete_gaussian_is_zcdp_only():
    """At σ = ½, ε = 13.7 the discrete Gaussian's δ is five times the continuous one's: μ-accounting under-reports."""
    sigma, target = mpmath.mpf(1) / 2, mpmath.mpf("13.7")
    weights = {k: mpmath.exp(-mpmath.mpf(k * k) / (2 * sigma**2)) for k in range(-30, 31)}
    excess = (weights[k] - mpmath.exp(target) * weights.get(k - 1, mpmath.mpf(0)) for k in weights)
    truth = float(sum(max(mpmath.mpf(0), x) for x in excess) / sum(weights.values()))
    assert 5 * float(price.delta(Gaussian("0.5"), "13.7").value) < truth
    assert float(price.delta(Zcdp(2), "13.7").value) > truth


# --- input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1, 2, True, None, "9" * 5000, [], "x"])
def test_bad_delta_is_refused(value):
    with pytest.raises(BadValue, match="delta must be a decimal number from 0"):
        price.epsilon(Pure(1), value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, True, None, "9" * 5000, [], "1e-10", "1e7"])
def test_bad_epsilon_is_refused(value):
    with pytest.raises(BadValue, match="epsilon must be 0 or a decimal number"):
        price.delta(Pure(1), value)


@pytest.mark.parametrize("value", [float("nan"), -1, 2, True, None, "9" * 5000])
def test_bad_false_alarm_is_refused(value):
    with pytest.raises(BadValue, match="false_alarm"):
        price.tradeoff(Pure(1), value)


@pytest.mark.parametrize("ask", [price.zcdp, event, lambda c: price.epsilon(c, D), lambda c: price.renyi(c, 2)])
def test_what_is_not_a_cost_is_refused(ask):
    with pytest.raises(BadValue, match="cost must be a Cost"):
        ask("Pure(1)")


def test_events_use_the_integer_law_for_pure_and_never_laplace():
    from dp_accounting import dp_event as dp

    assert isinstance(event(Pure(1)), dp.DiscreteLaplaceDpEvent)
    assert isinstance(event(Gaussian(1)), dp.GaussianDpEvent)
    assert isinstance(event(Zcdp(1)), dp.ZCDpEvent)
    assert event(FREE) == dp.NoOpDpEvent()
    step = event(MANY)
    assert isinstance(step, dp.SelfComposedDpEvent)
    assert isinstance(step.event, dp.PoissonSampledDpEvent)
    grouped = event(Sampled("0.01", Group(Gaussian(4), 2)))
    assert isinstance(grouped, dp.GaussianDpEvent)
    with pytest.raises(NotPriced, match="no event"):
        event(Approx(1, "1e-6"))


def test_another_accountant_agrees_on_the_event():
    from dp_accounting.pld import pld_privacy_accountant as library

    for cost in (Repeated(Pure("0.1"), 100), Together((Gaussian(2), Pure("0.5")))):
        accountant = library.PLDAccountant()
        accountant.compose(event(cost))
        assert float(eps(cost)) == pytest.approx(accountant.get_epsilon(1e-5), rel=0.02)


def test_closed_forms_do_not_import_the_accounting_library():
    code = (
        "import sys; from discreet.privacy import price; from discreet.privacy.cost import *;"
        "price.epsilon(Repeated(Pure('0.1'), 10), '1e-6'); price.delta(Gaussian(1), 1); price.renyi(Pure(1), 8);"
        "assert not {'dp_accounting', 'scipy', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
