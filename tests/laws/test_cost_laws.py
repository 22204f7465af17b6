"""Laws that every cost and every price obeys, over random nested costs.

At δ = 1e-13 no privacy loss distribution is asked, so many examples are cheap; fewer run at 1e-6 with all routes.
"""

import itertools
import json
from fractions import Fraction as F

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import NotPriced
from discreet.privacy import convert, price
from discreet.privacy.cost import (
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
    from_json,
    to_json,
)

SLIGHT = F(1, 1000)  # what two searches for the best order may differ by
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
MANY = settings(max_examples=16, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
TINY = F(1, 10**13)

epsilons = st.integers(1, 4000).map(lambda n: F(n, 1000))
rates = st.integers(1, 99).map(lambda n: F(n, 100))
sigmas = st.integers(5, 500).map(lambda n: F(n, 10))
leaves = st.one_of(
    epsilons.map(Pure),
    epsilons.map(Response),
    epsilons.map(Exponential),
    st.builds(Approx, epsilons, st.just(F(1, 10**16))),
    st.integers(1, 2000).map(lambda n: Zcdp(F(n, 1000))),
    sigmas.map(Gaussian),
)


def nested(inner):
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sampled, rates, inner),
        st.builds(Repeated, inner, st.integers(1, 20)),
        several.map(Together),
        several.map(Apart),
        st.builds(Group, inner, st.integers(1, 4)),
    )


costs = st.recursive(leaves, nested, max_leaves=5)
deltas = st.sampled_from([TINY, F(1, 10**14), F(1, 10**30)])


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(80):
        yield


def epsilon(cost, delta=TINY):
    """ε, or None where a δ apart is already larger."""
    try:
        return price.epsilon(cost, delta).value
    except NotPriced:
        return None


def at_most(smaller, large):
    return large is None or (smaller is not None and smaller <= large * (1 + SLIGHT) + F(1, 10**12))


@MANY
@given(costs)
def test_costs_come_back_from_json(cost):
    assert from_json(json.loads(json.dumps(to_json(cost)))) == cost
    assert hash(from_json(to_json(cost))) == hash(cost)


@MANY
@given(costs, deltas)
def test_prices_are_not_negative_and_a_group_of_one_is_the_cost_itself(cost, delta):
    bound = epsilon(cost, delta)
    assert bound is None or bound >= 0
    assert epsilon(Group(cost, 1), delta) == bound
    assert price.renyi(Group(cost, 1), 8) == price.renyi(cost, 8)
    assert price.renyi(cost, 8).value >= 0


