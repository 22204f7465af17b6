"""Selection: every whole number below a bound equally often, and weights exactly e^(−rate·gap)."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet import real
from discreet.noise import select as module
from discreet.noise.digits import Digits
from discreet.noise.powers import MARGIN
from discreet.noise.select import exponential_choice, first_flipped, uniform_below, uniforms
from replay import Replay, fair, then_system

LAST = 2**64 - 1


@pytest.mark.parametrize("n", [2, 3, 5, 8, 100, 255, 256, 257])
def test_every_first_digit_of_a_uniform_number_counts_once(n):
    """All values of the digits it reads: each result once, and the rest drawn anew."""
    bits = (n - 1).bit_length()
    seen = Counter()
    for digits in range(2**bits):
        source = Replay([digits << (64 - bits), LAST >> bits])  # the second word reads as 0
        value = uniform_below(n, source)
        seen[value if source.left.size else "anew"] += 1
    assert [seen[k] for k in range(n)] == [1] * n
    assert seen["anew"] == 2**bits - n


def test_the_only_number_needs_no_digits():
    assert uniforms(1, 3, Replay([])).tolist() == [0, 0, 0]


def test_uniforms_refuse_one_by_one():
    assert uniforms(5, 4, Replay([7 << 61, 2 << 61, 6 << 61, 0, 3 << 61, 4 << 61])).tolist() == [3, 2, 4, 0]


def test_the_widest_range_fits():
    assert uniform_below(2**63, Replay([LAST])) == 2**63 - 1


def choose(gaps, rate, words):
    return exponential_choice(np.array(gaps), rate, 1, Replay(words))[0]


@pytest.mark.parametrize("gaps", [[0], [0, 1], [3, 0, 0, 7], [0, 60, 1]])
def test_floors_and_ceilings_enclose_every_weight(gaps):
    rate = Fraction(2, 3)
    weight = np.floor(module.exp_minus(module.exponents(np.array(gaps), rate)) * 2.0**40).astype(np.int64)
    for gap, whole in zip(gaps, weight.tolist(), strict=True):
        exact = real.floor(real.exp(-rate * gap), 40)
        assert max(whole - 1, 0) <= exact < whole + 2


def test_fast_choice_agrees_with_the_slow_twin():
    """3,000 places over eleven candidates, read by floors and ceilings and by certified weights."""
    gaps, rate = np.array([4, 0, 1, 9, 0, 2, 30, 5, 70, 3, 1]), Fraction(1, 3)
    high = int((np.floor(module.exp_minus(module.exponents(gaps, rate)) * 2.0**40).astype(np.int64) + 2).sum())
    bits = high.bit_length()
    words = fair(3000, 71)
    slow = [
        module._draw_certified(gaps, rate, Digits(int(w) >> (64 - bits), bits), bits, Replay([5, 5])) for w in words
    ]
    kept = [w for w, s in zip(words, slow, strict=True) if s is not None]
    fast = exponential_choice(gaps, rate, len(kept), Replay(kept))
    assert fast.tolist() == [s for s in slow if s is not None]


@pytest.mark.parametrize("candidate", [0, 1, 2])
def test_a_place_on_the_edge_between_two_candidates_is_refined(candidate):
    """The place equals, in all digits first drawn, the cumulative weight; digits just below and above decide."""
    gaps, rate = [1, 0, 2, 5], Fraction(1)

    def reached():
        return sum((real.exp(-rate * g)() for g in gaps[: candidate + 1]), start=real.ball(0))

    high = sum(int(np.floor(module.exp_minus(np.array([float(g)]))[0] * 2.0**40)) + 2 for g in gaps)
    bits = high.bit_length()
    edge = real.floor(reached, 40)
    after = real.floor(reached, 104) - (edge << 64)
    for step, expected in [(-1, candidate), (1, candidate + 1)]:
        source = Replay([edge << (64 - bits), after + step])
        assert exponential_choice(np.array(gaps), rate, 1, source)[0] == expected
        assert source.left.size == 0


@pytest.mark.parametrize("error", [-0.99, 0.99])
def test_an_exponential_as_wrong_as_its_margin_allows_decides_nothing_wrongly(error, monkeypatch):
    """Places within three units of a first candidate's weight: what one word decides, both its ends decide alike."""
    true_powers = module.exp_minus
    monkeypatch.setattr(module, "exp_minus", lambda x: np.clip(true_powers(x) + error * MARGIN, 0, 1))
    rate = Fraction(1, 7)
    for gap in range(1, 60):
        alone = np.array([gap, 0])  # a weight of exactly 1 before it would lend the edge slack
        edge = real.floor(real.exp(-rate * gap), 40)
        for x in range(edge - 3, edge + 4):
            high = int((np.floor(module.exp_minus(module.exponents(alone, rate)) * 2.0**40).astype(np.int64) + 2).sum())
            size = high.bit_length()
            source = Replay([x << (64 - size), 3 << 60, 3 << 60, 3 << 60])
            fast = exponential_choice(alone, rate, 1, source)[0]
            if source.left.size == 3:  # decided by its first word alone
                ends = {
                    module._draw_certified(alone, rate, Digits((x << 64) | w, size + 64), size, Replay([5]))
                    for w in (0, LAST)
                }
                assert ends == {fast}


