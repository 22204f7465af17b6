"""Randomized response: its exact law bit by bit, its ε, and estimators that are unbiased with the stated variance."""

from collections import Counter
from fractions import Fraction as F
from math import comb

import mpmath
import numpy as np
import pytest

from discreet import real
from discreet.errors import BadValue
from discreet.mechanism.response import response, two_coins
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Response
from discreet.relation import Relation
from mechanism.exact_laws import assert_drawn_from, number
from replay import Refusing, Replay, bytes_as_words

ALL_BYTES = np.arange(256, dtype=np.uint8)
NOT_TIED = [12345] * 256  # what a coin gets whose first eight digits tie with ½


def kary_law(truth, epsilon, choices):
    e = mpmath.exp(number(F(epsilon)))
    return {v: (e if v == truth else 1) / (e + choices - 1) for v in range(choices)}


# --- the law -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("truth", "share"), [(1, F(3, 4)), (0, F(1, 4))])
def test_two_fair_coins_enumerate_to_three_quarters_and_one_quarter(truth, share):
    """All 65,536 pairs of first bytes through the code."""
    first, second = np.repeat(ALL_BYTES, 256), np.tile(ALL_BYTES, 256)
    words = [*bytes_as_words(first.tolist()), *NOT_TIED, *bytes_as_words(second.tolist()), *NOT_TIED]
    reports = two_coins()(np.full(65_536, truth), Replay(words))
    assert F(int(reports.sum()), 65_536) == share == two_coins().said_yes(truth)


@pytest.mark.parametrize("choices", [2, 3, 5])
def test_a_lie_names_every_other_answer_once(choices):
    mechanism, bits = response(1, choices), max(1, (choices - 2).bit_length())
    for truth in range(choices):
        lies = {int(mechanism([truth], Replay([0, u << (64 - bits)]))[0]) for u in range(choices - 1)}
        assert lies == set(range(choices)) - {truth}
        assert mechanism([truth], Replay([255, 0]))[0] == truth


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", "1", "12", "1000", "1e6"])
@pytest.mark.parametrize("choices", [2, 3, 100])
def test_chance_of_a_lie_is_the_stated_one_at_every_epsilon(epsilon, choices):
    mechanism = response(epsilon, choices)
    with real.precision(200):
        others = real.ball(F(epsilon)).exp() + choices - 1  # each other answer has probability 1/others
        assert float(mechanism._lie() / (choices - 1) * others) == 1.0
        kept = float(1 - (choices - 1) / others)
    assert mechanism.keep == pytest.approx(kept, rel=1e-15)


def test_largest_epsilon_is_handled():
    truth = np.arange(1000) % 7
    assert response("1e6", 7)(truth, SYSTEM).tolist() == truth.tolist()


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("choices", [2, 4])
def test_two_answers_of_one_person_are_exactly_epsilon_apart(epsilon, choices):
    mechanism = response(epsilon, choices)
    losses = [
        abs(mpmath.log(kary_law(x, epsilon, choices)[v] / kary_law(y, epsilon, choices)[v]))
        for x in range(choices)
        for y in range(choices)
        for v in range(choices)
    ]
    assert abs(max(losses) - number(F(epsilon))) < 1e-30
    assert mechanism.cost == Response(epsilon)
    assert mechanism.sensitivity.relation is Relation.REPLACE_ONE


@pytest.mark.parametrize("truthful", ["0.5", "1/3", "0.9", "1e-6", "0.999999"])
@pytest.mark.parametrize("yes", ["0.5", "0.1", "0.999", "1e-9"])
def test_survey_states_the_larger_of_its_two_losses_rounded_up(truthful, yes):
    mechanism = two_coins(truthful, yes)
    p, q = mechanism.said_yes(1), mechanism.said_yes(0)
    with mpmath.workdps(60):
        true = max(mpmath.log(number(p / q)), mpmath.log(number((1 - q) / (1 - p))))
        stated = number(mechanism.cost.epsilon)
        assert true <= stated <= true * (1 + mpmath.mpf(10) ** -15)


def test_reports_follow_the_law():
    """N = 80,000 people."""
    counts = Counter(response("3/2", 4)(np.full(80_000, 2), SYSTEM).tolist())
    assert_drawn_from(counts, kary_law(2, "1.5", 4), kary_law(2, "1.65", 4))


def test_survey_reports_follow_the_law():
    """N = 80,000 people of each kind."""
    mechanism = two_coins("0.4", "0.3")
    for truth in (0, 1):
        counts = Counter(mechanism(np.full(80_000, truth), SYSTEM).tolist())
        yes, off = mechanism.said_yes(truth), mechanism.said_yes(truth) * F(11, 10)
        assert_drawn_from(counts, {1: yes, 0: 1 - yes}, {1: off, 0: 1 - off})


def test_answers_outside_count_as_the_nearest():
    assert response("1e6", 3)([-5, 10**30, 1], SYSTEM).tolist() == [0, 2, 1]
    assert set(two_coins()(np.full(200, 10**6), SYSTEM).tolist()) <= {0, 1}


# --- the estimates -----------------------------------------------------------------------------------------------

PEOPLE = 12


