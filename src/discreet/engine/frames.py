"""Tables in memory: those of pandas, Polars and Arrow become an Arrow table of the wanted columns, and then a file."""

import hashlib
from pathlib import Path
from typing import Any

from discreet import durable
from discreet.engine import columns
from discreet.engine.columns import arrow
from discreet.engine.tables import column_places
from discreet.errors import SourceUnavailable, bad
from discreet.schema import Column, Schema, Type
from discreet.schema.words import toml_value

_KINDS = ("pandas", "polars", "pyarrow")
_UNFIT = (
    "The table in memory could not be taken over.",
    "It holds a value that a Parquet file cannot.",
    "Cast its columns to plain types first: text, int64, float64, datetime64[us].",
)
_EXACT = 2**53  # every whole number below is a double


def arrow_table(frame: Any, schema: Schema) -> Any:
    """The wanted columns under the schema's names as an Arrow table in one piece, free of the frame's own metadata."""
    pa = arrow()

    names = _column_names(frame)
    places = column_places(names, schema, "The table in memory")
    for name, place in places.items():
        _require_exact(name, _dtype(frame, place), schema)
    arrays = {name: _arrow_column(frame, place) for name, place in places.items()}
    if not arrays:
        return pa.table({"discreet_nothing": pa.nulls(len(frame))})
    return pa.table(arrays).combine_chunks()


def require_frame(source: Any) -> Any:
    """The source itself, refused unless it is a table that can be read; a refusal shows only its type."""
    if _kind(source) is None:
        kinds = "a path or a table of pandas, Polars or PyArrow"
        raise bad("source", f"must be {kinds}", type(source).__name__, "Give a path, or table=df.")
    return source


def digest(table: Any) -> bytes:
    """SHA-256 of the table's Arrow stream: equal for equal content, also in another process."""
    pa = arrow()

    sink = _Digest()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema) as stream:
        stream.write_table(table)
    return sink.hash.digest()


def write_parquet(table: Any, path: Path) -> None:
    """Write the table as a Parquet file that only its owner can read."""
    pq = arrow("pyarrow.parquet")

    durable.write(path, b"", new=True)
    with path.open("r+b") as handle:
        try:
            pq.write_table(table, handle, compression="snappy")
            return
        except ValueError:  # such as a moment beyond the file's range; the reason quotes it
            pass
    raise SourceUnavailable(*_UNFIT)


class _Digest:
    """A sink that keeps nothing but the hash."""

    def __init__(self) -> None:
        self.hash, self.closed = hashlib.sha256(), False

    def write(self, part: Any) -> int:
        self.hash.update(part)
        return len(part)

    def flush(self) -> None:
        """Do nothing: no byte waits to be written."""

    def close(self) -> None:
        self.closed = True


def _kind(frame: Any) -> str | None:
    named = type(frame).__name__
    module = type(frame).__module__.partition(".")[0]
    return module if module in _KINDS and named in ("DataFrame", "Table") else None


def _column_names(frame: Any) -> list[str]:
    names = frame.column_names if _kind(frame) == "pyarrow" else frame.columns
    return [str(name) for name in names]


def _arrow_column(frame: Any, place: int) -> Any:
    try:
        match _kind(frame):
            case "pyarrow":
                return columns.from_arrow(frame.column(place))
            case "polars":
                return columns.from_polars(frame.to_series(place))
            case _:
                return columns.from_pandas(frame.iloc[:, place])
    except SourceUnavailable:
        raise
    except Exception:  # no cell does this, but a library that is other than it was; its reason may quote one
        pass
    raise SourceUnavailable(*_UNFIT)


def _dtype(frame: Any, place: int) -> Any:
    match _kind(frame):
        case "pyarrow":
            return frame.column(place).type
        case "polars":
            return frame.dtypes[place]
        case _:
            return frame.dtypes.iloc[place]


def _require_exact(name: str, dtype: Any, schema: Schema) -> None:
    """Refuses lists and records, and floats where whole numbers above 2⁵³ would count: one missing cell makes floats of
    a column of whole numbers, and other people's change with it.  Told by the dtype, never by what the column holds."""
    if columns.is_nested(dtype):
        what = f"Column {toml_value(name)} must not hold lists or records."
        why = f"It is {dtype}, in which one person's cell decides how others' are spelt."
        raise SourceUnavailable(what, why, f"Hand over texts, for example: df[{name!r}].map(json.dumps)")
    if not columns.is_float(dtype) or not _tells_large_apart(schema.find(name)):
        return
    what = f"Column {toml_value(name)} must not hold floats."
    why = (
        f"It is {dtype}, and whole numbers that became floats, as pandas makes them where one is missing, are rounded."
    )
    fix = f"Hand over whole numbers or text, for example: df[{name!r}] = df[{name!r}].astype('Int64')"
    raise SourceUnavailable(what, why, f"{fix}, best when it is read: dtype={{{name!r}: 'Int64'}}")


def _tells_large_apart(column: Column | None) -> bool:
    """Whether whole numbers that are one double can be two cells; a column that is not declared is the unit's key."""
    if column is None:
        return True
    match column.type:
        case Type.INTEGER:
            lattice = column.lattice
            return lattice is None or lattice.largest * lattice.step > _EXACT
        case Type.TEXT | Type.CATEGORY:
            return column.values is None or any(_is_large(str(value)) for value in column.values)
        case _:
            return False


def _is_large(text: str) -> bool:
    try:
        return abs(float(text)) >= _EXACT
    except ValueError:
        return False
