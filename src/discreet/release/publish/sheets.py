"""Write Arrow tables as CSV in which no spreadsheet runs a formula: `inert.cell` guards every name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.inert import cell, unused_name
from discreet.release.publish.tidy import pyarrow

_ROWS = 2**18  # written at once, so that memory does not grow with the table


def write_csv(table: Any, path: Path, *, notes: Mapping[str, str] | None = None) -> None:
    """Write the table with its header, names guarded, and a column for each note."""
    arrow = pyarrow()
    from pyarrow import csv  # type: ignore[import-untyped]

    columns = [_guarded_column(column) for column in table.columns]
    safe = arrow.table(columns, names=[cell(name) for name in table.column_names])
    for name, note in (notes or {}).items():
        safe = safe.append_column(unused_name(name, safe.column_names), _note_column(note, safe.num_rows))
    flat = arrow.schema([(field.name, _plain(field.type)) for field in safe.schema])
    with csv.CSVWriter(str(path), flat) as writer:
        for start in range(0, max(1, safe.num_rows), _ROWS):
            writer.write_table(safe.slice(start, _ROWS).cast(flat))


def _note_column(note: str, rows: int) -> Any:
    arrow = pyarrow()
    indices = arrow.array(np.zeros(rows, dtype=np.int8))
    return arrow.DictionaryArray.from_arrays(indices, arrow.array([cell(note)], arrow.string()))


def _guarded_column(column: Any) -> Any:
    """The column with the names of its dictionary guarded; columns of numbers are unchanged."""
    arrow = pyarrow()
    if not arrow.types.is_dictionary(column.type):
        return column
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, arrow.ChunkedArray):  # how an empty column comes back
        return column.cast(column.type.value_type)
    names = arrow.array([cell(name) for name in array.dictionary.to_pylist()], arrow.string())
    return arrow.DictionaryArray.from_arrays(array.indices, names)


def _plain(kind: Any) -> Any:
    return kind.value_type if pyarrow().types.is_dictionary(kind) else kind
