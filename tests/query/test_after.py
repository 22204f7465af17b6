"""HAVING, ORDER BY, LIMIT: SQLite is the slow twin where it means the same, tables of cases where it does not."""

import math
import sqlite3
from contextlib import closing
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.query.after import row_order
from discreet.query.form import words as dp
from discreet.query.meaning.evaluate import value
from discreet.query.nodes import (
    FUNCTIONS,
    PARTS,
    After,
    And,
    Arith,
    Call,
    Case,
    Col,
    Compare,
    DatePart,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    SortKey,
    TryCast,
)
from discreet.schema import Type

NAMES = ("a", "b", "c")
ONE = [name for name, (least, _) in FUNCTIONS.items() if least == 1]
whole = st.none() | st.integers(-3, 3)
numbers = st.recursive(
    st.sampled_from(NAMES).map(Col) | whole.map(Literal),
    lambda inner: st.builds(Arith, st.sampled_from(["+", "-", "*", "%"]), inner, inner),
    max_leaves=4,
)
truths = st.recursive(
    st.builds(Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), numbers, numbers)
    | st.builds(IsNull, numbers)
    | st.builds(In, numbers, st.lists(whole.map(Literal), min_size=1, max_size=3).map(tuple)),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=6,
)
orders = st.lists(st.builds(SortKey, st.sampled_from(NAMES), st.booleans()), max_size=3).map(tuple)
afters = st.builds(After, st.none() | truths, orders, st.none() | st.integers(0, 6), st.integers(0, 4))
tables = st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, whole)), max_size=8)


def sql(node):
    match node:
        case Col():
            return node.name
        case Literal():
            return "NULL" if node.value is None else f"({node.value})"
        case Arith() | Compare():
            return f"({sql(node.left)} {node.op} {sql(node.right)})"
        case IsNull():
            return f"({sql(node.item)} IS NULL)"
        case In():
            return f"({sql(node.item)} IN ({', '.join(map(sql, node.options))}))"
        case Not():
            return f"(NOT {sql(node.item)})"
        case And() | Or():
            return f"({f' {type(node).__name__.upper()} '.join(map(sql, node.parts))})"


def slow(rows, after):
    """What SQLite keeps of the same rows."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (i INTEGER, a INTEGER, b INTEGER, c INTEGER)")
        cells = [(i, *(row[name] for name in NAMES)) for i, row in enumerate(rows)]
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", cells)
        where = "" if after.having is None else f"WHERE {sql(after.having)}"
        order = [f"{key.name} {'DESC' if key.descending else 'ASC'} NULLS LAST" for key in after.order]
        limit = -1 if after.limit is None else after.limit
        text = f"SELECT i FROM t {where} ORDER BY {', '.join([*order, 'i'])} LIMIT {limit} OFFSET {after.offset}"
        return [i for (i,) in database.execute(text)]


@settings(max_examples=200, deadline=None)
@given(rows=tables, after=afters)
def test_the_same_rows_are_kept_in_the_same_order_as_by_sqlite(rows, after):
    assert row_order(rows, after) == slow(rows, after)


ODD = (
    *("9" * 5000, "-" + "9" * 5000, "0." + "3" * 5000, "1e99", "-1E-99", "9" * 18, "9" * 19, "nan", "inf", "-Infinity"),
    *("\x00", "a\x1b[2Jb", "\ud800", "\u202e", " 7 ", "", "٣", "1_000", "0x10", "1/3", "2020-02-30", "0001-01-01"),
    *("9999-12-31", "0000-01-01", "2020-12-31 23:59:59", "2020-12-31 24:00", "10000-01-01"),
    *(10**5000, -(10**5000), 2**63, 2**2001, Fraction(1, 3**2000), Fraction(10**5000, 7), 5e-324, 1.7e308),
    *(math.inf, -math.inf, math.nan, -0.0, date.min, date.max, datetime.min, datetime.max, True, [], ("a",), b"x"),
    *(np.float64("nan"), np.int64(2**62), np.datetime64("NaT"), np.str_("9" * 4301), 1j),
)
odd = st.integers(0, len(ODD) - 1).map(ODD.__getitem__)  # by number: what Python cannot print must not be printed
anything = (
    odd
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.dates()
    | st.datetimes()
    | st.lists(st.text(max_size=1), max_size=2)
)
exprs = st.recursive(
    st.sampled_from(NAMES).map(Col)
    | (st.none() | st.booleans() | st.integers() | st.fractions() | st.text(max_size=3) | st.dates()).map(Literal)
    | odd.filter(lambda given: isinstance(given, (str, int, Fraction, date))).map(Literal),
    lambda inner: (
        st.builds(Arith, st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner)
        | st.builds(Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), inner, inner)
        | st.builds(Not, inner)
        | st.builds(And, st.tuples(inner, inner))
        | st.builds(Or, st.tuples(inner, inner))
        | st.builds(Like, inner, st.text("a%_", max_size=4))
        | st.builds(DatePart, st.sampled_from(PARTS), inner)
        | st.builds(TryCast, inner, st.sampled_from(list(Type)))
        | st.builds(Case, st.tuples(st.tuples(inner, inner)), inner)
        | st.sampled_from(sorted(FUNCTIONS)).flatmap(
            lambda name: st.builds(Call, st.just(name), st.tuples(*[inner] * FUNCTIONS[name][0]))
        )
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, anything)), max_size=5), having=exprs, order=orders)
def test_no_expression_fails_on_any_released_row(rows, having, order):
    kept = row_order(rows, After(having, order))
    assert sorted(set(kept)) == sorted(kept)
    assert set(kept) <= set(range(len(rows)))
    assert row_order(rows, After(None, order)) != [] or not rows


@pytest.mark.parametrize("kind", list(Type))
@pytest.mark.parametrize("given", ODD, ids=lambda given: type(given).__name__)
def test_every_cast_and_function_of_an_odd_key_gives_a_value_or_null(given, kind):
    row = {"a": given, "b": "x"}
    cast = TryCast(Col("a"), kind)
    inner = [cast, TryCast(TryCast(Col("a"), Type.NUMBER), kind), *(Call(name, (cast,)) for name in ONE)]
    inner += [Arith(op, TryCast(Col("a"), Type.NUMBER), Literal(3)) for op in "+-*/%"]
    inner += [DatePart(part, cast) for part in PARTS] + [Like(cast, "%9%")]
    for expr in inner:
        result = value(expr, row)
        assert result is None or isinstance(result, (bool, Fraction, float, str, date))
        assert value(TryCast(expr, Type.TEXT), row) is None or isinstance(value(TryCast(expr, Type.TEXT), row), str)
        value(Compare("<", expr, Col("b")), row)
        value(Compare("=", expr, Literal(3)), row)


def test_a_key_of_5000_digits_is_a_number_of_5000_digits_or_beyond_every_float():
    """Python's own int() refuses the text; before, that failed after the noise had been drawn."""
    digits = "9" * 5000
    assert value(TryCast(Col("k"), Type.NUMBER), {"k": digits}) == math.inf
    assert value(TryCast(Col("k"), Type.INTEGER), {"k": digits}) is None
    assert row_order([{"k": digits}], After(Compare(">", TryCast(Col("k"), Type.NUMBER), Literal(5)))) == [0]


