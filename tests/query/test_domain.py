"""Types, ranges and values that follow from the schema; and the law that no row is ever outside of them."""

import math
import re
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import NotAnswerable
from discreet.query.meaning.domain import domain
from discreet.query.meaning.interval import function_ends, operation_ends
from discreet.query.meaning.normal import normal
from discreet.query.nodes import And, Arith, Call, Case, Col, Compare, DatePart, In, Like, Literal, Not, TryCast
from discreet.schema import Type
from query import asked
from query.twin import SCHEMA, Days, Seconds, evaluated, nasty_rows, row_of

ROWS = [row_of(row) for row in nasty_rows(40)]
AGE, REGION = Col("age"), Col("region")


def ends(low, high):
    return Fraction(low), Fraction(high)


@pytest.mark.parametrize(
    ("expr", "kind", "interval", "step"),
    [
        (AGE, Type.INTEGER, ends(0, 110), 1),
        (Col("price"), Type.NUMBER, ends(0, 50), Fraction(1, 10)),
        (Col("big"), Type.INTEGER, None, 1),
        (Col("wild"), Type.NUMBER, None, None),
        (Col("vip"), Type.BOOLEAN, ends(0, 1), 1),
        (Col("code"), Type.INTEGER, ends(3, 11), 1),
        (Arith("+", AGE, Literal(5)), Type.INTEGER, ends(5, 115), 1),
        (Arith("-", AGE, AGE), Type.INTEGER, ends(-110, 110), 1),
        (Arith("*", AGE, Literal(-10)), Type.INTEGER, ends(-1100, 0), 10),
        (Arith("/", AGE, Literal(10)), Type.NUMBER, ends(0, 11), None),
        (Arith("/", Literal(10), AGE), Type.NUMBER, None, None),
        (Arith("%", AGE, Literal(7)), Type.INTEGER, ends(0, 7), 1),
        (Arith("+", AGE, Col("big")), Type.INTEGER, None, 1),
        (Arith("-", Col("seen"), Literal("2020-01-01")), Type.INTEGER, ends(-12, 375), 1),
        (Call("floor", (Arith("/", AGE, Literal(10)),)), Type.INTEGER, ends(0, 11), 1),
        (Call("abs", (Col("score"),)), Type.NUMBER, ends(0, 5), None),
        (Call("round", (Col("price"),)), Type.INTEGER, ends(0, 50), 1),
        (Call("sqrt", (Call("clamp", (Col("wild"), Literal(4), Literal(9))),)), Type.NUMBER, ends(2, 3), None),
        (Call("ln", (Col("price"),)), Type.NUMBER, None, None),
        (Call("exp", (Col("wild"),)), Type.NUMBER, None, None),
        (Call("exp", (Arith("*", AGE, Literal(10)),)), Type.NUMBER, None, None),
        (Call("clamp", (Col("big"), Literal(0), Literal(9))), Type.INTEGER, ends(0, 9), 1),
        (Call("clamp", (Col("wild"), Literal(0), Literal(9))), Type.NUMBER, ends(0, 9), None),
        (Call("clamp", (AGE, Literal(-9), Literal(50))), Type.INTEGER, ends(0, 50), 1),
        (Call("least", (AGE, Literal(50))), Type.INTEGER, ends(0, 50), 1),
        (Call("greatest", (AGE, Col("tens"))), Type.INTEGER, ends(0, 110), 1),
        (Call("coalesce", (AGE, Literal(-1))), Type.INTEGER, ends(-1, 110), 1),
        (Call("nullif", (AGE, Literal(0))), Type.INTEGER, ends(0, 110), 1),
        (TryCast(Col("note"), Type.INTEGER), Type.INTEGER, None, 1),
        (TryCast(Col("note"), Type.NUMBER), Type.NUMBER, None, None),
        (TryCast(Col("price"), Type.INTEGER), Type.INTEGER, ends(0, 50), 1),
        (TryCast(Col("at"), Type.DATE), Type.DATE, ends(-2, 2), 1),
        (Case(((Col("vip"), AGE),), Literal(Fraction(1, 2))), Type.NUMBER, ends(0, 110), None),
    ],
    ids=str,
)
def test_ranges_follow_from_the_schema(expr, kind, interval, step):
    domain_of_expr = domain(normal(expr, SCHEMA), SCHEMA)
    assert (domain_of_expr.type, domain_of_expr.interval, domain_of_expr.step) == (kind, interval, step)


