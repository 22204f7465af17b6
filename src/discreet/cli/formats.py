"""An answer as bytes, in the format that was asked for or that the file's name says."""

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import bad
from discreet.schema.words import suggestion

if TYPE_CHECKING:
    from discreet.answer import Answer

TABLE = "table"
SUFFIXES = {
    **{".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "md"},
    **{".html": "html", ".htm": "html", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"},
}
BINARY = {"parquet", "arrow"}


def chosen_format(typed: str | None, file: Path | None) -> str:
    """The format: as typed, or as the file's name ends, else a table for people.

    >>> chosen_format(None, Path("answer.csv")), chosen_format(None, None)
    ('csv', 'table')
    """
    if typed is None:
        return TABLE if file is None else SUFFIXES.get(file.suffix.lower(), TABLE)
    if typed not in (TABLE, *FORMATS):
        meant = suggestion(typed, [TABLE, *FORMATS]) or "csv"
        raise bad("format", f"must be one of {', '.join([TABLE, *FORMATS])}", typed, f"Write: --format {meant}")
    return typed


def require_possible(name: str, file: Path | None) -> None:
    """Refuses, before anything is spent, a format that could not be written afterwards."""
    if name not in BINARY:
        return
    if file is None and sys.__stdout__ is not None and sys.__stdout__.isatty():
        raise bad("format", "must be readable on a terminal", name, f"Name a file: -o answer.{name}")
    try:
        import pyarrow  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        fix = "Install discreet[frames], or write --format csv"
        raise bad("format", "needs the package pyarrow", name, fix) from None


def content(answer: "Answer", name: str) -> bytes | None:
    """The answer's bytes; None for the table, which is drawn."""
    return None if name == TABLE else FORMATS[name](answer)


def _separated(answer: "Answer", separator: str) -> bytes:
    text = io.StringIO(newline="")
    names = [*answer.keys, *(name for one in answer.columns for name in (one.name, f"{one.name}_moe"))]
    writer = csv.DictWriter(text, names, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(answer))
    return text.getvalue().encode()


def _rows(answer: "Answer") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = answer.to_json()["rows"]
    return rows


def _json(answer: "Answer") -> bytes:
    return (json.dumps(answer.to_json(), allow_nan=False) + "\n").encode()


def _jsonl(answer: "Answer") -> bytes:
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in _rows(answer)).encode()


def _markdown(answer: "Answer") -> bytes:
    from discreet.answer.show import caption, table

    header, rows = table(answer)
    sides = ["---"] * len(answer.keys) + ["---:"] * len(answer.columns)
    lines = [_barred(header), _barred(sides), *map(_barred, rows)]
    return "\n".join([*lines, "", caption(answer), ""]).encode()


def _barred(cells: list[str]) -> str:
    plain = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(plain)} |"


def _html(answer: "Answer") -> bytes:
    from html import escape

    from discreet.answer.show import html

    title = escape(answer.dataset)
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    return f"{head}<body>{html(answer)}</body></html>\n".encode()


def _parquet(answer: "Answer") -> bytes:
    import pyarrow
    import pyarrow.parquet  # type: ignore[import-untyped]

    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(answer.to_arrow(), sink)
    return bytes(sink.getvalue().to_pybytes())


def _arrow(answer: "Answer") -> bytes:
    import pyarrow

    sink, table = pyarrow.BufferOutputStream(), answer.to_arrow()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


FORMATS: dict[str, Callable[["Answer"], bytes]] = {
    "csv": lambda answer: _separated(answer, ","),
    "tsv": lambda answer: _separated(answer, "\t"),
    "json": _json,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "arrow": _arrow,
    "md": _markdown,
    "html": _html,
}