@pytest.mark.parametrize(
    ("number", "wanted"),
    [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, 0), (-1.5, -1), (-2.5, -2), (2.4999, 2), (2**62, 2**62), (2**63, None)],
)
def test_a_cast_of_halves_goes_upward(number, wanted):
    assert value(TryCast(Col("x"), Type.INTEGER), {"x": number}) == wanted


def shown(term, **row):
    return value(term.expr, row)


CASES = [
    (dp.col("x") == 12.3, {"x": 12.3}, True),  # a released float is the decimal it prints as
    (dp.col("x") > 1, {"x": math.inf}, True),
    (dp.col("x") > 1, {"x": math.nan}, None),
    (dp.col("x") > 1, {"x": np.float64(2)}, True),
    (dp.col("x") > 1, {"x": "2"}, None),
    (dp.col("x") == 1, {"x": True}, None),
    (dp.col("x") == True, {"x": True}, True),  # noqa: E712
    (dp.col("x") > 1, {}, None),
    (dp.col("x") > 1, {"x": ["a", "b"]}, None),
    (dp.col("x") >= date(2024, 1, 1), {"x": "2024-03-01"}, True),
    (dp.col("x") >= date(2024, 1, 1), {"x": datetime(2024, 1, 1)}, True),
    (dp.col("x") >= date(2024, 1, 1), {"x": "spring"}, None),
    (dp.col("x") < "b", {"x": "a"}, True),
    (dp.col("x") / 0 > 1, {"x": 1}, None),
    (dp.col("x") % 3 == -1, {"x": -7}, True),
    (dp.col("x") / 3 * 3 == 1, {"x": 1}, True),  # exact, unlike floats
    (~(dp.col("x") > 1), {"x": None}, None),
    ((dp.col("x") > 1) | dp.col("x").is_null(), {"x": None}, True),
    ((dp.col("x") > 1) & (dp.col("y") > 1), {"x": None, "y": 0}, False),
    (dp.col("x").is_in([1, "a"]), {"x": 1}, True),
    (dp.col("x").is_in([2, "a"]), {"x": 1}, None),
    (dp.col("x") & dp.col("y"), {"x": 1, "y": True}, None),
    (dp.case(dp.when(dp.col("x") > 1, "big"), otherwise="small"), {"x": None}, "small"),
    (dp.case(dp.when(dp.col("x") > 1, "big"), otherwise="small"), {"x": 2}, "big"),
    (dp.col("x").like("_o%"), {"x": "north"}, True),
    (dp.col("x").like("_o%"), {"x": 3}, None),
    (dp.col("x").floor(), {"x": -1.5}, Fraction(-2)),
    (dp.col("x").ceil(), {"x": -1.5}, Fraction(-1)),
    (dp.col("x").round(), {"x": 2.5}, Fraction(3)),
    (dp.col("x").abs(), {"x": -1.5}, Fraction(3, 2)),
    (dp.col("x").sqrt(), {"x": 4}, Fraction(2)),
    (dp.col("x").sqrt(), {"x": -4}, None),
    (dp.col("x").ln(), {"x": 0}, None),
    (dp.col("x").exp(), {"x": 10_000}, math.inf),
    (dp.col("x").exp(), {"x": -(10**400)}, Fraction(0)),
    (dp.col("x").clamp(0, 10), {"x": 12}, Fraction(10)),
    (dp.col("x").clamp(0, 10), {"x": None}, None),
    (dp.least("x", "y"), {"x": 1, "y": None}, None),
    (dp.greatest("x", "y"), {"x": 1, "y": 2}, Fraction(2)),
    (dp.col("x").coalesce(0), {"x": None}, Fraction(0)),
    (dp.col("x").nullif(0), {"x": 0}, None),
    (dp.col("x").nullif(0), {"x": 1}, Fraction(1)),
    (dp.col("x").upper(), {"x": "a"}, "A"),
    (dp.col("x").trim().length(), {"x": " a "}, Fraction(1)),
    (dp.col("x").quarter, {"x": date(2024, 5, 31)}, Fraction(2)),
    (dp.col("x").weekday, {"x": date(2024, 5, 31)}, Fraction(5)),
    (dp.col("x").week, {"x": date(2024, 12, 30)}, Fraction(1)),
    (dp.col("x").hour, {"x": datetime(2024, 5, 31, 17)}, Fraction(17)),
    (dp.col("x").year, {"x": 2024}, None),
    (dp.col("x").cast("integer"), {"x": 2.5}, Fraction(3)),
    (dp.col("x").cast("integer"), {"x": "-2"}, Fraction(-2)),
    (dp.col("x").cast("number"), {"x": "2.50"}, Fraction(5, 2)),
    (dp.col("x").cast("integer"), {"x": "two"}, None),
    (dp.col("x").cast("text"), {"x": 2.5}, "2.5"),
    (dp.col("x").cast("date"), {"x": "2024-05-31"}, date(2024, 5, 31)),
    (dp.col("x").cast("boolean"), {"x": "TRUE"}, True),
]


