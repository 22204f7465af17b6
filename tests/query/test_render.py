"""SQL agrees with the twin on every nasty row, and never fails."""

import math
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from discreet.errors import NotAnswerable
from discreet.query.compile.render import value
from discreet.query.meaning.normal import normal
from discreet.query.nodes import And, Arith, Call, Case, Col, Compare, In, Like, Literal, Not, Or, TryCast
from discreet.schema import Type
from query import asked, twin
from query.twin import SCHEMA, Days, Seconds, evaluated, nasty_rows, row_of

ROWS = nasty_rows(90)
NAMED = [row_of(row) for row in ROWS]


@pytest.fixture(scope="module")
def con():
    with twin.connected(ROWS) as connection:
        yield connection


def same(value_read, wanted):
    if isinstance(wanted, Days | Seconds):
        wanted = wanted.n
    if value_read is None or wanted is None:
        return value_read is wanted
    if isinstance(wanted, bool | str):
        return value_read is wanted or value_read == wanted
    return value_read == wanted or math.isclose(float(value_read), float(wanted), rel_tol=1e-12)


def check(con, expr):
    try:
        settled = normal(expr, SCHEMA)
    except NotAnswerable:
        assume(False)
    rows_read = con.execute(f"SELECT {value(settled, SCHEMA)} FROM prepared ORDER BY rowid").fetchall()
    for (got,), row in zip(rows_read, NAMED, strict=True):
        wanted = evaluated(settled, row)
        assert same(got, wanted), (settled, row, got, wanted)


@settings(max_examples=250, deadline=None)
@given(expr=asked.flag(2))
def test_conditions_agree_with_the_twin(con, expr):
    check(con, expr)


@settings(max_examples=250, deadline=None)
@given(expr=asked.number(2))
def test_numbers_agree_with_the_twin(con, expr):
    check(con, expr)


@settings(max_examples=80, deadline=None)
@given(expr=asked.text(2))
def test_texts_agree_with_the_twin(con, expr):
    check(con, expr)


@settings(max_examples=60, deadline=None)
@given(expr=asked.time(1))
def test_dates_agree_with_the_twin(con, expr):
    check(con, expr)


def test_the_comparison_with_the_twin_can_fail(con):
    expr = normal(Compare("<", Col("age"), Literal(18)), SCHEMA)
    wrong = normal(Compare("<=", Col("age"), Literal(110)), SCHEMA)
    values = [row[0] for row in con.execute(f"SELECT {value(wrong, SCHEMA)} FROM prepared ORDER BY rowid").fetchall()]
    assert not all(same(got, evaluated(expr, row)) for got, row in zip(values, NAMED, strict=True))


@pytest.mark.parametrize("attack", ["'; DROP TABLE prepared; --", "x' OR '1'='1", "/* */", "\\'; --", "''", "\u2019"])
def test_constants_stay_constants(con, attack):
    for expr in (
        Compare("=", Col("note"), Literal(attack)),
        In(Col("note"), (Literal(attack), Literal("a"))),
        Like(Col("note"), attack),
        Call("coalesce", (Col("note"), Literal(attack))),
    ):
        check(con, expr)
    assert con.execute("SELECT count(*) FROM prepared").fetchone() == (len(ROWS),)


def test_names_of_columns_never_enter_sql():
    expr = normal(Compare("=", Col("X' Y\"; --"), Literal(1)), SCHEMA)
    assert expr.left.name == "x' y\"; --"
    assert value(expr, SCHEMA) == "(c18 = 1)"


@pytest.mark.parametrize(
    ("expr", "sql"),
    [
        (Compare("=", Col("region"), Literal("north")), "(c10 = 0)"),
        (Like(Col("region"), "%st"), "(c10 IN (2, 3))"),
        (Not(Compare("=", Col("region"), Literal("north"))), "(c10 != 0)"),
        (Compare("=", Call("upper", (Col("region"),)), Literal("NORTH")), "(c10 = 0)"),
        (Compare("<", Col("region"), Literal("north")), "(c10 = 2)"),
        (Compare(">", Literal(18), Col("age")), "(c0 < 18)"),
        (Compare("<", Col("age"), Literal(Fraction(35, 2))), "(c0 < 18)"),
        (Compare("<=", Col("price"), Literal(Fraction(1, 3))), "(c9 <= 3)"),
        (Compare(">=", Col("seen"), Literal("2020-01-01")), "(c12 >= 18262)"),
        (Compare("<", Col("wild"), Literal(2)), "(c17 < CAST(CAST(2 AS BIGINT) AS DOUBLE))"),
        (Col("vip"), "c14"),
    ],
)
def test_plain_comparisons_are_rendered_plainly(expr, sql):
    assert value(normal(expr, SCHEMA), SCHEMA) == sql


def test_conditions_on_codes_keep_the_third_truth_value(con):
    for expr in (
        Or((Compare("=", Col("region"), Literal("north")), Compare("!=", Col("region"), Literal("north")))),
        And((Compare("=", Col("region"), Literal("north")), Compare("=", Col("region"), Literal("south")))),
        Compare("=", Call("nullif", (Col("region"), Literal("north"))), Literal("south")),
        Compare("=", Call("coalesce", (Col("region"), Literal("none"))), Literal("none")),
        TryCast(Col("odd"), Type.NUMBER),
        Case(((Like(Col("odd"), "%'%"), Literal(date(2020, 1, 1))),), Literal(None)),
    ):
        check(con, expr)


def test_deep_nesting_is_refused_before_the_engine_sees_it():
    expr = Col("wild")
    for _ in range(60):
        expr = Arith("/", Literal(1), expr)
    with pytest.raises(NotAnswerable, match="nested too deeply"):
        value(expr, SCHEMA)
