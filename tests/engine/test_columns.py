"""How a cell of a table in memory is read depends on that cell alone, whatever its column holds and is called."""

import datetime as dt
import enum
import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine import Engine, Limits, cells, columns, frames, scalars
from discreet.errors import SourceUnavailable
from discreet.schema import Column, Schema, Unit

from . import cell_twin

LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
COLUMNS = [Column(kind, kind) for kind in ("text", "boolean", "number", "integer", "date", "datetime")]
NUMBERS = [column for column in COLUMNS if column.name not in ("text", "integer")]
_CONNECTION = duckdb.connect(config={"threads": 1})
_CONNECTION.execute("SET TimeZone = 'UTC'")


class Status(str, enum.Enum):  # noqa: UP042  # of Python 3.10 too, whose text is "Status.ACTIVE"
    ACTIVE = "active"


class Level(enum.IntEnum):
    HIGH = 3


class Raising:
    def __str__(self):
        raise RuntimeError("zq7canary")


def read_array(array, kinds):
    """What columns of these types make of an Arrow array, cell by cell."""
    connection = _CONNECTION.cursor()
    connection.register("incoming", pa.table({"x": array}))
    try:
        held = cells.family(connection.execute("DESCRIBE SELECT x FROM incoming").fetchall()[0][1])
        listed = ", ".join(cells.value(column, "x", held) for column in kinds)
        rows = connection.execute(f"SELECT {listed} FROM incoming").fetchall()
        return [tuple(None if value != value else value for value in row) for row in rows]
    finally:
        connection.unregister("incoming")


def read(values, kinds=COLUMNS):
    """What columns of these types make of Python cells in one object column."""
    return read_array(columns.from_pandas(pd.Series(values, dtype=object)), kinds)


def twin(values, kinds=COLUMNS):
    return [tuple(cell_twin.value(column, cell) for column in kinds) for cell in values]


OFFSETS = st.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=-5, minutes=-30))])
YEARS = {"min_value": dt.datetime(1900, 1, 1), "max_value": dt.datetime(2200, 1, 1)}
TEXTS = [
    "", " ", "active", "1", "1.0", "1.50", "0", "true", "No", " yes ", "1_000", "1e3", "-7.25", "nan", "inf", "9" * 16,
    "2020-02-29", "2020-02-30", "2024-01-01T10:00:00+02:00", "2024-01-01 01:00:00+02:00", "2024-01-01 10:00:00.5Z",
    "1969-12-31 23:59:59.999999", "naïve", "日本", "\0", "'", '"',
]  # fmt: skip
CELL = st.one_of(
    st.none(), st.sampled_from([pd.NA, pd.NaT, Status.ACTIVE, Level.HIGH, ("a", 1), [1.0, "b"], {"k": 1}]),
    st.sampled_from(TEXTS), st.booleans(), st.booleans().map(np.bool_), st.integers(-(2**70), 2**70),
    st.integers(-9, 9), st.integers(-128, 127).map(np.int8), st.floats(), st.floats().map(np.float64),
    st.floats(width=32).map(np.float32), st.floats(width=16).map(np.float16),
    st.decimals(allow_nan=True, allow_infinity=False, places=2, min_value=-9999, max_value=9999),
    st.sampled_from([Decimal("1.50"), Decimal("1.5"), Decimal("1E+3"), Decimal("-0.0"), Decimal("0.001")]),
    st.dates(), st.datetimes(timezones=OFFSETS, **YEARS), st.datetimes(**YEARS).map(pd.Timestamp),
    st.datetimes(**YEARS).map(lambda moment: pd.Timestamp(moment, tz="Europe/Berlin")),
    st.integers(-(10**17), 10**17).map(lambda count: np.datetime64(count, "ns")),
    st.integers(-(10**9), 10**9).map(lambda count: np.datetime64(count, "s")),
    st.timedeltas(max_value=dt.timedelta(9999), min_value=dt.timedelta(-9999)),
    st.integers(-(10**17), 10**17).map(lambda count: pd.Timedelta(count, "ns")),
    st.sampled_from([pd.Period("2020-01"), pd.Period("2020-01-05"), pd.Interval(0, 1)]), st.binary(max_size=4),
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(CELL, min_size=1, max_size=25))
def test_each_cell_of_an_object_column_is_read_as_the_twin_reads_it_alone(values):
    assert read(values) == twin(values)


