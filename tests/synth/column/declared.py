"""Columns of every type, as metadata declares them, and strategies that draw further ones."""

from datetime import date, datetime, timedelta
from fractions import Fraction

from hypothesis import strategies as st

from discreet.schema import Column

CASES = [
    Column("age", "integer", bounds=(0, 110)),
    Column("debt", "integer", bounds=(-5000, 20), null="key"),
    Column("income", "integer", bounds=(0, 10**6), fixed_per_unit=True),
    Column("far", "integer", bounds=(10**15 - 300, 10**15)),
    Column("fives", "integer", bounds=(-7, 93), step=5),
    Column("decade", "integer", bounds=(0, 110), bins=(0, 18, 65, 110)),
    Column("inner", "integer", bounds=(0, 110), bins=(18, 65, 90)),
    Column("share", "number", bounds=(0, 1), step=Fraction(1, 10)),
    Column("between", "number", bounds=(Fraction("0.05"), Fraction("0.97")), step=Fraction(1, 10)),
    Column("price", "number", bounds=(0, 5000), step=Fraction(1, 100)),
    Column("thirds", "number", bounds=(-2, 200), step=Fraction(2, 3)),
    Column("alone", "number", bounds=(Fraction(1, 2), Fraction(3, 2)), step=1),
    Column("dyadic", "number", bounds=(-1, 3), bins=(-1, Fraction(1, 10), 2)),
    Column("vast", "number", bounds=(0, Fraction(10) ** 200)),
    Column("tiny", "number", bounds=(0, Fraction(1, 10**200))),
    Column("fine_bins", "integer", bounds=(0, 9), bins=tuple(Fraction(k) for k in (0, 3, 9))),
    Column("born", "date", bounds=("1900-01-01", "2020-12-31")),
    Column("ever", "date", bounds=("0001-01-01", "9999-12-31")),
    Column("week", "date", bounds=("2020-01-05", "2021-01-05"), step=7),
    Column("soon", "date", bounds=("2020-01-05", "2020-01-06")),
    Column("moment", "datetime", bounds=("0001-01-01T00:00:00", "9999-12-31T23:59:59")),
    Column("hours", "datetime", bounds=("2020-01-01", "2020-01-03"), step=3600),
    Column("months", "datetime", bounds=("2020-01-01", "2021-01-01"), bins=("2020-01-01", "2020-07-01", "2021-01-01")),
    Column("twins", "category", values=("a", "A", "b", "empty", "é"), null="key"),
    Column("blank", "category", values=("", "x")),
    Column("only", "category", values=("x",)),
    Column("listed", "integer", values=(0, 1, 7)),
    Column("jumbled", "integer", values=(7, -3, 10**6)),
    Column("flag", "boolean", fixed_per_unit=True),
]
NUMBERS = [column for column in CASES if column.bounds is not None]
STEPS = [None, Fraction(1, 10), Fraction(1, 100), Fraction(1, 3), Fraction(1, 4), Fraction(7), Fraction(1, 7)]
FIRST, LAST = date.min.toordinal(), date.max.toordinal()


@st.composite
def integers(draw):
    low = draw(st.integers(-(10**6), 10**6))
    width = draw(st.integers(1, 3000) | st.integers(1, 10**9))
    edges = draw(st.none() | st.lists(st.integers(low, low + width), min_size=2, max_size=9, unique=True))
    step = draw(st.none() | st.integers(1, width))
    return Column("c", "integer", bounds=(low, low + width), step=step, bins=edges and sorted(edges))


@st.composite
def numbers(draw):
    low = Fraction(draw(st.integers(-(10**5), 10**5)), draw(st.sampled_from([1, 10, 7])))
    width = Fraction(draw(st.integers(70, 10**6)), 10)
    edges = draw(st.none() | st.lists(st.integers(0, 1000), min_size=2, max_size=9, unique=True))
    bins = edges and [low + width * share / 1000 for share in sorted(edges)]
    return Column("c", "number", bounds=(low, low + width), step=draw(st.sampled_from(STEPS)), bins=bins)


@st.composite
def dates(draw):
    low = draw(st.integers(FIRST, LAST - 2000) | st.just(FIRST))
    high = draw(st.integers(low + 1, min(low + 2000, LAST)) | st.just(LAST - 40))
    low, high = min(low, high - 1), max(low + 1, high)
    room = min(low - FIRST, LAST - high, high - low, 40)
    step = draw(st.integers(1, max(room, 1)))
    return Column("c", "date", bounds=(date.fromordinal(low), date.fromordinal(high)), step=step)


@st.composite
def moments(draw):
    low = draw(st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1))).replace(microsecond=0)
    seconds = draw(st.integers(1, 10**9))
    step = draw(st.integers(1, min(seconds, 10**5)))
    return Column("c", "datetime", bounds=(low, low + timedelta(seconds=seconds)), step=step)


def categories():
    texts = st.text("aAbBéE ß1", min_size=1, max_size=3)
    return st.lists(texts, min_size=1, max_size=9, unique=True).map(lambda v: Column("c", "category", values=v))


def listed():
    whole = st.integers(-(10**9), 10**9)
    return st.lists(whole, min_size=1, max_size=9, unique=True).map(lambda v: Column("c", "integer", values=v))


def ranges():
    return integers() | numbers() | dates() | moments() | st.sampled_from(NUMBERS)


def columns():
    return ranges() | categories() | listed() | st.sampled_from(CASES)
