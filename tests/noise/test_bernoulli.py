"""Coins: every digit path of small cases adds up to the exact bias, and ties are refined."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import real
from discreet.noise import bernoulli as module
from discreet.noise.bernoulli import bernoulli, bernoulli_exp, coins, exponents
from discreet.noise.digits import Digits, below
from replay import Replay, bytes_as_words, fair

LAST = 2**64 - 1
EVERY_BYTE = bytes_as_words(range(256))
BIASES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(255, 256),
    Fraction(1, 10**9),
    Fraction(7, 9),
]


def heads_over_every_byte(p, tie_word):
    """The coins of all 2⁸ first bytes; the one tie, if any, gets `tie_word`."""
    return bernoulli(p, 256, Replay([*EVERY_BYTE.tolist(), tie_word, 1, LAST - 1]))


@pytest.mark.parametrize("p", BIASES, ids=str)
def test_all_first_bytes_and_the_tie_add_up_to_the_bias(p):
    """Heads without the tie: ⌊256p⌋.  The tie falls heads for ⌊frac(256p)·2⁶⁴⌋ words, its edge word for the rest."""
    low, high = heads_over_every_byte(p, LAST), heads_over_every_byte(p, 0)
    first = int(p * 256)
    assert low[:first].all()
    assert not low[first + 1 :].any()
    rest = p * 256 - first
    if first < 256:
        for word in [0, int(rest * 2**64) - 1, int(rest * 2**64) + 1, LAST]:
            if 0 <= word <= LAST and word != int(rest * 2**64):
                assert heads_over_every_byte(p, word)[first] == (Fraction(word, 2**64) < rest)
    assert Fraction(int(np.delete(high, min(first, 255)).sum()), 256) == Fraction(min(first, 255), 256)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(5, 7), Fraction(1, 10**30)], ids=str)
def test_a_coin_on_the_edge_word_is_refined_on_both_sides(p):
    first = int(p * 2**8)
    edge = int(p * 2**72) - (first << 64)
    after = int(p * 2**136) - (int(p * 2**72) << 64)
    for step, truth in [(-1, True), (1, False)]:
        if 0 <= after + step <= LAST:
            source = Replay([first, edge, after + step])
            assert bernoulli(p, 1, source)[0] == truth
            assert source.left.size == 0


def test_fast_coins_agree_with_the_slow_twin():
    """4,000 coins of bias e^(−1/3), read by `coins` and one by one by `below` from the same digits."""
    bias = real.exp(Fraction(-1, 3))
    words, ties = fair(500, 2), fair(100, 3)
    fast = coins(bias, 4000, Replay(np.concatenate([words, ties])))
    spare = iter(ties.tolist())
    slow = []
    for byte in words.view(np.uint8):
        more = Replay([next(spare)]) if byte == real.floor(bias, 8) else Replay([])
        slow.append(below(Digits(int(byte), 8), bias, more))
    assert fast.tolist() == slow


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(7, 1000)], ids=str)
def test_exponential_coins_agree_with_the_slow_twin(rate):
    gaps = np.arange(3000, dtype=np.int64) % 60
    words = fair(gaps.size, 4)
    fast = bernoulli_exp(gaps, rate, Replay(words))
    slow = [
        below(Digits(int(w), 64), real.exp(-rate * int(g)), Replay([LAST // 2]))
        for g, w in zip(gaps, words, strict=True)
    ]
    assert fast.tolist() == slow


def edge_is_answered_right(gap):
    """Whether the coin is right on both sides when its word equals the first 64 digits of e^(−gap)."""
    bias = real.exp(Fraction(-gap))
    edge = real.floor(bias, 64)
    after = real.floor(bias, 128) - (edge << 64)
    cases = [([edge, after - 1], True), ([edge, after + 1], False), ([edge + 1, 1], False)]
    if edge:
        cases.append(([edge - 1, LAST], True))
    return all(bernoulli_exp(np.array([gap]), Fraction(1), Replay(words))[0] == truth for words, truth in cases)


@pytest.mark.parametrize("gap", [1, 5, 40, 80])
def test_an_exponential_coin_on_the_edge_is_refined_on_both_sides(gap):
    assert edge_is_answered_right(gap)


def test_a_coin_that_trusts_its_floats_is_caught(monkeypatch):
    monkeypatch.setattr(module, "MARGIN", -1.0)
    assert not edge_is_answered_right(5)


def test_gap_zero_is_always_heads():
    words = [0, LAST, LAST - 1, 2**63]
    assert bernoulli_exp(np.zeros(4, dtype=np.int64), Fraction(10**6), Replay([*words, 5])).all()


@pytest.mark.parametrize(
    "rate", [Fraction(10**300), Fraction(10**400, 3), Fraction(1, 10**400)], ids=["e300", "e400", "e-400"]
)
def test_extreme_rates_neither_overflow_nor_divide_by_zero(rate):
    gaps = np.array([0, 1, 2**62, 2**63 - 1])
    expected = [True, False, False, False] if rate > 1 else [True] * 4
    assert bernoulli_exp(gaps, rate, Replay([2**62] * 4)).tolist() == expected
    assert np.isfinite(exponents(gaps, rate)).all()


def test_no_coins_ask_for_no_digits():
    assert bernoulli(Fraction(1, 3), 0, Replay([])).size == 0
