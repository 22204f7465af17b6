"""The engine of a table in a PostgreSQL server: its rows stay there, and so does what is prepared from them.

    discreet_{name}_{mark}_{snapshot}    a schema: a prepared state, a second copy of the declared columns
    {name}.key                           32 random bytes beside the ledger; no table that stays holds one of its keys

The state is a copy, so rows inserted meanwhile do not show.  Whoever reads it holds a shared advisory lock on it, and
it is dropped only by who gets an exclusive one.  After a charge every failure has the one fixed reply, `engine_failed`.
"""

import contextlib
import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.engine import prepare as layouts
from discreet.engine.engine import Prepared
from discreet.engine.postgres import connect, prepare
from discreet.engine.postgres.cells import family
from discreet.engine.prepare import GROUP_KEY, ID_KEY, ROW_KEY, Table, identifier, quoted
from discreet.engine.remembering import RememberingView
from discreet.engine.secret import Secret, kept_secret
from discreet.engine.states import is_snapshot
from discreet.engine.tables import matched
from discreet.errors import SourceUnavailable, engine_failed
from discreet.metadata.address import Address
from discreet.query.compile.postgres import POSTGRES
from discreet.query.layout import SECRET, TABLE, UNITS
from discreet.schema import Schema
from discreet.schema.limits import Limits
from discreet.schema.words import written

Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]
Done = TypeVar("Done")
_FACTS = "discreet_facts"
_COUNTED = {"rows": TABLE, "units": UNITS}
_SHARE = {"reading": 0.0, "ranking": 0.3, "writing": 0.8}
_TABLE_KEYS = (ID_KEY, ROW_KEY)


