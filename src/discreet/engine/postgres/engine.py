"""The engine of a table in a PostgreSQL server: its rows stay there, and so does what is prepared from them.

    discreet_{name}_{mark}_{snapshot}    a schema: a prepared state, a second copy of the declared columns
    {name}.key                           32 random bytes beside the ledger; no table that stays holds one of its keys

The state is a copy, so rows inserted meanwhile do not show.  Whoever reads it holds a shared advisory lock on it, and
it is dropped only by who gets an exclusive one.  After a charge every failure has the one fixed reply, `engine_failed`.
"""

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet.engine import prepare as layouts
from discreet.engine.postgres import connect, prepare
from discreet.engine.postgres.cells import family
from discreet.engine.prepare import COUNTED, FACTS, GROUP_KEY, ID_KEY, ROW_KEY, Table, identifier, is_key
from discreet.engine.prepared import Columns, Prepared, PreparingEngine, copy_in_use, rows_gone
from discreet.engine.protocol import Progress
from discreet.engine.remembering import RememberingView
from discreet.engine.secret import Secret, load_or_create_secret
from discreet.engine.states import is_snapshot
from discreet.engine.tables import column_places
from discreet.errors import SourceUnavailable, engine_failed
from discreet.metadata.address import Address
from discreet.query.compile.postgres import POSTGRES
from discreet.query.layout import SECRET, TABLE
from discreet.query.meaning.names import text_in_sql
from discreet.schema import Schema
from discreet.schema.limits import Limits
from discreet.schema.words import toml_value

Result = TypeVar("Result")
_SHARE = {"reading": 0.0, "ranking": 0.3, "writing": 0.8}
_TABLE_KEYS = (ID_KEY, ROW_KEY)