def reports(yes, people=PEOPLE):
    return [1] * yes + [0] * (people - yes)


def binomial(n, p):
    return {c: comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)}


def moments(law, value):
    mean = sum(p * value(c) for c, p in law.items())
    return mean, sum(p * (value(c) - mean) ** 2 for c, p in law.items())


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("mechanism", [two_coins(), two_coins("0.2", "0.7")], ids=str)
def test_survey_estimate_is_unbiased_with_the_stated_variance(mechanism, share):
    """Summed over every number of yes among 12 people drawn at random."""
    said = float(mechanism.said_yes(0)) + share * float(mechanism.truthful)
    mean, variance = moments(binomial(PEOPLE, said), lambda c: mechanism.share(reports(c)).value)
    assert mean == pytest.approx(share, abs=1e-12)
    assert variance == pytest.approx(mechanism.variance(share, PEOPLE))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("epsilon", "choices"), [("1", 2), ("0.1", 3), ("4", 5)])
def test_kary_estimate_is_unbiased_with_the_stated_variance(epsilon, choices, share):
    mechanism = response(epsilon, choices)
    p, q = mechanism.keep, (1 - mechanism.keep) / (choices - 1)
    mean, variance = moments(binomial(PEOPLE, q + (p - q) * share), lambda c: mechanism.shares(reports(c))[1].value)
    assert mean == pytest.approx(share, abs=1e-11)
    assert variance == pytest.approx(mechanism.variance(share, PEOPLE))


def test_shares_of_all_answers_add_up_to_one():
    mechanism = response(1, 4)
    assert sum(s.value for s in mechanism.shares([0, 1, 1, 3, 3, 3])) == pytest.approx(1)


@pytest.mark.parametrize("yes_people", [0, 3, 7, 12])
def test_variance_of_the_coins_alone_does_not_depend_on_the_table(yes_people):
    """Everybody asked, binary: e^ε/(n(e^ε − 1)²), here from the law of a sum of unequal coins."""
    mechanism = response(1)
    p, e = mechanism.keep, float(mpmath.e)
    law = {0: 1.0}
    for chance in [p] * yes_people + [1 - p] * (PEOPLE - yes_people):
        law = {c: law.get(c, 0) * (1 - chance) + law.get(c - 1, 0) * chance for c in range(max(law) + 2)}
    mean, variance = moments(law, lambda c: mechanism.shares(reports(c))[1].value)
    assert mean == pytest.approx(yes_people / PEOPLE)
    assert variance == pytest.approx(e / (e - 1) ** 2 / PEOPLE) == pytest.approx(mechanism.variance(0.0, PEOPLE))


@pytest.mark.parametrize("level", ["0.8", "0.95", "0.999"])
@pytest.mark.parametrize("people", [1, 9, 40])
def test_interval_covers_every_share_at_its_level(people, level):
    """Coverage summed over all numbers of yes, for shares on a fine grid, people drawn at random."""
    mechanism = two_coins()
    intervals = [mechanism.share(reports(c, people), level) for c in range(people + 1)]
    assert all(0 <= s.low <= s.high <= 1 for s in intervals)
    for share in np.linspace(0, 1, 101):
        law = binomial(people, 0.25 + share / 2)
        covered = sum(law[c] for c, s in enumerate(intervals) if s.low - 1e-12 <= share <= s.high + 1e-12)
        assert covered >= float(level) - 1e-9


def test_intervals_of_400_reports_are_narrow():
    narrow, wide = (two_coins().share(reports(200, 400), level) for level in ("0.5", "0.99"))
    assert 0 < narrow.high - narrow.low < wide.high - wide.low < 0.35


def test_no_reports_leave_the_whole_interval():
    assert (two_coins().share([]).low, two_coins().share([]).high) == (0.0, 1.0)


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, float("nan"), None, True, "9" * 5000])
@pytest.mark.parametrize("given", [[], [0, 1]])
def test_bad_level_is_refused_with_or_without_reports(level, given):
    for estimate in (two_coins().share, response(1).shares):
        with pytest.raises(BadValue, match="level must be"):
            estimate(given, level)


@pytest.mark.parametrize("given", [0, 1, -1, 2, float("nan"), None, True, "9" * 5000])
def test_bad_coin_is_refused(given):
    with pytest.raises(BadValue, match="truthful must be"):
        two_coins(given)
    with pytest.raises(BadValue, match="yes must be"):
        two_coins("0.5", given)


def test_coins_that_say_next_to_nothing_are_refused_when_they_are_made():
    with pytest.raises(BadValue, match="epsilon must be"):
        two_coins("1e-12")


@pytest.mark.parametrize("given", [1, 0, -1, 2.0, True, None, 2**31 + 1, "2"])
def test_bad_number_of_choices_is_refused(given):
    with pytest.raises(BadValue, match="choices must be a whole number"):
        response(1, given)


@pytest.mark.parametrize("given", [0, -1, 2.5, True, None])
def test_bad_number_of_people_is_refused(given):
    with pytest.raises(BadValue, match="people must be a whole number"):
        two_coins().variance(0.5, given)


def test_refusals_draw_nothing():
    with pytest.raises(BadValue):
        response(1)([0.5], Refusing())
