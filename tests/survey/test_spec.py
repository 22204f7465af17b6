"""A survey as a value: its ε, its canonical bytes, and submissions that always have the same length."""

import hashlib
import json
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.survey.reading import survey_of
from survey.surveys import HOURS, PARTY, YES_NO, mixed, tax


def test_epsilon_is_shared_in_a_split_survey_and_whole_in_a_sampled_one():
    split, sampled = mixed("split"), mixed("sampled")
    assert split.epsilon == sum(question.protocol.epsilon for question in split.questions) <= 3
    assert sampled.epsilon == max(question.protocol.epsilon for question in sampled.questions) <= 3
    assert min(question.protocol.epsilon for question in sampled.questions) > Fraction(299, 100)
    assert max(question.protocol.epsilon for question in split.questions) <= 1


def test_the_mode_that_errs_less_is_chosen():
    questions = {f"q{number}": PARTY for number in range(8)}
    assert survey_of({"title": "x", "epsilon": "1", "questions": questions}).mode == "sampled"
    assert survey_of({"title": "x", "epsilon": "16", "questions": {"q1": PARTY, "q2": PARTY}}).mode == "split"
    assert tax().mode == "split"


def test_the_id_is_the_hash_of_what_is_asked_and_agreed_to():
    survey = mixed()
    assert json.loads(survey.canonical) == survey.compiled
    hashed = json.loads(survey.identity)
    assert set(hashed) == {"v", "consent", "epsilon", "mode", "every", "wave", "questions"}
    assert hashed == {key: survey.compiled[key] for key in hashed}
    assert survey.digest == hashlib.sha256(survey.identity).hexdigest()


@pytest.mark.parametrize(
    "facts",
    [
        {"title": "Taxes"},
        {"contact": "room 12"},
        {"opens": date(2026, 11, 1)},
        {"closes": date(2026, 12, 31)},
        {"groups": {"region": ["North", "South", "West"]}},
        {"groups": None},
    ],
    ids=str,
)
def test_a_survey_keeps_its_id_when_title_contact_dates_or_groups_change(facts):
    edited = tax(**facts)
    assert edited.canonical != tax().canonical
    assert edited.digest == tax().digest


@pytest.mark.parametrize(
    "facts",
    [
        {"epsilon": "1.1"},
        {"mode": "sampled"},
        {"every": "day"},
        {"consent": "You may stop at any time."},
        {"questions": {"q2": YES_NO}},
        {"questions": {"q1": YES_NO | {"text": "Did you dodge a tax?"}}},
        {"questions": {"q1": YES_NO | {"values": ["yes", "no"]}}},
        {"questions": {"q1": YES_NO | {"method": "unary"}}},
        {"questions": {"q1": YES_NO, "hours": HOURS}},
    ],
    ids=str,
)
def test_another_question_epsilon_or_consent_is_another_survey(facts):
    assert tax(**facts).digest != tax().digest


@pytest.mark.parametrize(
    "numbers", [{"low": 1, "high": 25}, {"high": 23}, {"high": 12, "step": "0.5"}, {"text": "Hours?"}], ids=str
)
def test_another_range_of_a_number_is_another_survey(numbers):
    first, second = (tax(questions={"hours": HOURS | more}) for more in ({}, numbers))
    assert first.digest != second.digest


@pytest.mark.parametrize("mode", ["split", "sampled"])
def test_every_submission_has_valid_reports_of_constant_length(mode):
    survey = mixed(mode)
    for answers in ({"q1": 0, "q2": 3, "hours": 0}, {"q1": 1, "q2": 0, "hours": 24}):
        for _ in range(20):
            reports = survey.encode(answers)
            assert [len(report) for report in reports.values()] == [q.report_bytes for q in survey.questions]
            assert all(question.is_report(reports[question.name]) for question in survey.questions)
            asked = sum(reports[q.name][0] for q in survey.questions) if mode == "sampled" else 1
            assert asked == 1


def test_words_are_consumed_as_every_language_must():
    survey = survey_of({"title": "x", "epsilon": "2", "mode": "sampled", "questions": {"q1": YES_NO, "hours": HOURS}})
    keep = survey.compiled["questions"][0]["protocol"]["keep"]
    assert survey.encode_with({"q1": 1, "hours": 5}, [4, keep - 1, 0]) == {"q1": b"\1\1", "hours": b"\0\0"}
    assert survey.encode_with({"q1": 1, "hours": 5}, [4, keep, 0]) == {"q1": b"\1\0", "hours": b"\0\0"}


@pytest.mark.parametrize("mode", ["split", "sampled"])
def test_answers_that_are_integers_of_numpy_give_the_reports_of_python_integers(mode):
    survey = mixed(mode)
    answers = {"q1": 1, "q2": 2, "hours": 5}
    scalars = {name: np.int64(answer) for name, answer in answers.items()}
    for first in range(3):  # each question of the sampled survey once; words of 0 keep every truth
        words = [first] + [0] * 20
        assert survey.encode_with(scalars, words) == survey.encode_with(answers, words)


@pytest.mark.parametrize("answers", [{}, {"q1": 2}, {"q1": -1}, {"q1": True}, {"q1": "yes"}, {"q1": 0, "q2": 0}])
def test_answers_out_of_range_are_refused_and_not_repeated(answers):
    with pytest.raises(BadValue) as refusal:
        tax().encode(answers)
    assert "private" in refusal.value.why


@pytest.mark.parametrize("mode", ["split", "sampled"])
def test_reports_of_many_people_are_valid(mode):
    survey, people = mixed(mode), 1000
    answers = {q.name: np.zeros(people, dtype=np.int64) for q in survey.questions}
    drawn = survey.draw(answers)
    assert all(question.valid(drawn[question.name]).all() for question in survey.questions)
    asked = sum((drawn[q.name][:, 0] for q in survey.questions), np.zeros(people)) if mode == "sampled" else None
    assert asked is None or (asked == 1).all()


def test_bytes_that_nobody_could_have_sent_are_no_report():
    question, sampled = tax().questions[0], mixed("sampled").questions[0]
    assert [question.is_report(report) for report in (b"\0", b"\1", b"\2", b"", b"\0\0", "x")] == [True, True] + [
        False
    ] * 4
    assert [sampled.is_report(report) for report in (b"\0\0", b"\1\1", b"\0\1", b"\2\0", b"\1\2")] == [True, True] + [
        False
    ] * 3
