"""Choices by whole numbers of any size: numbers below a bound are uniform, weights exactly times·e^(−rate·gap)."""

from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest

from discreet.noise.digits import Digits
from discreet.noise.multiplicity import multiplicity_choice, place_of, whole_below
from discreet.noise.source import SYSTEM
from mechanism.exact_laws import assert_drawn_from, number
from replay import Refusing, Replay, fair

LAST = 2**64 - 1


def weights_of(gaps, times, rate):
    return [mpmath.mpf(n) * mpmath.exp(-number(rate) * gap) for gap, n in zip(gaps, times, strict=True)]


def law_of(gaps, times, rate):
    weights = weights_of(gaps, times, rate)
    total = mpmath.fsum(weights)
    return {index: weight / total for index, weight in enumerate(weights) if weight}


def slow_index(word, gaps, times, rate):
    """The index by 400 digits, for a uniform number that begins with this word and goes on with zeros."""
    with mpmath.workdps(400):
        ends = list(accumulate(weights_of(gaps, times, rate)))
        return bisect_right(ends, mpmath.mpf(int(word)) / 2**64 * ends[-1])


@pytest.mark.parametrize(
    ("gaps", "times", "rate"),
    [
        ([4, 0, 1, 9, 2], [1, 3, 5, 10**6, 0], Fraction(1, 3)),
        ([0, 3, 40], [1, 7**90, 7**90 + 1], Fraction(4)),
        ([10, 12], [2**70, 2**75], Fraction(1, 7)),
    ],
)
def test_each_word_picks_the_index_that_its_place_lies_in(gaps, times, rate):
    """2,000 places, against cumulative sums to 400 digits; no word of these lies within 2⁻⁶⁴ of an end."""
    for word in fair(2000, 5):
        assert multiplicity_choice(gaps, times, rate, 1, Replay([word])) == [slow_index(word, gaps, times, rate)]


def test_draws_follow_the_law():
    """N = 40,000."""
    gaps, times = [0, 5, 9, 2], [1, 40, 10**3, 3]
    counts = Counter(multiplicity_choice(gaps, times, Fraction(3, 4), 40_000, SYSTEM))
    assert_drawn_from(counts, law_of(gaps, times, Fraction(3, 4)), law_of(gaps, times, Fraction(33, 40)))


def test_times_that_are_ten_percent_off_are_refuted():
    """N = 60,000."""
    gaps, times = [3, 0], [10**30, 10**29]
    counts = Counter(multiplicity_choice(gaps, times, Fraction(1), 60_000, SYSTEM))
    off = [10**30, 11 * 10**28]
    assert_drawn_from(counts, law_of(gaps, times, Fraction(1)), law_of(gaps, off, Fraction(1)))


@pytest.mark.parametrize("index", [0, 1])
def test_a_place_on_the_edge_between_two_indices_is_refined(index):
    """All digits of the first word equal those of the edge; those of the second decide."""
    gaps, times, rate = [1, 0, 2], [3, 1, 10**20], Fraction(1, 2)
    with mpmath.workdps(80):
        ends = list(accumulate(weights_of(gaps, times, rate)))
        edge = int(mpmath.floor(ends[index] / ends[-1] * mpmath.mpf(2) ** 128))
    for step, expected in [(-1, index), (1, index + 1)]:
        source = Replay([edge >> 64, (edge & LAST) + step])
        assert multiplicity_choice(gaps, times, rate, 1, source) == [expected]
        assert source.left.size == 0


def test_weights_may_differ_by_any_factor():
    assert multiplicity_choice([0, 1], [1, 10**3000], Fraction(1), 3, SYSTEM) == [1, 1, 1]
    assert multiplicity_choice([0, 10**18], [1, 10**3000], Fraction(10**6), 3, SYSTEM) == [0, 0, 0]
    assert multiplicity_choice([10**18, 10**18 + 1], [1, 1], Fraction(10**6), 3, SYSTEM) == [0, 0, 0]


def test_indices_that_stand_for_nothing_are_never_chosen():
    assert set(multiplicity_choice([0, 5, 6], [0, 1, 0], Fraction(1), 50, SYSTEM)) == {1}


@pytest.mark.parametrize("n", [2, 3, 5, 8, 100, 257])
def test_every_first_digit_of_a_whole_number_counts_once(n):
    bits = (n - 1).bit_length()
    seen = Counter()
    for digits in range(2**bits):
        source = Replay([digits << (64 - bits), 0])
        value = whole_below(n, source)
        seen[value if source.left.size else "anew"] += 1
    assert [seen[k] for k in range(n)] == [1] * n
    assert seen["anew"] == 2**bits - n


def test_whole_numbers_beyond_64_bits_take_the_leading_digits_of_their_words():
    assert whole_below(2**70, Replay([LAST, LAST])) == 2**70 - 1
    assert whole_below(2**70, Replay([0, 1 << 58])) == 1
    assert whole_below(2**70 - 1, Replay([LAST, LAST, 0, 7 << 58])) == 7  # too large, so drawn anew
    assert whole_below(1, Refusing()) == 0


def test_large_whole_numbers_are_uniform():
    """N = 20,000 over ten tenths of 10⁴⁰."""
    counts = Counter(whole_below(10**40, SYSTEM) // 10**39 for _ in range(20_000))
    tenth = mpmath.mpf(1) / 10
    off = {part: tenth * (mpmath.mpf(11) / 10 if part % 2 else mpmath.mpf(9) / 10) for part in range(10)}
    assert_drawn_from(counts, dict.fromkeys(range(10), tenth), off)


def test_places_lie_in_runs():
    times = [3, 0, 2, 1, 0]
    one_by_one = np.repeat(np.arange(5), times).tolist()
    assert [place_of(position, times)[0] for position in range(6)] == one_by_one
    assert [place_of(position, times)[1] for position in range(6)] == [0, 1, 2, 0, 1, 0]


def test_digits_of_the_uniform_number_only_grow():
    digits = Digits()
    digits.grow(Replay([3]))
    digits.grow(Replay([5]))
    assert (digits.value, digits.bits) == (3 << 64 | 5, 128)
