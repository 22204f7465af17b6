"""One column of a table in memory as an Arrow array of a plain type, told by its dtype and by nothing it holds.

    whole numbers, flags, floats        int64 (uint64 as it is), bool, float64
    texts                               large_string
    days, moments of any unit or zone   date32; timestamp[us] in UTC
    everything else                     `MIXED`: each cell by `scalars.read`, in the part that it belongs to

A cell means the same in a mixed column as in a typed one, since the same SQL reads both (`cells.value`).
"""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from discreet.engine.scalars import ENDLESS, FURTHEST, Part, read, seconds_text
from discreet.errors import SourceUnavailable

_PER_UNIT = {"s": 10**6, "ms": 10**3, "us": 1}
_FLOAT = re.compile(r"(sparse\[|.*values[=:]\s*)?(half|long)?(float|double|complex)")
_NESTED = re.compile(
    r"(sparse\[|.*values[=:]\s*)?(large_|fixed_size_)?(list|array|struct|map|union|dense_union|sparse_union)"
)
_NONE = type(None)
_LAST_DAY = 2**31 - 1  # the engine's infinite day


def arrow(name: str = "pyarrow") -> Any:
    """PyArrow, or one of its modules."""
    try:
        return import_module(name)
    except ImportError:
        why, fix = "PyArrow is not installed.", 'Run: pip install "discreet[frames]"'
        raise SourceUnavailable("A table in memory is read through PyArrow.", why, fix) from None


def from_arrow(column: Any) -> Any:
    """A column of an Arrow table."""
    pa, kind = arrow(), column.type
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if pa.types.is_dictionary(kind):
        return from_arrow(pa.chunked_array([_without_dictionary(chunk) for chunk in column.chunks], kind.value_type))
    if pa.types.is_boolean(kind) or kind in (pa.int64(), pa.uint64(), pa.float64()):
        return column
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _texts(column)
    if pa.types.is_date32(kind):
        return _days(column.cast(pa.int32()).cast(pa.int64()).combine_chunks())
    if pa.types.is_timestamp(kind):
        return _moments(column.cast(pa.int64()).combine_chunks(), kind.unit)
    if pa.types.is_duration(kind):
        counts = column.cast(pa.int64()).to_pylist()
        return mixed_column([None if count is None else seconds_text(count, kind.unit) for count in counts])
    return mixed_column(_python_values(column))


def from_polars(column: Any) -> Any:
    """A column of a Polars table."""
    name = str(column.dtype.base_type())
    if name in ("Categorical", "Enum"):
        column, name = column.cast(import_module("polars").String), "String"
    plain = name.startswith(("Int", "UInt", "Float")) and name not in ("Int128", "UInt128")
    if plain or name in ("Boolean", "String", "Date", "Datetime", "Duration"):
        return from_arrow(column.to_arrow())
    return mixed_column(column.to_list())


