"""The paper form: a slip of two coins."""

import re
from fractions import Fraction

import pytest

from discreet.local import face
from discreet.survey.paper import slip
from discreet.survey.reading import survey_of

YES_NO = {"text": "Did you leave <b>income</b> out?", "values": ["no", "yes"], "required": True}


def survey(*questions, **more):
    listed = {f"q{index}": question for index, question in enumerate(questions)}
    return survey_of({"title": "Tax", "consent": "You are free.", "questions": listed} | more)


def test_a_slip_has_two_boxes_for_each_question_and_the_rule_of_two_coins():
    text = slip(survey(YES_NO, YES_NO, epsilon="2.2"))
    assert text.count('class="box"') == 4
    assert "Heads" in text
    assert "Tails" in text
    assert "You are free." in text


def test_a_slip_shows_texts_of_the_survey_letter_by_letter():
    text = slip(survey(YES_NO, epsilon="1.1", title="</title><script>x</script>"))
    assert "<script" not in text
    assert "&lt;b&gt;income&lt;/b&gt;" in text


def test_a_slip_makes_no_request_and_runs_no_script():
    text = slip(survey(YES_NO, epsilon="1.1"))
    assert not re.search(r"https?://|<script|<img|<link|url\(", text)
    assert "default-src 'none'" in text


def test_the_sentence_of_a_slip_is_the_law_of_two_coins():
    """Of 100 whose answer is one box, 25 tick the other; the ratio of the two chances is 3."""
    law = face.two_coins().law("no")
    assert law[b"\x01"] == Fraction(25, 100)
    assert "25 tick the other" in slip(survey(YES_NO, epsilon="1.1"))
    assert law[b"\x00"] / law[b"\x01"] == 3


def test_a_survey_of_two_coins_fits_on_a_slip():
    assert "ε = ln 3" in slip(survey(YES_NO | {"method": "two coins"}))


def test_a_question_that_may_be_left_blank_does_not_fit_on_a_slip():
    for values in (["no", "yes"], ["yes"]):
        with pytest.raises(ValueError, match=r"must be required on a slip.*required = true"):
            slip(survey(YES_NO | {"values": values, "required": False}, epsilon="4"))


def test_a_slip_says_that_a_blank_is_not_hidden():
    assert "a question without a tick is seen as such" in slip(survey(YES_NO, epsilon="1.1"))


def test_a_slip_that_costs_more_than_the_survey_promises_is_refused():
    with pytest.raises(ValueError, match=r"ln 3.*1\.0987"):
        slip(survey(YES_NO, epsilon="1"))
    with pytest.raises(ValueError, match=r"2\.1973"):
        slip(survey(YES_NO, YES_NO, epsilon="2.1"))


def test_a_question_with_more_than_two_answers_does_not_fit_on_a_slip():
    with pytest.raises(ValueError, match="two answers"):
        slip(survey(YES_NO | {"values": ["a", "b", "c"]}, epsilon="4"))
    with pytest.raises(ValueError, match="two answers"):
        slip(survey({"text": "How many?", "low": 0, "high": 4, "step": 1, "required": True}, epsilon="4"))
