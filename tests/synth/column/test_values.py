"""Cells become values again: of the declared type, on the lattice, within the bounds, spread evenly in random order."""

import io
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.learn.input.column import model_column
from discreet.noise.public import generator
from discreet.schema import Column, Type
from discreet.schema.kind import number_of
from discreet.synth.column import values as values_module
from discreet.synth.column.column import synth_column
from discreet.synth.column.values import arrow_of, frame_of, points_of, values_of
from synth.column.declared import CASES, columns, ranges
from synth.column.test_column import codes_of

PYTHON = {
    Type.CATEGORY: str,
    Type.TEXT: str,
    Type.INTEGER: int,
    Type.NUMBER: float,
    Type.BOOLEAN: bool,
    Type.DATE: date,
    Type.DATETIME: datetime,
}


class Chosen:
    """A generator whose uniform numbers are chosen by a test, and whose orders are the rows' own."""

    def __init__(self, offset):
        self.offset = offset

    def integers(self, low, high):
        return np.minimum(self.offset, high - 1)

    def permutation(self, count):
        return np.arange(count)


def all_codes(column, rows, seed=0):
    """Every code at least once, the empty one too, and then others in disorder."""
    every = np.arange(column.cells + 1)
    return np.append(every, generator(seed).integers(0, column.cells + 1, rows))


def points_one_by_one(column, codes, drawing):
    """The slow twin of `points_of`: each row by itself, in whole numbers of Python."""
    widths = [int(width) for width in np.diff(column.starts)] + [1]
    if set(widths) == {1}:
        return [int(column.starts[code if code < column.cells else 0]) for code in codes]
    offsets, order = drawing.integers(0, np.array(widths)), drawing.permutation(len(codes))
    sizes, seen, points = Counter(codes.tolist()), Counter(), {}
    for row in order:
        code = int(codes[row])
        place = (seen[code] * widths[code] + int(offsets[code])) // sizes[code]
        points[int(row)] = int(column.starts[code if code < column.cells else 0]) + place
        seen[code] += 1
    return [points[row] for row in range(len(codes))]


def exact(value, kind):
    """A drawn value as an exact number; of a float, the one that its shortest decimal says."""
    return Fraction(repr(value)) if kind is Type.NUMBER else number_of(value)


def require_declared(declared, value):
    """Fails unless a table under these facts could hold the value in this very form."""
    assert type(value) is PYTHON[declared.type]
    if declared.values is not None:
        assert value in declared.values
    elif declared.type is not Type.BOOLEAN:
        low, high = (number_of(end) for end in declared.bounds)
        if declared.type is Type.NUMBER:
            assert float(low) <= value <= float(high)
            steps = round(Fraction(value) / declared.step)
            assert value == pytest.approx(float(steps * declared.step), rel=1e-15, abs=0)
        else:
            assert low <= number_of(value) <= high
            assert number_of(value) % declared.step == 0


@settings(max_examples=120, deadline=None)
@given(columns(), st.integers(0, 2**32), st.integers(0, 300))
def test_drawn_values_are_declared_ones_and_have_the_codes_they_came_from(declared, seed, rows):
    column = synth_column(declared)
    codes = all_codes(column, rows, seed)
    values = values_of(column, codes, generator(seed))
    assert [value is None for value in values] == (codes == column.cells).tolist()
    for value in values[codes < column.cells]:
        require_declared(declared, value)
    reader = model_column(declared)
    np.testing.assert_array_equal(codes_of(column, reader.encoded(values)), codes)


def test_texts_with_public_values_come_back_as_they_are_spelt():
    text, category = Column("c", "text", values=("a", "A")), Column("c", "category", values=("a", "A"))
    codes = np.array([1, 0, 2, 1])
    assert values_of(synth_column(text), codes, generator(1)).tolist() == ["A", "a", None, "A"]
    assert values_of(synth_column(category), codes, generator(1)).tolist() == ["A", "a", None, "A"]


@settings(max_examples=60, deadline=None)
@given(ranges(), st.integers(0, 2**32), st.integers(0, 500))
def test_points_are_those_of_the_slow_twin(declared, seed, rows):
    column = synth_column(declared)
    codes = all_codes(column, rows, seed)
    fast = points_of(column, codes, generator(seed))
    assert fast.tolist() == points_one_by_one(column, codes, generator(seed))


