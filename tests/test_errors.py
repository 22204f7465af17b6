"""An error has its sentences, its code and its exit, survives pickling, and holds nothing else."""

import copy
import json
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import errors
from discreet.errors import BadValue, DiscreetError, IntegrityError, bad, bad_private, fixed_by, short_text
from discreet.fix import UNKNOWN, Fix, command_line

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DiscreetError)]
EACH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
SECRET = "secret-4711"
PUBLIC_AMOUNTS = {
    "BadValue": {"rule": "must be D"},
    "BudgetExceeded": {"remaining": Fraction(1), "requested": Fraction(2)},
    "NotAnswerable": {"position": (2, 8)},
}


SET = Fix("Set it:", "budget set", {"epsilon": "5", "why": UNKNOWN})


def made(kind, fix="C."):
    return kind("A.", "B.", fix, **PUBLIC_AMOUNTS.get(kind.__name__, {}))


@EACH
def test_an_error_keeps_its_sentences_and_nothing_private(kind):
    error = made(kind)
    assert str(error) == "A. B. C."
    assert vars(error) == {"what": "A.", "why": "B.", "advice": ("C.",)} | PUBLIC_AMOUNTS.get(kind.__name__, {})
    assert (error.fix, error.fixes) == ("C.", ())


@EACH
@pytest.mark.parametrize(
    "through", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deep"]
)
@pytest.mark.parametrize("fix", ["C.", SET, (SET, "Or leave it.")], ids=["words", "fix", "both"])
def test_an_error_survives_the_way_between_processes(kind, through, fix):
    error = made(kind, fix)
    arrived = through(error)
    assert (type(arrived), str(arrived), vars(arrived)) == (kind, str(error), vars(error))


@EACH
def test_an_error_is_one_json_object(kind):
    told = json.loads(json.dumps(made(kind).to_json()))
    place = {"line": 2, "column": 8} if kind.__name__ == "NotAnswerable" else None
    assert told == {
        "ok": False, "code": kind.code, "exit": kind.exit, "what": "A.", "why": "B.", "fix": "C.", "fixes": [],
        "position": place,
    }  # fmt: skip


@EACH
def test_fixes_are_data_that_each_surface_spells(kind):
    told = made(kind, (SET, "Or leave it.")).to_json(command_line)
    assert told["fix"] == 'Set it: discreet budget set … --epsilon 5 --why "…"\nOr leave it.'
    assert told["fixes"] == [{"verb": "budget set", "arguments": {"epsilon": "5", "why": "…"}, "words": "Set it:"}]


@EACH
def test_another_fix_leaves_the_rest_as_it_is(kind):
    error = made(kind)
    for changed in (error.with_fix(SET), error.with_fix(SET).with_fixes(lambda fix: fix.about("people.toml"))):
        assert type(changed) is kind
        assert {**vars(changed), "advice": ()} == {**vars(error), "advice": ()}
    assert changed.fixes == (SET.about("people.toml"),)
    assert changed.fix_text(command_line) == 'Set it: discreet budget set people.toml --epsilon 5 --why "…"'


def test_refusals_of_one_kind_get_a_fix_that_fits():
    with pytest.raises(BadValue) as refused, fixed_by(SET):
        raise bad("scale", "must be positive", -1, "Give 10.")
    assert refused.value.fixes == (SET,)
    with pytest.raises(IntegrityError) as other, fixed_by(SET):
        raise IntegrityError("A.", "B.", "C.")
    assert other.value.fix == "C."


def test_codes_are_distinct_and_bad_values_are_value_errors():
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    assert issubclass(BadValue, ValueError)
    assert BadValue.exit == 2


def test_a_public_refusal_names_parameter_rule_value_and_fix():
    error = bad("scale", "must be positive", -1, "Give a scale such as 10.")
    assert (error.what, error.why, error.fix) == ("scale must be positive.", "You gave -1.", "Give a scale such as 10.")
    assert error.rule == "must be positive"


def test_a_private_refusal_never_quotes_the_value():
    error = bad_private("scores", "must be whole numbers", "Round them first.")
    assert error.why == "What was given is private and not repeated here."
    with pytest.raises(TypeError):
        bad_private("scores", "must be whole numbers", SECRET, "Round them first.")


@given(st.one_of(st.text(), st.binary(), st.integers(), st.floats(), st.lists(st.integers())))
def test_a_quotation_is_short(value):
    text = short_text(value)
    assert len(text) < 100
    assert text == repr(value) if len(repr(value)) <= 40 else "characters)" in text or "bits" in text


def test_a_long_integer_is_named_by_its_size():
    assert short_text(10**5000) == "an integer of 16610 bits"
    assert short_text(-(10**5000)) == "an integer of 16610 bits"
    assert short_text("9" * 5000).endswith("… (5002 characters)")
    assert short_text(True) == "True"
