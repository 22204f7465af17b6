"""Invented people have the shares that were typed, and estimates from their reports find them."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.noise import public
from discreet.survey.simulation import draw_answers, simulate, truths_of
from survey.surveys import mixed, tax

PEOPLE = 200_000
SURE = "0.99999995"  # of eight intervals: a false alarm in 2.5 million runs
TYPED = ["q1=0.3", "q2=a:0.5, c, d:0.2", "hours=8"]


def test_typed_shares_are_spread_over_the_values():
    truths = truths_of(mixed(), TYPED)
    assert truths["q1"].shares == (Fraction(7, 10), Fraction(3, 10))
    assert truths["q2"].shares == (Fraction(1, 2), Fraction(3, 20), Fraction(1, 5), Fraction(3, 20))
    assert truths["hours"].mean == 8
    assert truths_of(mixed(), [])["q2"].shares == (Fraction(1, 4),) * 4


@pytest.mark.parametrize("mode", ["split", "sampled"])
def test_estimates_find_the_truth_and_refute_another(mode):
    """n = 200,000; the intervals miss with probability 4e-7 in all, and exclude shares 10 % off."""
    survey = mixed(mode)
    simulation = simulate(survey, PEOPLE, TYPED, seed=11)
    for question in survey.questions:
        estimate = question.protocol.estimate(question.tally(simulation.reports[question.name]), level=SURE)
        truth = simulation.truths[question.name].to_json(question)
        assert all(row.low <= truth[row.value] <= row.high for row in estimate)
        largest = max(estimate, key=lambda row: truth[row.value])
        assert not largest.low <= 1.1 * truth[largest.value] <= largest.high


def test_a_seed_repeats_answers_and_never_the_noise():
    question = tax().questions[0]
    truth = truths_of(tax(), ["q1=0.02"])["q1"]
    drawn = [draw_answers(question, truth, 1000, public.generator(7)) for _ in range(2)]
    assert (drawn[0] == drawn[1]).all()
    first, second = (simulate(tax(), 1000, ["q1=0.02"], seed=7).reports["q1"] for _ in range(2))
    assert not (first == second).all()  # equal with probability below 0.61^1000


def test_people_belong_to_groups_in_turn():
    assert simulate(tax(), 3).groups == {"region": ["North", "South", "North"]}


def test_a_number_has_its_mean_and_stays_in_its_bounds():
    question = mixed().questions[2]
    answers = draw_answers(question, truths_of(mixed(), ["hours=24"])["hours"], 100, public.generator(1))
    assert np.unique(answers).tolist() == [24]


@pytest.mark.parametrize(
    "typed",
    [
        *("q1", "q9=0.5", "q1=2", "q1=x", "q1=yes:0.5,yes:0.2", "q1=yes:0.9,no:0.9", "q1=no:0.2,yes:0.2"),
        *("q2=0.5", "q2=z:0.5", "q2=a:0.5;b", "q2=:0.5", "hours=25", "hours=x"),
    ],
)
def test_a_truth_that_cannot_be_is_refused(typed):
    with pytest.raises(BadValue):
        truths_of(mixed(), [typed])


def test_a_truth_is_given_once():
    with pytest.raises(BadValue, match="once"):
        truths_of(mixed(), ["q1=0.1", "q1=0.2"])


@pytest.mark.parametrize("people", ["0", "-1", "x", "1.5", "1e30"])
def test_a_number_of_people_that_cannot_be_is_refused(people):
    with pytest.raises(BadValue):
        simulate(tax(), people)
