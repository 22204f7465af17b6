"""The private table as a file: what format it has, when it changed, and a digest of its content."""

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

from discreet.engine import files
from discreet.engine.quotes import Quotes, delimiter
from discreet.errors import SourceUnavailable
from discreet.metadata import header
from discreet.schema.words import toml_value

Result = TypeVar("Result")
_CHUNK = 2**20
_LINE_END = re.compile(rb"\r\n?|\n")
_SUFFIXES_PARQUET = (".parquet", ".pq")
_SUFFIXES_DUCKDB = (".duckdb", ".ddb", ".db")


class Format(Enum):
    """What the engine can read."""

    CSV = "csv"
    PARQUET = "parquet"
    DUCKDB = "duckdb"


@dataclass(frozen=True)
class File:
    """One file that can be read."""

    path: Path
    format: Format

    @property
    def shown(self) -> str:
        """Its name as a message has it."""
        return toml_value(self.path.name)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that holds some of the rows: a DuckDB file may have a log beside it."""
        return (self.path, Path(f"{self.path}.wal")) if self.format is Format.DUCKDB else (self.path,)

    def stamps(self) -> tuple[files.Stamp, ...]:
        """Facts that change when the file does, without reading it."""
        return tuple(self._of_each(files.stamp))

    def digest(self) -> bytes:
        """SHA-256 of every byte; a CSV that is not UTF-8 is refused on the way."""
        parts = self._of_each(lambda path: _digest(path, self))
        return hashlib.sha256(b"".join(parts)).digest()

    def _of_each(self, read: Callable[[Path], Result]) -> list[Result]:
        """What `read` gives for each file that is there; refused if the table is missing or cannot be read."""
        try:
            return [read(path) for path in self.paths if path == self.path or path.exists()]
        except FileNotFoundError:
            raise _missing(self.shown) from None
        except OSError:
            raise unreadable(self.shown) from None


def file(source: Path) -> File:
    """The file with its format, by its suffix or else by its first bytes."""
    shown = toml_value(source.name)
    try:
        path = source.resolve()
        if path.is_dir():
            fix = "Name one file in it."
            raise SourceUnavailable("The table must be a file, not a folder.", f"You gave {shown}.", fix)
        if not path.is_file():
            raise _missing(shown) if not path.exists() else unreadable(shown)
        format = _format(path)
    except (OSError, RuntimeError, ValueError):
        raise unreadable(shown) from None
    if format is None:
        why = f"{shown} ends in neither .csv, .tsv, .txt, .parquet nor .duckdb."
        fix = "Unpack it, or save it as CSV in UTF-8 or as Parquet, and set source to that file."
        raise SourceUnavailable("The table's format is not known.", why, fix)
    return File(path, format)


def unreadable(shown: str) -> SourceUnavailable:
    """The refusal when a file is there and cannot be read."""
    fix = "Check that you may read it and that it is whole, for example by copying it again."
    return SourceUnavailable("The table could not be read.", f"You gave {shown}.", fix)


def _missing(shown: str) -> SourceUnavailable:
    return SourceUnavailable("The table is not there.", f"You gave {shown}.", "Check its name and folder.")


def _format(path: Path) -> Format | None:
    ending = path.suffix.lower()
    if ending in header.SUFFIXES:
        return Format.CSV
    if ending in _SUFFIXES_PARQUET:
        return Format.PARQUET
    if ending in _SUFFIXES_DUCKDB:
        return Format.DUCKDB
    with path.open("rb") as handle:
        start = handle.read(12)
    if start[:4] == b"PAR1":
        return Format.PARQUET
    return Format.DUCKDB if start[8:12] == b"DUCK" else None


def _digest(path: Path, source: File) -> bytes:
    digest = hashlib.sha256()
    decoder, returns = codecs.getincrementaldecoder("utf-8")(), _Returns()
    quotes = Quotes(_separator(path) if source.format is Format.CSV else ",")
    not_text = False
    with path.open("rb", buffering=0) as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
            if source.format is Format.CSV:
                not_text = not_text or not _decodes(decoder, chunk, final=False)
                returns.see(chunk)
                quotes.see(chunk)
    if not_text or not _decodes(decoder, b"", final=True):
        fix = "Save it as UTF-8, for example: iconv -f latin1 -t utf-8 old.csv > new.csv"
        raise SourceUnavailable("A CSV must be UTF-8.", f"{source.shown} is not.", fix)
    if returns.stray:
        why = f"{source.shown} has a carriage return outside of quotes: what follows it would be another row."
        fix = "Write it again with texts in quotes: df.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)"
        raise SourceUnavailable("Line ends within the cells of a CSV must be in quotes.", why, fix)
    if returns.has_open_quote:
        why = f"{source.shown} has an odd number of quotes: one that is not closed would join other rows to its cell."
        fix = "Write it again with quotes doubled: df.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)"
        raise SourceUnavailable("Quotes in a CSV must come in pairs.", why, fix)
    quotes.end()
    if quotes.misplaced:
        why = f"{source.shown} has one within a cell without quotes, or text behind a closing one."
        fix = "Write it again with quotes doubled: df.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)"
        raise SourceUnavailable("Quotes in a CSV must begin and end cells.", why, fix)
    return digest.digest()


def _separator(path: Path) -> str:
    with path.open("rb") as handle:
        return delimiter(header.first_line(handle).decode("utf-8-sig", "replace"))


class _Returns:
    """Whether a carriage return ends a line by itself although the header's line ends otherwise; and an open quote.

    Many programs leave one in a cell without quotes, while the engine starts a row behind it: one person's cell could
    make rows of other people.
    """

    def __init__(self) -> None:
        self.stray = False
        self._alone: bool | None = None  # whether the header's line ends so
        self._quoted = 0
        self._held = b""

    @property
    def has_open_quote(self) -> bool:
        """Whether a quote is open where the file ends, or so far."""
        return self._quoted == 1

    def see(self, chunk: bytes) -> None:
        """Read the next part of the file; quotes come in pairs, so their number tells what lies between them."""
        body = self._held + chunk if self._held else chunk
        self._held = b"\r" if body.endswith(b"\r") else b""
        body = body[:-1] if self._held else body
        if self._alone is None and (end := _LINE_END.search(body)):
            self._alone = end.group() == b"\r"
        if self._alone is False and _lone(body):
            self.stray = self.stray or any(_lone(part) for part in body.split(b'"')[self._quoted :: 2])
        self._quoted ^= body.count(b'"') % 2


def _lone(part: bytes) -> bool:
    """Whether a carriage return stands without a line feed."""
    return part.count(b"\r") > part.count(b"\r\n")


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        decoder.reset()
        return False
    return True
