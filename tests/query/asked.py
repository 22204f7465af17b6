"""Hypothesis strategies for expressions over the twin's schema."""

from datetime import date, datetime
from fractions import Fraction

from hypothesis import strategies as st

from discreet.query.nodes import (
    COMPARISONS,
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
    TryCast,
)
from discreet.schema import Type
from query.twin import ODD, SCHEMA

TEXTS = ("region", "odd", "ward", "note", "home")
NUMBERS = ("age", "code", "big", "tens", "price", "score", "wild", "x' y\"; --")
TIMES = ("seen", "born", "weekly", "at", "moment")
DATES = ("seen", "born", "weekly")
NULL = Literal(None)

numbers = st.one_of(
    st.integers(-20, 120),
    st.sampled_from(
        [2**53 + 1, 2**63, -(2**63), 10**30, Fraction(1, 3), Fraction(1, 10), Fraction(49, 20), Fraction(35, 2)]
    ),
).map(Literal)
days = st.sampled_from([date(2020, 2, 29), date(1970, 1, 1), date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31)]).map(
    Literal
)
moments = st.sampled_from(
    [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59), datetime(2020, 2, 29, 23, 59, 59)]
).map(Literal)
words = st.one_of(
    st.sampled_from(["north", "", "12", "O'Neil; --", "'; --", *ODD]), st.text("aäN%_'\";-", max_size=4)
).map(Literal)
patterns = st.one_of(st.sampled_from(["n%", "%o_t%", "%'%", "_", "%", "a\\%b%", "%👍"]), st.text("ao%_n'", max_size=5))
cols = {kind: st.sampled_from(names).map(Col) for kind, names in (("text", TEXTS), ("num", NUMBERS), ("date", DATES))}


def text(depth):
    if depth == 0:
        return st.one_of(cols["text"], cols["text"], words)
    inner = text(depth - 1)
    return st.one_of(
        inner,
        st.builds(lambda name, item: Call(name, (item,)), st.sampled_from(["lower", "upper", "trim"]), inner),
        st.builds(lambda a, b: Call("coalesce", (a, b)), inner, inner),
        st.builds(lambda a, b: Call("nullif", (a, b)), inner, inner),
        st.builds(lambda test, a, b: Case(((test, a),), b), flag(depth - 1), inner, st.one_of(inner, st.just(NULL))),
    )


def time(depth):
    if depth == 0:
        return st.one_of(cols["date"], st.sampled_from(TIMES).map(Col))
    return st.one_of(
        time(0),
        st.builds(TryCast, time(0), st.sampled_from([Type.DATE, Type.DATETIME])),
        st.builds(TryCast, text(depth - 1), st.sampled_from([Type.DATE, Type.DATETIME])),
        st.builds(lambda a, b: Call("least", (a, b)), cols["date"], days),
        st.builds(lambda a, b: Call("coalesce", (a, b)), cols["date"], cols["date"]),
    )


def number(depth):
    if depth == 0:
        return st.one_of(cols["num"], cols["num"], numbers)
    inner = number(depth - 1)
    return st.one_of(
        inner,
        st.builds(Arith, st.sampled_from("+-*/%"), inner, inner),
        st.builds(Arith, st.sampled_from("+-*/%"), inner, inner),
        st.builds(Arith, st.just("-"), cols["date"], cols["date"]),
        st.builds(Arith, st.just("-"), st.just(Col("vip")), inner),
        st.builds(lambda name, a: Call(name, (a,)), st.sampled_from(["abs", "floor", "ceil", "round", "sqrt"]), inner),
        st.builds(lambda name, a: Call(name, (a,)), st.sampled_from(["ln", "exp"]), cols["num"]),
        st.builds(
            lambda name, a, b: Call(name, (a, b)),
            st.sampled_from(["least", "greatest", "coalesce", "nullif"]),
            inner,
            inner,
        ),
        st.builds(lambda a: Call("clamp", (a, Literal(-3), Literal(Fraction(75, 2)))), inner),
        st.builds(lambda test, a, b: Case(((test, a),), b), flag(depth - 1), inner, st.one_of(inner, st.just(NULL))),
        st.builds(lambda a: Call("length", (a,)), text(depth - 1)),
        st.builds(DatePart, st.sampled_from(["year", "quarter", "month", "week", "day", "weekday"]), time(depth - 1)),
        st.builds(DatePart, st.sampled_from(["hour", "minute", "second"]), st.sampled_from([Col("at"), Col("moment")])),
        st.builds(TryCast, st.one_of(inner, text(depth - 1)), st.sampled_from([Type.INTEGER, Type.NUMBER])),
    )


def flag(depth):
    compare = st.sampled_from(COMPARISONS)
    plain = st.one_of(
        st.just(Col("vip")),
        st.builds(Compare, compare, cols["num"], st.one_of(numbers, cols["num"])),
        st.builds(Compare, compare, st.builds(Arith, st.sampled_from("+-*/"), cols["num"], numbers), numbers),
        st.builds(Compare, compare, st.builds(Arith, st.sampled_from("+-*/"), numbers, cols["num"]), numbers),
        st.builds(Compare, compare, cols["text"], st.one_of(words, cols["text"])),
        st.builds(
            Compare, compare, st.sampled_from(["seen", "born", "weekly"]).map(Col), st.one_of(days, cols["date"])
        ),
        st.builds(Compare, compare, st.sampled_from(["at", "moment"]).map(Col), st.one_of(moments, days, cols["date"])),
        st.builds(lambda a, b: In(a, tuple(b)), cols["num"], st.lists(numbers, min_size=1, max_size=3)),
        st.builds(lambda a, b: In(a, tuple(b)), cols["text"], st.lists(words, min_size=1, max_size=3)),
        st.builds(Like, cols["text"], patterns),
        st.builds(IsNull, st.sampled_from([column.name for column in SCHEMA.columns]).map(Col)),
    )
    if depth == 0:
        return plain
    inner = flag(depth - 1)
    return st.one_of(
        plain,
        st.builds(Not, inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts))),
        st.builds(Compare, compare, number(depth - 1), number(depth - 1)),
        st.builds(Compare, compare, text(depth - 1), text(depth - 1)),
        st.builds(Compare, compare, time(depth - 1), time(depth - 1)),
        st.builds(Like, text(depth - 1), patterns),
        st.builds(IsNull, st.one_of(number(depth - 1), text(depth - 1), time(depth - 1))),
        st.builds(TryCast, st.one_of(number(depth - 1), text(depth - 1)), st.just(Type.BOOLEAN)),
    )
