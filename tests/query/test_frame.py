"""The Python form: each pair says what it means as nodes; what it refuses, it refuses with a fix."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.errors import BadValue, DiscreetError, NotAnswerable
from discreet.query import nodes
from discreet.query.form import words as dp
from discreet.query.form.frame import MOST_DEPTH, Frame
from discreet.query.nodes import And, Arith, Call, Col, Compare, DatePart, In, IsNull, Like, Literal, Not, Or
from discreet.schema import Type

AGE, COST = Col("age"), Col("cost")
TERMS = [
    (dp.col("age") == 3, Compare("=", AGE, Literal(3))),
    (dp.col("age") != 3, Compare("!=", AGE, Literal(3))),
    (dp.col("age") < 3, Compare("<", AGE, Literal(3))),
    (dp.col("age") <= 3, Compare("<=", AGE, Literal(3))),
    (dp.col("age") > 3, Compare(">", AGE, Literal(3))),
    (dp.col("age") >= 3, Compare(">=", AGE, Literal(3))),
    (dp.col("age") > dp.col("cost"), Compare(">", AGE, COST)),
    (dp.col("age") + 1, Arith("+", AGE, Literal(1))),
    (1 + dp.col("age"), Arith("+", Literal(1), AGE)),
    (dp.col("age") - 1, Arith("-", AGE, Literal(1))),
    (1 - dp.col("age"), Arith("-", Literal(1), AGE)),
    (dp.col("age") * 2, Arith("*", AGE, Literal(2))),
    (2 * dp.col("age"), Arith("*", Literal(2), AGE)),
    (dp.col("age") / 2, Arith("/", AGE, Literal(2))),
    (2 / dp.col("age"), Arith("/", Literal(2), AGE)),
    (dp.col("age") % 2, Arith("%", AGE, Literal(2))),
    (2 % dp.col("age"), Arith("%", Literal(2), AGE)),
    (-dp.col("age"), Arith("-", Literal(0), AGE)),
    (abs(dp.col("age")), Call("abs", (AGE,))),
    (~dp.col("smoker"), Not(Col("smoker"))),
    ((dp.col("a") & dp.col("b")) & dp.col("c"), And((Col("a"), Col("b"), Col("c")))),
    (dp.col("a") | (dp.col("b") | dp.col("c")), Or((Col("a"), Col("b"), Col("c")))),
    (dp.col("a") & "b", And((Col("a"), Col("b")))),
    ("a" | dp.col("b"), Or((Col("a"), Col("b")))),
    (dp.col("a") & (dp.col("b") | dp.col("c")), And((Col("a"), Or((Col("b"), Col("c")))))),
    (dp.col("age").is_null(), IsNull(AGE)),
    (dp.col("age").is_in([1, 2]), In(AGE, (Literal(1), Literal(2)))),
    (dp.col("age").is_in(np.array([1, 2])), In(AGE, (Literal(1), Literal(2)))),
    (dp.col("age").between(1, 2), And((Compare(">=", AGE, Literal(1)), Compare("<=", AGE, Literal(2))))),
    (dp.col("name").like("a%"), Like(Col("name"), "a%")),
    (dp.col("age").clamp(0, 9), Call("clamp", (AGE, Literal(0), Literal(9)))),
    (dp.col("age").cast("number"), nodes.TryCast(AGE, Type.NUMBER)),
    (dp.col("age").floor(), Call("floor", (AGE,))),
    (dp.col("age").ceil(), Call("ceil", (AGE,))),
    (dp.col("age").round(), Call("round", (AGE,))),
    (dp.col("age").sqrt(), Call("sqrt", (AGE,))),
    (dp.col("age").ln(), Call("ln", (AGE,))),
    (dp.col("age").exp(), Call("exp", (AGE,))),
    (dp.col("age").coalesce(0, dp.col("cost")), Call("coalesce", (AGE, Literal(0), COST))),
    (dp.col("age").nullif(0), Call("nullif", (AGE, Literal(0)))),
    (dp.col("name").lower(), Call("lower", (Col("name"),))),
    (dp.col("name").upper(), Call("upper", (Col("name"),))),
    (dp.col("name").trim(), Call("trim", (Col("name"),))),
    (dp.col("name").length(), Call("length", (Col("name"),))),
    (dp.least("age", 9), Call("least", (AGE, Literal(9)))),
    (dp.greatest("age", "cost"), Call("greatest", (AGE, COST))),
    (
        dp.case(dp.when(dp.col("age") < 18, "minor"), otherwise="adult"),
        nodes.Case(((Compare("<", AGE, Literal(18)), Literal("minor")),), Literal("adult")),
    ),
    (dp.case(("smoker", dp.col("age"))), nodes.Case(((Col("smoker"), AGE),), Literal(None))),
    (dp.lit(None), Literal(None)),
]
AGGREGATES = [
    (dp.count(), nodes.CountRows()),
    (dp.count("age"), nodes.Count(AGE)),
    (dp.count_distinct("person_id"), nodes.CountDistinct(Col("person_id"))),
    (dp.sum("age"), nodes.Sum(AGE)),
    (dp.sum(1), nodes.Sum(Literal(1))),
    (dp.mean(dp.col("age") * 2), nodes.Mean(Arith("*", AGE, Literal(2)))),
    (dp.variance("age"), nodes.Variance(AGE, 1)),
    (dp.variance("age", less=0), nodes.Variance(AGE, 0)),
    (dp.stddev("age"), nodes.Stddev(AGE, 1)),
    (dp.stddev("age", less=0), nodes.Stddev(AGE, 0)),
    (dp.median("age"), nodes.Quantile(AGE, Fraction(1, 2))),
    (dp.quantile("age", 0.9), nodes.Quantile(AGE, Fraction(9, 10))),
    (dp.min("age"), nodes.Extreme(AGE, nodes.End.MIN)),
    (dp.max("age"), nodes.Extreme(AGE, nodes.End.MAX)),
    (dp.mode("region"), nodes.Top(Col("region"), 1)),
    (dp.top_k("region", 3), nodes.Top(Col("region"), 3)),
    (dp.covariance("age", "cost"), nodes.Covariance(AGE, COST, 1)),
    (dp.covariance("age", "cost", less=0), nodes.Covariance(AGE, COST, 0)),
    (dp.correlation("age", "cost"), nodes.Correlation(AGE, COST)),
]
CONSTANTS = [
    (True, True),
    (3, 3),
    (10**30, 10**30),
    (0.1, Fraction(1, 10)),
    (2.0, Fraction(2)),
    (Decimal("1.50"), Fraction(3, 2)),
    (Fraction(1, 3), Fraction(1, 3)),
    ("1e400", "1e400"),
    (date(2024, 1, 31), date(2024, 1, 31)),
    (datetime(2024, 1, 31, 12), datetime(2024, 1, 31, 12)),
    (np.int64(3), 3),
    (np.uint8(3), 3),
    (np.float32(0.1), Fraction(1, 10)),
    (np.float64(0.1), Fraction(1, 10)),
    (np.bool_(True), True),
    (np.str_("north"), "north"),
    (np.datetime64("2024-01-31"), date(2024, 1, 31)),
    (np.datetime64("2024-01-31T12:00:00.000000000"), datetime(2024, 1, 31, 12)),
    (pd.Timestamp("2024-01-31 12:00"), datetime(2024, 1, 31, 12)),
    (np.array(7), 7),
]


@pytest.mark.parametrize(("term", "expected"), TERMS, ids=lambda pair: type(pair).__name__)
def test_terms_build_their_nodes(term, expected):
    assert term.expr == expected


@pytest.mark.parametrize(("measure", "expected"), AGGREGATES, ids=lambda pair: type(pair).__name__)
def test_aggregates_build_their_nodes(measure, expected):
    assert measure.aggregate == expected


@pytest.mark.parametrize(("given", "expected"), CONSTANTS, ids=repr)
def test_constants_are_exact_and_plain(given, expected):
    value = dp.lit(given).expr.value
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize("part", nodes.PARTS)
def test_every_date_part_is_a_property(part):
    assert getattr(dp.col("admitted"), part).expr == DatePart(part, Col("admitted"))


def test_every_function_of_the_nodes_has_a_python_form():
    for name in nodes.FUNCTIONS:
        assert hasattr(dp.col("x"), name) or hasattr(dp, name), name


NOT_CONSTANTS = [
    float("nan"),
    float("inf"),
    np.float64("nan"),
    np.float32("inf"),
    Decimal("NaN"),
    np.datetime64("NaT"),
    pd.NaT,
    pd.NA,
    10**600,
    "a\x00b",
    "\ud800",
    "x" * 10_001,
    b"bytes",
    object(),
    np.array([1, 2]),
    datetime(2024, 1, 1, tzinfo=UTC),
    dp.count(),
]


@pytest.mark.parametrize("given", NOT_CONSTANTS, ids=lambda given: type(given).__name__)
def test_values_that_are_no_constants_are_refused_with_a_fix(given):
    with pytest.raises(BadValue) as refused:
        dp.lit(given)
    assert refused.value.fix.endswith(".")


def test_a_whole_question_is_one_value():
    frame = (
        Frame("visits")
        .where(dp.col("age") >= 18, "smoker")
        .where(dp.col("region") == "north")
        .group_by("ward", dp.bins("age", [0, 18, 110]), month=dp.col("admitted").month)
        .agg(n=dp.count(), cost=dp.mean("cost"))
        .having(dp.col("n") > 100)
        .having(dp.col("cost") < 9000)
        .order_by("ward", "-n")
        .limit(10)
        .offset(2)
        .caps(rows=5)
        .caps(groups=2)
    )
    released = And((Compare(">", Col("n"), Literal(100)), Compare("<", COST, Literal(9000))))
    adults = Compare(">=", AGE, Literal(18))
    assert frame.question == nodes.Question(
        "visits",
        (nodes.Output("n", nodes.CountRows()), nodes.Output("cost", nodes.Mean(COST))),
        (
            nodes.Key("ward", Col("ward")),
            nodes.Key("age", nodes.Bins(AGE, (Fraction(0), Fraction(18), Fraction(110)))),
            nodes.Key("month", DatePart("month", Col("admitted"))),
        ),
        And((adults, Col("smoker"), Compare("=", Col("region"), Literal("north")))),
        nodes.Caps(5, 2),
        nodes.After(released, (nodes.SortKey("ward"), nodes.SortKey("n", descending=True)), 10, 2),
    )


def test_a_question_without_clauses_has_nothing_but_its_output():
    assert Frame("t").agg(n=dp.count()).question == nodes.Question("t", (nodes.Output("n", nodes.CountRows()),))


def test_each_call_returns_a_new_frame():
    first = Frame("t").agg(n=dp.count())
    first.where(dp.col("a") == 1)
    assert first.question.where is None


def test_the_order_of_the_calls_does_not_matter():
    first = Frame("t").where(dp.col("a") == 1).group_by("b").agg(n=dp.count()).question
    other = Frame("t").agg(n=dp.count()).group_by("b").where(dp.col("a") == 1).question
    assert first == other


def test_declared_bins_have_no_edges():
    assert dp.bins("age") == nodes.Bins(AGE)
    assert dp.bins("d", [date(2024, 1, 1), date(2025, 1, 1)]).edges == (date(2024, 1, 1), date(2025, 1, 1))
    assert dp.bins("age", range(0, 30, 10)).edges == (0, 10, 20)
    assert dp.bins("age", np.linspace(0, 1, 3)).edges == (0, Fraction(1, 2), 1)


def test_the_truth_of_a_term_is_refused_however_python_asks():
    age = dp.col("age")
    for asks in (
        lambda: bool(age > 1),
        lambda: age > 1 and age < 3,
        lambda: not age,
        lambda: 1 < age < 3,
        lambda: age in [1, 2],
    ):
        with pytest.raises(BadValue, match="Use & and"):
            asks()


REFUSED = [
    (lambda: dp.col("a") == 1 & dp.col("b") == 2, "parentheses"),
    (lambda: (dp.col("a") > 1) & 5, "condition"),
    (lambda: dp.col("a") == None, "is_null"),  # noqa: E711
    (lambda: dp.col("a").is_in([1, None]), "is_null"),
    (lambda: dp.col("a").is_in("north"), "list"),
    (lambda: dp.col("a").is_in([]), "1 to 10000"),
    (lambda: dp.col("a").is_in(3), "list"),
    (lambda: dp.col("a").like(3), "text"),
    (lambda: dp.col("a").cast("int"), r"\.cast\('integer'\)"),
    (lambda: dp.col("a").cast(int), r"\.cast\('integer'\)"),
    (lambda: dp.col(""), "name"),
    (lambda: dp.col(3), "name"),
    (lambda: dp.case(), "pairs"),
    (lambda: dp.case(3), "pairs"),
    (lambda: dp.when(True, 1), "condition"),
    (lambda: dp.least(), "1 to 20"),
    (lambda: dp.quantile("a", 0), "strictly between"),
    (lambda: dp.top_k("a", 0), "whole number"),
    (lambda: dp.variance("a", less=2), "whole number"),
    (lambda: dp.mean(None), "None"),
    (lambda: dp.mean(dp.mean("a")), "number"),
    (lambda: dp.count() > 100, "having"),
    (lambda: dp.sum("a") / dp.count(), "compute with the answer"),
    (lambda: -dp.sum("a"), "compute with the answer"),
    (lambda: dp.bins("a", [3]), "2 to"),
    (lambda: dp.bins("a", [3, 2]), "increase"),
    (lambda: dp.bins("a", [3, date(2024, 1, 1)]), "all numbers"),
    (lambda: dp.bins("a", ["x", "y"]), "number or a date"),
    (lambda: dp.bins("a", 3), "list"),
    (lambda: Frame("t").where(True), "condition"),
    (lambda: Frame("t").having(dp.count()), "condition"),
    (lambda: Frame("t").group_by(dp.col("d").month), "group_by\\(month="),
    (lambda: Frame("t").group_by(dp.count()), "having"),
    (lambda: Frame("t").group_by(3), "column's name"),
    (lambda: Frame("t").agg(age="age"), "dp.mean\\('age'\\)"),
    (lambda: Frame("t").agg(age=dp.col("age")), "Only aggregates"),
    (lambda: Frame("t").agg(age=3), "aggregate"),
    (lambda: Frame("t").order_by(3), "released names"),
    (lambda: Frame("t").order_by("-"), "released names"),
    (lambda: Frame("t").limit(-1), "whole number"),
    (lambda: Frame("t").offset(1.5), "whole number"),
    (lambda: Frame("t").caps(rows=0), "whole number"),
    (lambda: Frame("t").group_by("a").question, r"\.agg\(n=dp\.count\(\)\)"),
]


@pytest.mark.parametrize(("asks", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_bad_arguments_are_refused_with_a_fix(asks, says):
    with pytest.raises(DiscreetError, match=says) as refused:
        asks()
    assert refused.value.what
    assert refused.value.fix


def test_a_question_too_deep_or_too_long_is_refused_and_one_just_below_is_not():
    deep = dp.col("a")
    for _ in range(MOST_DEPTH - 3):  # the output, its aggregate and the column are levels too
        deep = deep + 1
    assert Frame("t").agg(s=dp.sum(deep)).question
    for _ in range(3):
        deep = deep + 1
    with pytest.raises(NotAnswerable, match="too long"):
        _ = Frame("t").agg(s=dp.sum(deep)).question
    wide = dp.col("a")
    for _ in range(60):
        wide = wide * wide  # a tree of 2⁶⁰ leaves, made of 60 objects
    with pytest.raises(NotAnswerable, match="too long"):
        _ = Frame("t").agg(s=dp.sum(wide)).question


def test_a_long_list_of_options_does_not_make_a_question_too_long():
    long = dp.col("a").is_in(range(10_000))
    assert Frame("t").where(long).agg(n=dp.count()).question


def test_terms_and_measures_cannot_be_hashed():
    for given in (dp.col("a"), dp.count()):
        with pytest.raises(TypeError):
            hash(given)
