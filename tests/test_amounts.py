"""Parsers take decimals and refuse everything else; lattice and cost roundings go to the stated side."""

import math
import sys
from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import amounts
from discreet.errors import BadValue

fractions = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**12)
positives = st.builds(Fraction, st.integers(1, 10**30), st.integers(1, 10**30))

PARSERS = {
    "epsilon": amounts.epsilon,
    "delta": amounts.delta,
    "scale": amounts.scale,
    "probability": amounts.probability,
    "level": lambda value: amounts.inner_probability(value, "level"),
    "sensitivity": lambda value: amounts.positive(value, "sensitivity"),
    "number": lambda value: amounts.decimal(value, "number"),
}
NO_FLOATS = [float("nan"), float("inf"), -float("inf"), np.array([1.0]), 1j]
NO_TYPES = [True, False, None, [], [1], (1,), {}, b"1", object(), np.array([1]), np.True_, 10**5000]
NO_TEXTS = [
    "",
    "x",
    "nan",
    "inf",
    "1e999999999",
    "1e5000",
    "0x1",
    "1_0",
    "--1",
    "1/0",
    "1//2",
    "1/2/3",
    "1e",
    ".",
    "e5",
    "١",
]
TOO_LONG = ["9" * 5000, "0." + "1" * 5000]
NO_DECIMALS = [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), Decimal("1e99999")]
NEVER = NO_FLOATS + NO_TYPES + NO_TEXTS + TOO_LONG + NO_DECIMALS
OUTSIDE = {
    "epsilon": [0, 0.0, -0.0, -1, 1e-10, "9e-10", 1_000_001, 1e300],
    "delta": [-1e-9, 1.1e-6, 0.5, 1],
    "scale": [0, -0.0, -1, "1e12000", 10**12 + 1, 1e13],
    "probability": [-1e-9, 1.0000001, 2],
    "level": [0, 1, -1, 1.5],
    "sensitivity": [0, -1, -0.0],
}


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("value", NEVER, ids=lambda v: f"int{v.bit_length()}" if type(v) is int else repr(v)[:15])
def test_a_value_that_is_no_number_is_refused_by_every_parser(name, value):
    with pytest.raises(BadValue) as caught:
        PARSERS[name](value)
    error = caught.value
    assert error.what.startswith(f"{name} must be ")
    assert error.why.startswith("You gave ")
    assert error.fix.startswith("Give ")
    assert len(str(error)) < 320


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OUTSIDE.items() for value in values])
def test_a_number_outside_its_range_is_refused_with_the_range(name, value):
    with pytest.raises(BadValue) as caught:
        PARSERS[name](value)
    assert repr(value)[:20] in caught.value.why
    assert "must be " in caught.value.what


TENTHS = [0.1, "0.1", Decimal("0.1"), np.float64(0.1), "1/10", "1e-1", ".1", Fraction(1, 10), " 0.1 ", "+0.1"]
OTHERS = [
    (1, 1),
    ("1/3", Fraction(1, 3)),
    (np.int8(3), 3),
    (np.uint64(3), 3),
    ("5.", 5),
    ("1E2", 100),
    (1e-7, Fraction(1, 10**7)),
]


@pytest.mark.parametrize(("value", "meaning"), [(tenth, Fraction(1, 10)) for tenth in TENTHS] + OTHERS)
def test_privacy_amounts_are_the_decimals_they_print_as(value, meaning):
    assert amounts.epsilon(value) == meaning
    assert isinstance(amounts.epsilon(value), Fraction)


def test_only_a_noise_scale_takes_a_float_by_its_bits():
    assert amounts.scale(0.1) == Fraction(0.1)
    assert amounts.scale("0.1") == amounts.scale(Decimal("0.1")) == Fraction(1, 10)
    assert amounts.epsilon(0.1) == amounts.probability(0.1) == amounts.positive(0.1, "x") == Fraction(1, 10)


@pytest.mark.parametrize("end", [Fraction(1, 10**9), 10**6])
def test_both_ends_of_epsilon_are_taken(end):
    assert amounts.epsilon(end) == end


def test_delta_has_a_public_ceiling_of_its_own():
    assert amounts.delta(0) == 0
    assert amounts.delta("1e-6") == Fraction(1, 10**6)
    assert amounts.delta("1e-3", ceiling=Fraction(1, 100)) == Fraction(1, 1000)
    with pytest.raises(BadValue, match=r"between 0 and 0\.01\."):
        amounts.delta("0.02", ceiling=Fraction(1, 100))


@pytest.mark.parametrize(
    "value", [True, None, 1.0, 2.5, float("nan"), "1", [1], (1,), np.float64(1), np.True_, np.array([1]), 1j]
)
def test_a_count_is_a_whole_number_and_nothing_else(value):
    with pytest.raises(BadValue, match="size must be a whole number between 0 and"):
        amounts.count(value, "size")


