"""An answer as bytes, in the format that was typed or that the file's name has."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import inert
from discreet.answer.column import label_text
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
SEPARATED = {"csv": ",", "tsv": "\t"}


def chosen_format(typed: str | None, file: Path | None) -> str:
    """The format as typed, or by the file's suffix, else a table for people.

    >>> chosen_format(None, Path("answer.csv")), chosen_format(None, None)
    ('csv', 'table')
    """
    if typed is None:
        return TABLE if file is None else SUFFIXES.get(file.suffix.lower(), TABLE)
    if typed not in (TABLE, *FORMATS):
        likely = suggestion(typed, [TABLE, *FORMATS]) or "csv"
        raise bad("format", f"must be one of {', '.join([TABLE, *FORMATS])}", typed, f"Write: --format {likely}")
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


def require_raw(name: str, file: Path | None) -> None:
    """Refuses, before anything is spent, --raw where it means nothing, or where cells could steer a terminal."""
    if name not in SEPARATED:
        raise bad("raw", "goes with csv and tsv only", name, "Leave it out, or write --format csv")
    if file is None and sys.__stdout__ is not None and sys.__stdout__.isatty():
        fix = f"Name a file: -o answer.{name}"
        raise bad("raw", "must not go to a terminal, which may act on what a cell holds", name, fix)


def content(answer: "Answer", name: str, cell: Callable[[str], str] = inert.cell) -> bytes | None:
    """The answer's bytes; None for the table, which is drawn.  `cell` writes a text of CSV or TSV."""
    if name in SEPARATED:
        return _separated_text(answer, SEPARATED[name], cell)
    return None if name == TABLE else FORMATS[name](answer)


def exact_cell(text: str) -> str:
    """A text as it is, for machines."""
    return text


def guard_caveat(answer: "Answer", name: str) -> str | None:
    """The caveat of a file in which texts were changed so that no spreadsheet runs them."""
    cells = [*_names(answer), *(_one_cell(value) for row in _rows(answer) for value in row.values())]
    texts = [text for text in cells if isinstance(text, str)]
    if name not in SEPARATED or all(inert.cell(text) == text for text in texts):
        return None
    return (
        "Texts that a spreadsheet would run have a ' before them, and characters that cannot be seen are spelt out; "
        "--raw writes them as they are."
    )


def _separated_text(answer: "Answer", separator: str, cell: Callable[[str], str]) -> bytes:
    rows = [_names(answer), *(row.values() for row in _rows(answer))]
    texts = ((cell(value) if isinstance(value, str) else value for value in map(_one_cell, row)) for row in rows)
    return "".join(_line(row, separator) for row in texts).encode(errors="surrogatepass")


def _one_cell(value: Any) -> Any:
    """Several favourites in one cell, with a ; between; a ; or \\ of their own has a \\ before it.

    >>> _one_cell(["flu", "a;b"]), _one_cell("a;b")
    ('flu; a\\\\;b', 'a;b')
    """
    if not isinstance(value, list):
        return value
    return "; ".join(label_text(label).replace("\\", "\\\\").replace(";", "\\;") for label in value)


def _line(cells: Iterable[Any], separator: str) -> str:
    return separator.join("" if cell is None else _field(cell, separator) for cell in cells) + "\n"


def _field(cell: Any, separator: str) -> str:
    """One cell, in quotes where it must; the empty text as "", since nothing at all is NULL."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerow([cell])  # \r too must stand in quotes
    return text.getvalue().removesuffix("\r\n")


def _names(answer: "Answer") -> list[str]:
    """The columns of a file without metadata: each value, its ±, and what else is said of it."""
    names = [*answer.keys]
    for column in answer.columns:
        names += [column.name, f"{column.name}_moe", *answer.beside(column)]
    return names


def _rows(answer: "Answer") -> list[dict[str, Any]]:
    facts = {name: fact for column in answer.columns for name, fact in answer.beside(column).items()}
    names, rows = _names(answer), [row | facts for row in answer.to_json()["rows"]]
    return [{name: row[name] for name in names} for row in rows]


def _json_line(value: Any) -> bytes:
    return inert.in_json(json.dumps(value, allow_nan=False) + "\n").encode()


def _markdown(answer: "Answer") -> bytes:
    from discreet.answer.show import caps, caption, table

    header, rows = table(answer)
    sides = ["---"] * len(answer.keys) + ["---:"] * len(answer.columns)
    lines = [_markdown_row(map(inert.markdown, header)), _markdown_row(sides)]
    lines += [_markdown_row(map(inert.markdown, row)) for row in rows]
    notes = [f"{inert.markdown(line)}\n" for line in (*caps(answer), caption(answer))]
    return "\n".join([*lines, "", *notes]).encode()


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _html(answer: "Answer") -> bytes:
    from html import escape

    from discreet.answer.show import html

    title = escape(inert.visible(answer.dataset))
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
    "csv": lambda answer: _separated_text(answer, SEPARATED["csv"], inert.cell),
    "tsv": lambda answer: _separated_text(answer, SEPARATED["tsv"], inert.cell),
    "json": lambda answer: _json_line(answer.to_json()),
    "jsonl": lambda answer: b"".join(map(_json_line, _rows(answer))),
    "parquet": _parquet,
    "arrow": _arrow,
    "md": _markdown,
    "html": _html,
}
