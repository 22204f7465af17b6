"""Public files: the TOML itself, and the lists and trees that lie beside it."""

import csv
import io
from pathlib import Path, PurePosixPath
from typing import Any

from discreet.errors import MetadataError
from discreet.fix import UNKNOWN, Advice, Fix
from discreet.schema.words import key, name, toml_value

MOST_BYTES = 16 * 2**20


def toml_text(path: Path) -> str:
    """The text of a file that ends in .toml; nothing else is opened, so a table given by mistake stays unread."""
    shown = toml_value(str(path))
    if path.suffix.lower() != ".toml":
        words = f"Give a name such as {_toml_name(path)}. For a table, this writes one:"
        fix = Fix(words, "init", {"table": str(path) if path.suffix else UNKNOWN})
        raise MetadataError("The metadata file must end in .toml.", f"You gave {shown}.", fix)
    fix = Fix("Check the name, or write one for a table:", "init", {"table": str(path.with_suffix(".csv"))})
    return _text(path, shown, fix)


def column(folder: Path, file: Any, where: str, *, heading: str, source: Path | None) -> list[str]:
    """The cells of a public one-column CSV below its heading."""
    rows = _rows(folder, file, where, source=source)
    if rows[:1] != [[heading]]:
        why = f"You gave {toml_value(file)}, whose first line is another."
        fix = f"Make {toml_value(heading)} the first line and put one value on each line below it."
        raise MetadataError(f"{where} must name a CSV with the one column {toml_value(heading)}.", why, fix)
    for number, row in enumerate(rows, 1):
        if len(row) != 1:
            what = f"{where} must name a CSV with one column."
            raise MetadataError(what, f"Its row {number} has {len(row)}.", 'Put a value with a comma in quotes: "a, b"')
    return [row[0] for row in rows[1:]]


def branches(folder: Path, file: Any, where: str, *, levels: Any, source: Path | None) -> list[list[str]]:
    """The rows of a public CSV that has the levels of a hierarchy as its columns, top first."""
    rows = _rows(folder, file, where, source=source)
    if rows[:1] != [list(levels)]:
        why = f"You gave {toml_value(file)}, whose first line is another."
        fix = f"Make the first line: {','.join(map(str, levels))}"
        raise MetadataError(f"{where} must name a CSV whose columns are the levels, top first.", why, fix)
    return rows[1:]


def _rows(folder: Path, file: Any, where: str, *, source: Path | None) -> list[list[str]]:
    key_name = where.rpartition(".")[2]
    fix = f'Write the name of a public file beside the TOML, for example: {key_name} = "regions.csv"'
    relative = PurePosixPath(name(file, where, fix))
    if relative.is_absolute() or ".." in relative.parts:
        raise MetadataError(f"{where} must lie in the folder of the TOML.", f"You gave {toml_value(file)}.", fix)
    return public_rows(folder / relative, where, shown=str(file), source=source, fix=fix)


def public_rows(path: Path, where: str, *, shown: str, source: Path | None, fix: str) -> list[list[str]]:
    """The rows of a public CSV, its header first; refused, unread, where it is the private table."""
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        what = f"{where} must be a public file, not the private table."
        raise MetadataError(what, f"You gave {toml_value(shown)}, which is the source.", fix)
    text = _text(path, f"{where} = {toml_value(shown)}", fix)
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        fix = 'Put values with commas in quotes and double the quotes inside: "a, ""b"""'
        raise MetadataError(f"{where} must name a CSV.", f"{toml_value(shown)} is not one.", fix) from None


def _text(path: Path, shown: str, fix: Advice) -> str:
    """The whole text of a public file of at most 16 MiB in UTF-8."""
    try:
        if path.is_dir():
            raise MetadataError("A file is needed, not a folder.", f"You gave {shown}.", fix)
        if path.exists() and not path.is_file():
            raise MetadataError("An ordinary file is needed.", f"You gave {shown}.", fix)
        with path.open("rb") as handle:
            content = handle.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise MetadataError("The file is not there.", f"You gave {shown}.", fix) from None
    except (OSError, ValueError):
        fix = "Check that you may read it and that its name is right."
        raise MetadataError("The file could not be read.", f"You gave {shown}.", fix) from None
    if len(content) > MOST_BYTES:
        fix = "Declare fewer values, or group them."
        raise MetadataError("A public file may have at most 16 MiB.", f"{shown} has more.", fix)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        fix = f"Save it as UTF-8, for example: iconv -f latin1 -t utf-8 {path.name} > new-{path.name}"
        raise MetadataError("The file must be UTF-8.", f"{shown} is not, on line {line}.", fix) from None


def _toml_name(path: Path) -> str:
    return path.with_suffix(".toml").name if path.stem else key("people") + ".toml"