@MANY
@given(st.lists(costs, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_order_of_composition_is_irrelevant(parts, shuffler):
    other = list(parts)
    shuffler.shuffle(other)
    assert price.renyi(Together(tuple(parts)), 8) == price.renyi(Together(tuple(other)), 8)
    assert epsilon(Together(tuple(parts))) == epsilon(Together(tuple(other)))
    assert epsilon(Apart(tuple(parts))) == epsilon(Apart(tuple(other)))


@MANY
@given(costs, costs)
def test_more_promises_never_cost_less(first, two):
    both = Together((first, two))
    assert at_most(epsilon(first), epsilon(both))
    assert at_most(epsilon(Apart((first, two))), epsilon(both))
    for order in (F(3, 2), 4, 32):
        assert price.renyi(first, order).value <= price.renyi(both, order).value
        assert price.renyi(Apart((first, two)), order).value <= price.renyi(both, order).value


@MANY
@given(costs, st.integers(2, 5))
def test_repeating_and_larger_groups_never_cost_less(cost, times):
    assert at_most(epsilon(cost), epsilon(Repeated(cost, times)))
    assert at_most(epsilon(cost), epsilon(Group(cost, times)))
    assert epsilon(Repeated(cost, times)) == epsilon(Together((cost,) * times))


@MANY
@given(costs, rates)
def test_sampling_never_costs_more(cost, rate):
    assert at_most(epsilon(Sampled(rate, cost)), epsilon(cost))
    for order in (F(3, 2), 4, 32):
        assert price.renyi(Sampled(rate, cost), order).value <= price.renyi(cost, order).value


@MANY
@given(costs)
def test_smaller_delta_never_costs_less(cost):
    bounds = [epsilon(cost, d) for d in (F(1, 10**30), F(1, 10**20), F(1, 10**13))]
    assert at_most(bounds[1], bounds[0])
    assert at_most(bounds[2], bounds[1])


@MANY
@given(costs)
def test_smaller_epsilon_never_has_a_smaller_delta(cost):
    if "Sampled" in repr(cost):  # priced with the loss distribution: see the short law below
        return
    deltas = [price.delta(cost, e).value for e in (0, F(1, 2), 2, 20)]
    assert all(0 <= d <= 1 for d in deltas)
    assert all(right <= left * (1 + SLIGHT) + F(1, 10**11) for left, right in itertools.pairwise(deltas))


@MANY
@given(st.sampled_from([Pure, Response, Exponential]), epsilons, epsilons, st.integers(1, 30))
def test_larger_epsilon_never_costs_less(kind, first, two, times):
    low, high = sorted((first, two))
    assert at_most(epsilon(Repeated(kind(low), times)), epsilon(Repeated(kind(high), times)))


@MANY
@given(sigmas, sigmas, st.integers(1, 30), rates)
def test_less_noise_never_costs_less(first, two, times, rate):
    low, high = sorted((first, two))
    assert at_most(epsilon(Repeated(Gaussian(high), times)), epsilon(Repeated(Gaussian(low), times)))
    quiet, loud = (Repeated(Sampled(rate, Gaussian(s)), times) for s in (high, low))
    assert at_most(epsilon(quiet), epsilon(loud))


@FEW
@given(costs, costs)
def test_all_routes_together_obey_the_same_laws(first, two):
    delta = F(1, 10**6)
    both = Together((first, two))
    assert epsilon(both, delta) == epsilon(Together((two, first)), delta)
    assert at_most(epsilon(first, delta), _loosened(epsilon(both, delta)))
    assert at_most(epsilon(both, delta), _loosened(epsilon(both, delta / 10)))


def _loosened(bound):
    return None if bound is None else bound * F(101, 100) + F(1, 10**6)  # two grids may differ by one per cent


# --- never below the truth --------------------------------------------------------------------------------------------


def two_point(epsilon, rate):
    """(P, Q) pairs of randomized response on a sample, in both directions."""
    e, p = mpmath.mpf(epsilon.numerator) / epsilon.denominator, mpmath.mpf(rate.numerator) / rate.denominator
    keep = 1 / (1 + mpmath.exp(-e))
    first, other = (keep, 1 - keep), (1 - keep, keep)
    mixed = tuple((1 - p) * y + p * x for x, y in zip(first, other, strict=True))
    return (mixed, other), (other, mixed)


def true_delta(pairs, epsilon):
    """The hockey-stick divergence of a product of two-point laws, over all outcomes."""
    total = mpmath.mpf(0)
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        p, q = mpmath.mpf(1), mpmath.mpf(1)
        for (law, other), x in zip(pairs, outcome, strict=True):
            p, q = p * law[x], q * other[x]
        total += max(mpmath.mpf(0), p - mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) * q)
    return total


@settings(MANY, max_examples=20)
@given(st.lists(st.tuples(epsilons, rates), min_size=1, max_size=5), st.sampled_from([F(1, 10**4), F(1, 10**8), TINY]))
def test_sampled_responses_are_never_priced_below_the_truth(parts, delta):
    bound = epsilon(Together(tuple(Sampled(rate, Pure(e)) for e, rate in parts)), delta)
    for direction in (0, 1):
        pairs = [two_point(e, rate)[direction] for e, rate in parts]
        assert true_delta(pairs, bound) <= mpmath.mpf(1) * delta.numerator / delta.denominator * (
            1 + mpmath.mpf(10) ** -25
        )


@MANY
@given(st.lists(sigmas, min_size=1, max_size=4), st.sampled_from([F(1, 10), F(1, 10**6), F(1, 10**40)]))
def test_gaussians_are_never_priced_below_the_truth(parts, delta):
    bound = epsilon(Together(tuple(Gaussian(s) for s in parts)), delta)
    mu = mpmath.sqrt(sum(mpmath.mpf(s.denominator**2) / s.numerator**2 for s in parts))
    e = mpmath.mpf(bound.numerator) / bound.denominator
    truth = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
    assert truth <= mpmath.mpf(1) / delta.denominator * delta.numerator


@MANY
@given(epsilons, st.integers(1, 4), st.integers(0, 12).map(lambda n: F(n, 4)))
def test_groups_of_a_response_are_never_priced_below_the_truth(each, size, epsilon):
    """A chain of units each answered by randomized response: for the group, losses add up to kε."""
    delta = price.delta(Group(Pure(each), size), epsilon).value
    assert delta >= convert.delta_of_pure(each, epsilon)
    whole = price.delta(Repeated(Pure(each), size), epsilon).value
    assert delta >= whole * (1 - F(1, 10**12))