@pytest.mark.parametrize(
    ("expr", "values"),
    [
        (REGION, ("north", "south", "east", "west")),
        (Call("upper", (REGION,)), ("NORTH", "SOUTH", "EAST", "WEST")),
        (Call("length", (REGION,)), (5, 4)),
        (Call("trim", (Col("odd"),)), ("it's", '";DROP TABLE prepared;--', "ÄÖ ü", "a%b_c", "x", "12", "-3.5")),
        (Call("coalesce", (REGION, Literal("none"))), ("north", "south", "east", "west", "none")),
        (Col("code"), (7, 3, 11)),
        (Col("vip"), (False, True)),
        (Compare("<", AGE, Literal(3)), (False, True)),
        (DatePart("month", Col("seen")), tuple(range(1, 13))),
        (DatePart("year", Col("seen")), (2019, 2020, 2021)),
        (DatePart("year", Col("born")), None),
        (DatePart("week", Col("born")), tuple(range(1, 54))),
        (DatePart("hour", Col("at")), tuple(range(24))),
        (Case(((Col("vip"), Literal("b")), (Like(REGION, "n%"), Literal("a"))), Literal(None)), ("b", "a")),
        (Col("ward"), None),
        (AGE, None),
    ],
    ids=str,
)
def test_values_follow_from_the_schema(expr, values):
    assert domain(normal(expr, SCHEMA), SCHEMA).values == values


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        (Col("agge"), "Did you mean age"),
        (Col("nothing at all"), "Its columns are"),
        (Compare("=", AGE, Literal("18")), "Remove the quotes, for example: age = 18"),
        (Compare("=", AGE, Literal("old")), r"age takes numbers from 0 to 110, for example: age = 55$"),
        (In(AGE, (Literal("old"),)), r"for example: age = 55$"),
        (Compare("<", Col("wild"), Literal("much")), r"wild takes numbers, for example: wild < 1$"),
        (Compare("=", REGION, Literal(3)), "region takes texts in quotes, for example: region = 'north'"),
        (Compare("=", Col("note"), Literal(3)), "Write the text in quotes: note = '3'"),
        (Compare("=", REGION, Literal("nroth")), "'nroth' is not among the values of region.*Did you mean 'north'"),
        (In(REGION, (Literal("north"), Literal("Ost"))), "not among the values of region"),
        (Compare("=", Call("lower", (REGION,)), Literal("North")), "Did you mean 'north'"),
        (Compare(">", Col("seen"), Literal("last week")), "DATE '2020-01-31'"),
        (Compare(">", Col("seen"), Literal(5)), "DATE '2020-01-31'"),
        (Compare(">", Col("seen"), Literal("2020-02-30")), "is no date"),
        (Compare(">", Col("seen"), Literal("2020-02-20 10:00:00")), "is no date"),
        (Compare("<", Col("vip"), Literal(True)), "no order"),
        (Compare("=", Col("vip"), Literal(1)), "vip = TRUE"),
        (Compare("=", AGE, Literal(None)), "age IS NULL"),
        (Compare("!=", AGE, Literal(None)), "age IS NOT NULL"),
        (Compare("!=", Literal(None), AGE), "age IS NOT NULL"),
        (Compare("~", AGE, Literal(1)), "no comparison"),
        (In(AGE, ()), "list of constants"),
        (In(AGE, (Literal(None),)), "NULL is equal to nothing"),
        (Like(AGE, "1%"), "LIKE reads text"),
        (Not(AGE), "NOT takes a condition"),
        (And((AGE, Col("vip"))), "AND takes conditions"),
        (Arith("+", REGION, Literal(1)), "takes numbers"),
        (Arith("+", Col("seen"), Literal(1)), "takes numbers"),
        (Arith("-", Col("seen"), Col("at")), "takes numbers"),
        (Arith("^", AGE, AGE), "no operation"),
        (Call("sqr", (AGE,)), "Did you mean sqrt"),
        (Call("sqrt", (AGE, AGE)), "takes 1 arguments"),
        (Call("clamp", (AGE, Literal(5), Literal(1))), "low and high"),
        (Call("clamp", (AGE, AGE, Literal(1))), "low and high"),
        (Call("lower", (AGE,)), "reads text"),
        (Call("abs", (REGION,)), "reads a number"),
        (Call("least", (REGION, REGION)), "numbers or dates"),
        (Call("coalesce", (AGE, REGION)), "one type"),
        (Case(((AGE, Literal(1)),), Literal(2)), "WHEN takes a condition"),
        (Case(((Col("vip"), Literal(1)),), Literal("a")), "one type"),
        (Case(((Col("vip"), Literal(None)),), Literal(None)), "all NULL"),
        (DatePart("month", AGE), "reads a date"),
        (DatePart("hour", Col("seen")), "has no hour"),
        (DatePart("century", Col("seen")), "no date part"),
        (TryCast(AGE, Type.DATE), "cannot become"),
        (TryCast(Col("seen"), Type.INTEGER), "cannot become"),
        (Compare("=", AGE, Literal(10**400)), "too large"),
        (Compare("=", Col("note"), Literal("a\0b")), "NUL"),
    ],
    ids=str,
)
def test_badly_typed_expressions_are_refused_with_a_fix(expr, words):
    with pytest.raises(NotAnswerable) as caught:
        normal(expr, SCHEMA)
    assert re.search(words, str(caught.value)), str(caught.value)
    assert caught.value.fix


