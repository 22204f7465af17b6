"""Digits decide only what they force, and grow when they force nothing."""

from fractions import Fraction

import pytest

from discreet import real
from discreet.noise.digits import Digits, below, floor_of
from replay import Replay, fair

LAST = 2**64 - 1


def constant(value):
    return lambda: real.ball(value)


@pytest.mark.parametrize(("value", "bits"), [(0, 0), (0, 8), (255, 8), (12345, 64), (LAST, 64), (2**200 - 1, 200)])
def test_ball_encloses_every_number_with_these_digits(value, bits):
    with real.precision(bits + 64):
        around = Digits(value, bits).ball()
        low, high = real.exact(around.lower()), real.exact(around.upper())
    width = Fraction(1, 2**bits)
    assert low <= value * width
    assert (value + 1) * width <= high
    assert high - low <= width * (1 + Fraction(1, 2**20)), "and hardly more"


def test_growing_appends_sixty_four_digits():
    digits = Digits(5, 3)
    digits.grow(Replay([9]))
    assert (digits.value, digits.bits) == (5 * 2**64 + 9, 67)


def test_clear_digits_ask_for_no_more():
    assert below(Digits(0, 8), constant(Fraction(1, 3)), Replay([])) is True
    assert below(Digits(200, 8), constant(Fraction(1, 3)), Replay([])) is False


@pytest.mark.parametrize("bound", [Fraction(1, 3), Fraction(2, 7), Fraction(999, 1000)])
@pytest.mark.parametrize("ties", [1, 2, 5])
def test_a_tie_is_refined_and_answered_right_on_both_sides(bound, ties):
    """U agrees with the bound in 8 + 64·ties digits and then lies one unit below or above."""
    bits = 8 + 64 * ties
    first = int(bound * 2**8)
    rest = int(bound * 2**bits) - (first << (64 * ties))
    for step, truth in [(-1, True), (1, False)]:
        numerator = rest + step
        words = [(numerator >> (64 * (ties - 1 - i))) & LAST for i in range(ties)]
        source = Replay(words)
        assert below(Digits(first, 8), constant(bound), source) is truth
        assert source.left.size == 0, "every digit given was needed"


def test_all_first_digits_add_up_to_a_rational_bound():
    """Σ over the 2⁸ first bytes of 2⁻⁸·P[U < bound | byte] = bound: bytes below it, and the tie's share of one."""
    bound = Fraction(77, 300)
    sure = sum(below(Digits(b, 8), constant(bound), Replay([])) for b in range(256) if b != int(bound * 256))
    tie = bound * 256 - int(bound * 256)
    assert (sure + tie) / 256 == bound
    twin = [below(Digits(int(bound * 256), 8), constant(bound), Replay([int(w)])) for w in fair(500, 1)]
    exact = [Fraction(int(w), 2**64) < tie for w in fair(500, 1)]
    assert twin == exact


@pytest.mark.parametrize("k", [-3, 0, 7])
def test_floor_at_a_lattice_boundary_is_refined_on_both_sides(k):
    """x = k − ½ + V and V = ½ to 40 digits: the next digits put x above k, V one unit less below it."""

    def x_of(v):
        return lambda: real.ball(k - Fraction(1, 2)) + v.ball()

    above = Digits(2**39, 40)
    assert floor_of(x_of(above), above, Replay([1])) == k
    under = Digits(2**39 - 1, 40)
    assert floor_of(x_of(under), under, Replay([LAST - 1])) == k - 1
    assert under.bits == above.bits == 104
