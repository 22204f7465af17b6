"""The column names of a CSV: its first line, read byte by byte, and nothing after it."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from discreet.errors import MetadataError, SourceUnavailable
from discreet.schema.words import text, toml_value

MOST_BYTES = 2**20
SUFFIXES = (".csv", ".tsv", ".txt")
_DELIMITERS = ",;\t|"
_VALUE = re.compile(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|.+@.+\..+")


def names(path: Path) -> tuple[str, ...]:
    """The column names on the first line of a CSV in UTF-8 (a byte-order mark is fine)."""
    shown = toml_value(path.name)
    if path.suffix.lower() not in SUFFIXES:
        why = f"You gave {shown}; reading the columns of other formats is not built in yet."
        fix = "Name the columns yourself, for example: --column age:integer:0:110"
        raise MetadataError("Only a CSV's header can be read.", why, fix)
    try:
        if path.is_dir():
            raise SourceUnavailable("A CSV file is needed, not a folder.", f"You gave {shown}.", "Name a file in it.")
        with path.open("rb", buffering=0) as handle:
            line = first_line(handle)
    except FileNotFoundError:
        raise SourceUnavailable("The table is not there.", f"You gave {shown}.", "Check its name and folder.") from None
    except (OSError, ValueError):
        fix = "Check that you may read it."
        raise SourceUnavailable("The table could not be read.", f"You gave {shown}.", fix) from None
    return _names(_line_text(line, shown), shown)


_PEOPLE = "person|patient|user|customer|client|member|subject|participant|student|pupil|employee|respondent|citizen"
_WHOSE = re.compile(rf"(^|_)(id|uid|uuid|guid)$|^({_PEOPLE}|household)s?(_?(id|no|nr|number|key|code))?$")


def like_unit(header: Sequence[str]) -> str | None:
    """The first name that looks like whose row it is: id, person_id, patientId, user; None where none does.

    >>> like_unit(["age", "person_id"]), like_unit(["paid", "PatientID"]), like_unit(["region", "age"])
    ('person_id', 'PatientID', None)
    """
    return next((name for name in header if _WHOSE.search(_words(name))), None)


def like_column(header: Sequence[str]) -> str | None:
    """The first name that does not look like the unit's."""
    return next((name for name in header if name != like_unit(header)), None)


def _words(name: str) -> str:
    """The words of a name in small letters, with _ between: patientID is patient_id."""
    return re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).strip("_").casefold()


def first_line(handle: BinaryIO) -> bytes:
    """The bytes before the first line end.  One byte at a time: a buffer would take in rows."""
    line = bytearray()
    while (byte := handle.read(1)) not in (b"", b"\n", b"\r"):
        line += byte
        if byte == b"\0":
            fix = "Save it as CSV in UTF-8; a Parquet file must end in .parquet and needs --column age:integer:0:110"
            raise MetadataError("The first line must be text.", "It holds a NUL byte.", fix)
        if len(line) > MOST_BYTES:
            fix = "Check that the file is a CSV with the column names on its first line."
            raise MetadataError("The first line may have at most 1 MiB.", "It has more.", fix)
    return bytes(line)


def _line_text(line: bytes, shown: str) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fix = "Save it as UTF-8, for example: iconv -f latin1 -t utf-8 old.csv > new.csv"
        why = f"{shown} is not, at byte {error.start + 1} of its first line."
        raise MetadataError("A CSV must be UTF-8.", why, fix) from None


def _names(line: str, shown: str) -> tuple[str, ...]:
    if not line.strip():
        fix = "Put the column names on the first line, separated by commas: person_id,age,region"
        raise MetadataError("The first line must hold column names.", f"That of {shown} is empty.", fix)
    delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", line).count)
    try:
        cells = next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        fix = "Put each name on the first line, and a name with a comma in quotes."
        why = f"In {shown} a quote is not closed on that line, or a name is too long."
        raise MetadataError("The first line must hold column names.", why, fix) from None
    _require_names([name.strip() for name in cells], shown)
    return tuple(name.strip() for name in cells)


def _require_names(names: list[str], shown: str) -> None:
    """Refuses what cannot be names.  Places, not names: a file without a header has a person on its first line."""
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            fix = "Give every column a name on the first line."
            raise MetadataError("Every column must have a name.", f"Column {place} of {shown} has none.", fix)
        try:
            text(name, "name", "")
        except ValueError:
            why = f"That of column {place} of {shown} is longer or holds a control character."
            fix = "Rename it on the first line."
            raise MetadataError("A column name must be 1 to 200 printable characters.", why, fix) from None
        if _VALUE.fullmatch(name):
            why = f"Column {place} of {shown} has a value there, so the first line seems to be a row."
            fix = "Add a line of column names at the top, such as: person_id,age,region"
            raise MetadataError("The first line must hold column names.", why, fix)
        first_place = places.setdefault(name.casefold(), place)
        if first_place != place:
            why = f"Columns {first_place} and {place} of {shown} have the same one, upper and lower case alike."
            raise MetadataError("Column names must differ.", why, "Rename one of them on the first line.")
