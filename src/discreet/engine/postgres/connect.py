"""Connections to the server: settings under which texts and numbers are read alike everywhere, a deadline, and keys.

A key enters through COPY FROM STDIN into a temporary table.  The server logs the statement and not what is copied,
whatever `log_statement`, `log_min_duration_statement` and `log_parameter_max_length` say; bound parameters it logs.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import SourceUnavailable
from discreet.metadata.address import Address
from discreet.schema.limits import Limits

_CONNECT_SECONDS = 10
_GRACE = 2  # seconds beyond the server's own limit, after which the connection is cut
_MOST_WORK = 2**20  # KiB of memory for one sort or hash
_SETTINGS = {
    "client_encoding": "UTF8",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "iso_8601",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "jit": "off",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "error",
}


def open_connection(address: Address, limits: Limits) -> Any:
    """Open a connection in autocommit; every failure is a SourceUnavailable without the server's words."""
    import psycopg

    root: dict[str, Any] = {} if address.sslrootcert is None else {"sslrootcert": address.sslrootcert}
    connection: Any = None
    encoding: Any = None
    try:
        connection = psycopg.connect(
            host=address.host or None,
            port=address.port,
            user=address.user,
            dbname=address.database,
            sslmode=address.sslmode,
            connect_timeout=_CONNECT_SECONDS,
            application_name="discreet",
            autocommit=True,
            prepare_threshold=None,
            **root,
        )
        connection.add_notice_handler(lambda _: None)
        work = max(min(limits.memory // 2**10 // 8, _MOST_WORK), 2**12)
        for name, value in {**_SETTINGS, "work_mem": f"{work}kB"}.items():
            connection.execute(f"SET {name} = '{value}'")
        encoding = connection.execute("SHOW server_encoding").fetchone()
    except psycopg.Error:
        if connection is not None:
            connection.close()
    if encoding is None:
        why = "It does not run, refuses this user or password, or has no such database."
        fix = "Check the source in the TOML, and PGPASSWORD or ~/.pgpass; then do this again."
        raise SourceUnavailable("The PostgreSQL server could not be reached.", why, fix)
    if encoding != ("UTF8",):
        connection.close()
        why = "Texts are hashed by their bytes in UTF-8."
        raise SourceUnavailable("The database must be in UTF-8.", why, "Copy the table into a database with UTF8.")
    return connection


def no_driver() -> SourceUnavailable:
    """The refusal where psycopg is not installed."""
    what, why = "The table lies in PostgreSQL, and its driver is not installed.", "It is an extra."
    return SourceUnavailable(what, why, "Run: pip install 'discreet[postgres]'")


def lend(connection: Any, table: str, keys: Mapping[str, str]) -> None:
    """Put keys into a temporary table of this session: one row, a column for each key."""
    columns = ", ".join(f"{name} text" for name in keys)
    connection.execute(f"DROP TABLE IF EXISTS pg_temp.{table}")
    connection.execute(f"CREATE TEMP TABLE {table} ({columns})")
    with connection.cursor() as cursor, cursor.copy(f"COPY pg_temp.{table} FROM STDIN") as copy:
        copy.write_row(list(keys.values()))


def take_back(connection: Any, table: str) -> None:
    """Drop that table."""
    connection.execute(f"DROP TABLE IF EXISTS pg_temp.{table}")


@contextlib.contextmanager
def within(connection: Any, seconds: float) -> Iterator[None]:
    """Limit the time of the statements inside: the server ends a longer one, and a server that is silent is cut off."""
    line = _Line(connection.fileno())
    timer = threading.Timer(seconds + _GRACE, line.cut)
    timer.daemon = True
    timer.start()
    try:
        connection.execute(f"SET statement_timeout = {int(seconds * 1000) + 1}")
        yield
    finally:
        timer.cancel()
        line.close()


class _Line:
    """A second handle on a connection's socket, so that another thread can cut it and never a later one."""

    def __init__(self, handle: int) -> None:
        self._socket, self._lock, self._closed = socket.socket(fileno=os.dup(handle)), threading.Lock(), False

    def cut(self) -> None:
        """Shut the socket down, so that whoever waits on it gets an error."""
        with self._lock, contextlib.suppress(OSError):
            if not self._closed:
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the second handle; the connection stays as it was."""
        with self._lock:
            self._closed = True
            self._socket.close()
