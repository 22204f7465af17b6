"""The numbers under [budget] change in place; every other byte stays, or the text is refused."""

import tomllib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MetadataError
from discreet.metadata.edit import with_budget

ONE, FIVE = Fraction(1), Fraction(5)
TEXT = """\
# about us
[dataset]
name = "people"   # [budget] is below
[ budget ]        # all of it
  epsilon = 3             # ε
'delta'=1e-7
# a thought

[hierarchy.geo]
levels = ["a", "b"]
"""


def test_comments_spaces_and_order_stay() -> None:
    edited = with_budget(TEXT, {"epsilon": Fraction("12.5"), "delta": Fraction(1, 10**8)}, {})
    assert edited == TEXT.replace("= 3             #", "= 12.5          #").replace("=1e-7", "=1e-8")


def test_new_keys_come_after_the_last_and_new_tables_after_theirs() -> None:
    edited = with_budget(TEXT, {"max_epsilon_per_question": ONE}, {"ana": ONE, "ben smith": Fraction(1, 3)})
    after = '\'delta\'=1e-7\nmax_epsilon_per_question = 1\n\n[budget.analysts]\nana = 1\n"ben smith" = "1/3"\n'
    assert edited == TEXT.replace("'delta'=1e-7\n", after)


def test_budget_is_added_where_there_is_none() -> None:
    plain = '[dataset]\nname = "people"'
    for text in (plain, f"{plain}\n", f"{plain}\n\n\n"):
        assert with_budget(text, {"epsilon": FIVE}, {}) == f"{plain}\n\n[budget]\nepsilon = 5\n"


def test_settings_that_already_hold_are_not_touched() -> None:
    text = TEXT.replace("= 3 ", "= 3.0 ")
    assert with_budget(text, {"epsilon": Fraction(3), "delta": Fraction(1, 10**7)}, {}) == text


def test_ends_of_lines_stay_as_they_were() -> None:
    edited = with_budget(TEXT.replace("\n", "\r\n"), {"epsilon": FIVE}, {"ana": ONE})
    assert "\n" not in edited.replace("\r\n", "")


@pytest.mark.parametrize(
    "text",
    [
        "budget = {epsilon = 3}\n",
        "budget.epsilon = 3\n",
        '[budget]\nepsilon = "3 # three"\nnote = """\n[budget.analysts]\n"""\n',
        "[budget]\nepsilon = 3\nanalysts = {ana = 2}\n",
        'x = """\n[budget]\nepsilon = 3\n"""\n[budget]\nepsilon = 3\n',
    ],
)
def test_other_forms_of_the_budget_are_refused_with_lines_to_write(text: str) -> None:
    with pytest.raises(MetadataError, match=r"\[budget\]\nepsilon = 5\nanalysts.ana = 1"):
        with_budget(text, {"epsilon": FIVE}, {"ana": ONE})


NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=1000, exclude_categories=("Cs", "Cc")), min_size=1)
AMOUNTS = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@given(caps=st.dictionaries(NAMES, AMOUNTS, max_size=4), epsilon=AMOUNTS)
def test_every_budget_that_is_set_is_read_back(caps: dict[str, Fraction], epsilon: Fraction) -> None:
    edited = with_budget(with_budget(TEXT, {"epsilon": epsilon}, {}), {}, caps)
    read = tomllib.loads(edited, parse_float=str)["budget"]
    assert Fraction(read["epsilon"]) == epsilon
    assert {name: Fraction(cap) for name, cap in read.get("analysts", {}).items()} == caps
    assert "# a thought" in edited
