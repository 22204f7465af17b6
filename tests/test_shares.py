"""Shares: exact parts that add up, one sentence and one list of objects for whoever divides a budget."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.shares import PRECISION, Share, name_list, parts_in_words, shares_of, to_json, words
from discreet.terms import Terms

TERMS = Terms(Fraction(3), Fraction(1, 10**6))
weights = st.lists(st.integers(1, 10**6), min_size=1, max_size=12)


def of(*parts, **more):
    """Shares named a, b, … of so much each."""
    return [Share(chr(ord("a") + place), Fraction(part), **more) for place, part in enumerate(parts)]


# --- declared --------------------------------------------------------------------------------------------------------


@given(weights)
def test_declared_shares_add_up_to_the_whole_exactly(numbers):
    whole = sum(numbers)
    shares = shares_of({f"step {place}": Fraction(number, whole) for place, number in enumerate(numbers)}, TERMS)
    assert sum(share.part for share in shares) == 1
    assert sum(share.epsilon for share in shares) == TERMS.epsilon
    assert sum(share.delta for share in shares) == TERMS.delta


def test_decimals_are_read_as_they_are_typed():
    structure, fit = shares_of({"structure": 0.1, "fit": "0.9"}, TERMS)
    assert structure == Share("structure", Fraction(1, 10), Fraction(3, 10), Fraction(1, 10**7))
    assert fit.epsilon == Fraction(27, 10)


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ({}, "must give a number for each step"),
        ([("a", 1)], "must give a number for each step"),
        ({"a": 0.5, "b": 0.4}, "must add up to 1"),
        ({"a": 0.5, "b": 0.6}, "must add up to 1"),
        ({"a": 0, "b": 1}, "of a must be a number above 0"),
        ({"a": 1.5, "b": -0.5}, "of a must be a number above 0 and at most 1"),
        ({"a": "much"}, "of a must be a number"),
        ({"a": None}, "of a must be a number"),
        ({"a": True}, "of a must be a number"),
    ],
)
def test_shares_that_do_not_divide_a_whole_are_refused(parts, rule):
    with pytest.raises(BadValue, match=rule):
        shares_of(parts, TERMS)


# --- words -----------------------------------------------------------------------------------------------------------


def test_equal_shares_are_told_together_and_locked_ones_apart():
    assert words(of("1/2", "1/2")) == "Shares: a and b take 1/2 of ε each."
    assert words(of("1/3", "1/3", "1/3")) == "Shares: a, b and c take 1/3 of ε each."
    shares = [Share("a", Fraction(1, 2), locked=True), Share("b", Fraction(1, 2))]
    assert words(shares) == "Shares: a takes 1/2 of ε (locked), b takes 1/2."


def test_words_say_what_is_shared():
    assert words(of("2/3", "1/3", of=PRECISION)) == "Shares: a takes 2/3 of 1/σ², b takes 1/3."


def test_parts_are_fractions_where_all_are_short_and_hundredths_else():
    assert parts_in_words(of("1/9", "8/9")) == ["1/9", "8/9"]
    assert parts_in_words(of("1/10", "9/10")) == ["10 %", "90 %"]
    assert parts_in_words(of("1/2", "3/10", "1/5")) == ["50 %", "30 %", "20 %"]
    assert parts_in_words(of("1/7", "0.123456", "0.733687")) == ["14.29 %", "12.35 %", "73.37 %"]
    assert parts_in_words(of("1")) == ["1"]
    assert parts_in_words(of("0.00001", "0.99999")) == ["0 %", "100 %"]


def test_shares_read_back_from_their_json_are_told_alike():
    shares = of("1/3", "1/3", "1/3")
    back = [Share(told["name"], Fraction(told["share"])) for told in to_json(shares)]
    assert words(back) == words(shares)


def test_names_cannot_bring_escapes_into_the_sentence():
    told = words([Share("a\x1b[2J", Fraction(1, 2)), Share("b\n", Fraction(1, 2))])
    assert "\x1b" not in told
    assert "\n" not in told


@given(weights)
def test_hundredths_add_up_but_for_their_last_digit(numbers):
    whole = sum(numbers)
    told = to_json(of(*(Fraction(number, whole) for number in numbers)))
    assert abs(sum(share["share"] for share in told) - 1) <= 0.00005 * len(numbers) + 1e-9


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_amounts_are_rounded_up_to_four_digits_and_a_delta_is_told_where_there_is_one():
    plain, own = Share("a", Fraction(1, 3), Fraction(1, 3)), Share("b", Fraction(2, 3), None, Fraction(1, 3 * 10**6))
    assert to_json([plain, own]) == [
        {"name": "a", "share": 0.3333, "locked": False, "epsilon": "0.3334"},
        {"name": "b", "share": 0.6667, "locked": False, "epsilon": None, "delta": "3.334e-7"},
    ]


def test_names_are_listed_as_one_subject():
    assert [name_list(["a"]), name_list(["a", "b"]), name_list(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
