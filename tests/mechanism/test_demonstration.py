"""Two mechanisms that keep (0, δ) to the letter and protect no one: the exact law of the code, coin by coin."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from discreet import amounts
from discreet.errors import BadValue
from discreet.mechanism.demonstration import all_or_nothing, name_and_shame
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Approx
from replay import Replay, bytes_as_words

HEADS, TAILS = 0, 255  # first bytes that decide a coin of bias ¼ at once
DELTA = F(1, 4)


def law(mechanism, people, coins):
    """The output law, each pattern of coins run through the code and weighted by δ^heads·(1 − δ)^tails."""
    chances = {}
    for fallen in product((True, False), repeat=coins):
        source = Replay(bytes_as_words(HEADS if up else TAILS for up in fallen))
        output = tuple(mechanism(people, source))
        heads = sum(fallen)
        chances[output] = chances.get(output, 0) + DELTA**heads * (1 - DELTA) ** (coins - heads)
    return chances


def apart(p, q):
    """The δ at ε = 0: how much more likely any event is under p than under q."""
    return sum(max(p.get(y, F(0)) - q.get(y, F(0)), F(0)) for y in {*p, *q})


def test_a_coin_of_one_quarter_falls_for_exactly_64_of_256_bytes():
    tied = 12345
    words = [*bytes_as_words(range(256)), tied]
    assert len(name_and_shame(DELTA)(np.arange(256), Replay(words))) == 64


@pytest.mark.parametrize("other", [[11, 12, 14], [11, 12, 13, 14], [11, 12]], ids=["replaced", "added", "removed"])
def test_name_and_shame_is_exactly_delta_apart(other):
    here, there = (law(name_and_shame(DELTA), people, len(people)) for people in ([11, 12, 13], other))
    assert sum(here.values()) == 1
    assert apart(here, there) == apart(there, here) == DELTA


@pytest.mark.parametrize("other", [[], [1], [9, 9, 9, 9]])
def test_all_or_nothing_is_exactly_delta_apart_from_any_other_table(other):
    here, there = (law(all_or_nothing(DELTA), people, 1) for people in ([11, 12, 13], other))
    assert apart(here, there) == DELTA
    assert here[11, 12, 13] == DELTA


def test_two_changed_rows_are_not_covered_by_the_promise():
    here, there = (law(name_and_shame(DELTA), people, 3) for people in ([11, 12, 13], [21, 22, 13]))
    assert apart(here, there) == 1 - (1 - DELTA) ** 2 > DELTA
    assert name_and_shame(DELTA).sensitivity.l0 == 1


def test_cost_is_stated_with_epsilon_zero():
    assert name_and_shame("1e-3").cost == all_or_nothing("1e-3").cost == Approx(0, "1e-3")


def test_a_delta_of_one_over_n_names_one_person_on_average():
    n = 30_000
    assert name_and_shame(F(1, n)).mean_published(n) == 1
    assert 1 - (1 - 1 / n) ** n == pytest.approx(0.632, abs=1e-3)  # and somebody with this probability


def test_a_delta_of_one_over_n_is_above_the_ceiling_of_every_question():
    with pytest.raises(BadValue, match="between 0 and 1e-6"):
        amounts.delta(F(1, 30_000))


@pytest.mark.parametrize("given", [-1, "1.1", float("nan"), None, True, "9" * 5000])
def test_bad_delta_is_refused(given):
    for make in (name_and_shame, all_or_nothing):
        with pytest.raises(BadValue, match="delta must be"):
            make(given)


@pytest.mark.parametrize(("delta", "kept"), [(0, []), (1, [1, 2, 3])])
def test_delta_0_publishes_nothing_and_delta_1_everything(delta, kept):
    assert name_and_shame(delta)([1, 2, 3], SYSTEM) == kept
    assert all_or_nothing(delta)([1, 2, 3], SYSTEM) == kept
