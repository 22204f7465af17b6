"""Arrow tables as CSV that a spreadsheet shows and never runs: names that look like formulas get a ' before them."""

from pathlib import Path
from typing import Any

from discreet.release.publish.tidy import pyarrow

_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n")
_ROWS = 2**18  # written at once, so that memory does not grow with the table


def write_csv(table: Any, path: Path) -> None:
    """The whole table with its header; numbers as they are, names guarded."""
    arrow = pyarrow()
    from pyarrow import csv  # type: ignore[import-untyped]

    columns = [_guarded(column) for column in table.columns]
    safe = arrow.table(columns, names=[guarded(name) for name in table.column_names])
    flat = arrow.schema([(field.name, _plain(field.type)) for field in safe.schema])
    with csv.CSVWriter(str(path), flat) as writer:
        for start in range(0, max(1, safe.num_rows), _ROWS):
            writer.write_table(safe.slice(start, _ROWS).cast(flat))


def guarded(name: str) -> str:
    """A name no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("Oslo")
    ("'=1+1", 'Oslo')
    """
    return f"'{name}" if name.startswith(_RUNS) else name


def _guarded(column: Any) -> Any:
    """A column of names with its dictionary guarded; any other as it is."""
    arrow = pyarrow()
    if not arrow.types.is_dictionary(column.type):
        return column
    one = column.unify_dictionaries().combine_chunks()
    if isinstance(one, arrow.ChunkedArray):  # how an empty column comes back
        return column.cast(column.type.value_type)
    names = arrow.array([guarded(name) for name in one.dictionary.to_pylist()], arrow.string())
    return arrow.DictionaryArray.from_arrays(one.indices, names)


def _plain(kind: Any) -> Any:
    return kind.value_type if pyarrow().types.is_dictionary(kind) else kind
