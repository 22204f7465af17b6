"""The registry of ledgers and their sources, in the state folder; a source is known by what it is, not by its name.

    sources.sqlite   ledgers (place, hash of the first entry, dataset), the marks of their sources, pairs on purpose
    sources.key      32 random bytes: a mark is HMAC-SHA256(key, what the source is), so the file confirms no guess

A mark that was entered once stays: whoever was in the table then still is in what was released of it.  Proof page:
docs/proofs/ledger.md.
"""

import contextlib
import hmac
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet import durable
from discreet.errors import IntegrityError, LedgerUnavailable
from discreet.ledger.files import checked_file, is_empty, make_file
from discreet.noise.source import SYSTEM

NAME, KEY = "sources.sqlite", "sources.key"
_WAIT = 30.0  # seconds
_BYTES = 32
_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE ledgers (id INTEGER PRIMARY KEY, path BLOB NOT NULL, origin TEXT NOT NULL, dataset TEXT NOT NULL, "
    "UNIQUE (path, origin)) STRICT",
    "CREATE TABLE marks (mark TEXT NOT NULL, ledger INTEGER NOT NULL REFERENCES ledgers (id), "
    "PRIMARY KEY (mark, ledger)) STRICT, WITHOUT ROWID",
    "CREATE TABLE pairs (ledger INTEGER NOT NULL REFERENCES ledgers (id), "
    "other INTEGER NOT NULL REFERENCES ledgers (id), PRIMARY KEY (ledger, other)) STRICT, WITHOUT ROWID",
)


@dataclass(frozen=True)
class Place:
    """A ledger: where it lies, the hash of its first entry, and the dataset it is of."""

    path: Path
    origin: str
    dataset: str

    @property
    def is_gone(self) -> bool:
        """Whether no ledger lies there any more, as far as one may look."""
        try:
            return is_empty(self.path)
        except OSError:
            return False