@pytest.mark.parametrize("declared", CASES, ids=lambda column: column.name)
def test_rows_of_a_cell_are_spread_evenly_over_its_points(declared):
    column = synth_column(declared)
    if column.values is not None:
        return_codes = np.repeat(np.arange(column.cells), 5)
        drawn = values_of(column, return_codes, generator(3))
        assert Counter(drawn.tolist()) == dict.fromkeys(column.values, 5)
        return
    codes = generator(2).integers(0, column.cells, 5000)
    points = points_of(column, codes, generator(3))
    for code in np.unique(codes):
        own = points[codes == code]
        width = int(column.starts[code + 1] - column.starts[code])
        counts = Counter(own.tolist()).values()
        assert max(counts) <= -(-len(own) // width)
        assert width > len(own) or (len(counts) == width and min(counts) >= len(own) // width)


@pytest.mark.parametrize(("width", "rows"), [(7, 3), (7, 7), (7, 16), (12, 8), (5, 1), (1000, 3)])
def test_every_point_of_a_cell_has_the_same_chance(width, rows):
    column = synth_column(Column("c", "integer", bounds=(10, 10 + width), bins=(10, 10 + width)))
    codes, counts = np.zeros(rows, dtype=np.int64), Counter()
    for offset in range(width + 1):  # each has the chance 1/(width + 1)
        counts.update(points_of(column, codes, Chosen(offset)).tolist())
    assert counts == {10 + place: rows for place in range(width + 1)}


def test_orders_within_cells_do_not_tie_columns_together():
    """Ranks of N = 20,000 rows in two columns: their correlation is about normal with deviation 1/√N.

    Beyond 6/√N it would be with a chance of 2·10⁻⁹, and so would each column's with the order of the rows.
    """
    rows = 20_000
    column = synth_column(Column("c", "integer", bounds=(0, 10**6), bins=(0, 10**6)))
    codes, drawing = np.zeros(rows, dtype=np.int64), generator(11)
    first, second = (points_of(column, codes, drawing) for _ in range(2))
    for left, right in ((first, second), (first, np.arange(rows)), (second, np.arange(rows))):
        assert abs(np.corrcoef(left, right)[0, 1]) < 6 / np.sqrt(rows)


def test_long_cells_of_many_rows_stay_exact():
    column = synth_column(Column("c", "integer", bounds=(-(2**50), 2**50), bins=(-(2**50), 2**50)))
    codes = np.zeros(100_000, dtype=np.int64)
    points = np.sort(points_of(column, codes, generator(5)))
    gaps, even = np.diff(points), (2**51 + 1) / len(codes)
    assert -(2**50) <= points[0] <= points[-1] <= 2**50
    assert even - 1 < gaps.min() <= gaps.max() < even + 1


def test_steps_of_a_tenth_are_the_decimals_that_are_written():
    column = synth_column(Column("c", "number", bounds=(0, 100), step="0.1"))
    codes = np.arange(column.cells).repeat(40)
    drawn = values_of(column, codes, generator(1))
    assert set(drawn.tolist()) == {float(f"{tenths // 10}.{tenths % 10}") for tenths in range(1001)}


def test_dates_reach_both_ends_of_the_calendar():
    column = synth_column(Column("c", "date", bounds=(date.min, date.max), bins=(date.min, "0001-01-02", date.max)))
    assert values_of(column, np.zeros(1, dtype=np.int64), generator(1)).tolist() == [date.min]
    ends = synth_column(Column("c", "date", bounds=("9999-12-30", "9999-12-31")))
    assert values_of(ends, np.array([0, 1]), generator(1)).tolist() == [date(9999, 12, 30), date(9999, 12, 31)]


def test_the_same_seed_gives_the_same_values_and_another_one_others():
    column = synth_column(Column("c", "integer", bounds=(0, 10**6)))
    codes = all_codes(column, 500)
    assert values_of(column, codes, generator(4)).tolist() == values_of(column, codes, generator(4)).tolist()
    assert values_of(column, codes, generator(4)).tolist() != values_of(column, codes, generator(5)).tolist()


def test_no_rows_give_no_values():
    nothing = np.zeros(0, dtype=np.int64)
    for declared in CASES:
        column = synth_column(declared)
        assert values_of(column, nothing, generator(1)).tolist() == []
        assert len(frame_of([column], {declared.name: nothing}, generator(1))) == 0
        assert arrow_of([column], {declared.name: nothing}, generator(1)).num_rows == 0


@pytest.mark.parametrize("code", [-1, 4])
def test_codes_of_no_cell_are_refused(code):
    column = synth_column(Column("c", "category", values=("a", "b", "c")))
    for give in (values_of, lambda *parts: frame_of([column], {"c": parts[1]}, parts[2])):
        with pytest.raises(BadValue, match="within 0 and 3"):
            give(column, np.array([0, code]), generator(1))
    with pytest.raises(BadValue, match="within 0 and 3"):
        arrow_of([column], {"c": np.array([0, code])}, generator(1))


PLAIN = [synth_column(declared) for declared in CASES]


def table_codes(rows, *, with_empty):
    """Codes of all columns, the last rows empty where they are asked for."""
    codes = {column.name: np.arange(rows) % column.cells for column in PLAIN}
    for column in PLAIN if with_empty else ():
        codes[column.name][-3:] = column.cells
    return codes


def as_python(cell):
    """A cell of a frame as the value that it stands for."""
    if cell is pd.NaT or cell is pd.NA or cell != cell:
        return None
    return cell.item() if isinstance(cell, np.generic) else cell


@pytest.mark.parametrize("with_empty", [False, True])
def test_frames_and_arrow_tables_hold_the_values(with_empty):
    codes, drawing = table_codes(300, with_empty=with_empty), generator(8)
    expected = {}
    for column in PLAIN:
        has_names = column.type in (Type.CATEGORY, Type.TEXT)
        values = values_of(column, codes[column.name], generator(0) if has_names else drawing)
        expected[column.name] = values.tolist()
    frame = frame_of(PLAIN, codes, generator(8))
    table = arrow_of(PLAIN, codes, generator(8))
    assert list(frame.columns) == table.column_names == [column.name for column in PLAIN]
    for column in PLAIN:
        name = column.name
        assert table.column(name).to_pylist() == expected[name]
        cells = [as_python(cell) for cell in frame[name].tolist()]
        if column.type in (Type.DATE, Type.DATETIME):
            numpy_cells = frame[name].to_numpy()
            moments = np.array(expected[name], dtype="datetime64[s]")
            np.testing.assert_array_equal(numpy_cells, moments)
        else:
            assert cells == expected[name]


def test_frames_have_types_that_can_be_empty_only_where_a_cell_is():
    kinds = {
        "age": ("int64", "Int64"),
        "listed": ("int64", "Int64"),
        "flag": ("bool", "boolean"),
        "price": ("float64", "float64"),
        "born": ("datetime64[s]", "datetime64[s]"),
        "ever": ("datetime64[s]", "datetime64[s]"),
        "moment": ("datetime64[s]", "datetime64[s]"),
        "twins": ("category", "category"),
    }
    full = frame_of(PLAIN, table_codes(20, with_empty=False), generator(1))
    partly = frame_of(PLAIN, table_codes(20, with_empty=True), generator(1))
    assert {name: (str(full[name].dtype), str(partly[name].dtype)) for name in kinds} == kinds
    for name in kinds:
        assert full[name].isna().sum() == 0
        assert partly[name].isna().tolist() == [False] * 17 + [True] * 3
    assert list(full["twins"].cat.categories) == ["a", "A", "b", "empty", "é"]


def test_parquet_gives_the_same_table_back():
    table = arrow_of(PLAIN, table_codes(50, with_empty=True), generator(2))
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    read = pa.parquet.read_table(io.BytesIO(file.getvalue()))
    assert read.to_pylist() == table.to_pylist()
    kinds = {name: str(table.schema.field(name).type) for name in ("age", "price", "born", "moment", "flag", "twins")}
    assert kinds == {
        "age": "int64",
        "price": "double",
        "born": "date32[day]",
        "moment": "timestamp[ms]",
        "flag": "bool",
        "twins": "dictionary<values=string, indices=int32, ordered=0>",
    }


def test_a_missing_package_is_refused_with_what_to_install(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(values_module, "import_module", absent)
    column = synth_column(Column("c", "boolean"))
    for give, package in ((frame_of, "pandas"), (arrow_of, "pyarrow")):
        with pytest.raises(BadValue, match=f"needs the package {package}.*Install discreet"):
            give([column], {"c": np.array([0])}, generator(1))


def test_numbers_are_rounded_as_a_view_rounds_them():
    """Twin of the view's own conversion, for steps whose float is exact, is not, and is no fraction of two doubles."""
    for step in (Fraction(1, 4), Fraction(1, 100), Fraction(2, 3), Fraction(10**17 + 1, 10**18)):
        declared = Column("c", "number", bounds=(0, 1000), step=step)
        column = synth_column(declared)
        codes = np.arange(column.cells)
        points = points_of(column, codes, generator(1))
        drawn = values_of(column, codes, generator(1)).tolist()
        for point, value in zip(points.tolist(), drawn, strict=True):
            top, bottom = float(step.numerator), float(step.denominator)
            is_split = step.denominator not in (1, 4) and max(step.numerator, step.denominator) < 2**53
            assert value == (point * top / bottom if is_split else point * float(step))


def test_a_person_column_draws_like_any_other():
    declared = Column("c", "integer", bounds=(0, 999))
    codes = np.arange(100)
    plain, personal = synth_column(declared), synth_column(replace(declared, fixed_per_unit=True))
    assert values_of(plain, codes, generator(1)).tolist() == values_of(personal, codes, generator(1)).tolist()
