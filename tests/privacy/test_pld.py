"""The privacy loss distribution is never too small, hardly too large, and steps aside where floats end."""

import functools
import math
from fractions import Fraction as F

import mpmath
import pytest
from scipy import optimize, stats

from discreet.privacy import analytic, convert, pld
from discreet.privacy.cost import Apart, Approx, Gaussian, Pure, Repeated, Sampled, Together, Zcdp
from discreet.privacy.flat import atoms_of

from .textbook import optimal_epsilon


def epsilon(cost, delta):
    bound = pld.epsilon_at(atoms_of(cost), F(delta))
    return None if bound is None else float(bound[0])


@functools.lru_cache
def coarse_pmf(rate, mu, step):
    """A sampled Gaussian whose output is cut into cells with losses exactly on the grid.

    Forgetting where in its cell the output fell is post-processing, so every ε from it is a true lower bound.
    """
    cut, masses = -math.inf, {}

    def mass(low, high, centre):
        low, high = low - centre, high - centre
        return stats.norm.sf(low) - stats.norm.sf(high) if low > 0 else stats.norm.cdf(high) - stats.norm.cdf(low)

    def ratio(low, high):
        return 1 - rate + rate * mass(low, high, mu) / mass(low, high, 0)

    while cut < 6.5:
        loss = math.log(1 - rate + rate * math.exp(mu * cut - mu * mu / 2))
        point = math.ceil(loss / step + 0.25)  # a cell of about one step, whose mean loss can be met exactly
        start = -8.0 if cut == -math.inf else cut + 1e-9
        if ratio(cut, 9.0) < math.exp(point * step):
            break
        aim = math.exp(point * step)
        end = optimize.brentq(lambda high, low=cut, aim=aim: ratio(low, high) - aim, start, 9.0, xtol=1e-13)
        masses[point] = masses.get(point, 0.0) + mass(cut, end, 0) * aim
        cut = end
    rest = math.floor(math.log(ratio(cut, 12.0)) / step)
    masses[rest] = masses.get(rest, 0.0) + mass(cut, math.inf, 0) * ratio(cut, 12.0)
    return masses


def lower_bound(rate, sigma, times, delta, step=1e-3):
    from dp_accounting.pld import pld_pmf

    step_law = pld_pmf.create_pmf(coarse_pmf(rate, 1 / sigma, step), step, 0.0, False).to_dense_pmf()
    return step_law.self_compose(times).get_epsilon_for_delta(delta)


@pytest.mark.parametrize("times", [10**3, 10**4, 10**5])
def test_sampled_gaussian_is_between_a_lower_bound_and_one_per_cent_above(times):
    bound, least = epsilon(Repeated(Sampled("0.01", Gaussian(1)), times), "1e-5"), lower_bound(0.01, 1.0, times, 1e-5)
    assert least <= bound <= 1.01 * least


@pytest.mark.parametrize(
    "cost",
    [
        Repeated(Sampled("0.02", Gaussian(2)), 300),
        Repeated(Sampled("0.05", Pure("0.5")), 200),
        Together((Pure("0.5"), Repeated(Gaussian(20), 30), Repeated(Approx("0.1", "1e-12"), 20))),
        Together((Repeated(Sampled("0.01", Gaussian(1)), 100), Repeated(Pure("0.01"), 50))),
    ],
)
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
def test_pessimistic_is_never_below_the_librarys_optimistic_value(cost, delta):
    assert epsilon(cost, delta) >= pld.optimistic(atoms_of(cost)).epsilon(float(delta))


@pytest.mark.parametrize("delta", ["1e-2", "1e-5", "1e-8", "1e-11"])
def test_one_gaussian_is_never_below_the_closed_form(delta):
    for sigma in ("0.5", "3", "50"):
        exact = float(analytic.epsilon(sigma, F(delta)))
        assert exact <= epsilon(Gaussian(sigma), delta) <= exact * 1.001 + 1e-6


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
@pytest.mark.parametrize(("each", "times"), [("0.1", 100), ("0.5", 20), ("0.001", 4000)])
def test_equal_responses_are_never_below_optimal_composition(each, times, delta):
    exact = float(optimal_epsilon(F(each), F(0), times, F(delta)))
    bound = epsilon(Repeated(Pure(each), times), delta)
    assert exact * (1 - 1e-12) <= bound <= exact * 1.01