@settings(max_examples=150, deadline=None)
@given(st.one_of(asked.number(2), asked.text(1), asked.time(1)))
def test_no_row_lies_outside_of_its_domain(expr):
    try:
        settled = normal(expr, SCHEMA)
    except NotAnswerable:
        assume(False)
    known = domain(settled, SCHEMA)
    for row in ROWS:
        value = evaluated(settled, row)
        if value is None:
            continue
        measured = value.n if isinstance(value, Days | Seconds) else value
        if known.interval is not None:
            low, high = (float(end) for end in known.interval)
            slack = 1e-9 * max(1, abs(low), abs(high))
            assert low - slack <= measured <= high + slack
        if known.values is not None and not isinstance(value, Days | Seconds | float):
            assert value in known.values
        if known.step is not None and isinstance(measured, int) and abs(measured) < 2**53:
            assert Fraction(measured) % known.step == 0


fractions = st.fractions(-50, 50, max_denominator=20)


@given(st.sampled_from("+-*/%"), fractions, fractions, fractions, fractions, st.fractions(0, 1), st.fractions(0, 1))
def test_intervals_hold_what_points_give(op, a, b, c, d, s, t):
    left, right = (min(a, b), max(a, b)), (min(c, d), max(c, d))
    x, y = left[0] + s * (left[1] - left[0]), right[0] + t * (right[1] - right[0])
    ends = operation_ends(op, left, right)
    if ends is None:
        assert op == "/"
        assert right[0] <= 0 <= right[1]
        return
    if y == 0 and op == "%":
        return
    exact = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}
    value = x - y * int(x / y) if op == "%" else exact[op]()
    assert ends[0] <= value <= ends[1]


@given(
    st.sampled_from(["abs", "floor", "ceil", "round", "sqrt", "ln", "exp"]), fractions, fractions, st.fractions(0, 1)
)
def test_intervals_hold_what_functions_give(name, a, b, t):
    low, high = min(a, b), max(a, b)
    ends = function_ends(name, (low, high))
    x = float(low + t * (high - low))
    if ends is None or (name == "sqrt" and x < 0):
        assert (name == "sqrt" and (high < 0 or x < 0)) or (name == "ln" and low <= 0)
        return
    function = {"abs": abs, "floor": math.floor, "ceil": math.ceil, "round": lambda y: math.floor(y + 0.5)}
    value = function.get(name, getattr(math, name.replace("ln", "log"), abs))(x)
    assert float(ends[0]) * (1 - 1e-12) - 1e-9 <= value <= float(ends[1]) * (1 + 1e-12) + 1e-9


def test_dates_are_measured_in_days():
    low, high = domain(Col("seen"), SCHEMA).interval
    assert (low, high) == ((date(2019, 12, 20) - date(1970, 1, 1)).days, (date(2021, 1, 10) - date(1970, 1, 1)).days)
