"""Two counts that differ in one person say whether she is there; under one ε for both, barely."""

import numpy as np
import pytest

from discreet.attack.ceiling import guess_of_bit
from discreet.attack.reconstruction.differencing import differencing, example, is_there
from discreet.errors import BadValue


@pytest.fixture(scope="module")
def built_in():
    return example(("1",), 7)


def test_without_noise_every_person_is_given_away(built_in):
    assert built_in.raw == 1
    assert built_in.trials == 1000


def test_through_the_ledger_the_guess_is_little_better_than_a_coin(built_in):
    """1,000 trials: a chance of .59 gives .50 to .68 but for 1 run in 10⁶, so .731 is far beyond."""
    assert 0.48 < built_in.private["1"] < 0.69
    assert built_in.ceiling["1"] == guess_of_bit(1.0) == pytest.approx(0.7311, abs=1e-4)


def test_her_own_count_at_the_whole_epsilon_reaches_the_ceiling(built_in):
    """Its chance is 1/(1 + e^−1) exactly; five standard deviations of 1,000 trials are .07."""
    assert abs(built_in.details["asked_for_by_name"]["1"] - 0.7311) < 0.07
    assert built_in.notes[0].endswith("right guesses in these trials; its law, e^ε/(1 + e^ε), is the ceiling.")


def test_a_third_question_is_refused(built_in):
    assert "the largest pure ε that still fits is 0" in built_in.details["third_question"]["1"]


def test_the_guess_agrees_with_the_exact_chances_of_two_geometric_noises():
    """By the law itself: P[right] = P[z₁ − z₂ ≤ 0] for z of scale 2, and 100,000 public draws agree within .01."""
    from discreet.noise.public import generator

    share, steps = np.exp(-0.5), np.arange(-200, 201)
    law = (1 - share) / (1 + share) * share ** np.abs(steps)
    exact = sum(law[i] * law[: i + 1].sum() for i in range(len(steps)))  # z₁ ≥ z₂ is as likely as z₁ ≤ z₂
    chance = generator(1)
    noise = chance.geometric(1 - share, size=(4, 100_000))
    first, second = noise[0] - noise[1], noise[2] - noise[3]
    there = chance.integers(0, 2, size=100_000) == 1
    assert (is_there(20 + there + first, 20 + second) == there).mean() == pytest.approx(exact, abs=0.01)


def test_counts_of_the_callers_own_are_attacked():
    result = differencing([10.2, 7.9, 8.0], [9.0, 8.0, 7.0], [1, 0, 0], epsilon=1, delta="1e-6")
    assert result.raw is None
    assert result.private == {"1": pytest.approx(2 / 3)}
    assert result.of_real_data
    assert result.ceiling["1"] == guess_of_bit(1.0, 1e-6, share=1 / 3)
    assert result.baseline == pytest.approx(2 / 3)


def test_of_nine_in_ten_who_are_there_blind_guessing_is_right_nine_times_in_ten():
    there = [1] * 9 + [0]
    result = differencing([20] * 10, [19] * 10, there, epsilon=1)
    assert result.private["1"] == result.baseline == result.ceiling["1"] == 0.9
    assert "found nothing above blind guessing" in result.sentence


@pytest.mark.parametrize(
    "lists", [([1], [1, 2], [0]), ([1], [1], [2]), ([1], [1], []), (["canary"], [1], [0]), ([10**400], [1], [0])]
)
def test_counts_that_do_not_match_are_refused(lists):
    with pytest.raises(BadValue) as refused:
        differencing(*lists)
    assert "canary" not in str(refused.value)
