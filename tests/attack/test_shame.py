"""A δ of 1/n lets a mechanism name people; the greatest δ that is taken lets it hardly ever."""

from fractions import Fraction

import pytest

from discreet.attack.reconstruction.shame import example, refusal_of, shame, someone_named
from discreet.errors import BadValue


@pytest.fixture(scope="module")
def built_in():
    return example(("1", "10"), 7)


def test_someone_is_named_as_often_as_the_law_says(built_in):
    """.632 and .010 at n = 10⁴; 2,000 releases: five standard deviations are .054 and .011."""
    assert built_in.raw == pytest.approx(0.632, abs=5e-4)
    assert built_in.private == {"1": pytest.approx(0.010, abs=1e-4), "10": pytest.approx(0.010, abs=1e-4)}
    releases = built_in.details["releases"]
    assert releases["raw"]["someone"] / 2000 == pytest.approx(0.632, abs=0.054)
    assert releases["1"]["someone"] / 2000 < 0.021
    assert releases["raw"]["published"] / 2000 == pytest.approx(1, abs=0.12)


def test_the_union_bound_is_the_ceiling(built_in):
    assert built_in.private["1"] <= built_in.ceiling["1"] == 0.01


def test_the_refusal_of_that_delta_is_shown(built_in):
    assert "delta must be a decimal number between 0 and 1e-6" in built_in.details["refusal"]
    assert refusal_of("1e-4", ()) == built_in.details["refusal"]


def test_a_delta_below_the_ceiling_is_not_refused():
    with pytest.raises(AssertionError, match="was taken"):
        refusal_of("1e-8", ("1",))


@pytest.mark.parametrize(("people", "delta"), [(1, "0.3"), (3, "0.25"), (10, "1"), (5, "0")])
def test_the_law_agrees_with_all_coins(people, delta):
    """The twin: the sum over all outcomes of so many coins."""
    chance = Fraction(delta)
    none = Fraction(1)
    for _ in range(people):
        none *= 1 - chance
    assert someone_named(people, chance) == pytest.approx(float(1 - none))


def test_people_and_delta_of_the_callers_own():
    result = shame(100, "0.01", runs=400)
    low, high = result.details["drawn"]["raw"]
    assert low - 0.1 < result.raw < high + 0.1
    assert result.private == {}


@pytest.mark.parametrize(("people", "delta", "runs"), [(0, "0.1", 1), (10, "2", 1), (10, "0.1", 0), (10**9, "0.1", 2)])
def test_impossible_numbers_are_refused(people, delta, runs):
    with pytest.raises(BadValue):
        shame(people, delta, runs=runs)