@pytest.mark.parametrize("value", [-1, 2**40 + 1, 10**4000])
def test_a_count_keeps_its_range(value):
    with pytest.raises(BadValue, match="whole number"):
        amounts.count(value, "size")


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_every_kind_of_three_is_a_count(value):
    assert amounts.count(value, "size") == 3
    assert type(amounts.count(value, "size")) is int


@given(fractions, positives)
def test_lattice_points_lie_on_the_stated_side(value, step):
    low, nearest, high = amounts.steps_down(value, step), amounts.steps(value, step), amounts.steps_up(value, step)
    assert low * step <= value < (low + 1) * step
    assert (high - 1) * step < value <= high * step
    assert low <= nearest <= high
    assert abs(nearest * step - value) <= step / 2


def test_halves_go_upward_on_both_sides_of_zero():
    half = Fraction(1, 2)
    assert [amounts.steps(k + half, Fraction(1)) for k in (-2, -1, 0, 1)] == [-1, 0, 1, 2]


@given(positives)
def test_power_of_two_below_is_the_largest(value):
    power = amounts.power_of_two_below(value)
    assert power <= value < 2 * power
    assert power.numerator == 1 or power.denominator == 1
    assert (power.numerator * power.denominator).bit_count() == 1


@given(st.fractions(max_denominator=10**6, min_value=-1000, max_value=1000), positives)
def test_default_step_cuts_the_width_into_one_or_two_million(low, width):
    step = amounts.default_step(low, low + width)
    assert 2**20 <= width / step < 2**21


@pytest.mark.parametrize("high", [0, -1])
def test_default_step_refuses_bounds_that_do_not_open(high):
    with pytest.raises(BadValue, match="upper above the lower"):
        amounts.default_step(Fraction(0), Fraction(high))


@given(st.one_of(fractions, positives), st.integers(1, 15))
def test_rounded_up_is_the_smallest_such_decimal_above(value, digits):
    rounded = amounts.rounded_up(value, digits)
    assert len(rounded.as_tuple().digits) <= digits
    gap = Fraction(rounded) - value
    assert gap >= 0
    if value:
        leading = Fraction(10) ** (len(str(int(abs(value)))) - 1 if abs(value) >= 1 else _leading_power(abs(value)))
        assert gap < leading * Fraction(10) ** (1 - digits)


def _leading_power(value):
    power = 0
    while value < 1:
        value, power = value * 10, power - 1
    return power


@given(st.integers(0, 10**11), st.integers(-9, 9))
def test_short_decimals_are_kept_as_they_are(whole, power):
    value = whole * Fraction(10) ** power
    assert Fraction(amounts.rounded_up(value)) == value
    assert Fraction(amounts.text_of(value)) == value


@given(positives)
def test_shown_amounts_are_never_below_and_read_back(value):
    text = amounts.text_of(value)
    assert Fraction(text) >= value
    assert Fraction(text) <= value * (1 + Fraction(1, 10**11))
    assert amounts.text_of(amounts.rounded_up(value)) == text
    assert len(text) <= 20


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 3), "0.333333333334"),
        (Fraction(10**20), "1e20"),
        (Fraction(1, 10**5), "1e-5"),
        (Decimal("2.50"), "2.5"),
    ],
)
def test_amounts_are_shown_in_short_text(value, text):
    assert amounts.text_of(value) == text


@given(st.one_of(fractions, positives, st.builds(Fraction, st.integers(1, 9), st.integers(10**320, 10**330))))
def test_floats_lie_on_the_stated_side_and_next_to_the_value(value):
    up, down = amounts.float_up(value), amounts.float_down(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))
    assert (up == down) == (Fraction(float(value)) == value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_own_bound(value):
    assert amounts.float_up(Fraction(value)) == amounts.float_down(Fraction(value)) == value


@pytest.mark.parametrize("digits", [5, 12, 40])
def test_a_cost_is_rounded_up_whatever_the_decimal_context(digits):
    """Arithmetic on Decimals rounds by the caller's context: with five digits of it, 1/3 once became 0.33333."""
    with localcontext() as context:
        context.prec, context.rounding = 5, ROUND_DOWN
        assert Fraction(amounts.rounded_up(Fraction(1, 3), digits)) >= Fraction(1, 3)
        assert Fraction(amounts.text_of(Fraction(2, 3))) >= Fraction(2, 3)


def test_the_smallest_and_largest_numbers_are_rounded_too():
    tiny, huge = Fraction(1, 10**5000), Fraction(10**5000)
    assert Fraction(amounts.rounded_up(tiny / 3, 3)) >= tiny / 3
    assert (amounts.float_up(huge), amounts.float_down(-huge)) == (math.inf, -math.inf)
    assert (amounts.float_down(huge), amounts.float_up(-huge)) == (sys.float_info.max, -sys.float_info.max)


@pytest.mark.parametrize("value", [Fraction(10**5000), [10**5000], 10**5000], ids=["fraction", "list", "int"])
def test_a_number_that_python_cannot_print_is_still_refused_in_words(value):
    with pytest.raises(BadValue, match=r"scale must be a positive number"):
        amounts.scale(value)
