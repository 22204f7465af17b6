"""A table in the server beside the same rows in a file, under one key."""

from discreet.engine import Limits
from discreet.engine.postgres.engine import PostgresEngine
from discreet.engine.secret import load_or_create_secret
from discreet.metadata.address import parse
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.postgres import POSTGRES
from discreet.query.compile.statements import statements

KEY = bytes(range(32)).hex()
LIMITS = Limits(memory=2**29, seconds=60, prepare_seconds=120, threads=1)


def filled(server, table, columns, rows):
    """A table of those columns, name to type, with those rows; None is NULL."""
    connection = server.connect()
    listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(f"CREATE TABLE {table} ({listed})")
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.close()


def opened(server, folder, schema, table, limits=LIMITS, user="curator", key=KEY):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.key").touch(0o600)
    (folder / "people.key").write_text(key)
    address = parse(server.url(table).replace("curator@", f"{user}@"))
    return PostgresEngine(folder, "people", schema, address, limits)


def prepared(server, engine, table="prepared"):
    """A prepared table as it lies in the server, in the order of units."""
    snapshot = engine.snapshot
    space = engine._space(load_or_create_secret(engine._key), snapshot)
    connection = server.connect()
    rows = connection.execute(f'SELECT * FROM "{space}".{table}').fetchall()
    connection.close()
    return sorted(rows, key=lambda row: row[:2])


def exacts(engine, draft, parts, ops=POSTGRES):
    compiled = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts, ops)
    return exacts_of(compiled, engine.run([statement.sql for statement in compiled]), draft.cells)