@settings(max_examples=10, deadline=None)
@given(st.lists(CELL, min_size=1, max_size=8))
def test_a_cell_alone_is_read_as_among_others_in_a_category_too(values):
    assert [read([cell])[0] for cell in values] == read(values)
    keyed = [cell for cell in values if cell.__hash__ is not None and cell_twin.plain(cell) is not None]
    codes = [place % len(keyed) for place in range(7)] if keyed else []
    index = pd.Index(np.fromiter(keyed, dtype=object, count=len(keyed)), dtype=object, tupleize_cols=False)
    with np.errstate(all="ignore"):  # pandas compares a float16 with whole numbers beyond it
        unique = index.is_unique
    if unique:
        category = pd.Series(pd.Categorical.from_codes(codes, categories=index))
        assert read_array(columns.from_pandas(category), COLUMNS) == twin([keyed[code] for code in codes])


SMALL = {"min_value": dt.datetime(1800, 1, 1), "max_value": dt.datetime(2200, 1, 1)}
TYPED = {  # cells, and the typed columns that hold them as they are
    "whole": (st.integers(-(2**63), 2**63 - 1), ["int64", "Int64", "int64[pyarrow]"], [pl.Int64], [pa.int64()]),
    "byte": (st.integers(0, 255), ["uint8", "UInt8"], [pl.UInt8], [pa.uint8()]),
    "large": (st.integers(0, 2**64 - 1), ["uint64", "UInt64"], [pl.UInt64], [pa.uint64()]),
    "flag": (st.booleans(), ["bool", "boolean"], [pl.Boolean], [pa.bool_()]),
    "double": (st.floats(), ["float64", "Float64"], [pl.Float64], [pa.float64()]),
    "single": (st.floats(width=32), ["float32"], [pl.Float32], [pa.float32()]),
    "half": (st.floats(width=16), ["float16"], [], [pa.float16()]),
    "text": (st.sampled_from(TEXTS), ["str", "string", "category", object], [pl.String, pl.Categorical],
             [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]),
    "day": (st.dates(), [], [pl.Date], [pa.date32()]),
    "moment": (st.datetimes(**SMALL), ["datetime64[us]"], [pl.Datetime("us")], [pa.timestamp("us")]),
    "fine moment": (st.datetimes(**SMALL), ["datetime64[ns]"], [pl.Datetime("ns")], [pa.timestamp("ns")]),
    "zoned": (st.datetimes(timezones=st.just(dt.UTC), **SMALL), ["datetime64[us, UTC]"], [],
              [pa.timestamp("us", "Europe/Berlin")]),
    "duration": (st.timedeltas(dt.timedelta(-99), dt.timedelta(99)), ["timedelta64[us]", "timedelta64[ns]"],
                 [pl.Duration("us"), pl.Duration("ns")], [pa.duration("us"), pa.duration("ns")]),
    "decimal": (st.decimals(-999, 999, places=2), [], [pl.Decimal(12, 5)], [pa.decimal128(9, 3), pa.decimal256(60, 9)]),
    "bytes": (st.binary(max_size=4), [], [pl.Binary], [pa.binary(), pa.large_binary()]),
    "list": (st.lists(st.integers(0, 9), max_size=3), [], [pl.List(pl.Int64)], [pa.list_(pa.int64())]),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_typed_columns_are_read_like_objects_of_equal_values(name, data):
    cell, in_pandas, in_polars, in_arrow = TYPED[name]
    values = data.draw(st.lists(cell, min_size=1, max_size=8))
    gaps = values if name in ("whole", "byte", "large", "flag", "half", "single", "double") else [*values, None]
    wanted = read(values), read(gaps)
    for dtype in in_pandas:
        array = read_array(columns.from_pandas(pd.Series(values, dtype=dtype)), COLUMNS)
        assert array == wanted[0], dtype
    for dtype in in_polars:
        assert read_array(columns.from_polars(pl.Series(gaps, dtype=dtype, strict=False)), COLUMNS) == wanted[1], dtype
    for dtype in in_arrow:
        assert read_array(columns.from_arrow(pa.chunked_array([pa.array(gaps, dtype)])), COLUMNS) == wanted[1], dtype


@pytest.mark.parametrize("series", [
    pd.Series(pd.period_range("2020-01-01", periods=3)), pd.Series(pd.interval_range(0, 3)),
    pd.Series(pd.arrays.SparseArray([0.5, 0.0, math.nan])), pd.Series([1 + 2j, 0j], dtype="complex64"),
], ids=lambda series: str(series.dtype))  # fmt: skip
def test_columns_that_only_pandas_has_are_read_like_their_cells(series):
    assert read_array(columns.from_pandas(series), COLUMNS) == read(list(series))


def test_whole_numbers_that_pandas_made_floats_are_read_alike_below_2_to_the_53():
    values = [0, 1, -7, 2**53 - 1, 110]
    floats = columns.from_pandas(pd.Series([*values, None]))
    assert read_array(floats, COLUMNS)[:-1] == read_array(columns.from_pandas(pd.Series(values)), COLUMNS)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_any_unit_and_size_are_read_like_their_cells(unit):
    counts = [0, -1, 1, 10**9 + 1, -(10**9) - 1, 2**62, -(2**62), 9 * 10**15, 9 * 10**15 + 1, -(2**63) + 1, 2**63 - 1]
    typed = np.array(counts, dtype=np.int64).view(f"datetime64[{unit}]")
    wanted = read(list(typed))
    assert read_array(columns.from_pandas(pd.Series(typed)), COLUMNS) == wanted
    assert read_array(columns.from_arrow(pa.array(counts, pa.int64()).view(pa.timestamp(unit))), COLUMNS) == wanted
    bounded = [Column("x", "datetime", bounds=("2000-01-01", "2001-01-01"))]
    assert all(read_array(columns.from_pandas(pd.Series(typed)), bounded)), "endless moments lie beyond both ends"


def test_texts_that_are_no_utf_8_are_read_cell_by_cell():
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff"))
    for array in (
        columns.from_arrow(broken),
        columns.from_pandas(pd.Series(["a", "\ud800"], dtype=pd.StringDtype("python"))),
    ):
        assert array.to_pylist()[0] == "a"
        assert array.to_pylist()[1] in ("\ufffd", "?")
    assert read(["a", "\ud800", Raising(), object()], COLUMNS[:1]) == [("a",), ("?",), (None,), (None,)]


# --- what one cell of another kind did to all others ---------------------------------------------------------------

STRANGERS = [0, 2.25, "x", None, Decimal("1.5"), True, dt.date(2020, 1, 1), pd.Timedelta(1), ("a", 1), b"\xff"]
OWN = {
    "a text that is an Enum": (Status.ACTIVE, Column("x", "category", values=["active"]), "active"),
    "a decimal that is no number": (Decimal("NaN"), Column("x", "text"), None),
    "a decimal as category": (Decimal("1.5"), Column("x", "category", values=["1.5"]), "1.5"),
    "a flag as a number": (True, Column("x", "integer", bounds=(0, 1)), 1),
    "a moment of a zone": (pd.Timestamp("2020-01-02", tz="Europe/Berlin"), Column("x", "datetime"), 1577919600 * 10**6),
    "a float32 at a tie": (np.float32(0.3), Column("x", "number", bounds=(0, 1), step="0.1"), float(np.float32(0.3))),
    "a float16 as category": (np.float16(0.1), Column("x", "category", values=["0.0999755859375"]), "0.0999755859375"),
    "a Timedelta": (pd.Timedelta("1 days 00:00:01.5"), Column("x", "number", bounds=(0, 10**6)), 86401.5),
    "a Period": (pd.Period("2020-01-05"), Column("x", "date"), 18266),
    "a tuple": (("a", 1), Column("x", "text"), "('a', 1)"),
}  # fmt: skip


def same(first, other):
    return first is other or (type(first) is type(other) and first == other)


def as_category(whole):
    """The cells as categories in the order in which they come; those that are nothing as none of them."""
    cells = []
    for cell in whole:
        if cell_twin.plain(cell) is not None and not any(same(cell, known) for known in cells):
            cells.append(cell)
    codes = [next((place for place, known in enumerate(cells) if same(cell, known)), -1) for cell in whole]
    categories = pd.Index(np.fromiter(cells, dtype=object, count=len(cells)), dtype=object, tupleize_cols=False)
    return pd.Series(pd.Categorical.from_codes(codes, categories=categories))


@pytest.mark.parametrize("name", OWN)
def test_a_stranger_of_another_kind_changes_nobody(name):
    own, column, wanted = OWN[name]
    for stranger in STRANGERS:
        for dtype in (object, "category", None):
            whole = pd.Series(np.fromiter([own] * 3 + [stranger], dtype=object, count=4), dtype=object)
            whole = whole if dtype is object else whole.infer_objects() if dtype is None else as_category(whole)
            array = read_array(columns.from_pandas(whole), [column])
            assert array[:3] == [(wanted,)] * 3, (stranger, dtype)
    typed = pd.Series([own] * 3)
    assert read_array(columns.from_pandas(typed), [column]) == [(wanted,)] * 3, typed.dtype


def sums(folder, values):
    schema = Schema("people", [Column("x", "integer", bounds=(0, 1))])
    with Engine(folder, "people", schema, pd.DataFrame({"x": values}), LIMITS) as engine:
        return engine.run(["SELECT CAST(sum(c0) AS BIGINT) AS p0 FROM prepared"])[0]["p0"].tolist()


def test_one_missing_flag_leaves_the_sum_of_all_others(tmp_path):
    assert sums(tmp_path, [True] * 100) == [100]
    assert sums(tmp_path, [True] * 100 + [None]) == [100]


# --- what pandas changed before it is seen -------------------------------------------------------------------------

LARGE = [2**53 + 1, 2**53, None]
REFUSED = [
    Column("x", "integer"), Column("x", "integer", bounds=(0, 2**60)), Column("x", "text"), Column("x", "category"),
    Column("x", "category", values=[str(2**53)]), Column("x", "integer", values=[1, 2**53 + 2]),
]  # fmt: skip
TAKEN = [
    Column("x", "integer", bounds=(0, 110)), Column("x", "number"), Column("x", "category", values=["1", "2"]),
    Column("x", "boolean"), Column("x", "date"), Column("x", "integer", values=[1, 2]),
]  # fmt: skip
FLOATS = [
    pd.DataFrame({"x": LARGE}), pd.DataFrame({"x": pd.Series([1.5, 2]).astype("category")}),
    pd.DataFrame({"x": pd.Series([0.5], dtype="Float32")}), pd.DataFrame({"x": pd.arrays.SparseArray([0.5])}),
    pl.DataFrame({"x": [0.5]}), pa.table({"x": pa.array([0.5], pa.float32())}),
    pa.table({"x": pa.array([0.5]).dictionary_encode()}),
]  # fmt: skip


@pytest.mark.parametrize("frame", FLOATS, ids=lambda frame: type(frame).__module__.partition(".")[0])
def test_floats_are_refused_by_name_where_large_whole_numbers_count(frame):
    for column in REFUSED:
        with pytest.raises(SourceUnavailable, match=r'Column "x" must not hold floats.*Int64'):
            frames.arrow_table(frame, Schema("people", [column]))
    with pytest.raises(SourceUnavailable, match="floats"):
        frames.arrow_table(frame, Schema("people", [], Unit("x", 1)))
    for column in TAKEN:
        assert frames.arrow_table(frame, Schema("people", [column])).num_rows == len(frame)


def test_whole_numbers_with_gaps_are_exact_in_their_own_dtype():
    frame = pd.DataFrame({"x": pd.Series(LARGE, dtype="Int64")})
    for column in REFUSED:
        cells = frames.arrow_table(frame, Schema("people", [column])).column("x").to_pylist()
        assert cells == LARGE


def test_a_library_that_fails_is_not_quoted(monkeypatch):
    def broken(*_):
        raise ValueError("zq7canary")

    monkeypatch.setattr(columns, "from_pandas", broken)
    with pytest.raises(SourceUnavailable) as refusal:
        frames.arrow_table(pd.DataFrame({"x": [1]}), Schema("people", [Column("x", "number")]))
    assert "zq7canary" not in repr(refusal.value)
    assert (refusal.value.__cause__, refusal.value.__context__) == (None, None)


# --- one snapshot for one content ----------------------------------------------------------------------------------


def counted(engine):
    return engine.run(["SELECT count(*) AS p0 FROM prepared WHERE c0 = 1"])[0]["p0"].tolist()[0]


@pytest.mark.parametrize("clean", [False, True])
def test_a_frame_changed_in_place_is_another_snapshot(tmp_path, clean):
    frame = pd.DataFrame({"x": [1, 1, 0, 0]})
    with Engine(tmp_path, "people", Schema("people", [Column("x", "integer", bounds=(0, 9))]), frame, LIMITS) as engine:
        first = engine.prepare()
        assert (counted(engine), engine.prepare()) == (2, type(first)(first.snapshot, anew=False))
        frame.loc[:, "x"] = [1, 0, 0, 0]
        if clean:
            engine.clean()
        second = engine.prepare()
        assert second.anew
        assert second.snapshot != first.snapshot
        assert counted(engine) == 1
        frame.loc[:, "x"] = [1, 1, 0, 0]
        assert engine.snapshot == first.snapshot
        assert counted(engine) == 2


# --- planted faults: the twin must see each of them ----------------------------------------------------------------


def spelt_by_one_type(values):
    """The whole column by the type that Arrow finds for all of it, as a quick path would."""
    try:
        return columns.from_arrow(pa.chunked_array([pa.array(values, from_pandas=True)]))
    except Exception:
        return columns.from_arrow(pa.chunked_array([pa.array([None if v is None else str(v) for v in values])]))


def spelt_by_print(cell):
    return (scalars.Part.TEXT, None) if cell_twin.plain(cell) is None else (scalars.Part.TEXT, str(cell))


MUTANTS = {
    "one type for all cells": ("mixed_column", spelt_by_one_type, [Status.ACTIVE, 0]),
    "every cell as it prints": ("read", spelt_by_print, [Decimal("1.50"), True, np.float32(0.1)]),
    "offsets dropped": ("read", lambda cell: scalars.read(cell.replace(tzinfo=None)), [
        dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_the_twin_sees_planted_faults(name, monkeypatch):
    place, mutant, values = MUTANTS[name]
    assert read(values) == twin(values)
    monkeypatch.setattr(columns, place, mutant)
    assert read(values) != twin(values)


def test_one_complex_cell_leaves_the_others_as_they_were():
    """pandas makes a complex number of every cell where one is complex."""
    alone = [scalars.read(cell) for cell in pd.Series([20, 21, 22]).tolist()]
    beside = [scalars.read(cell) for cell in pd.Series([20, 21, 22, complex(1, 1)])]
    assert [value for _, value in beside[:3]] == [value for _, value in alone]
    assert beside[3] == (scalars.Part.TEXT, "(1+1j)")