def from_pandas(column: Any) -> Any:
    """A column of a pandas table."""
    pa, dtype = arrow(), column.dtype
    if isinstance(dtype, np.dtype):
        return _from_numpy(column.to_numpy())
    if hasattr(dtype, "categories"):
        return _from_categories(column.array)
    if hasattr(dtype, "tz"):
        return _from_numpy(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if hasattr(dtype, "pyarrow_dtype"):
        return from_arrow(pa.chunked_array(column.array.__arrow_array__()))
    if hasattr(dtype, "storage"):  # text
        return _from_texts(column)
    if getattr(dtype, "kind", "O") in "biuf" and hasattr(dtype, "numpy_dtype"):  # whole numbers and floats with gaps
        return from_arrow(pa.array(column.array))
    return mixed_column(list(column))


def mixed_column(cells: Sequence[Any]) -> Any:
    """Each cell in the part that `scalars.read` gives it; the other parts are empty there.

    Texts as they are, the most frequent by far, are told by their type and not read one by one: the same thing sooner.
    """
    pa, size = arrow(), len(cells)
    parts: dict[Part, list[Any]] = {}
    kinds = list(map(type, cells))
    if str in kinds:
        parts[Part.TEXT] = [cell if kind is str else None for cell, kind in zip(cells, kinds, strict=True)]
    for place in [place for place, kind in enumerate(kinds) if kind is not str and kind is not _NONE]:
        part, value = read(cells[place])
        if part not in parts:
            parts[part] = [None] * size
        parts[part][place] = value
    arrays = [
        _part(parts[part], part, kind) if part in parts else pa.nulls(size, kind)
        for part, kind in zip(Part, _part_types().values(), strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, names=list(_part_types()))


def _part(values: list[Any], part: Part, kind: Any) -> Any:
    pa = arrow()
    try:
        return pa.array(values, type=kind)
    except UnicodeEncodeError:  # half a character, which UTF-8 does not hold
        return pa.array([None if value is None else read(value)[1] for value in values], type=kind)


def is_float(dtype: Any) -> bool:
    """Whether a dtype of any of the libraries, or that of its categories, is a float's."""
    inner = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    return _FLOAT.match(str(inner).casefold()) is not None


def is_nested(dtype: Any) -> bool:
    """Whether a dtype of any of the libraries, or that of its categories, holds lists or records.

    >>> [is_nested(kind) for kind in ("struct<a: int64>", "list<item: double>", "List(Int64)", "object", "string")]
    [True, True, True, False, False]
    """
    inner = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    return _NESTED.match(str(inner).casefold()) is not None


def _part_types() -> dict[str, Any]:
    pa = arrow()
    kinds = (pa.bool_(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.large_string())
    return {f"discreet_{part.name.lower()}": kind for part, kind in zip(Part, kinds, strict=True)}


def _from_numpy(values: Any) -> Any:
    pa = arrow()
    match values.dtype.kind:
        case "b" | "i" | "u":
            return from_arrow(pa.array(values))
        case "f":
            return pa.array(values.astype(np.float64, copy=False), from_pandas=True)
        case "M" if np.datetime_data(values.dtype)[0] in ("s", "ms", "us", "ns"):
            unit, _ = np.datetime_data(values.dtype)
            return _moments(pa.array(values.view(np.int64), mask=np.isnat(values)), unit)
        case "O":
            return mixed_column(values.tolist())
        case _:
            return mixed_column(list(values))


def _from_categories(column: Any) -> Any:
    """Categories are spelt one by one, so that one more of another type leaves the others as they are."""
    pa, codes = arrow(), np.asarray(column.codes, dtype=np.int64)
    categories = column.categories
    cells = from_pandas(categories.to_series())
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return cells.take(pa.array(codes, mask=codes < 0))


def _from_texts(column: Any) -> Any:
    pa = arrow()
    try:
        return _texts(pa.chunked_array([pa.array(column.array, type=pa.large_string(), from_pandas=True)]))
    except Exception:  # half a character, which UTF-8 does not hold
        return pa.array([read(cell)[1] for cell in column], type=pa.large_string())


def _texts(column: Any) -> Any:
    """Texts whose every byte is of UTF-8."""
    pa = arrow()
    try:
        column.validate(full=True)
        return column.cast(pa.large_string())
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raw = column.cast(pa.large_binary()).to_pylist()
        return pa.array([None if cell is None else read(cell)[1] for cell in raw], type=pa.large_string())


def _days(numbers: Any) -> Any:
    """Days since 1970, endless where the engine's days end."""
    pa = arrow()
    values = np.clip(_numbers(numbers), -_LAST_DAY, _LAST_DAY).astype(np.int32)
    return pa.array(values, mask=_gaps(numbers)).view(pa.date32())


def _moments(numbers: Any, unit: str) -> Any:
    """Counts of a unit since 1970 as microseconds, as `scalars.microseconds` has them."""
    pa, values = arrow(), _numbers(numbers)
    per = _PER_UNIT.get(unit, 1)
    furthest = FURTHEST // per
    whole = np.clip(values // (1000 if unit == "ns" else 1), -furthest, furthest)
    beyond = np.where(values > 0, ENDLESS, -ENDLESS)
    moments = np.where((values >= -furthest) & (values <= furthest), whole * per, beyond)
    return pa.array(moments if unit != "ns" else whole, mask=_gaps(numbers)).view(pa.timestamp("us"))


def _numbers(numbers: Any) -> Any:
    return numbers.fill_null(0).to_numpy(zero_copy_only=False)


def _gaps(numbers: Any) -> Any:
    return numbers.is_null().to_numpy(zero_copy_only=False)


def _without_dictionary(chunk: Any) -> Any:
    pa = arrow()
    return chunk.dictionary_decode() if len(chunk) else pa.array([], chunk.type.value_type)


def _python_values(column: Any) -> list[Any]:
    """The cells as Python has them; None where it has no such value."""
    try:
        return list(column.to_pylist())
    except Exception:  # of one cell; each of the others has its value
        return [_python_value(scalar) for scalar in column]


def _python_value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except Exception:
        return None