class PostgresEngine(PreparingEngine):
    """The engine on a table in a PostgreSQL server; a fork gets a connection of its own."""

    has_kernels = False

    def __init__(self, folder: Path, name: str, schema: Schema, source: Address, limits: Limits | None = None) -> None:
        super().__init__(folder, name, schema, limits)
        self._address = source
        self._connection: Any = None
        self._pid = os.getpid()
        self._opened = ""  # the snapshot that the connection has open
        self._known: tuple[str, str] | None = None  # a snapshot, and which transactions were seen by it
        self._views: Counter[str] = Counter()  # of each snapshot
        self._locked: set[str] = set()  # snapshots that the connection holds

    def prepare(self, progress: Progress | None = None) -> Prepared:
        """Prepare the table from the source as it is now, unless nothing was committed since."""
        tell = progress or (lambda _name, _share: None)
        with self.lock:
            return self._or_unavailable(lambda: self._present(tell))

    def _present(self, tell: Progress) -> Prepared:
        connection = self._connect()
        with connect.within(connection, self.limits.prepare_seconds):
            known, self._known = self._known, None
            if known is not None and known[1] == _changes(connection) and self._is_there(known[0]):
                self._known = known
                return Prepared(known[0], anew=False)
            return self._find_or_make(connection, load_or_create_secret(self._key), tell)

    def view(self, progress: Progress | None = None, *, snapshot: str | None = None) -> RememberingView:
        """As `protocol.Engine.view`."""
        with self.lock:
            if snapshot is not None and is_snapshot(snapshot) and self._is_kept(snapshot):
                present = snapshot
            else:
                present = self.prepare(progress).snapshot
            if snapshot is not None and present != snapshot:
                raise rows_gone("The source changed, and their copy was dropped.")
            self._or_unavailable(lambda: self._hold_in_time(present))
            self._views[present] += 1
        views, lock = self._views, self.lock

        def release() -> None:
            with lock:
                views[present] -= 1

        return RememberingView(self, present, POSTGRES, release)

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
        relation = f"to_regclass({text_in_sql(self._rows())})::oid"
        return ":".join(map(str, self._connect().execute(f"SELECT ({cluster}), ({database}), {relation}").fetchone()))

    def older_snapshots(self, snapshot: str) -> tuple[str, ...]:
        """No state of a server had an id in an older format."""
        return ()

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
        """Drop the prepared states; the key stays, so that the same content is the same snapshot again."""
        with self.lock:
            remaining = self._or_unavailable(self._drop_states)
        if remaining:
            raise copy_in_use()

    def _drop_states(self) -> list[str]:
        """Drop every state, and list those that another session holds."""
        self._known = None
        connection = self._connect()
        connection.execute("SELECT pg_advisory_unlock_all()")
        self._opened, self._locked = "", set()
        return [name for name in self._states(connection) if not _drop_unheld(connection, name)]

    def close(self) -> None:
        """Close the connection and let go of the state; the next question opens one."""
        with self.lock:
            self._disconnect()

    # --- the connection ----------------------------------------------------------------------------------------------

    def _connect(self) -> Any:
        if self._pid != os.getpid():
            self._connection, self._pid, self._opened = None, os.getpid(), ""  # the parent's own; not closed here
        if self._connection is None or self._connection.closed:
            self._opened = ""
            self._connection = connect.open_connection(self._address, self.limits)
            self._locked, self._known = set(), None
            # once a connection: every write is a transaction more
            word = load_or_create_secret(self._key).key_for(GROUP_KEY, layouts.KEYS[GROUP_KEY])
            connect.lend(self._connection, SECRET, {"word": word})
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            with contextlib.suppress(Exception):
                self._connection.close()
        self._connection, self._opened = None, ""

    def _or_unavailable(self, action: Callable[[], Result]) -> Result:
        """Do it before a charge; every failure gets the same refusal, since the server's words may quote a cell."""
        with contextlib.suppress(ImportError):
            from psycopg import Error

            for _ in range(2):
                is_new = self._connection is None
                try:
                    return action()
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
        connection = self._connect()
        with connect.within(connection, self.limits.seconds):
            self._enter(connection, snapshot)
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return [_columns(connection, statement) for statement in statements]

    def _enter(self, connection: Any, snapshot: str) -> None:
        """Open and hold that state; ValueError unless its facts are those that were charged for."""
        if self._opened == snapshot:
            return
        if not is_snapshot(snapshot):
            raise ValueError
        self._opened = ""
        self._hold(snapshot)
        space = self._space(load_or_create_secret(self._key), snapshot)
        connection.execute(f"SET search_path = pg_catalog, {identifier(space)}, pg_temp")
        facts = dict(connection.execute(f"SELECT name, value FROM {identifier(space)}.{FACTS}").fetchall())
        counts = {name: str(_only(connection, f"SELECT count(*) FROM {table}")) for name, table in COUNTED.items()}
        if {"snapshot": snapshot, "layout": self.layout, **counts}.items() - facts.items():
            raise ValueError
        self._opened = snapshot

    def _hold_in_time(self, snapshot: str) -> None:
        with connect.within(self._connect(), self.limits.seconds):
            self._hold(snapshot)

    def _hold(self, snapshot: str) -> None:
        """Hold that state, and let go of all others that no view holds."""
        connection = self._connect()
        if snapshot not in self._locked:
            connection.execute(f"SELECT pg_advisory_lock_shared({_lock(snapshot)})")
            self._locked.add(snapshot)
        for other in [name for name in self._locked if name != snapshot and not self._views[name]]:
            connection.execute(f"SELECT pg_advisory_unlock_shared({_lock(other)})")
            self._locked.remove(other)

    # --- preparing ---------------------------------------------------------------------------------------------------

    def _find_or_make(self, connection: Any, secret: Secret, tell: Progress) -> Prepared:
        """Find the state of the present rows, or make it, in one transaction on one snapshot of the server."""
        tell("reading", _SHARE["reading"])
        preparing = _lock(secret.key_for("preparing", 16))
        connection.execute(f"SELECT pg_advisory_lock({preparing})")
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            seen = _changes(connection)
            table = self._table(connection)
            content = _only(connection, prepare.digest(self.schema, table))
            snapshot = secret.snapshot(b"postgresql" + bytes.fromhex(content), self.layout, layouts.FORMAT)
            space = self._space(secret, snapshot)
            anew = not self._is_there(snapshot, space)
            if anew:
                self._make(connection, secret, table, space, {"snapshot": snapshot, "content": content}, tell)
        self._content = content
        if anew:
            viewed = [name for name, views in self._views.items() if views]
            kept = {self._space(secret, name) for name in (*self._kept, *viewed, snapshot)}
            for space in self._states(connection):
                if space not in kept:
                    _drop_unheld(connection, space)
        connection.execute(f"SELECT pg_advisory_unlock({preparing})")
        self._known = (snapshot, seen)
        tell("writing", 1.0)
        return Prepared(snapshot, anew)

    def _make(
        self, connection: Any, secret: Secret, table: Table, space: str, facts: dict[str, str], tell: Progress
    ) -> None:
        connection.execute(f"CREATE SCHEMA {identifier(space)}")
        connection.execute(f"SET LOCAL search_path = {identifier(space)}, pg_temp")
        connect.lend(connection, prepare.KEYS, {name: secret.key_for(name, layouts.KEYS[name]) for name in _TABLE_KEYS})
        for step in prepare.steps(self.schema, table):
            tell(step.name, _SHARE[step.name])
            for statement in step.statements:
                connection.execute(statement)
        connect.take_back(connection, prepare.KEYS)
        counts = {name: str(_only(connection, f"SELECT count(*) FROM {table}")) for name, table in COUNTED.items()}
        entries = {**facts, "layout": self.layout, "format": str(layouts.FORMAT), **counts}
        rows = ", ".join(f"({text_in_sql(name)}, {text_in_sql(fact)})" for name, fact in entries.items())
        connection.execute(f"CREATE TABLE {FACTS} AS SELECT * FROM (VALUES {rows}) AS facts (name, value)")
        connection.execute(f"ANALYZE {TABLE}")

    def _table(self, connection: Any) -> Table:
        """The source's columns that are read, and how it stores them."""
        rows = self._rows()
        columns = connection.execute(
            "SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a "
            f"WHERE a.attrelid = to_regclass({text_in_sql(rows)}) AND a.attnum > 0 AND NOT a.attisdropped "
            "ORDER BY a.attnum"
        ).fetchall()
        shown = toml_value(self._address.shown)
        if not columns:
            why, fix = f"You gave {shown}.", "Check the table's name, and that this user may read it."
            raise SourceUnavailable("The table is not there.", why, fix)
        places = column_places([name for name, _ in columns], self.schema, shown)
        sources = {name: columns[index] for name, index in places.items()}
        return Table(rows, {name: (identifier(column), family(kind)) for name, (column, kind) in sources.items()})

    def _rows(self) -> str:
        table = self._address.table
        return ".".join(map(identifier, table if len(table) == 2 else ("public", *table)))

    def _space(self, secret: Secret, snapshot: str) -> str:
        return f"{self._prefix(secret)}{snapshot}"

    def _prefix(self, secret: Secret) -> str:
        """The prefix of this dataset's schemas; a dataset of the same name with another key has another."""
        return f"discreet_{re.sub('[^a-z0-9]', '', self.name.lower())[:11]}_{secret.key_for('schemas', 8)}_"

    def _states(self, connection: Any) -> list[str]:
        prefix = self._prefix(load_or_create_secret(self._key))
        names = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
        return [name for (name,) in names if name.startswith(prefix) and is_snapshot(name.removeprefix(prefix))]

    def _is_there(self, snapshot: str, space: str = "") -> bool:
        space = space or self._space(load_or_create_secret(self._key), snapshot)
        facts = f"to_regclass({text_in_sql(f'{identifier(space)}.{FACTS}')})"
        return bool(_only(self._connect(), f"SELECT {facts} IS NOT NULL"))

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
    result = connection.execute(statement)
    names = [column.name for column in result.description]
    rows = result.fetchall()
    columns: Columns = {}
    for index, name in enumerate(names):
        if is_key(name):
            columns[name] = np.fromiter((row[index] for row in rows), dtype=object, count=len(rows))
        elif not all(type(row[index]) is int for row in rows):
            raise TypeError
        else:
            columns[name] = np.array([row[index] for row in rows], dtype=np.int64)
    if len(columns) != len(names):
        raise ValueError
    return columns
