"""HAVING follows WHERE's rule about types, and names and limits that make no sense are refused before the charge."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

import discreet as dp
from discreet.errors import BadValue, DiscreetError, NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.form import Frame
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema

SCHEMA = Schema(
    "t",
    [
        Column("married", "category", values=("0", "1")),
        Column("town", "text"),
        Column("age", "integer", bounds=(0, 3), bins=(0, 2, 3)),
        Column("vip", "boolean"),
        Column("seen", "date", bounds=("2020-01-01", "2020-01-09")),
    ],
)
MIXED = [  # the key, what is compared
    ("married", "married = 1"),
    ("married", "married IN (0, 1)"),
    ("married", "married > 0.5"),
    ("age", "age = '2'"),
    ("age", "age BETWEEN '1' AND '2'"),
    ("vip", "vip = 1"),
    ("vip", "vip > FALSE"),
    ("vip", "vip <> 'true'"),
    ("town", "town = 5"),
    ("seen", "seen = 'soon'"),
    ("seen", "seen > 5"),
    ("married", "married"),
    ("age", "age"),
    ("married", "married + 1 = 2"),
    ("married", "married = '7'"),
    ("seen", "seen = NULL"),
]


def refusal(sql):
    with pytest.raises(NotAnswerable) as caught:
        draft_of(parse_sql(sql).question, SCHEMA)
    return caught.value


@pytest.mark.parametrize(("key", "condition"), MIXED)
def test_having_refuses_what_where_refuses_in_the_same_words(key, condition):
    where = refusal(f"SELECT {key}, COUNT(*) AS n FROM t WHERE {condition} GROUP BY {key}")
    having = refusal(f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key} HAVING {condition}")
    assert having.why == where.why
    assert having.what == where.what.replace("WHERE", "HAVING")


@pytest.mark.parametrize(
    "condition",
    ["n > '5'", "n = TRUE", "n", "n + 1", "m = 3", "n > DATE '2020-01-01'", "top > 1", "NOT n", "n OR n > 1"],
)
def test_answered_columns_have_types_too(condition):
    refusal(f"SELECT COUNT(*) AS n, MAX(seen) AS m, MODE(married) AS top FROM t HAVING {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "n > 5",
        "n > 5.5 AND married = '1'",
        "m >= '2020-01-02'",
        "vip",
        "NOT vip AND n / 2 > 1",
        "top <> '0'",
        "age IN (1, 2.5)",
        "both = '0, 1'",
    ],
)
def test_conditions_between_alike_types_are_taken(condition):
    keys = "married, vip, age AS age" if "age" in condition else "married, vip"
    grouped = keys.replace("age AS age", "age")
    outputs = "COUNT(*) AS n, MAX(seen) AS m, MODE(married) AS top, TOP_K(married, 2) AS both"
    draft_of(parse_sql(f"SELECT {keys}, {outputs} FROM t GROUP BY {grouped} HAVING {condition}").question, SCHEMA)


def test_bins_are_texts_after_the_noise():
    sql = "SELECT BIN(age) AS b, COUNT(*) AS n FROM t GROUP BY b HAVING {}"
    draft_of(parse_sql(sql.format("b = '[0, 2)'")).question, SCHEMA)
    assert "'[0, 2)'" in refusal(sql.format("b = 1")).fix


def test_limit_0_is_refused_in_both_forms():
    assert "nothing of it shown" in refusal("SELECT COUNT(*) AS n FROM t LIMIT 0").why
    with pytest.raises(NotAnswerable, match="LIMIT 0"):
        draft_of(Frame("t").agg(n=dp.count()).limit(0).question, SCHEMA)


ODD_NAMES = ["a\x1b[2Jb", "a\x00", "\ud800", "a\nb", "\x85", "\u2028", " ", ""]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_names_that_cannot_be_seen_are_refused_in_the_python_form(name):
    frame = Frame("t").agg(n=dp.count())
    for build in (
        lambda: frame.agg(**{name: dp.count("age")}),
        lambda: frame.agg(**{name: "age"}),
        lambda: frame.group_by(**{name: dp.col("age")}),
    ):
        with pytest.raises(BadValue, match="name must have letters that can be seen") as caught:
            build()
        assert str(caught.value).isprintable()
    counted = frame.question.outputs[0]
    with pytest.raises(NotAnswerable, match="cannot name a column of the answer") as refused:
        draft_of(replace(frame.question, outputs=(replace(counted, name=name),)), SCHEMA)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", ['""', '" "', '"\x85"'], ids=ascii)
def test_names_that_cannot_be_seen_are_refused_in_sql(name):
    with pytest.raises(NotAnswerable) as caught:
        draft_of(parse_sql(f"SELECT COUNT(*) AS {name} FROM t").question, SCHEMA)
    assert "name" in caught.value.what
    with pytest.raises(NotAnswerable):
        draft_of(parse_sql(f"SELECT age AS {name}, COUNT(*) AS n FROM t GROUP BY age").question, SCHEMA)


def test_no_message_shows_a_fraction_as_python_writes_it():
    conditions = ["town = 17.5", "vip = 0.5", "seen > 0.25", "age = '17.5'", "married IN ('0', 0.1)"]
    for condition in conditions:
        assert "Fraction" not in str(refusal(f"SELECT COUNT(*) AS n FROM t WHERE {condition}"))
    for build in (
        lambda: Frame("t").agg(n=dp.count()).group_by(dp.bins("age", [0.5, 0.25])),
        lambda: Frame("t").agg(n=dp.count()).group_by(dp.bins("age", [0.5, date(2020, 1, 1)])),
        lambda: Frame("t").agg(n=dp.count()).group_by(dp.bins("age", [Fraction(1, 2), Fraction(1, 4)])),
        lambda: dp.quantile("age", Fraction(3, 2)),
        lambda: Frame("t").agg(n=dp.count()).limit(dp.col("x")),
    ):
        with pytest.raises(DiscreetError) as caught:
            build()
        assert "Fraction" not in str(caught.value)


def test_keys_and_outputs_may_have_any_name_that_can_be_seen():
    frame = Frame("t").agg(**{"Größe (cm)": dp.count(), "数": dp.count("age")})
    names = [output.name for output in draft_of(frame.question, SCHEMA).question.outputs]
    assert names == ["Größe (cm)", "数"]