@pytest.mark.parametrize(("term", "row", "expected"), CASES, ids=str)
def test_three_valued_logic_holds_case_by_case(term, row, expected):
    result = shown(term, **row)
    assert result == expected
    assert type(result) is type(expected)


def kept(values, **after):
    return row_order([{"x": value} for value in values], After(**after))


def test_empty_values_come_last_both_ways_and_equals_keep_their_order():
    values = [2, None, 1, 2, math.nan]
    assert kept(values, order=(SortKey("x"),)) == [2, 0, 3, 1, 4]
    assert kept(values, order=(SortKey("x", descending=True),)) == [0, 3, 2, 1, 4]


def test_text_dates_and_booleans_have_their_own_order():
    assert kept(["b", "a", "B"], order=(SortKey("x"),)) == [2, 1, 0]
    assert kept([date(2024, 2, 1), datetime(2024, 1, 1, 3), date(2024, 1, 1)], order=(SortKey("x"),)) == [2, 1, 0]
    assert kept([True, False], order=(SortKey("x"),)) == [1, 0]
    assert kept([["b"], ["a", "z"], ["a"]], order=(SortKey("x"),)) == [2, 1, 0]
    assert len(kept(["a", 1, True, None, date(2024, 1, 1), 0.5], order=(SortKey("x"),))) == 6


def test_big_whole_numbers_are_not_rounded_together():
    assert kept([2**60 + 1, 2**60], order=(SortKey("x"),)) == [1, 0]


def test_labels_of_bins_sort_by_their_public_rank():
    labels = ["[0, 18)", "[18, 65)", "[65, 110]", "[5, 7)"]
    rows = [{"x": label} for label in (labels[2], None, labels[0], labels[1])]
    ranks = {"x": {label: rank for rank, label in enumerate(labels)}}
    assert row_order(rows, After(order=(SortKey("x"),)), label_ranks=ranks) == [2, 3, 0, 1]
    assert row_order(rows, After(order=(SortKey("x", descending=True),)), label_ranks=ranks) == [0, 3, 2, 1]


def test_limit_and_offset_cut_after_sorting():
    assert kept([3, 1, 2], order=(SortKey("x"),), limit=1, offset=1) == [2]
    assert kept([3, 1, 2], limit=0) == []
    assert kept([3, 1, 2], offset=5) == []
    assert kept([3, 1, 2]) == [0, 1, 2]


def test_a_row_on_which_having_is_null_is_left_out():
    assert kept([1, None, 3], having=Compare(">", Col("x"), Literal(1))) == [2]
