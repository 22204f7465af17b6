"""What is stored is named by explicit tags: classes can be renamed and grow, and what lies there is read as before."""

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import IntegrityError
from discreet.tagged import Form, Tags


@dataclass(frozen=True)
class Leaf:
    value: object
    weight: int = 1


@dataclass(frozen=True)
class Node:
    parts: tuple
    kind: str


TAGS = Tags({Leaf: Form("leaf", "value weight"), Node: Form("node", "parts kind=type")})
CONSTANTS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.fractions()
    | st.dates()
    | st.datetimes()
    | st.floats(allow_nan=False)
)
TREES = st.recursive(
    st.builds(Leaf, CONSTANTS, st.integers(0, 3)),
    lambda inner: st.builds(Node, st.lists(inner, max_size=3).map(tuple), st.text(max_size=3)),
    max_leaves=8,
)


@given(TREES)
def test_every_tree_of_values_comes_back(tree):
    assert TAGS.value(TAGS.plain(tree)) == tree


@given(CONSTANTS)
def test_constants_come_back_with_their_types(constant):
    back = TAGS.value(TAGS.plain(Leaf(constant))).value
    assert (type(back), back) == (type(constant), constant)


def test_a_field_at_its_default_is_left_out_and_another_is_not():
    assert TAGS.plain(Leaf(2)) == {"is": "leaf", "value": 2}
    assert TAGS.plain(Leaf(2, 3)) == {"is": "leaf", "value": 2, "weight": 3}
    assert TAGS.plain(Leaf(2, True)) == {"is": "leaf", "value": 2, "weight": True}  # equal to 1, and not the default


def test_a_renamed_field_keeps_its_stored_name():
    assert TAGS.plain(Node((), "x")) == {"is": "node", "parts": [], "type": "x"}


def test_constants_are_spelt_for_good():
    golden = {
        Fraction(-1, 3): {"is": "fraction", "of": "-1/3"},
        date(2020, 12, 31): {"is": "date", "of": "2020-12-31"},
        datetime(2020, 12, 31, 23, 59): {"is": "datetime", "of": "2020-12-31T23:59:00"},
        0.1: {"is": "float", "of": "0x1.999999999999ap-4"},
        float("-inf"): {"is": "float", "of": "-inf"},
    }
    for constant, stored in golden.items():
        assert TAGS.plain(constant) == stored


@pytest.mark.parametrize(
    "stored",
    [
        {"is": "unknown"},
        {"value": 1},
        {"is": "leaf"},
        {"is": "leaf", "value": 1, "colour": 2},
        {"is": "fraction"},
        {"is": "fraction", "of": "1/0.5"},
        {"is": ["leaf"]},
        {"is": "date", "of": 5},
    ],
)
def test_a_value_that_is_no_tagged_tree_is_refused_in_words(stored):
    with pytest.raises(IntegrityError, match="cannot be read"):
        TAGS.value(stored)


def test_one_tag_cannot_mean_two_things():
    with pytest.raises(ValueError, match="every tag means one kind"):
        Tags({Leaf: Form("leaf", "value weight"), Node: Form("leaf", "parts kind")})
