"""How many people a survey needs: the lectures' figures, and the formula against simulated surveys."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.local.number_protocol import NumberProtocol
from discreet.plot.survey import alt_text, design_picture
from discreet.survey.design import curves, design_of, people_needed, report_words, worst_variance
from survey.surveys import coins, mixed, tax


@pytest.mark.parametrize(("survey", "people"), [(coins(), 4269), (tax(), 4997)], ids=["two coins", "binary"])
def test_three_points_need_as_many_people_as_in_the_lectures(survey, people):
    plan = design_of(survey, "3")
    assert (plan.needs[0].plain, plan.people) == (1068, people)


def test_the_words_of_a_report_are_those_of_its_law():
    assert report_words(tax().questions[0].protocol) == "Of 100 who truly say no, 27 send yes."
    assert report_words(coins().questions[0].protocol) == "Of 100 who truly say no, 25 send yes."


@pytest.mark.parametrize("mode", ["split", "sampled"])
def test_the_worst_variance_is_the_largest_over_all_shares(mode):
    for question in mixed(mode).questions:
        variance, share = worst_variance(question.protocol)
        if isinstance(question.protocol, NumberProtocol):
            steps = question.protocol.code.steps
            law = [(question.protocol.code.variance(x), x) for x in range(steps + 1)]
            ends = (law[0][0] + law[steps][0]) / 2 + Fraction(steps, 2) ** 2  # half of the people at each end
            assert float(variance) >= float(max(ends, *(noise for noise, _ in law)) / steps**2) * (1 - 1e-9)
        else:
            shares = [Fraction(place, 100) for place in range(101)]
            assert float(variance) >= max(question.protocol.variance(f, 1) for f in shares) * (1 - 1e-9)
            assert float(variance) == pytest.approx(question.protocol.variance(share, 1))


def test_a_sampled_survey_needs_as_many_people_for_each_question():
    for need in design_of(mixed("sampled"), "3").needs:
        assert need.people == 3 * people_needed(worst_variance(need.question.protocol)[0], Fraction(3, 100))


def test_people_who_are_as_many_as_needed_have_the_precision():
    """2,000 surveys, n = 4,997, share ½: a false alarm needs 6 standard deviations, 1e-8; 10 % off would be seen."""
    code, chance = tax().questions[0].protocol.code, np.random.default_rng(2)
    p, q = float(code.truth), float(code.lie)
    shares = (chance.binomial(4997, (p + q) / 2, 2000) / 4997 - q) / (p - q)
    spread, expected = shares.std(ddof=1), 0.03 / 1.959964
    band = 6 / math.sqrt(2 * 1999)
    assert abs(spread / expected - 1) < band < 0.1


def test_the_factor_of_phones_grows_with_the_root_of_people():
    drawn = curves(design_of(tax(), "3"))
    assert drawn.factors[2] / drawn.factors[0] == pytest.approx(10, rel=0.05)
    middle = len(drawn.shares) // 2
    assert drawn.plain[middle] == 0.25
    assert curves(design_of(coins(), "3")).protected[middle] == pytest.approx(1, rel=1e-6)
    assert len(design_picture(drawn).axes) == 2
    assert "√n" in alt_text(drawn)


@pytest.mark.parametrize("precision", ["0", "-3", "x", "100", "", "1e-7"])
def test_a_precision_that_cannot_be_is_refused(precision):
    with pytest.raises(BadValue):
        design_of(tax(), precision)