@pytest.mark.parametrize("target", [F(0), F(1, 100), F(1, 2), F(3)])
def test_delta_is_never_below_optimal_composition(target):
    shares = (convert.Copies(F(3, 10), F(0), 9), convert.Copies(F(1, 7), F(1, 10**7), 20))
    cost = Together((Repeated(Pure("0.3"), 9), Repeated(Approx("1/7", "1e-7"), 20)))
    exact = convert.mixed_delta(shares, target)
    delta = pld.delta_at(atoms_of(cost), target)[0]
    assert exact <= delta <= exact * F(101, 100) + F(1, 10**10)


def test_library_delta_of_one_step_is_within_the_stated_rounding():
    """The grid is built from the library's δ at one step; here it is held against 400-bit arithmetic."""
    from dp_accounting.pld import privacy_loss_mechanism as library

    q, mu2 = F(1, 100), F(1)
    for kind in (library.AdjacencyType.REMOVE, library.AdjacencyType.ADD):
        loss = library.GaussianPrivacyLoss(1.0, sampling_prob=0.01, adjacency_type=kind)
        for target in (F(-1, 1000), F(1, 10**4), F(1, 10), F(1), F(4)):
            theirs = float(loss.get_delta_for_epsilon(float(target)))
            assert abs(theirs - _one_step_delta(kind.name, q, mu2, target)) <= 1e-14 * (1 + abs(float(target)))


@mpmath.workdps(60)
def _one_step_delta(direction, q, mu2, target):
    e, rate, mu = mpmath.exp(mpmath.mpf(float(target))), mpmath.mpf(0.01), mpmath.sqrt(mpmath.mpf(int(mu2)))
    if direction == "REMOVE":  # P = (1−q)N(0) + qN(μ) against Q = N(0): the event is x > c
        inside = (e - (1 - rate)) / rate
        if inside <= 0:
            return float(1 - e)
        cut = mpmath.log(inside) / mu + mu / 2
        return float((1 - rate) * mpmath.ncdf(-cut) + rate * mpmath.ncdf(mu - cut) - e * mpmath.ncdf(-cut))
    inside = (1 / e - (1 - rate)) / rate  # P = N(0) against Q = (1−q)N(0) + qN(μ): the event is x < c
    if inside <= 0:
        return 0.0
    cut = mpmath.log(inside) / mu + mu / 2
    return float(mpmath.ncdf(cut) - e * ((1 - rate) * mpmath.ncdf(cut) + rate * mpmath.ncdf(cut - mu)))


def test_tiny_delta_is_declined_not_answered_with_infinity_or_too_little():
    many = Repeated(Sampled("0.01", Gaussian(1)), 1000)
    assert epsilon(many, "1e-15") is None
    assert epsilon(many, "1e-300") is None


def test_allowance_is_added_to_delta():
    delta, loss = pld.delta_at(atoms_of(Repeated(Sampled("0.01", Gaussian(1)), 1000)), F(5))
    assert loss.allowance > 0
    assert delta >= F(loss.delta(5.0)) + F(loss.allowance) * F(999999, 10**6)


def test_small_losses_do_not_round_to_nothing():
    """A grid of fixed width 1e-4 would see none of this; the price must still grow with every step."""
    prices = [epsilon(Repeated(Sampled("1e-3", Gaussian(30)), times), "1e-9") for times in (10, 100, 1000)]
    assert 0 < prices[0] < prices[1] < prices[2]


def test_parts_without_a_dominant_one_pay_for_all():
    parts = Apart((Pure(1), Gaussian(2)))
    assert epsilon(Repeated(parts, 3), "1e-5") == epsilon(Repeated(Together(parts.costs), 3), "1e-5")
    same_kind = Apart((Pure(1), Pure("0.5"), Pure("0.2")))
    assert epsilon(Repeated(same_kind, 3), "1e-5") == epsilon(Repeated(Pure(1), 3), "1e-5")


@pytest.mark.parametrize(
    "cost", [Zcdp(1), Pure(10**6), Gaussian("1e-300"), Gaussian("1e300"), Repeated(Sampled("0.5", Gaussian(1)), 10**9)]
)
def test_out_of_range_is_declined_without_a_crash(cost):
    bound = epsilon(cost, "1e-5")
    assert bound is None or bound >= 0
