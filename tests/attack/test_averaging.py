"""Repeated answers average the noise away where nobody keeps a ledger, and are the same answer where one is kept."""

import math

import numpy as np
import pytest

from discreet.attack.reconstruction import averaging as module
from discreet.attack.reconstruction.averaging import averaging, example, least_error, means_by_repeats, pairs_apart
from discreet.errors import BadValue


@pytest.fixture(scope="module")
def built_in():
    return example(("1",), 7)


def test_without_a_ledger_the_error_falls_as_the_root_of_the_repeats(built_in):
    """1,000 wards: each point is exact to 5 % or so, and the slope to ± .01 (one standard deviation)."""
    assert built_in.details["slope"] == pytest.approx(-0.5, abs=0.06)
    assert built_in.raw < 0.055  # σ/32 = .042


def test_with_a_ledger_the_repeats_are_one_answer(built_in):
    """σ² = 2a/(1 − a)² = 1.84 at ε = 1; the mean of 1,000 squares is within a third of it but for 1 run in 10⁶."""
    assert 1.1 < built_in.private["1"] < 1.6
    (line_of_question,) = (line for line in built_in.chart.lines if "the same question" in line.name)
    assert set(line_of_question.y) == {built_in.private["1"]}
    assert "the largest pure ε that still fits is 0" in built_in.notes[1]


def test_a_budget_that_is_split_buys_a_worse_mean(built_in):
    (split,) = (line for line in built_in.chart.lines if "split" in line.name)
    assert split.y[-1] > 10 * split.y[0]
    assert split.y[-1] < 60  # the attacker knows that a ward has 0 to 100 people


def test_no_error_lies_below_the_floor(built_in):
    assert built_in.ceiling["1"] == least_error(1.0, worlds=101) < built_in.private["1"]
    assert built_in.better == "lower"


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 2.0, 10.0])
def test_the_floor_is_the_best_of_all_steps(epsilon):
    assert least_error(epsilon) == max(j / (1 + math.exp(min(j * epsilon, 700))) for j in range(1, 2000))


def test_the_floor_holds_for_the_best_guess_between_two_worlds():
    """The twin: all guesses that say 0 or 1 after noise of ε = 1 on counts 0 and 1, which the bound is met by."""
    share, steps = math.exp(-1), np.arange(-60, 61)
    law = (1 - share) / (1 + share) * share ** np.abs(steps)
    shifted = (1 - share) / (1 + share) * share ** np.abs(steps - 1)
    assert 0.5 * np.minimum(law, shifted).sum() == pytest.approx(least_error(1.0), rel=1e-9)


@pytest.mark.parametrize(("step", "worlds"), [(1, 6), (2, 7), (3, 7), (4, 7), (6, 7), (5, 12)])
def test_pairs_agree_with_pairing_greedily(step, worlds):
    paired, pairs = set(), 0
    for world in range(worlds - step):
        if world not in paired:
            paired |= {world, world + step}
            pairs += 1
    assert pairs_apart(step, worlds) == pairs


def test_the_floor_of_a_range_is_met_by_blind_guessing_where_nothing_is_told():
    assert least_error(1e-9, worlds=101) == pytest.approx(np.abs(np.arange(101) - 50).mean())


def test_means_by_repeats_agree_with_the_means_themselves():
    errors = np.arange(35, dtype=float).reshape(5, 7) ** 2 % 11 - 5
    by_repeats = means_by_repeats(errors)
    assert list(by_repeats) == [1, 2, 4, 7]
    for count, means in by_repeats.items():
        assert means == pytest.approx([row[:count].mean() for row in errors])


def test_answers_of_the_callers_own_are_averaged():
    result = averaging([[9, 11, 10.3], [21, 20, 19]], [10, 20], epsilon="0.1")
    assert result.raw is None
    assert result.private["0.1"] == pytest.approx(module.typical([0.1, 0]))
    assert result.ceiling["0.1"] == least_error(0.1)
    assert result.of_real_data


@pytest.mark.parametrize("lists", [([[1]], [1]), ([[1], [2]], [1]), ([1, 2], [1, 2]), ([["canary"]] * 2, [1, 2])])
def test_answers_without_their_truth_are_refused(lists):
    with pytest.raises(BadValue) as refused:
        averaging(*lists)
    assert "canary" not in str(refused.value)
