"""survey.toml is read completely, and whatever it does not understand is refused with a fix."""

from datetime import date
from fractions import Fraction

import pytest

from discreet.errors import MetadataError
from discreet.survey.reading import read_survey, survey_of
from survey.surveys import HOURS, PARTY, TAX_TOML, YES_NO


def table(**facts):
    return {"title": "Tax", "epsilon": "1", "questions": {"q1": YES_NO}} | facts


def test_a_file_gives_the_survey_that_its_table_gives(tmp_path):
    (tmp_path / "tax.toml").write_text(TAX_TOML + "\n")
    survey = read_survey(tmp_path / "tax.toml")
    assert survey == survey_of(table(groups={"region": ["North", "South"]}))
    assert (survey.title, survey.groups, survey.mode) == ("Tax", ("region", ("North", "South")), "split")


def test_silence_is_a_value_unless_an_answer_is_required():
    survey = survey_of(table(questions={"q1": PARTY}))
    assert survey.questions[0].values == ("a", "b", "c, d", "no answer")
    assert survey.compiled["questions"][0]["protocol"]["size"] == 4


def test_dates_are_days():
    survey = survey_of(table(opens=date(2026, 11, 1), closes=date(2026, 11, 30)))
    assert (survey.compiled["opens"], survey.compiled["closes"]) == ("2026-11-01", "2026-11-30")


def test_two_coins_bring_their_own_epsilon():
    survey = survey_of({"title": "Coins", "questions": {"q1": YES_NO | {"method": "two coins"}}})
    assert 1.0986 < float(survey.epsilon) < 1.0987


@pytest.mark.parametrize(
    "facts",
    [
        {"epsilom": "1"},
        {"epsilon": "0"},
        {"epsilon": "x"},
        {"title": ""},
        {"title": 3},
        {"mode": "none"},
        {"every": "week"},
        {"opens": "2026-11-01"},
        {"opens": date(2026, 12, 1), "closes": date(2026, 11, 1)},
        {"groups": {"region": ["N"], "age": ["old"]}},
        {"groups": {"region": ["N", "N"]}},
        {"questions": {}},
        {"questions": {"Q 1": YES_NO}},
        {"questions": {"q1": YES_NO | {"values": ["yes"]}}},
        {"questions": {"q1": YES_NO | {"values": ["yes", "yes"]}}},
        {"questions": {"q1": YES_NO | {"values": "yes"}}},
        {"questions": {"q1": YES_NO | {"method": "magic"}}},
        {"questions": {"q1": YES_NO | {"required": "yes"}}},
        {"questions": {"q1": YES_NO | {"required": False}}},
        {"questions": {"q1": YES_NO | {"answers": 2}}},
        {"questions": {"q1": PARTY | {"values": ["a", "no answer"]}}},
        {"questions": {"q1": HOURS | {"step": 0}}},
        {"questions": {"q1": HOURS | {"step": 7}}},
        {"questions": {"q1": HOURS | {"required": False}}},
        {"questions": {"q1": HOURS | {"values": ["a", "b"]}}},
        {"questions": {"q1": YES_NO | {"method": "two coins"}, "q2": PARTY}},
    ],
    ids=str,
)
def test_what_is_not_understood_is_refused_with_a_fix(facts):
    with pytest.raises(MetadataError) as refusal:
        survey_of(table(**facts))
    assert refusal.value.what
    assert refusal.value.fix


@pytest.mark.parametrize(
    "numbers",
    [
        {"low": 0, "high": 1, "step": "1/7"},
        {"low": 0, "high": "1e-29", "step": "1e-30"},
        {"low": "1/3", "high": "4/3", "step": 1},
        {"low": 10**15, "high": 10**15 + 1, "step": 1},
        {"low": -(10**15), "high": 0, "step": 10**14},
    ],
    ids=str,
)
def test_a_number_that_has_no_plain_decimal_is_refused(numbers):
    with pytest.raises(MetadataError, match="no exact decimal with at most 15 digits"):
        survey_of(table(questions={"q1": HOURS | numbers}))


@pytest.mark.parametrize(
    ("low", "step", "texts"),
    [
        ("-0.5", 1e-7, ("-0.5", "0.0000001")),
        ("0.123456789012345", "1e-15", ("0.123456789012345", "0.000000000000001")),
        (-1000, "1/4", ("-1000", "0.25")),
    ],
)
def test_numbers_are_compiled_to_exact_decimals_without_an_exponent(low, step, texts):
    high = Fraction(low) + 4 * Fraction(str(step))
    asked = survey_of(table(questions={"q1": HOURS | {"low": low, "high": high, "step": step}}))
    (question,) = asked.compiled["questions"]
    assert (question["low"], question["step"]) == texts


@pytest.mark.parametrize(
    "content",
    [
        b"title=" + b"[" * 20_000,
        b"title=" + b"{a=" * 20_000,
        b"epsilon." + b"a." * 20_000 + b"a=1\n[questions.q1]\nvalues=['no', 'yes']",
    ],
    ids=["lists", "tables", "keys"],
)
def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path, content):
    (tmp_path / "tax.toml").write_bytes(content)
    with pytest.raises(MetadataError, match="nested too deeply"):
        read_survey(tmp_path / "tax.toml")


@pytest.mark.parametrize(
    "content", [b"", b"[title", b"\xff\xfe", b"x" * (2**20 + 1)], ids=["empty", "cut", "bytes", "long"]
)
def test_a_file_that_is_no_survey_is_refused(tmp_path, content):
    (tmp_path / "tax.toml").write_bytes(content)
    with pytest.raises(MetadataError):
        read_survey(tmp_path / "tax.toml")
    with pytest.raises(MetadataError):
        read_survey(tmp_path / "nowhere.toml")
    with pytest.raises(MetadataError):
        read_survey(tmp_path)


def test_a_misspelt_key_is_named():
    with pytest.raises(MetadataError, match="Did you mean 'epsilon'"):
        survey_of(table(epsilom="1"))
