"""A submission is exactly the stated JSON with one randomised report for every question, or it is refused."""

import json

import pytest

from discreet.survey.reading import survey_of
from discreet.survey.submission import Rejected, body_of, largest_body, submission_of, token_hash
from survey.serving import some_body, survey_for

SURVEY = survey_for()
TOKEN = "AbCdEfGhIjKlMnOpQrSt-_"
REPORTS = {"paid": b"\x01", "ways": b"\xff\x03"}
GOOD = {"v": 1, "survey": SURVEY.digest, "token": TOKEN, "reports": {"paid": "AQ", "ways": "_wM"}}


def is_refused(body: bytes, survey=SURVEY) -> bool:
    with pytest.raises(Rejected) as refusal:
        submission_of(body, survey)
    return (refusal.value.status, refusal.value.reason) == (400, "malformed")


def changed_body(**changes) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def with_report(report) -> bytes:
    return changed_body(reports={**GOOD["reports"], "ways": report})


def test_a_submission_gives_its_token_and_a_report_for_each_question_in_their_order():
    backwards = dict(reversed(GOOD["reports"].items()))
    submission = submission_of(changed_body(reports=backwards), SURVEY)
    assert submission.token == TOKEN
    assert list(submission.reports.items()) == list(REPORTS.items())
    assert submission.joined == b"\x01\xff\x03"
    assert submission.token_hash == token_hash(TOKEN)


def test_what_body_of_writes_is_read_back():
    assert submission_of(body_of(SURVEY, TOKEN, REPORTS), SURVEY).reports == REPORTS
    assert submission_of(some_body(SURVEY, TOKEN), SURVEY).token == TOKEN


@pytest.mark.parametrize("key", GOOD)
def test_a_missing_key_is_refused(key):
    assert is_refused(json.dumps({name: value for name, value in GOOD.items() if name != key}).encode())


@pytest.mark.parametrize("key", GOOD)
@pytest.mark.parametrize("value", [None, True, False, 0, 1.0, 2, -1, 10**30, "", "1", [], [1], {}, {"v": 1}, [[[]]]])
def test_a_value_of_another_type_is_refused(key, value):
    assert is_refused(changed_body(**{key: value}))


def test_an_unknown_key_is_refused_whatever_it_is_called():
    assert is_refused(changed_body(answers={"paid": 1}))
    assert is_refused(changed_body(truth="yes"))
    assert is_refused(changed_body(reports={**GOOD["reports"], "income": "AQ"}))
    assert is_refused(changed_body(reports={"paid": "AQ"}))


@pytest.mark.parametrize(
    "report",
    [
        *(None, 1, True, 1.5, [], {}, [1, 2], {"value": "yes"}, "no", "yes"),
        *("", "_w", "_wMA", "_wM=", "_wM==", " _wM", "_wM\n", "/wM", "_w M", "_wN", "_wP", "ＡＡＡ", "\ud800AA"),
        *("_wQ", "_w8", "__8"),  # bits beyond the ten values
    ],
)
def test_a_report_that_is_not_canonical_or_cannot_have_been_drawn_is_refused(report):
    assert is_refused(with_report(report))


@pytest.mark.parametrize("token", [TOKEN[:-1], TOKEN + "A", TOKEN[:-1] + "=", TOKEN[:-1] + "é", " " * 22, TOKEN + "\n"])
def test_a_token_that_is_not_22_characters_of_base64url_is_refused(token):
    assert is_refused(changed_body(token=token))


def test_another_survey_is_refused():
    assert is_refused(some_body(survey_for(consent="Another")))
    assert is_refused(changed_body(survey=SURVEY.digest.upper()))


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"null", b"1", b'"v"', b"[]", b"{}", b"NaN", b"{", b"\x00", b"\xff\xfe", b"[" * 60_000),
        b'{"v":' * 20_000,
        b"[" * 5_000 + b"]" * 5_000,
        b"\xef\xbb\xbf" + changed_body(),
        changed_body() + b"{}",
        changed_body().decode().encode("utf-16"),
        changed_body().replace(b'"v": 1', b'"v": 1, "v": 1'),
        changed_body().replace(b'"paid"', b'"paid": "AA", "paid"'),
        changed_body().replace(b'"v": 1', b'"v": 01'),
        changed_body().replace(b'"v": 1', b'"v": 1.0'),
        changed_body().replace(b'"v": 1', b'"v": 1e0'),
        changed_body().replace(b'"v": 1', b'"v": NaN'),
        changed_body().replace(b'"v": 1', b'"v": Infinity'),
        changed_body().replace(b'"v": 1', b'"v": ' + b"9" * 30_000),
        changed_body().replace(b'"paid"', b'"p\xc3"'),
        changed_body().replace(b'"paid"', b'"\\ud800"'),
    ],
)
def test_what_is_not_the_json_of_a_submission_is_refused(body):
    assert is_refused(body)


def test_a_sampled_survey_takes_exactly_one_report_of_a_question_that_was_asked():
    questions = {name: {"text": "?", "values": ["no", "yes"], "required": True} for name in ("first", "second")}
    survey = survey_of({"title": "Sampled", "epsilon": "1", "mode": "sampled", "questions": questions})
    for asked in survey.questions:
        reports = {
            question.name: bytes([question is asked] + [0] * (question.report_bytes - 1))
            for question in survey.questions
        }
        assert submission_of(body_of(survey, TOKEN, reports), survey).reports == reports
    for flag in (0, 1, 2):
        reports = {name: bytes([flag]) + report[1:] for name, report in reports.items()}
        assert is_refused(body_of(survey, TOKEN, reports), survey)


def test_the_largest_body_holds_a_submission_with_every_character_escaped():
    escaped = changed_body()
    for name in REPORTS:
        spelt = "".join(f"\\u{ord(letter):04x}" for letter in name)
        escaped = escaped.replace(f'"{name}"'.encode(), f'"{spelt}"'.encode())
    assert submission_of(escaped, SURVEY).reports == REPORTS
    assert len(escaped) <= largest_body(SURVEY) < 1024
