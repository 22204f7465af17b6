"""Rows that a user hands over for predictions: a CSV or Parquet file whose columns are read as the model declares them.

They are the user's own and go through no gate.  A cell that cannot be read as its column is empty, and counted.
"""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadValue, bad
from discreet.learn.subject import Subject
from discreet.schema import Type

MOST_ROWS = 10**7
_TRUTHS = {"true": True, "false": False, "1": True, "0": False}


def read_rows(path: Path, subject: Subject) -> dict[str, Any]:
    """The columns of the features, by their names."""
    names = [feature.name for feature in subject.features]
    columns = _parquet(path, names) if path.suffix.lower() == ".parquet" else _csv(path, names)
    rows = {}
    for feature in subject.features:
        is_number = feature.is_number and not feature.day
        rows[feature.name] = _cells(columns[feature.name], _reader(subject, feature.column), is_number)
    return rows


def unread_cells(subject: Subject, encoded: Mapping[str, Any]) -> dict[str, int]:
    """How many cells of each feature are empty, or hold no number or public value of it; features without are left out.

    `encoded` are the rows as `Subject.encoded` makes them.
    """
    counts = {}
    for feature in subject.features:
        cells = encoded[feature.name]
        counts[feature.name] = int(np.count_nonzero(np.isnan(cells) if cells.dtype.kind == "f" else cells < 0))
    return {name: count for name, count in counts.items() if count}


def _csv(path: Path, names: list[str]) -> dict[str, list[Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            places = {name: _place(name, header, path) for name in names}
            columns: dict[str, list[Any]] = {name: [] for name in names}
            for number, line in enumerate(lines):
                if number >= MOST_ROWS:
                    raise bad("rows", f"must be at most {MOST_ROWS:,}", "more", "Split the file.")
                if line:
                    for name, place in places.items():
                        columns[name].append(line[place] if place < len(line) else None)
            return columns
    except (OSError, UnicodeDecodeError, csv.Error):
        raise _unreadable(path) from None


def _parquet(path: Path, names: list[str]) -> dict[str, list[Any]]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]
    except ImportError:
        raise bad("rows", "need the package pyarrow", str(path), "Install discreet[frames], or give a CSV.") from None
    try:
        with parquet.ParquetFile(path) as file:
            header = list(file.schema_arrow.names)
            for name in names:
                _place(name, header, path)
            table = file.read(columns=names)
    except (OSError, pyarrow.ArrowException):
        raise _unreadable(path) from None
    return {name: table.column(name).to_pylist() for name in names}


def _place(name: str, header: list[str], path: Path) -> int:
    if header.count(name) != 1:
        rule = f"must have the model's columns, and {name!r} once"
        raise bad("rows", rule, str(path), f"Add a column {name!r} with its name in the first line.")
    return header.index(name)


def _unreadable(path: Path) -> BadValue:
    return bad("rows", "must be a CSV in UTF-8 or a Parquet file that you may read", str(path), "Give another file.")


def _reader(subject: Subject, column: str) -> Callable[[Any], Any]:
    """How a cell of that column is read; it raises ValueError or TypeError for what is none."""
    declared = subject.schema.find(column)
    kind = None if declared is None else declared.type
    readers: Mapping[Any, Callable[[Any], Any]] = {
        Type.BOOLEAN: _truth,
        Type.INTEGER: float,
        Type.NUMBER: float,
        Type.DATE: _as_it_is,
        Type.DATETIME: _as_it_is,
    }
    return readers.get(kind, str)


def _truth(cell: Any) -> bool:
    return cell if isinstance(cell, bool) else _TRUTHS[str(cell).strip().casefold()]


def _as_it_is(cell: Any) -> Any:
    """A date or moment, or a text that spells one; `ModelColumn.encoded` reads it."""
    return cell


def _cells(cells: list[Any], read: Callable[[Any], Any], is_number: bool) -> Any:
    values: list[Any] = []
    for cell in cells:
        try:
            values.append(None if cell is None else read(cell))
        except (ValueError, TypeError, KeyError, OverflowError, AttributeError):
            values.append(None)
    return np.array([np.nan if value is None else value for value in values], dtype=float) if is_number else values
