"""The file of a ledger: entries in SQLite, appended and never changed.

WAL with synchronous=FULL (a commit survives the loss of power),
BEGIN IMMEDIATE (one writer, nothing checked that can change before it is acted on), STRICT tables, triggers against
UPDATE and DELETE, a file for its owner alone.  The head goes to its second place around every commit.
"""

import contextlib
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from discreet.errors import Conflict, IntegrityError, LedgerUnavailable
from discreet.fix import UNKNOWN, Fix
from discreet.ledger import forks, question, schema
from discreet.ledger.chain import Row, broken, next_row
from discreet.ledger.files import checked_file, is_empty, make_file
from discreet.ledger.head import Head, HeadFile
from discreet.ledger.view import View

WAIT = 30.0  # seconds
_OLDEST = (3, 38, 0)  # STRICT tables and JSON functions


class Pen(View):
    """The one writer, while the ledger is held; `written` is the entry appended last."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.written: Row | None = None

    def append(self, entry: dict[str, Any], answer: tuple[int, bytes] | None = None) -> Row:
        if self.written is None and schema.version(self._connection) < schema.VERSION:
            self._migrate()
        row = next_row(self.last(), entry)
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (row.number, row.body, row.hash))
        if answer is not None:
            charge, content = answer
            self._connection.execute("INSERT INTO answers VALUES (?, ?, ?)", (charge, row.number, content))
        self.written = row
        return row

    def _migrate(self) -> None:
        """Bring an older file to the present format with its next entry, and say so by an entry of its own."""
        old = schema.version(self._connection)
        schema.migrate(self._connection)
        row = next_row(self.last(), question.entry("format", before=old, format=schema.VERSION))
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (row.number, row.body, row.hash))


class SqliteStore:
    """A ledger's file.  One connection, put away during a fork and opened again when the file was replaced."""

    def __init__(self, path: Path, head: HeadFile, wait: float = WAIT) -> None:
        self.path, self.head, self._wait = path, head, wait
        self.lock: Any = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened_as: tuple[int, int] | None = None  # device and inode
        self._times = 0  # how often a connection was opened, and something written
        forks.watch(self)

    def before_fork(self) -> None:
        """Wait for other threads to finish and put the connection away."""
        self.lock.acquire()
        if self._connection is not None and not self._connection.in_transaction:
            self.close()

    def after_fork_in_parent(self) -> None:
        """Let the other threads go on."""
        self.lock.release()

    def after_fork_in_child(self) -> None:
        """There are no other threads; the connection is opened again when needed."""
        self.lock = threading.RLock()

    # --- reading ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reading(self) -> Iterator[View]:
        """Give a view of the entries as they are now; only rows may be kept when the block has ended."""
        with self.lock, _translate_errors(self.path):
            yield View(self._open_connection())

    def rows(self, after: int) -> list[Row]:
        """The entries after that number."""
        with self.reading() as view:
            return view.rows(after)

    def row(self, number: int) -> Row | None:
        """The entry of that number; None if there is none."""
        with self.lock, _translate_errors(self.path):
            return View(self._open_connection()).row(number)

    def first(self) -> Row:
        """The entry that opened the ledger."""
        row = self.row(1)
        if row is None:
            raise broken("The ledger has no entries.")
        return row

    def state(self) -> Any:
        """Equal as long as nothing was written by anyone."""
        with self.lock, _translate_errors(self.path):
            changes = View(self._open_connection()).changes()
            return self._times, changes

    def digests(self) -> dict[int, tuple[int, str]]:
        """Per charge that has an answer, the entry that stored it and the SHA-256 of its bytes."""
        with self.lock, _translate_errors(self.path):
            rows = self._open_connection().execute("SELECT charge, entry, bytes FROM answers")
            return {charge: (entry, hashlib.sha256(content).hexdigest()) for charge, entry, content in rows}

    # --- writing ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[Pen]:
        """Hold the ledger for one writer; what the block appended is durable when it has ended, or none of it is."""
        with self._hold():
            connection = self._open_connection()
            with self._transaction(connection) as pen:
                self._require_head(connection)
                yield pen

    def is_made(self) -> bool:
        """Whether a ledger was ever made here; False too for one whose making a crash cut short."""
        self.head.prepare_folder()
        with self._hold():
            if self.head.read() is not None:
                return True
            if is_empty(self.path):
                return False
            checked_file(self.path)
            with contextlib.closing(_connect(self.path, self._wait)) as connection:
                return bool(schema.names(connection))

    def create(self, first: dict[str, Any]) -> None:
        """Make the file, its tables and its first entry; refused if any ledger was here, even one now gone."""
        self.head.prepare_folder()
        with self._hold():
            recorded = self.head.read() is not None
            if recorded and is_empty(self.path):
                raise _ledger_gone(self.path)
            make_file(self.path)
            connection = self._open_connection(_accept_any)
            with self._transaction(connection) as pen:
                if recorded or schema.names(connection):
                    what = f"There is a ledger at {self.path} already."
                    raise Conflict(what, "A ledger is made once.", "Open it instead.")
                schema.make(connection)
                pen.append(first)

    def adopt(self, entry: dict[str, Any]) -> None:
        """Take the ledger as it lies, whatever the second place says: a curator's act, and an entry of its own."""
        self.head.prepare_folder()
        with self._hold(), self._transaction(self._open_connection()) as pen:
            pen.append(entry)

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        with self.lock, _translate_errors(self.path), self.head.lock(self._wait):
            yield

    @contextlib.contextmanager
    def _transaction(self, connection: sqlite3.Connection) -> Iterator[Pen]:
        pen = Pen(connection)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield pen
            if pen.written is not None:
                self.head.prepare(self._next_head(connection, pen.written))
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        finally:
            self._times += 1
        if pen.written is not None:
            self.head.publish()

    def _next_head(self, connection: sqlite3.Connection, last: Row) -> Head:
        """The head at that row; the ε charged before it is taken from the present head where it is known there."""
        present = self.head.read()
        view = View(connection)
        if present is None or present.charged is None or present.count > last.number:
            return Head(last.number, last.hash, view.charged_epsilon(0))
        return Head(last.number, last.hash, present.charged + view.charged_epsilon(present.count))

    # --- checks ----------------------------------------------------------------------------------------------------

    def recorded_count(self) -> int:
        """How many entries the recorded head vouches for."""
        head = self.head.read()
        return 0 if head is None else head.count

    def check_head(self, fold: Callable[[View, int], object]) -> None:
        """Refuse a ledger behind its head or off its chain; bring a head that lags up to date.

        Entries after the head are taken as those of a process that crashed, but the sums that they state are not
        trusted: `fold` reads everything from a checkpoint that the head covers, and refuses wrong sums.
        """
        with self._hold():
            if is_empty(self.path) and self.head.read() is not None:
                raise _ledger_gone(self.path)
            connection = self._open_connection()
            self._require_head(connection)
            last = View(connection).last()
            if last is not None and self.head.read() != Head(last.number, last.hash):
                fold(View(connection), self.recorded_count())
                self.head.prepare(self._next_head(connection, last))
                self.head.publish()

    def check(self) -> None:
        """SQLite's own check of every page, index and reference."""
        with self.lock, _translate_errors(self.path):
            connection = self._open_connection()
            schema.require_ledger(connection)
            report = connection.execute("PRAGMA integrity_check(1)").fetchall()
            if report != [("ok",)] or connection.execute("PRAGMA foreign_key_check").fetchall():
                raise broken("The ledger's file is damaged.")

    def _require_head(self, connection: sqlite3.Connection) -> None:
        head, last = self.head.read(), View(connection).last()
        if last is None:
            raise broken("The ledger has no entries.")
        if head is None:
            if last.number == 1:  # a crash between making the ledger and recording its head: nothing is spent yet
                return
            why = "It was moved or copied here, or the second place was cleared: nobody can tell how much was spent."
            fix = self._adoption("Compare it with an export you trust, then adopt it:")
            raise IntegrityError(f"No head is recorded for the ledger at {self.path}.", why, fix)
        if head.count > last.number:
            why = f"It has {last.number} entries and its recorded head has {head.count}."
            raise IntegrityError("The ledger was cut or restored from an old copy.", why, self._adoption(_RESTORE))
        if connection.execute("SELECT hash FROM entries WHERE n = ?", (head.count,)).fetchone() != (head.hash,):
            why = f"Entry {head.count} is not the one its recorded head names."
            raise IntegrityError("The ledger is not the one that was used last.", why, self._adoption(_RESTORE))

    def _adoption(self, words: str) -> Fix:
        return Fix(words, "ledger adopt", {"ledger": str(self.path), "why": UNKNOWN})

    # --- the connection ----------------------------------------------------------------------------------------------

    def _open_connection(self, check: Callable[[sqlite3.Connection], None] | None = None) -> sqlite3.Connection:
        inode = checked_file(self.path)
        if self._connection is not None and self._opened_as == inode:
            return self._connection
        if self._connection is not None:  # the file was replaced under us; what is there now must prove itself
            self._connection.close()
            self._connection = None
        connection = _connect(self.path, self._wait)
        try:
            (check or schema.require_ledger)(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._opened_as = connection, inode
        self._times += 1
        return connection

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self.lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None


_RESTORE = "Put the newest copy back; if there is none, only the curator can decide:"


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < _OLDEST:
        why = f"This Python has {sqlite3.sqlite_version}."
        raise LedgerUnavailable("The ledger needs SQLite 3.38 or newer.", why, "Use a newer Python.")
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for pragma in (
            f"busy_timeout = {int(wait * 1000)}",
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            "foreign_keys = ON",
            "cell_size_check = ON",
            "mmap_size = 0",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            why = "This file system does not give SQLite the write-ahead log it needs."
            raise LedgerUnavailable(f"The ledger at {path} cannot be used.", why, "Put it on a local disk.")
    except BaseException:
        connection.close()
        raise
    return connection


def _accept_any(connection: sqlite3.Connection) -> None:
    """A file that is about to become a ledger has no tables yet."""


def _ledger_gone(path: Path) -> IntegrityError:
    why = "A head is recorded for a ledger at this place, so a new one would forget what was spent."
    fix = "Put the ledger back; for a new dataset use another file name."
    return IntegrityError(f"A ledger was made at {path} before.", why, fix)


@contextlib.contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """SQLite's and the system's errors in our words; none of them carries data."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH):
            raise broken("The ledger's file is damaged.") from None
        why = f"The database says: {_reason(error)}."
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            why = "Another process has held it the whole time."
            fix = "Wait until that one is done or stop it, and ask again: what was charged stays charged."
        else:
            fix = "Free some disk space, make the folder writable, and ask again: what was charged stays charged."
        raise LedgerUnavailable(f"The ledger at {path} cannot be used.", why, fix) from None
    except OSError as error:
        why = f"The system says: {error.strerror or 'input/output error'}."
        fix = "Check the folder and its rights."
        raise LedgerUnavailable(f"The ledger at {path} cannot be used.", why, fix) from None


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return name.removeprefix("SQLITE_").lower().replace("_", " ")