def test_a_place_beyond_the_sum_is_drawn_anew():
    assert choose([0, 0, 0], Fraction(1), [LAST, 0]) == 0


def test_shares_of_small_cases_enclose_their_exact_law():
    """Cells of 2⁻¹⁰ of the range: the share each index surely gets encloses its exact probability."""
    gaps, rate, digits = [0, 2, 1], Fraction(1, 2), 10
    decided = []
    for top in range(2**digits):
        word = top << (64 - digits)
        ends = {
            module._draw_certified(np.array(gaps), rate, Digits(x >> 22, 42), 42, Replay([9]))
            for x in (word, word | (2**54 - 1))
        }
        decided.append(ends.pop() if len(ends) == 1 else "open")
    share = Counter(decided)
    total = sum(float(np.exp(-float(rate) * g)) for g in gaps)
    inside = 2**digits - share[None]
    for i, g in enumerate(gaps):
        assert share[i] / inside == pytest.approx(np.exp(-float(rate) * g) / total, abs=3 / 2**digits)
    assert share["open"] <= 3


@pytest.mark.parametrize("rate", [Fraction(10**300), Fraction(10**400, 3)], ids=["e300", "e400"])
def test_steep_rates_choose_the_best(rate):
    gaps = np.array([5, 0, 2**63 - 1])
    assert set(exponential_choice(gaps, rate, 500, then_system([])).tolist()) == {1}
    assert first_flipped(gaps, rate, then_system([])) == 1


def test_flat_rates_choose_everyone():
    """N = 600 of three: one missing has odds below 3·(2/3)⁶⁰⁰ < 1e-100."""
    chosen = exponential_choice(np.array([0, 5, 9]), Fraction(1, 10**400), 600, then_system([]))
    assert set(chosen.tolist()) == {0, 1, 2}


def test_too_many_candidates_are_refused():
    with pytest.raises(ArithmeticError, match="2²¹"):
        exponential_choice(np.zeros(2**21 + 1, dtype=np.int64), Fraction(1), 1, Replay([]))


def test_permute_and_flip_is_a_uniform_choice_among_the_heads():
    """Coins forced by their words: gaps 0, 1, 1 with heads, heads, tails; then either head by the next digit."""
    gaps, rate = np.array([0, 1, 1]), Fraction(1)
    for digit, expected in [(0, 0), (1, 1)]:
        assert first_flipped(gaps, rate, Replay([2**63, 1 << 60, LAST, digit << 63])) == expected
    assert first_flipped(gaps, rate, Replay([2**63, LAST, LAST, 0])) == 0


# --- candidates that stand for several -----------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2), Fraction(7)])
def test_candidates_that_stand_for_several_are_chosen_as_often_as_all_of_them(rate: Fraction) -> None:
    """The same words pick the run in which the candidate that they pick of all lies, certified cases included."""
    numbers = np.random.default_rng(5)
    for _ in range(40):
        gaps, times = numbers.integers(0, 60, 8), numbers.integers(1, 2000, 8)
        gaps[numbers.integers(8)] = 0
        words = numbers.integers(0, 2**64, 200, dtype=np.uint64)
        one_by_one = np.repeat(gaps, times)
        single = exponential_choice(one_by_one, rate, 60, Replay(words.tolist()))
        alike = exponential_choice(gaps, rate, 60, Replay(words.tolist()), times)
        assert np.array_equal(np.repeat(np.arange(8), times)[single], alike)


def test_certified_weights_count_candidates_as_often_as_they_stand_there() -> None:
    gaps, times, rate = np.array([0, 3, 1]), np.array([2, 5, 3]), Fraction(1, 3)
    for word in range(0, 2**44, 2**44 // 200):
        digits = [Digits(word, 44) for _ in range(2)]
        single = module._draw_certified(np.repeat(gaps, times), rate, digits[0], 44, Replay([5]))
        alike = module._draw_certified(gaps, rate, digits[1], 44, Replay([5]), times)
        assert alike == (None if single is None else np.repeat(np.arange(3), times)[single])


def test_candidates_are_counted_as_often_as_they_stand_there() -> None:
    with pytest.raises(ArithmeticError, match="2²¹"):
        exponential_choice(np.zeros(2, dtype=np.int64), Fraction(1), 1, Replay([]), np.array([2**21, 1]))
