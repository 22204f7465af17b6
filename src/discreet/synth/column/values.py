"""Values of cells: each row of a cell gets one of its values, spread evenly over all of them.

A cell with m rows over P points of the lattice gives each point ⌊m/P⌋ or ⌈m/P⌉ of them: the row of rank r, in random
order, gets the point ⌊(r·P + U)/m⌋, with one U uniform on 0 … P − 1 for each cell.  A point has the chance m/P exactly,
and less error than independent draws would leave (systematic sampling, Madow & Madow 1944).  Random order keeps columns
independent within cells.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator
from discreet.schema import Type
from discreet.synth.column.column import SynthColumn

_EXACT = 2**53
_TEXTS = (Type.CATEGORY, Type.TEXT)


def values_of(column: SynthColumn, codes: Ints, generator: Generator) -> NDArray[Any]:
    """A value of each row's cell as an object of Python; None for the empty cell."""
    values = _typed_values(column, codes, generator).astype(object)
    values[codes == column.cells] = None
    return values


def frame_of(
    columns: Sequence[SynthColumn], codes: Mapping[str, Ints], generator: Generator, units: Ints | None = None
) -> Any:
    """Values of all columns as a pandas frame; types that can be empty only where a cell is.

    With the number of each row's unit, rows of one unit stand together, and its own columns have one value in all.
    """
    pandas = _package("pandas")
    return pandas.DataFrame(
        {column.name: _of_rows(_series, column, codes[column.name], generator, units) for column in columns}
    )


def arrow_of(
    columns: Sequence[SynthColumn], codes: Mapping[str, Ints], generator: Generator, units: Ints | None = None
) -> Any:
    """The same values as `frame_of` as an Arrow table, for Parquet."""
    pyarrow = _package("pyarrow")
    return pyarrow.table(
        {column.name: _of_rows(_arrow_array, column, codes[column.name], generator, units) for column in columns}
    )


def _of_rows(
    values: Callable[[SynthColumn, Ints, Generator], Any],
    column: SynthColumn,
    codes: Ints,
    generator: Generator,
    units: Ints | None,
) -> Any:
    """Values of all rows; of a column of units one for each unit, in all of its rows."""
    if units is None or not column.is_person or not len(units):
        return values(column, codes, generator)
    is_first = np.diff(units, prepend=units[0] - 1) != 0
    return values(column, codes[is_first], generator).take(np.cumsum(is_first) - 1)


def _series(column: SynthColumn, codes: Ints, generator: Generator) -> Any:
    pandas, is_empty = _package("pandas"), codes == column.cells
    if column.type in _TEXTS:
        _require_codes(column, codes)
        return pandas.Categorical.from_codes(np.where(is_empty, -1, codes), categories=list(column.values or ()))
    values = _typed_values(column, codes, generator)
    if not is_empty.any():
        return values
    if column.type is Type.INTEGER:
        return pandas.arrays.IntegerArray(values, is_empty)
    if column.type is Type.BOOLEAN:
        return pandas.arrays.BooleanArray(values, is_empty)
    values[is_empty] = np.nan if column.type is Type.NUMBER else np.datetime64("NaT")
    return values


def _arrow_array(column: SynthColumn, codes: Ints, generator: Generator) -> Any:
    pyarrow, is_empty = _package("pyarrow"), codes == column.cells
    if column.type in _TEXTS:
        _require_codes(column, codes)
        places = pyarrow.array(codes.astype(np.int32), mask=is_empty)
        return pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(list(column.values or ()), pyarrow.string()))
    values = _typed_values(column, codes, generator)
    if column.type is Type.DATETIME:
        values = values.astype("datetime64[ms]")  # Parquet has no seconds
    return pyarrow.array(values, mask=is_empty)


def _typed_values(column: SynthColumn, codes: Ints, generator: Generator) -> NDArray[Any]:
    """A value of each row's cell in the type of its column, and some value for the empty cell."""
    _require_codes(column, codes)
    if column.values is not None:
        kind = object if column.type in _TEXTS else np.bool_ if column.type is Type.BOOLEAN else np.int64
        return np.array([*column.values, column.values[0]], dtype=kind)[codes]
    points = points_of(column, codes, generator)
    match column.type:
        case Type.NUMBER:
            return _numbers(column, points)
        case Type.DATE:
            return (points * column.step.numerator).astype("datetime64[D]")
        case Type.DATETIME:
            return (points * column.step.numerator).astype("datetime64[s]")
        case _:
            return points * column.step.numerator


def _numbers(column: SynthColumn, points: Ints) -> Floats:
    """Steps as numbers, rounded as a view rounds those of the table."""
    top, bottom = column.step.numerator, column.step.denominator
    low, *_, high = map(float, column.edges or ())
    if bottom & (bottom - 1) == 0 or max(top, bottom) >= _EXACT:
        return np.clip(points * float(column.step), low, high)
    return np.clip(points * float(top) / float(bottom), low, high)


def points_of(column: SynthColumn, codes: Ints, generator: Generator) -> Ints:
    """A point of the lattice in each row's bin, in steps; that of the first bin for the empty cell."""
    first = np.append(column.starts[:-1], column.starts[0])
    widths = np.append(np.diff(column.starts), 1)
    if (widths == 1).all():
        return first[codes]
    offsets = generator.integers(0, widths)
    order = generator.permutation(len(codes))
    narrow = codes[order].astype(np.uint16) if column.cells < 2**16 else codes[order]  # 16 bits are sorted by radix
    order = order[np.argsort(narrow, kind="stable")]
    counts = np.bincount(codes, minlength=len(widths))
    whole, rest = np.divmod(widths, np.maximum(counts, 1))
    ranks = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    # r·P = r·m·⌊P/m⌋ + r·(P mod m): no product passes m² or P
    parts = (ranks * np.repeat(rest, counts) + np.repeat(offsets, counts)) // np.repeat(counts, counts)
    points = np.empty(len(codes), dtype=np.int64)
    points[order] = np.repeat(first, counts) + ranks * np.repeat(whole, counts) + parts
    return points


def _require_codes(column: SynthColumn, codes: Ints) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) <= column.cells:
        rule = f"must lie within 0 and {column.cells}, which is the empty cell"
        raise bad(f"codes of {column.name!r}", rule, int(codes.max()), "Give codes of this column's cells.")


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise bad("frame", f"needs the package {name}", f"no {name} here", "Install discreet[frames].") from None
