"""Arrow tables as CSV that a spreadsheet shows and never runs: names are written by the one rule of `inert.cell`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.inert import cell
from discreet.release.publish.tidy import pyarrow

_ROWS = 2**18  # written at once, so that memory does not grow with the table


def write_csv(table: Any, path: Path, *, notes: Mapping[str, str] | None = None) -> None:
    """The whole table with its header; numbers as they are, names guarded, and a column for each note."""
    arrow = pyarrow()
    from pyarrow import csv  # type: ignore[import-untyped]

    columns = [_guarded(column) for column in table.columns]
    safe = arrow.table(columns, names=[cell(name) for name in table.column_names])
    for name, note in (notes or {}).items():
        safe = safe.append_column(_free(name, safe.column_names), _repeated(note, safe.num_rows))
    flat = arrow.schema([(field.name, _plain(field.type)) for field in safe.schema])
    with csv.CSVWriter(str(path), flat) as writer:
        for start in range(0, max(1, safe.num_rows), _ROWS):
            writer.write_table(safe.slice(start, _ROWS).cast(flat))


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, with a _ behind it for as long as a column has it."""
    while name in taken:
        name += "_"
    return name


def _repeated(note: str, rows: int) -> Any:
    arrow = pyarrow()
    indices = arrow.array(np.zeros(rows, dtype=np.int8))
    return arrow.DictionaryArray.from_arrays(indices, arrow.array([cell(note)], arrow.string()))


def _guarded(column: Any) -> Any:
    """A column of names with its dictionary guarded; any other as it is."""
    arrow = pyarrow()
    if not arrow.types.is_dictionary(column.type):
        return column
    one = column.unify_dictionaries().combine_chunks()
    if isinstance(one, arrow.ChunkedArray):  # how an empty column comes back
        return column.cast(column.type.value_type)
    names = arrow.array([cell(name) for name in one.dictionary.to_pylist()], arrow.string())
    return arrow.DictionaryArray.from_arrays(one.indices, names)


def _plain(kind: Any) -> Any:
    return kind.value_type if pyarrow().types.is_dictionary(kind) else kind