class PostgresEngine:
    """Rows in a server behind one door; threads may share it, and a forked child gets a connection of its own."""

    def __init__(self, folder: Path, name: str, schema: Schema, source: Address, limits: Limits | None = None) -> None:
        self.folder, self.name, self.schema, self.limits = Path(folder).absolute(), name, schema, limits or Limits()
        self.lock = threading.RLock()
        self._key, self._address = self.folder / f"{name}.key", source
        self._layout = layouts.layout(schema)
        self._connection: Any = None
        self._process = os.getpid()
        self._opened = ""  # the snapshot that the connection has open
        self._known: tuple[str, str] | None = None  # a snapshot, and which transactions were seen by it
        self._content = ""
        self._kept: frozenset[str] = frozenset()
        self._held: Counter[str] = Counter()  # views of each snapshot
        self._locked: set[str] = set()  # snapshots that the connection holds
        _members.add(self)

    def __repr__(self) -> str:
        return f"PostgresEngine({self.name!r})"

    def __enter__(self) -> "PostgresEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def snapshot(self) -> str:
        """The id of the table's present state; prepared first if it changed."""
        return self.prepare().snapshot

    def prepare(self, progress: Progress | None = None) -> Prepared:
        """The table prepared from the source as it is now; at once where nothing was committed since."""
        tell = progress or (lambda _name, _share: None)
        with self.lock:
            return self._or_unavailable(lambda: self._present(tell))

    def _present(self, tell: Progress) -> Prepared:
        connection = self._connected()
        with connect.within(connection, self.limits.prepare_seconds):
            known, self._known = self._known, None
            if known is not None and known[1] == _changes(connection) and self._is_there(known[0]):
                self._known = known
                return Prepared(known[0], anew=False)
            return self._prepared(connection, kept_secret(self._key), tell)

    def view(self, progress: Progress | None = None, *, at: str | None = None) -> RememberingView:
        """As `protocol.Engine.view`."""
        with self.lock:
            snapshot = (
                at if at is not None and is_snapshot(at) and self._is_kept(at) else self.prepare(progress).snapshot
            )
            if at is not None and snapshot != at:
                what, why = (
                    "The rows that this run began with are gone.",
                    "The source changed, and their copy was dropped.",
                )
                raise SourceUnavailable(what, why, "Put the source back as it was, or abandon the run.")
            self._or_unavailable(lambda: self._held_in_time(snapshot))
            self._held[snapshot] += 1
        held, lock = self._held, self.lock

        def release() -> None:
            with lock:
                held[snapshot] -= 1

        return RememberingView(self, snapshot, POSTGRES, release)

    def identity(self) -> dict[str, str]:
        """What the source is: the server, the database and the table in it, and the digest of its content."""
        with self.lock:
            if not self._content:
                self.prepare()
            place = self._or_unavailable(self._place)
        return {"content": self._content, "file": f"postgresql:{place}"}

    def _place(self) -> str:
        cluster = "SELECT system_identifier FROM pg_control_system()"
        database = "SELECT oid FROM pg_database WHERE datname = current_database()"
        relation = f"to_regclass({quoted(self._rows())})::oid"
        found = self._connected().execute(f"SELECT ({cluster}), ({database}), {relation}").fetchone()
        return ":".join(map(str, found))

    def carried(self, snapshot: str) -> tuple[str, ...]:
        """No state of a server had an id in an older format."""
        return ()

    def keep(self, snapshots: Iterable[str]) -> None:
        """Do not drop these states when the source changes: runs under way go on with them."""
        with self.lock:
            self._kept = frozenset(snapshots)

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[Columns]:
        """The columns each statement gives on the prepared state, or `engine_failed`, the same whatever went wrong."""
        columns: list[Columns] | None = None
        with self.lock:
            if snapshot is None:
                snapshot = self.prepare().snapshot
            with contextlib.suppress(Exception):
                columns = self._columns(list(statements), snapshot)
            if columns is None:
                self._disconnect()
        if columns is None:
            raise engine_failed() from None
        return columns

    def clean(self) -> None:
        """No prepared state any more; the key stays, so that the same content is the same snapshot again."""
        with self.lock:
            held = self._or_unavailable(self._dropped)
        if held:
            why, fix = "Another process is asking it.", "Wait for that process, or end it; then do this again."
            raise SourceUnavailable("The prepared copy is in use and was left there.", why, fix)

    def _dropped(self) -> list[str]:
        """What could not be dropped."""
        self._known = None
        connection = self._connected()
        connection.execute("SELECT pg_advisory_unlock_all()")
        self._opened, self._locked = "", set()
        return [name for name in self._states(connection) if not _drop_unheld(connection, name)]

    def close(self) -> None:
        """No connection any more, and no state held; the next question opens one."""
        with self.lock:
            self._disconnect()

    # --- the connection ----------------------------------------------------------------------------------------------

    def _connected(self) -> Any:
        if self._process != os.getpid():
            self._connection, self._process, self._opened = None, os.getpid(), ""  # the parent's own; not closed here
        if self._connection is None or self._connection.closed:
            self._opened = ""
            self._connection = connect.opened(self._address, self.limits)
            self._locked, self._known = set(), None
            # once a connection: every write is a transaction more
            word = kept_secret(self._key).derived(GROUP_KEY, layouts.KEYS[GROUP_KEY])
            connect.lend(self._connection, SECRET, {"word": word})
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            with contextlib.suppress(Exception):
                self._connection.close()
        self._connection, self._opened = None, ""

    def _or_unavailable(self, do: Callable[[], Done]) -> Done:
        """Before a charge: one reply for whatever the server says, without its words, which may quote a cell."""
        with contextlib.suppress(ImportError):
            from psycopg import Error

            for _ in range(2):
                is_new = self._connection is None
                try:
                    return do()
                except Error:
                    pass
                self._disconnect()
                if is_new:  # an older line may have been cut long ago
                    break
            why = "The server stopped, a limit was reached, or this user may not read it or create a schema."
            fix = "Check it with psql as the same user; then do this again."
            raise SourceUnavailable("The table in PostgreSQL could not be read.", why, fix)
        raise connect.no_driver()

    def _columns(self, statements: list[str], snapshot: str) -> list[Columns]:
        connection = self._connected()
        with connect.within(connection, self.limits.seconds):
            self._enter(connection, snapshot)
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return [_columns(connection, statement) for statement in statements]

    def _enter(self, connection: Any, snapshot: str) -> None:
        """That state open and held, and the key of groups lent; its facts must be those that were charged for."""
        if self._opened == snapshot:
            return
        if not is_snapshot(snapshot):
            raise ValueError
        self._opened = ""
        self._hold(snapshot)
        space = self._space(kept_secret(self._key), snapshot)
        connection.execute(f"SET search_path = pg_catalog, {identifier(space)}, pg_temp")
        facts = dict(connection.execute(f"SELECT name, value FROM {identifier(space)}.{_FACTS}").fetchall())
        counts = {name: str(_only(connection, f"SELECT count(*) FROM {table}")) for name, table in _COUNTED.items()}
        if {"snapshot": snapshot, "layout": self._layout, **counts}.items() - facts.items():
            raise ValueError
        self._opened = snapshot

    def _held_in_time(self, snapshot: str) -> None:
        with connect.within(self._connected(), self.limits.seconds):
            self._hold(snapshot)

    def _hold(self, snapshot: str) -> None:
        """That state held, and of the others those that a view holds."""
        connection = self._connected()
        if snapshot not in self._locked:
            connection.execute(f"SELECT pg_advisory_lock_shared({_lock(snapshot)})")
            self._locked.add(snapshot)
        for other in [one for one in self._locked if one != snapshot and not self._held[one]]:
            connection.execute(f"SELECT pg_advisory_unlock_shared({_lock(other)})")
            self._locked.remove(other)

    # --- preparing ---------------------------------------------------------------------------------------------------

    def _prepared(self, connection: Any, secret: Secret, tell: Progress) -> Prepared:
        """One transaction on one snapshot of the server: digest, and where there is no such state yet, its tables."""
        tell("reading", _SHARE["reading"])
        preparing = _lock(secret.derived("preparing", 16))
        connection.execute(f"SELECT pg_advisory_lock({preparing})")
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            seen = _changes(connection)
            table = self._table(connection)
            content = _only(connection, prepare.digest(self.schema, table))
            snapshot = secret.snapshot(b"postgresql" + bytes.fromhex(content), self._layout, layouts.FORMAT)
            space = self._space(secret, snapshot)
            anew = not self._is_there(snapshot, space)
            if anew:
                self._make(connection, secret, table, space, {"snapshot": snapshot, "content": content}, tell)
        self._content = content
        if anew:
            kept = {
                self._space(secret, one) for one in (*self._kept, *(k for k, n in self._held.items() if n), snapshot)
            }
            for other in self._states(connection):
                if other not in kept:
                    _drop_unheld(connection, other)
        connection.execute(f"SELECT pg_advisory_unlock({preparing})")
        self._known = (snapshot, seen)
        tell("writing", 1.0)
        return Prepared(snapshot, anew)

    def _make(
        self, connection: Any, secret: Secret, table: Table, space: str, facts: dict[str, str], tell: Progress
    ) -> None:
        connection.execute(f"CREATE SCHEMA {identifier(space)}")
        connection.execute(f"SET LOCAL search_path = {identifier(space)}, pg_temp")
        connect.lend(connection, prepare.KEYS, {name: secret.derived(name, layouts.KEYS[name]) for name in _TABLE_KEYS})
        for step in prepare.steps(self.schema, table):
            tell(step.name, _SHARE[step.name])
            for statement in step.statements:
                connection.execute(statement)
        connect.take_back(connection, prepare.KEYS)
        counts = {name: str(_only(connection, f"SELECT count(*) FROM {made}")) for name, made in _COUNTED.items()}
        listed = {**facts, "layout": self._layout, "format": str(layouts.FORMAT), **counts}
        rows = ", ".join(f"({quoted(name)}, {quoted(fact)})" for name, fact in listed.items())
        connection.execute(f"CREATE TABLE {_FACTS} AS SELECT * FROM (VALUES {rows}) AS facts (name, value)")
        connection.execute(f"ANALYZE {TABLE}")

    def _table(self, connection: Any) -> Table:
        """The source's columns that are wanted, and how it holds them."""
        rows = self._rows()
        found = connection.execute(
            "SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a "
            f"WHERE a.attrelid = to_regclass({quoted(rows)}) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        ).fetchall()
        shown = written(self._address.shown)
        if not found:
            why, fix = f"You gave {shown}.", "Check the table's name, and that this user may read it."
            raise SourceUnavailable("The table is not there.", why, fix)
        places = matched([name for name, _ in found], self.schema, shown)
        return Table(rows, {name: (identifier(found[at][0]), family(found[at][1])) for name, at in places.items()})

    def _rows(self) -> str:
        table = self._address.table
        return ".".join(map(identifier, table if len(table) == 2 else ("public", *table)))

    def _space(self, secret: Secret, snapshot: str) -> str:
        return f"{self._prefix(secret)}{snapshot}"

    def _prefix(self, secret: Secret) -> str:
        """Of the schemas of this dataset under this key; another's of the same name have another mark."""
        return f"discreet_{re.sub('[^a-z0-9]', '', self.name.lower())[:11]}_{secret.derived('schemas', 8)}_"

    def _states(self, connection: Any) -> list[str]:
        prefix = self._prefix(kept_secret(self._key))
        names = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
        return [name for (name,) in names if name.startswith(prefix) and is_snapshot(name.removeprefix(prefix))]

    def _is_there(self, snapshot: str, space: str = "") -> bool:
        space = space or self._space(kept_secret(self._key), snapshot)
        made = f"to_regclass({quoted(f'{identifier(space)}.{_FACTS}')})"
        return bool(_only(self._connected(), f"SELECT {made} IS NOT NULL"))

    def _is_kept(self, snapshot: str) -> bool:
        return self._or_unavailable(lambda: self._is_there(snapshot))


def _changes(connection: Any) -> str:
    """Which transactions the present ones see: as long as it is the same, they see the same rows of every table."""
    return str(_only(connection, "SELECT pg_current_snapshot()"))


def _only(connection: Any, statement: str) -> Any:
    return connection.execute(statement).fetchone()[0]


def _lock(name: str) -> int:
    return int.from_bytes(bytes.fromhex(name[:16]), "big", signed=True)


def _drop_unheld(connection: Any, space: str) -> bool:
    """Whether the schema is gone: not where another session holds it."""
    with connection.transaction():
        if not _only(connection, f"SELECT pg_try_advisory_xact_lock({_lock(space[-32:])})"):
            return False
        connection.execute(f"DROP SCHEMA {identifier(space)} CASCADE")
    return True


def _columns(connection: Any, statement: str) -> Columns:
    """The columns of one SELECT: whole numbers as int64, a NULL among them refused; keys k0, k1, … as objects."""
    found = connection.execute(statement)
    names = [column.name for column in found.description]
    rows = found.fetchall()
    columns: Columns = {}
    for place, name in enumerate(names):
        if name[:1] == "k" and name[1:].isdecimal():
            columns[name] = np.fromiter((row[place] for row in rows), dtype=object, count=len(rows))
        elif not all(type(row[place]) is int for row in rows):
            raise TypeError
        else:
            columns[name] = np.array([row[place] for row in rows], dtype=np.int64)
    if len(columns) != len(names):
        raise ValueError
    return columns


_members: "weakref.WeakSet[PostgresEngine]" = weakref.WeakSet()


def _in_child() -> None:
    for member in list(_members):
        member.lock = threading.RLock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_in_child)
