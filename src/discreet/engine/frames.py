"""Tables in memory: those of pandas, Polars and Arrow become an Arrow table of the wanted columns, and then a file."""

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.engine import files
from discreet.engine.tables import matched
from discreet.errors import SourceUnavailable, bad
from discreet.schema import Schema

_KINDS = ("pandas", "polars", "pyarrow")
_UNFIT = (
    "The table in memory could not be taken over.",
    "It holds a value that a Parquet file cannot.",
    "Cast its columns to plain types first: text, int64, float64, datetime64[us].",
)
_EXACT = 2**53  # every whole number below is a double


def arrow_table(frame: Any, schema: Schema) -> Any:
    """The wanted columns under the schema's names as an Arrow table in one piece, free of the frame's own metadata."""
    pa = _arrow()

    names = _column_names(frame)
    places = matched(names, schema, "The table in memory")
    columns = {name: _arrow_column(frame, place) for name, place in places.items()}
    if not columns:
        return pa.table({"discreet_nothing": pa.nulls(len(frame))})
    return pa.table(columns).combine_chunks()


def require_frame(given: Any) -> Any:
    """The table itself, if it is one that can be read; it is never shown."""
    if _kind(given) is None:
        kinds = "a path or a table of pandas, Polars or PyArrow"
        raise bad("source", f"must be {kinds}", type(given).__name__, "Give a path, or table=df.")
    return given


def digest(table: Any) -> bytes:
    """SHA-256 of the table's Arrow stream: equal for equal content, also in another process."""
    pa = _arrow()

    sink = _Digest()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema) as stream:
        stream.write_table(table)
    return sink.hash.digest()


def write_parquet(table: Any, path: Path) -> None:
    """The table as a Parquet file of its owner's alone."""
    pq = _arrow("pyarrow.parquet")

    files.write_new(path, b"")
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
        """Nothing waits."""

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
    pa, kind = _arrow(), _kind(frame)
    if kind == "pyarrow":
        return frame.column(place)
    column = frame.to_series(place) if kind == "polars" else frame.iloc[:, place]
    if str(column.dtype).casefold() == "object":
        return _text_column(column)
    try:
        return column.to_arrow() if kind == "polars" else pa.Array.from_pandas(column)
    except Exception:  # the reason would quote a cell
        return _text_column(column)


def _text_column(column: Any) -> Any:
    """Cells of any type, each as its own text: a type found for all of them would let one cell change the others."""
    pa = _arrow()
    try:
        return pa.array(column, type=pa.string(), from_pandas=True)  # quick, and refused unless all are text or empty
    except Exception:
        cells = [None if _is_nothing(cell) else _spelt(cell) for cell in column]
    return pa.array(cells, type=pa.string())


def _arrow(name: str = "pyarrow") -> Any:
    try:
        return import_module(name)
    except ImportError:
        why, fix = "PyArrow is not installed.", 'Run: pip install "discreet[frames]"'
        raise SourceUnavailable("A table in memory is read through PyArrow.", why, fix) from None


def _is_nothing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return _is_float(cell) and cell != cell


def _is_float(cell: Any) -> bool:
    return type(cell).__name__ in ("float", "float16", "float32", "float64")


def _spelt(cell: Any) -> str | None:
    """The cell's text as `cells.text` has it from a typed column: true, and 1 for 1.0."""
    try:
        if type(cell).__name__ in ("bool", "bool_"):
            return "true" if cell else "false"
        if isinstance(cell, (bytes, bytearray)):
            return cell.decode("utf-8", "replace")
        if _is_float(cell) and cell.is_integer() and abs(cell) < _EXACT:
            return str(int(cell))
        return str(cell).encode("utf-8", "replace").decode()
    except Exception:  # a cell's own code may raise anything, and a bad cell is an empty one
        return None