class Registry:
    """The registry of one state folder; a connection lives no longer than a call."""

    def __init__(self, folder: Path) -> None:
        self.path, self._key = folder / NAME, folder / KEY

    def others(self, identity: Mapping[str, str]) -> list[Place]:
        """The ledgers that were entered for a source."""
        if is_empty(self.path):
            return []
        with self._connection() as connection:
            return [place for _, place in _holders(connection, self._marks(connection, identity))]

    def has(self, identity: Mapping[str, str], mine: Place) -> bool:
        """Whether this ledger was entered under every mark of the source."""
        if is_empty(self.path):
            return False
        with self._connection() as connection:
            marks = self._marks(connection, identity)
            number = _number(connection, mine)
            entered = _marks_of(connection, number) if number is not None else set()
        return entered >= set(marks)

    @contextlib.contextmanager
    def entering(self, identity: Mapping[str, str], mine: Place) -> Iterator[list[Place]]:
        """Hold the registry, and give the other ledgers over these rows that were not said to be on purpose.

        Unless the block raises, this ledger is then entered, and those others are beside it on purpose.
        """
        with self._writing() as connection:
            marks = self._marks(connection, identity)
            number = _number_or_new(connection, mine)
            accepted = _accepted_pairs(connection, number)
            others = [(n, place) for n, place in _holders(connection, marks) if n != number and n not in accepted]
            yield [place for _, place in others]
            for mark in marks:
                connection.execute("INSERT OR IGNORE INTO marks VALUES (?, ?)", (mark, number))
            for other, _ in others:
                for pair in ((number, other), (other, number)):
                    connection.execute("INSERT OR IGNORE INTO pairs VALUES (?, ?)", pair)

    def places(self, origin: str) -> list[Place]:
        """Every place where the ledger with that first entry is known to lie, or to have lain."""
        if is_empty(self.path):
            return []
        with self._connection() as connection:
            rows = connection.execute("SELECT path, origin, dataset FROM ledgers WHERE origin = ?", (origin,))
            return [_place(row) for row in rows]

    # --- the file ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with _translate_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            make_file(self.path)
            checked_file(self.path)
            with contextlib.closing(sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                self._make(connection)
                yield connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables and the key unless they are there; one process makes them, even if several try at once."""
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() != (0,):
            return
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
            if is_empty(self._key) or self._key.stat().st_size != _BYTES:
                _write_key(self._key)
            for statement in _SCHEMA:
                connection.execute(statement)
            check = self._mark("check", "")
            connection.execute("INSERT INTO facts VALUES ('format', '1'), ('key', ?)", (check,))
        connection.execute("COMMIT")

    def _marks(self, connection: sqlite3.Connection, identity: Mapping[str, str]) -> list[str]:
        recorded = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        if recorded.get("format") != "1":
            what, why = f"{self.path} has another format.", "This Discreet knows format 1."
            raise LedgerUnavailable(what, why, "Use the newer Discreet that wrote it.")
        if is_empty(self._key) or not hmac.compare_digest(recorded["key"], self._mark("check", "")):
            why = "Without it no source can be told from another, so a second ledger would not be noticed."
            raise IntegrityError(f"{self._key} is not the key of the registry.", why, f"Put it back.{_ANEW}")
        return [self._mark(kind, value) for kind, value in identity.items()]

    def _mark(self, kind: str, value: str) -> str:
        checked_file(self._key)
        return hmac.new(self._key.read_bytes(), f"{kind} {value}".encode(), "sha256").hexdigest()


_ANEW = (
    " If it is lost, move the registry away: ledgers are entered again as they are used, and until then a second"
    " one is not noticed."
)


def _write_key(path: Path) -> None:
    """Write a new key durably, in place of one that a crash cut short."""
    path.unlink(missing_ok=True)
    durable.write(path, SYSTEM.words(_BYTES // 8).tobytes(), new=True)
    durable.sync(path.parent)


def _holders(connection: sqlite3.Connection, marks: list[str]) -> list[tuple[int, Place]]:
    """The ledgers with any of these marks, in the order they were entered."""
    slots = ", ".join("?" * len(marks))
    query = f"SELECT DISTINCT id, path, origin, dataset FROM ledgers JOIN marks ON ledger = id WHERE mark IN ({slots})"
    return [(row[0], _place(row[1:])) for row in connection.execute(f"{query} ORDER BY id", marks)]


def _place(row: tuple[bytes, str, str]) -> Place:
    return Place(Path(os.fsdecode(row[0])), row[1], row[2])


def _number(connection: sqlite3.Connection, mine: Place) -> int | None:
    query = "SELECT id FROM ledgers WHERE path = ? AND origin = ?"
    row = connection.execute(query, (os.fsencode(mine.path), mine.origin)).fetchone()
    return None if row is None else int(row[0])


def _marks_of(connection: sqlite3.Connection, number: int) -> set[str]:
    return {mark for (mark,) in connection.execute("SELECT mark FROM marks WHERE ledger = ?", (number,))}


def _accepted_pairs(connection: sqlite3.Connection, number: int) -> set[int]:
    return {other for (other,) in connection.execute("SELECT other FROM pairs WHERE ledger = ?", (number,))}


def _number_or_new(connection: sqlite3.Connection, mine: Place) -> int:
    """The number of this ledger: known here, known where it was moved from, or new."""
    number = _number(connection, mine)
    if number is not None:
        return number
    places = connection.execute("SELECT id, path, origin, dataset FROM ledgers WHERE origin = ?", (mine.origin,))
    for row in places.fetchall():
        if _place(row[1:]).is_gone:
            connection.execute("UPDATE ledgers SET path = ? WHERE id = ?", (os.fsencode(mine.path), row[0]))
            return int(row[0])
    new = (os.fsencode(mine.path), mine.origin, mine.dataset)
    added = connection.execute("INSERT INTO ledgers (path, origin, dataset) VALUES (?, ?, ?) RETURNING id", new)
    return int(added.fetchone()[0])


@contextlib.contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    what = f"The registry of sources at {path} cannot be used."
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            raise IntegrityError(what, "It is damaged.", f"Put back a copy.{_ANEW}") from None
        why = "Another process has held it the whole time, the disk is full, or its folder may not be written."
        raise LedgerUnavailable(what, why, "Free some space or end that process, and ask again.") from None
    except OSError as error:
        why = f"The system says: {error.strerror or 'input/output error'}."
        raise LedgerUnavailable(what, why, "Check its folder and its rights.") from None
