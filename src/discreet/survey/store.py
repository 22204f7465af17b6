"""Store the randomised reports of one survey in one SQLite file.

A file belongs to the survey whose digest it was made with.  Of a token it holds the SHA-256, of the time a report came
the round alone: the day of a daily survey, else 0.  Rows are read in the order of the hashes; the bytes of the file
still show in which order reports came.  Every transaction is on the disk before it is acknowledged (WAL,
synchronous=FULL), in the files that bear the store's names: what a moved or removed file still takes is not
acknowledged.
"""

import contextlib
import datetime
import os
import sqlite3
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet import durable
from discreet.errors import BadValue, CannotWrite, DiscreetError, IntegrityError, SourceUnavailable, bad
from discreet.survey.spec import Survey
from discreet.survey.submission import OTHER_DRAW, REASONS, UNKNOWN_TOKEN, USED

ACCEPTED = "accepted"
_APPLICATION = 0x44505356  # "DPSV" in the file's header
_MAGIC = b"SQLite format 3\x00"
_PARTS = ("", "-wal", "-shm")  # the file, its log and the index of the log
_WAIT = 10.0  # seconds for another process to end its transaction
_TABLES = (
    "CREATE TABLE survey (id TEXT PRIMARY KEY CHECK (length(id) = 64), compiled TEXT NOT NULL, created TEXT NOT NULL) "
    "STRICT, WITHOUT ROWID",
    'CREATE TABLE invitations (token BLOB PRIMARY KEY CHECK (length(token) = 32), "group" TEXT) STRICT, WITHOUT ROWID',
    "CREATE TABLE reports (token BLOB NOT NULL CHECK (length(token) = 32), round INTEGER NOT NULL, "
    '"group" TEXT, submission BLOB NOT NULL, PRIMARY KEY (token, round)) STRICT, WITHOUT ROWID',
    "CREATE TABLE counters (reason TEXT PRIMARY KEY, rejected INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)
_COUNT = (  # a store may be older than a reason
    "INSERT INTO counters VALUES (?, ?) ON CONFLICT (reason) DO UPDATE SET rejected = rejected + excluded.rejected"
)
_FIRST_ROUND = "round = (SELECT min(round) FROM reports AS same WHERE same.token = reports.token)"


@dataclass(frozen=True)
class Entry:
    """A checked submission as it is stored: the hash of its token, its round and its reports one after the other."""

    token: bytes
    round: int
    submission: bytes


@dataclass(frozen=True)
class StoredReports:
    """Reports of each question as (n, report_bytes) arrays, and the group of each row, None without one."""

    questions: Mapping[str, NDArray[np.uint8]]
    groups: NDArray[np.object_]


class Store:
    """The open file of one survey; its calls may come from any thread, one transaction after the other."""

    def __init__(self, path: Path, connection: sqlite3.Connection, report_bytes: int) -> None:
        self.path, self._connection, self._report_bytes = path.absolute(), connection, report_bytes
        self._marks = _marks(self.path)
        self._lock = threading.Lock()

    @classmethod
    def open_or_create(cls, path: str | Path, survey: Survey) -> Self:
        """Open the store of this survey, or make it where there is no file; nothing else is ever written over."""
        path = Path(path)
        _make_file(path)
        require_store_file(path)
        mark = _marks(path)[0]
        with _refusing(path):
            connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            try:
                if _is_blank(connection):
                    _make_tables(connection, survey)
                _require_survey(connection, survey, path)
                for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                    connection.execute(f"PRAGMA {pragma}").fetchall()
                _is_blank(connection)  # SQLite makes the log when it is first read
                store = cls(path, connection, sum(question.report_bytes for question in survey.questions))
                if store._marks[0] != mark:
                    raise _refusal(path)
            except BaseException:
                connection.close()
                raise
        return store

    def take(self, entries: Sequence[Entry], *, open_to_all: bool, rejected: Mapping[str, int]) -> list[str]:
        """Store a batch in one durable transaction; return for each entry ACCEPTED or why it is rejected.

        A token has one draw for all rounds: other bytes in a later round would be a second look at its person.
        Rejections of this batch and those in `rejected` are added to the counters in the same transaction.
        """
        with self._transaction() as connection:
            outcomes = [self._take(connection, entry, open_to_all) for entry in entries]
            for reason in REASONS:
                number = rejected.get(reason, 0) + outcomes.count(reason)
                if number:
                    connection.execute(_COUNT, (reason, number))
        return outcomes

    def _take(self, connection: sqlite3.Connection, entry: Entry, open_to_all: bool) -> str:
        if len(entry.submission) != self._report_bytes:
            raise ValueError("a submission of another length")
        query = 'SELECT "group" FROM invitations WHERE token = ?'
        invitation = connection.execute(query, (entry.token,)).fetchone()
        if invitation is None and not open_to_all:
            return UNKNOWN_TOKEN
        query = "SELECT round, submission FROM reports WHERE token = ? ORDER BY round LIMIT 1"
        first = connection.execute(query, (entry.token,)).fetchone()
        if first is not None and first[1] != entry.submission:
            return USED if first[0] == entry.round else OTHER_DRAW
        group = None if invitation is None else invitation[0]
        row = (entry.token, entry.round, group, entry.submission)
        insert = "INSERT INTO reports VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return ACCEPTED if connection.execute(insert, row).rowcount == 1 else USED

    def add_invitations(self, invitations: Iterable[tuple[bytes, str | None]]) -> None:
        """Store hashes of tokens with their groups, all of them or none."""
        with self._transaction() as connection:
            connection.executemany("INSERT INTO invitations VALUES (?, ?)", invitations)

    def invitations(self) -> int:
        """How many tokens were ever invited."""
        return self._number("SELECT count(*) FROM invitations")

    def report_count(self) -> int:
        """How many reports are stored."""
        return self._number("SELECT count(*) FROM reports")

    def rejections(self) -> dict[str, int]:
        """How many submissions were rejected, by reason."""
        with self._lock:
            return dict(self._connection.execute("SELECT reason, rejected FROM counters").fetchall())

    def require_in_place(self) -> None:
        """Refuses a store whose file or log was removed, moved or replaced since it was opened.

        SQLite goes on to write to a file without a name, which is lost when it is closed.
        """
        if _marks(self.path) != self._marks:
            raise _refusal(self.path)

    def close(self) -> None:
        """Bring the log into the file and close it; a closed store stays closed."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _number(self, query: str) -> int:
        with self._lock:
            (number,) = self._connection.execute(query).fetchone()
        return int(number)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self.require_in_place()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            self.require_in_place()


def read_reports(path: str | Path, survey: Survey, *, day: int | None = None) -> StoredReports:
    """Read all reports of a survey: of each token its first, or those of one round, `day` in days since 1970.

    The later reports of a daily survey are the same bytes again, so they tell nothing new about anyone.
    """
    chosen = _FIRST_ROUND if day is None else "round = ?"
    query = f'SELECT "group", submission FROM reports WHERE {chosen} ORDER BY token'
    rows = _read(Path(path), survey, query, () if day is None else (day,))
    widths = [question.report_bytes for question in survey.questions]
    if any(not isinstance(submission, bytes) or len(submission) != sum(widths) for _, submission in rows):
        what, why = f"{path} holds a submission of another length.", "Something else than the server wrote to it."
        raise IntegrityError(what, why, "Restore the store from a copy.")
    joined = np.frombuffer(b"".join(submission for _, submission in rows), dtype=np.uint8)
    parts = np.split(joined.reshape(len(rows), sum(widths)), np.cumsum(widths)[:-1], axis=1)
    groups = np.empty(len(rows), dtype=object)
    groups[:] = [group for group, _ in rows]
    names = (question.name for question in survey.questions)
    return StoredReports(dict(zip(names, map(np.ascontiguousarray, parts), strict=True)), groups)


def read_rejected(path: str | Path, survey: Survey) -> dict[str, int]:
    """Read how many submissions were rejected, by reason."""
    return dict(_read(Path(path), survey, "SELECT reason, rejected FROM counters"))


def read_totals(path: str | Path, survey: Survey) -> tuple[int, int]:
    """Read how many tokens were ever invited, and how many reports are stored."""
    query = "SELECT (SELECT count(*) FROM invitations), (SELECT count(*) FROM reports)"
    ((invited, accepted),) = _read(Path(path), survey, query)
    return int(invited), int(accepted)


def require_store_file(path: Path) -> None:
    """Refuses whatever is no regular file of its owner's alone under one name, and a file that something else wrote.

    SQLite keeps a log for each name, so that a file with two names would take a token under each of them.
    """
    status = path.lstat()
    fix = "Name a file that does not exist yet, or the store that an earlier run of this survey made."
    if not stat.S_ISREG(status.st_mode):
        raise bad("store", "must be a file under its own name, not a link or a folder", str(path), fix)
    try:
        with path.open("rb") as file:
            is_store = file.read(len(_MAGIC)) in (b"", _MAGIC)
    except OSError as error:
        raise SourceUnavailable(f"{path} cannot be read.", f"The system says: {error.strerror}.", fix) from None
    if not is_store:
        raise bad("store", "must be a new file or the store of a survey", str(path), fix)
    if status.st_nlink != 1:
        why = "Each name would have a log of its own, and neither would see what the other holds."
        raise IntegrityError(f"{path} has other names (hard links).", why, "Remove the other names, or use a copy.")
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        why = "Others can read or change it, or it belongs to someone else."
        raise IntegrityError(f"{path} is not its owner's alone.", why, f"Run: chmod 600 {path}")


def _make_file(path: Path) -> None:
    """Create an empty file for its owner alone; whatever is there already stays as it is."""
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            durable.sync(path.parent)
    except OSError as error:
        why = f"The system says: {error.strerror}."
        raise CannotWrite(f"{path} cannot be made.", why, "Name a file in a folder that you can write to.") from None


def _marks(path: Path) -> list[tuple[int, int] | None]:
    """Device and number of each file of a store; None for one that is not there."""
    marks: list[tuple[int, int] | None] = []
    for part in _PARTS:
        try:
            status = os.lstat(f"{path}{part}")
        except OSError:
            marks.append(None)
        else:
            marks.append((status.st_dev, status.st_ino))
    return marks


def _refusal(path: Path) -> CannotWrite:
    what = f"{path} is no longer the file that was opened."
    why = "It or its log was removed, moved or replaced meanwhile, so that nothing more was taken."
    return CannotWrite(what, why, "Put the files back under their names, or serve the store that is there now.")


def _is_blank(connection: sqlite3.Connection) -> bool:
    """Whether a file has no tables: it is new, or its making was interrupted."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return int(tables) == 0


def _make_tables(connection: sqlite3.Connection, survey: Survey) -> None:
    """Make the tables in one transaction; another process may have done so in the meantime."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_blank(connection):
            for statement in _TABLES:
                connection.execute(statement)
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            row = (survey.digest, survey.canonical.decode(), today)
            connection.execute("INSERT INTO survey VALUES (?, ?, ?)", row)
            connection.executemany("INSERT INTO counters VALUES (?, 0)", [(reason,) for reason in REASONS])
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _require_survey(connection: sqlite3.Connection, survey: Survey, path: Path) -> None:
    """Refuses a file that is no store, and the store of another survey."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        fix = "Name a file that does not exist yet, or the store that an earlier run of this survey made."
        raise bad("store", "must be a new file or the store of a survey", str(path), fix)
    (digest,) = connection.execute("SELECT id FROM survey").fetchone() or ("nothing",)
    if digest != survey.digest:
        what = f"{path} is the store of another survey."
        why = f"It holds reports to survey {digest[:16]}…, and this survey is {survey.digest[:16]}…."
        fix = "Name another store, or use the survey file as it was when the store was made."
        raise IntegrityError(what, why, fix)


def _read(path: Path, survey: Survey, query: str, arguments: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Rows of a query on a store that is only read; a server may be writing to it."""
    if not path.exists():
        what, why = f"There is no store at {path}.", "The file does not exist."
        raise SourceUnavailable(what, why, "Name the store that the server of this survey wrote.")
    require_store_file(path)
    with _refusing(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT)
        with contextlib.closing(connection):
            _require_survey(connection, survey, path)
            return connection.execute(query, arguments).fetchall()


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a file into a refusal."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        what, why = f"{path} cannot be used as a store.", f"SQLite says: {error}."
        raise _kind(error)(what, why, "Name another file, or restore this one from a copy.") from None


def _kind(error: sqlite3.DatabaseError) -> type[DiscreetError]:
    broken = error.sqlite_errorcode in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return IntegrityError if broken else CannotWrite if isinstance(error, sqlite3.OperationalError) else BadValue
