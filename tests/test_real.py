"""Certified digits: right where known, refined where close, never guessed, and safe among threads."""

import threading
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from discreet import real

rationals = st.builds(Fraction, st.integers(-(10**40), 10**40), st.integers(1, 10**40))


@given(rationals, st.integers(2, 300))
def test_a_ball_encloses_its_rational(value, bits):
    with real.precision(bits):
        around = real.ball(value)
        assert real.exact(around.lower()) <= value <= real.exact(around.upper())


@given(rationals, st.integers(0, 100))
def test_floor_is_the_floor(value, bits):
    if (value * 2**bits).denominator != 1 or value.denominator & (value.denominator - 1) == 0:
        assert real.floor(lambda: real.ball(value), bits) == value * 2**bits // 1


@pytest.mark.parametrize("side", [-1, 1])
def test_floor_beside_a_whole_number_asks_for_more_digits(side):
    """3 ± 10⁻³⁰⁰: no fixed precision of a few hundred bits tells it from 3."""
    asked = []

    def near():
        asked.append(ctx.prec)
        return real.ball(3 + side * Fraction(1, 10**300))

    assert real.floor(near) == (3 if side > 0 else 2)
    assert asked == [64, 128, 256, 512, 1024]


@given(rationals, rationals)
def test_less_agrees_with_fractions(a, b):
    if a != b:
        assert real.less(lambda: real.ball(a), lambda: real.ball(b)) == (a < b)


def test_equal_numbers_are_an_error_and_not_a_guess(monkeypatch):
    monkeypatch.setattr(real, "_MOST_BITS", 1 << 12)
    with pytest.raises(ArithmeticError, match="told apart"):
        real.less(lambda: arb(2).sqrt() * arb(2).sqrt(), lambda: arb(2))
    with pytest.raises(ArithmeticError, match="still open"):
        real.floor(lambda: arb(2).sqrt() * arb(2).sqrt())


@given(st.fractions(min_value=-50, max_value=50, max_denominator=10**6))
def test_upper_and_lower_lie_close_on_their_sides(x):
    low, high = real.lower(real.exp(x)), real.upper(real.exp(x))
    finer_low, finer_high = real.lower(real.exp(x), 300), real.upper(real.exp(x), 300)
    assert low <= finer_low <= finer_high <= high
    assert high - low <= high * Fraction(1, 2**80)


def test_normal_tail_is_the_known_one():
    """Φ(−1.96) = 0.024997895…, Abramowitz & Stegun table 26.1."""
    assert float(real.upper(lambda: real.normal_tail(real.ball(Fraction(196, 100))))) == pytest.approx(
        0.0249978951482, rel=1e-11
    )
    with real.precision(100):
        assert (real.normal_tail(real.ball(2)) + real.normal_tail(real.ball(-2)) - 1).contains(0)


def fails_inside():
    with real.precision(300):
        with real.precision(77):
            assert ctx.prec == 77
        assert ctx.prec == 300
        raise RuntimeError


def test_precision_is_put_back_even_after_an_error():
    before = ctx.prec
    with pytest.raises(RuntimeError):
        fails_inside()
    assert ctx.prec == before


def test_threads_do_not_see_each_others_precision():
    """Eight threads, each with its own number of bits, 200 times: precision never changes within a block."""
    wrong = []

    def work(bits):
        for _ in range(200):
            with real.precision(bits):
                one_third = real.ball(Fraction(1, 3))
                if ctx.prec != bits or not one_third.rad() < arb(2) ** (2 - bits):
                    wrong.append(bits)

    threads = [threading.Thread(target=work, args=(60 + 40 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
