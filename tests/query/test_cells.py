"""Which groups are public, what they are called, and how many there may be."""

from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.errors import NotAnswerable
from discreet.query.meaning.cells import Cells, KeyCells, cells
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import (
    Arith,
    Bins,
    Call,
    Case,
    Col,
    Compare,
    CountRows,
    DatePart,
    Key,
    Literal,
    Output,
    Question,
)
from discreet.schema import Column, Schema
from query.twin import ODD, SCHEMA


def grouped(*items, schema=SCHEMA):
    keys = tuple(Key(f"key{i}", item) for i, item in enumerate(items))
    return cells(resolved(Question(schema.name, (Output("n", CountRows()),), keys), schema), schema)


@pytest.mark.parametrize(
    ("item", "labels"),
    [
        (Col("region"), ("north", "south", "east", "west")),
        (Col("odd"), (*ODD, None)),
        (Col("vip"), (False, True, None)),
        (Col("code"), (7, 3, 11, None)),
        (Col("age"), tuple(range(111))),
        (Col("tens"), tuple(range(-40, 41, 10))),
        (Bins(Col("age")), ("[0, 18)", "[18, 65)", "[65, 110]")),
        (Col("price"), ("[0, 10)", "[10, 25)", "[25, 50]")),
        (Bins(Col("price"), (Fraction(0), Fraction(5, 2))), ("[0, 2.5]",)),
        (Bins(Col("seen"), (date(2020, 1, 1), date(2020, 2, 1))), ("[2020-01-01, 2020-02-01]",)),
        (DatePart("quarter", Col("born")), (1, 2, 3, 4)),
        (DatePart("year", Col("seen")), (2019, 2020, 2021)),
        (Call("floor", (Arith("/", Col("age"), Literal(10)),)), tuple(range(12))),
        (Arith("*", Call("floor", (Arith("/", Col("age"), Literal(50)),)), Literal(50)), (0, 50, 100)),
        (Case(((Compare("<", Col("age"), Literal(18)), Literal("minor")),), Literal("adult")), ("minor", "adult")),
        (Compare("<", Col("age"), Literal(18)), (False, True)),
    ],
    ids=str,
)
def test_public_keys_have_all_their_labels(item, labels):
    groups = grouped(item)
    assert groups.public
    assert groups.keys[0].labels == labels
    assert groups.size == len(labels)
    assert groups.keys[0].with_null == (None in labels)


def test_dates_between_bounds_are_public():
    labels = grouped(Col("weekly")).keys[0].labels
    assert labels[0] == date(2020, 1, 2)
    assert {(b - a).days for a, b in pairwise(labels)} == {7}


@pytest.mark.parametrize("name", ["ward", "note", "big", "wild", "born", "moment", "score", "at"])
def test_unlisted_and_unbounded_columns_are_private_keys(name):
    groups = grouped(Col("region"), Col(name))
    assert not groups.public
    assert groups.keys[1].labels is None
    assert groups.keys[1].with_null == (name == "note")
    with pytest.raises(ValueError, match="private"):
        groups.labels(0)


def test_no_keys_are_one_public_cell():
    assert grouped() == Cells(())
    assert grouped().public
    assert grouped().size == 1
    assert grouped().labels(0) == ()


def test_cells_are_row_major():
    groups = grouped(Col("region"), Col("vip"), Col("code"))
    assert groups.size == 4 * 3 * 4
    every = [groups.labels(cell) for cell in range(groups.size)]
    assert every[0] == ("north", False, 7)
    assert every[1] == ("north", False, 3)
    assert every[4] == ("north", True, 7)
    assert every[12] == ("south", False, 7)
    assert len(set(every)) == groups.size


def test_too_many_groups_are_refused_with_the_largest_key_named():
    wide = Schema("t", [Column("a", "integer", bounds=(0, 999)), Column("b", "integer", bounds=(0, 9998))])
    with pytest.raises(NotAnswerable, match=r"put key1 \(9,999 groups\) into bins"):
        grouped(Col("a"), Col("b"), schema=wide)


def test_ten_thousand_points_are_public_and_more_are_private():
    wide = Schema("t", [Column("a", "integer", bounds=(1, 10_000)), Column("b", "integer", bounds=(0, 10_000))])
    assert grouped(Col("a"), schema=wide).size == 10_000
    assert not grouped(Col("b"), schema=wide).public


def test_a_computed_number_is_no_key():
    with pytest.raises(NotAnswerable, match="FLOOR"):
        grouped(Arith("/", Col("age"), Literal(3)))


def test_private_values_are_shown_as_what_they_mean():
    by_name = {name: grouped(Col(name)).keys[0] for name in ("born", "moment", "score", "wild")}
    assert by_name["born"].label(18262) == date(2020, 1, 1)
    assert by_name["moment"].label(0).isoformat() == "1970-01-01T00:00:00"
    assert by_name["score"].label(1) == SCHEMA.find("score").step
    assert by_name["wild"].label(0.1) == Fraction(1, 10)
    assert by_name["wild"].label(None) is None
    assert KeyCells(Key("k", Col("k")), ("a", "b")).label(1) == "b"
