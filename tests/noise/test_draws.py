"""The three public functions: what they take, what they give, and that a refusal draws nothing."""

import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.errors import BadValue
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace

FUNCTIONS = {
    noise.discrete_laplace: ("scale", DiscreteLaplace),
    noise.discrete_gaussian: ("sigma", DiscreteGaussian),
    noise.rounded_gaussian: ("sigma", RoundedGaussian),
}
EACH = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
NAN, INF = float("nan"), float("inf")
NO_NUMBERS = [None, True, False, np.True_, [10], (10,), {}, 1j, b"10", object(), np.array([1.0, 2.0]), np.float32(2)]
NO_TEXTS = ["", "ten", "0x10", "1_0", "nan", "inf", "-1", "1/0", "1e401", "1e-401", "1e999999999", "١٠", "9" * 5000]
NO_FLOATS = [NAN, INF, -INF, -0.5, 0.0, -0.0, 1e13, np.nextafter(1e12, 2e12)]
NO_EXACTS = [
    -1,
    0,
    10**12 + 1,
    10**5000,
    Fraction(-1, 3),
    Decimal("NaN"),
    Decimal("Infinity"),
    Decimal("1e999999"),
    Decimal(0),
]
BAD_SCALES = NO_NUMBERS + NO_TEXTS + NO_FLOATS + NO_EXACTS
BAD_SIZES = [
    -1,
    1.0,
    2.5,
    NAN,
    True,
    None,
    "5",
    [2, 3],
    (2, -1),
    (2, True),
    (2, 1.0),
    2**33,
    10**5000,
    (2**20, 2**20),
    (1,) * 100,
]


@pytest.fixture
def no_noise(monkeypatch):
    def drawn(size):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(os, "urandom", drawn)


def refusal(call):
    with pytest.raises(BadValue) as caught:
        call()
    return caught.value


@EACH
@pytest.mark.parametrize(
    "value", BAD_SCALES, ids=lambda v: repr(v)[:20] if not isinstance(v, int) else f"int{v.bit_length()}"
)
def test_a_bad_scale_is_refused_in_one_sentence_and_draws_nothing(function, value, no_noise):
    name, _ = FUNCTIONS[function]
    error = refusal(lambda: function(value, 5))
    assert error.what == f"{name} must be a positive number of at most 1e12 steps."
    assert error.why.startswith("You gave ")
    assert error.fix.startswith("Give a number such as 10")
    assert len(str(error)) < 300


@EACH
@pytest.mark.parametrize(
    "size", BAD_SIZES, ids=lambda v: repr(v)[:20] if not isinstance(v, int) else f"int{v.bit_length()}"
)
def test_a_bad_size_is_refused_in_one_sentence_and_draws_nothing(function, size, no_noise):
    error = refusal(lambda: function(10, size))
    assert error.what.startswith("size must ")
    assert error.why.startswith("You gave ")
    assert error.fix
    assert len(str(error)) < 300


def test_the_fence_sees_a_draw(no_noise):
    with pytest.raises(AssertionError, match="noise was drawn"):
        noise.discrete_laplace(10, 1)


@EACH
@pytest.mark.parametrize(
    "value",
    [3, 3.0, "3", "3.0", "6/2", Decimal(3), Fraction(3), np.int64(3), np.uint8(3), np.float64(3), " 3 ", "+3", "3e0"],
)
def test_every_way_to_write_three_is_three(function, value):
    _, law = FUNCTIONS[function]
    assert law(value) == law(Fraction(3))
    assert function(value, 4).shape == (4,)


@EACH
def test_a_float_is_its_exact_binary_rational_and_a_decimal_its_digits(function):
    name, law = FUNCTIONS[function]
    assert getattr(law(0.1), name) == Fraction(0.1) != Fraction(1, 10)
    assert getattr(law("0.1"), name) == getattr(law(Decimal("0.1")), name) == Fraction(1, 10)
    assert getattr(law(5e-324), name) == Fraction(1, 2**1074)
    assert getattr(law(1e12), name) == 10**12


@EACH
@pytest.mark.parametrize("size", [0, 1, 7, 1025, (), (0,), (3, 4), (2, 0, 5), (np.int64(3), 2), np.int32(6)])
def test_arrays_are_int64_of_the_size_asked_for(function, size):
    drawn = function(10, size)
    assert drawn.dtype == np.int64
    assert drawn.shape == (size if isinstance(size, tuple) else (size,))


@EACH
def test_each_call_gives_an_array_of_its_own(function):
    """Caches are shared, draws are not: writing into one result changes nothing else."""
    function(3, 10)[:] = 7
    second = function(3, 2000)
    second[:] = 9
    assert not (function(3, 2000) == 9).all()


@EACH
@pytest.mark.parametrize("scale", ["1e-400", 5e-324, 3e-8, "1e12"])
def test_every_accepted_scale_draws(function, scale):
    drawn = function(scale, 3000)
    assert drawn.any() == (scale == "1e12")
    assert np.abs(drawn).max() < 10**15, "beyond 1000 scales: odds below e^(−1000)"
