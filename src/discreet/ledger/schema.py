"""The tables of a ledger's file, their check, and the way from format 1, which had no checkpoints and keys used once.

Keys and checkpoints are found by indices that SQLite itself keeps over the entries; nothing is stored beside them.
"""

import sqlite3

from discreet.errors import LedgerUnavailable
from discreet.ledger.chain import broken

VERSION = 2
APPLICATION = 0x44504C47  # "DPLG" in the file's header
_KEY, _KIND = "json_extract(body, '$.key')", "json_extract(body, '$.kind')"

_TABLES = {
    "entries": "CREATE TABLE entries (n INTEGER PRIMARY KEY CHECK (n >= 1), "
    "body TEXT NOT NULL CHECK (json_valid(body) AND json_extract(body, '$.n') = n), "
    "hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32)) STRICT",
    "answers": "CREATE TABLE answers (charge INTEGER PRIMARY KEY REFERENCES entries (n), "
    "entry INTEGER NOT NULL UNIQUE REFERENCES entries (n) CHECK (entry > charge), bytes BLOB NOT NULL) STRICT",
}
_TRIGGERS = {
    f"{table}_{verb.lower()}": f"CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'append only'); END"
    for table in _TABLES
    for verb in ("UPDATE", "DELETE")
}
_INDICES_1 = {
    "one_charge_per_key": f"CREATE UNIQUE INDEX one_charge_per_key ON entries ({_KEY}) WHERE {_KEY} IS NOT NULL",
}
_INDICES = {
    "charges_by_key": f"CREATE INDEX charges_by_key ON entries ({_KEY}) WHERE {_KEY} IS NOT NULL",
    "checkpoints": f"CREATE INDEX checkpoints ON entries (n) WHERE {_KIND} = 'checkpoint'",
}
SCHEMA = {**_TABLES, **_INDICES, **_TRIGGERS}
SCHEMAS = {1: {**_TABLES, **_INDICES_1, **_TRIGGERS}, VERSION: SCHEMA}

BY_KEY = f"SELECT n FROM entries WHERE {_KEY} = ? ORDER BY n"
LAST_CHECKPOINT = f"SELECT n FROM entries WHERE {_KIND} = 'checkpoint' AND n <= ? ORDER BY n DESC LIMIT 1"


def make(connection: sqlite3.Connection) -> None:
    """Make the tables of a new ledger."""
    for statement in SCHEMA.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file of format 1 to the present one, inside the caller's transaction."""
    for name in _INDICES_1:
        connection.execute(f"DROP INDEX {name}")
    for statement in _INDICES.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def version(connection: sqlite3.Connection) -> int:
    """The format of the file."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


def names(connection: sqlite3.Connection) -> dict[str, str]:
    """Every table, index and trigger, and the statement that made it."""
    query = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return dict(connection.execute(query).fetchall())


def require_ledger(connection: sqlite3.Connection) -> None:
    """Refuses a file that is no ledger, an unfinished one, or one of a later format."""
    number = version(connection)
    if number > VERSION:
        what = f"The ledger has format {number}."
        raise LedgerUnavailable(
            what, f"This Discreet knows formats up to {VERSION}.", "Use the newer Discreet that wrote it."
        )
    if number == 0 and not names(connection):
        why = "Its making did not finish; nothing was ever charged to it."
        raise LedgerUnavailable("The ledger is empty.", why, "Make it again.")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION or names(connection) != SCHEMAS.get(number):
        raise broken("The file is not a ledger, or its tables were changed.")
