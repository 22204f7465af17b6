"""One spelling, one form: equal questions become equal, and names that are not released are refused."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from discreet.errors import NotAnswerable
from discreet.query.canonical import canonical
from discreet.query.meaning.normal import normal
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import (
    After,
    And,
    Bins,
    Caps,
    Case,
    Col,
    Compare,
    Correlation,
    Count,
    CountDistinct,
    CountRows,
    CountUnits,
    Covariance,
    End,
    Extreme,
    In,
    IsNull,
    Key,
    Literal,
    Mean,
    Not,
    Or,
    Output,
    Quantile,
    Question,
    SortKey,
    Stddev,
    Sum,
    Top,
    Variance,
)
from discreet.schema import Column, Schema
from query import asked
from query.twin import SCHEMA

HALF = Fraction(1, 2)


def asking(*aggregates, **rest):
    return Question("people", tuple(Output(f"o{i}", aggregate) for i, aggregate in enumerate(aggregates)), **rest)


def test_names_take_the_schema_s_spelling():
    question = Question(
        "PEOPLE",
        (Output("N", Count(Col("AGE"))),),
        (Key("Where", Col("REGION")),),
        Compare("=", Col("VIP"), Literal(True)),
        Caps(2, 1),
        After(Compare(">", Col("n"), Literal(3)), (SortKey("where", True),), 5),
    )
    question_resolved = resolved(question, SCHEMA)
    assert question_resolved.table == "people"
    assert question_resolved.outputs[0] == Output("N", Count(Col("age")))
    assert question_resolved.keys[0] == Key("Where", Col("region"))
    assert question_resolved.where == Compare("=", Col("vip"), Literal(True))
    assert question_resolved.caps == Caps(2, 1)
    assert question_resolved.after == After(Compare(">", Col("N"), Literal(3)), (SortKey("Where", True),), 5)


def test_counting_the_unit_key_counts_units():
    assert resolved(asking(CountDistinct(Col("PID"))), SCHEMA).outputs[0].aggregate == CountUnits()
    rows = Schema("people", [Column("pid", "integer")])
    assert resolved(asking(CountDistinct(Col("pid"))), rows).outputs[0].aggregate == CountDistinct(Col("pid"))


@pytest.mark.parametrize(
    "question",
    [
        asking(Count(Col("pid"))),
        asking(CountDistinct(Case(((Col("vip"), Col("pid")),), Literal(None)))),
        asking(CountRows(), where=Compare("=", Col("pid"), Literal(7))),
        asking(CountRows(), keys=(Key("p", Col("pid")),)),
        asking(Top(Col("Pid"))),
    ],
)
def test_no_answer_is_about_one_unit(question):
    with pytest.raises(NotAnswerable, match="no answer may be about one unit"):
        resolved(question, SCHEMA)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Compare("<", Literal(18), Col("age")), Compare(">", Col("AGE"), Literal(Fraction(18)))),
        (Compare(">=", Literal("2020-01-31"), Col("seen")), Compare("<=", Col("seen"), Literal(date(2020, 1, 31)))),
        (
            Compare("=", Col("at"), Literal("1970-01-01")),
            Compare("=", Col("at"), Literal(datetime(1970, 1, 1))),
        ),
        (Compare("=", Col("seen"), Literal(datetime(2020, 1, 31))), Compare("=", Col("seen"), Literal("2020-01-31"))),
        (Not(Not(Not(Col("vip")))), Not(Col("vip"))),
        (In(Col("age"), (Literal(2), Literal(1), Literal(2))), In(Col("age"), (Literal(1), Literal(Fraction(2))))),
        (In(Col("age"), (Literal(2),)), Compare("=", Col("age"), Literal(2))),
        (
            And((Col("vip"), And((IsNull(Col("note")), IsNull(Col("wild")))), Col("vip"))),
            And((And((IsNull(Col("wild")), IsNull(Col("note")))), Col("vip"))),
        ),
        (Or((Col("vip"), Or((Col("vip"),)))), Col("vip")),
    ],
)
def test_equal_conditions_have_one_form(left, right):
    first, other = (resolved(asking(CountRows(), where=where), SCHEMA) for where in (left, right))
    assert first == other
    assert canonical(first) == canonical(other)


@settings(max_examples=100, deadline=None)
@given(asked.flag(2))
def test_resolving_twice_changes_nothing(where):
    try:
        once = resolved(asking(CountRows(), where=where), SCHEMA)
    except NotAnswerable:
        assume(False)
    assert resolved(once, SCHEMA) == once


@pytest.mark.parametrize(
    "aggregate",
    [
        Sum(Col("region")),
        Mean(Col("seen")),
        Variance(Col("note")),
        Stddev(Col("ward")),
        Covariance(Col("age"), Col("region")),
        Correlation(Col("region"), Col("age")),
        Quantile(Col("region"), HALF),
        Extreme(Col("note"), End.MAX),
    ],
)
def test_aggregates_take_what_they_can_measure(aggregate):
    with pytest.raises(NotAnswerable):
        resolved(asking(aggregate), SCHEMA)


@pytest.mark.parametrize(
    "aggregate",
    [
        Sum(Col("age")),
        Sum(Col("vip")),
        Mean(Col("price")),
        Variance(Col("score"), 0),
        Stddev(Col("age")),
        Covariance(Col("age"), Col("price")),
        Correlation(Col("score"), Col("age")),
        Quantile(Col("seen"), HALF),
        Extreme(Col("at"), End.MIN),
        Top(Col("region"), 2),
        CountDistinct(Col("note")),
    ],
)
def test_good_aggregates_stay_as_they_are(aggregate):
    assert resolved(asking(aggregate), SCHEMA).outputs[0].aggregate == aggregate


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (replace(asking(CountRows()), table="persons"), "no table 'persons'"),
        (replace(asking(CountRows()), outputs=()), "needs an aggregate"),
        (asking(CountRows(), where=Col("age")), "WHERE takes a condition"),
        (asking(CountRows(), keys=(Key("O0", Col("region")),)), "Two columns of the answer are named"),
        (asking(CountRows(), keys=(Key("n_moe", Col("region")),)), "cannot name a column"),
        (asking(CountRows(), keys=(Key("k", Literal(None)),)), "NULL is no key"),
        (asking(CountRows(), after=After(having=Compare(">", Col("age"), Literal(1)))), "is not in the answer"),
        (asking(CountRows(), after=After(order=(SortKey("o1"),))), "Released are: o0"),
        (asking(CountRows(), keys=(Key("k", Bins(Col("tens"))),)), "declares no bins"),
        (asking(CountRows(), keys=(Key("k", Bins(Col("age"), (Fraction(3),))),)), "must rise"),
        (asking(CountRows(), keys=(Key("k", Bins(Col("age"), (Fraction(3), Fraction(1)))),)), "must rise"),
        (asking(CountRows(), keys=(Key("k", Bins(Col("age"), (date(2020, 1, 1), date(2021, 1, 1)))),)), "is no edge"),
        (asking(CountRows(), keys=(Key("k", Bins(Col("region"), (Fraction(1), Fraction(2)))),)), "Bins need an order"),
    ],
)
def test_questions_that_do_not_fit_the_schema_are_refused(question, words):
    with pytest.raises(NotAnswerable, match=words):
        resolved(question, SCHEMA)


def test_declared_bins_are_written_out():
    edges = tuple(map(Fraction, (0, 18, 65, 110)))
    question = resolved(asking(CountRows(), keys=(Key("a", Bins(Col("age"))), Key("p", Col("price")))), SCHEMA)
    assert question.keys[0].item == Bins(Col("age"), edges)
    assert question.keys[1].item == Bins(Col("price"), tuple(map(Fraction, (0, 10, 25, 50))))
    assert resolved(asking(CountRows(), keys=(Key("a", Col("age")),)), SCHEMA).keys[0].item == Col("age")


def test_dates_of_bins_may_be_text():
    condition = normal(Compare(">", Col("seen"), Literal("2020-05-01")), SCHEMA)
    assert condition.right == Literal(date(2020, 5, 1))
    bins = Bins(Col("seen"), ("2020-01-01", date(2020, 6, 1)))
    assert resolved(asking(CountRows(), keys=(Key("s", bins),)), SCHEMA).keys[0].item.edges[0] == date(2020, 1, 1)
