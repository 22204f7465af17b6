"""Costs are exact, frozen, bounded in depth and readable for ever."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import BadValue
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
    from_json,
    to_json,
)

BAD = [float("nan"), float("inf"), -1, 0, True, None, "9" * 5000, "1e-10", "1e7", "", "one", [], {}, 1j, "0x1", "1_0"]


@pytest.mark.parametrize("value", BAD, ids=lambda v: repr(v)[:20])
@pytest.mark.parametrize("kind", [Pure, Response, Exponential])
def test_bad_epsilon_is_refused_with_one_clear_message(kind, value):
    with pytest.raises(BadValue) as caught:
        kind(value)
    assert "epsilon must be a decimal number between 1e-9 and 1e6" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0, True, None, "9" * 5000, "", [], "1e999"])
@pytest.mark.parametrize(("kind", "name"), [(Zcdp, "rho"), (Gaussian, "sigma")])
def test_bad_rho_and_sigma_are_refused(kind, name, value):
    with pytest.raises(BadValue, match=name):
        kind(value)


@pytest.mark.parametrize("value", [float("nan"), -1, 2, True, None, "9" * 5000])
def test_bad_delta_and_rate_are_refused(value):
    with pytest.raises(BadValue, match="delta"):
        Approx(1, value)
    with pytest.raises(BadValue, match="rate"):
        Sampled(value, Pure(1))


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "3", 10**10])
def test_bad_counts_are_refused(value):
    with pytest.raises(BadValue, match="times"):
        Repeated(Pure(1), value)
    with pytest.raises(BadValue, match="size"):
        Group(Pure(1), value)


@pytest.mark.parametrize("value", [None, 1, "Pure(1)", object()])
def test_what_is_not_a_cost_is_refused(value):
    with pytest.raises(BadValue, match="cost"):
        Repeated(value, 2)
    with pytest.raises(BadValue, match="cost"):
        Together((Pure(1), value))
    with pytest.raises(BadValue, match="cost"):
        Apart(value)


def test_numbers_are_exact_decimals():
    assert Pure(0.1).epsilon == Pure("0.1").epsilon == Pure(Decimal("0.1")).epsilon == Fraction(1, 10)
    assert Approx(0, "1e-6") == Approx(Fraction(0), Fraction(1, 10**6))


def test_nesting_is_bounded_so_that_pricing_cannot_overflow_the_stack():
    cost = Pure(1)
    for _ in range(49):
        cost = Repeated(cost, 1)
    with pytest.raises(BadValue, match="50 deep"):
        Repeated(cost, 1)


def test_json_round_trip_keeps_long_fractions():
    long = Fraction(3**400, 2**634)
    for cost in (Gaussian(long), Together((Zcdp(1 / long), FREE)), Sampled("1/3", Group(Approx(0, "1e-9"), 2))):
        assert from_json(json.loads(json.dumps(to_json(cost)))) == cost


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"kind": "laplace", "scale": 1},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "1", "delta": "0"},
        {"kind": "pure", "epsilon": "1/0"},
        {"kind": "pure", "epsilon": "1/00"},
        {"kind": "pure", "epsilon": "9" * 5000},
        {"kind": "together", "costs": {"kind": "pure", "epsilon": "1"}},
        {"kind": "repeated", "times": 2.0, "cost": {"kind": "pure", "epsilon": "1"}},
        {"kind": ["pure"], "epsilon": "1"},
    ],
)
def test_foreign_json_is_refused(data):
    with pytest.raises(BadValue):
        from_json(data)


def test_deep_json_is_refused():
    data = {"kind": "pure", "epsilon": "1"}
    for _ in range(200):
        data = {"kind": "repeated", "times": 1, "cost": data}
    with pytest.raises(BadValue):
        from_json(data)
