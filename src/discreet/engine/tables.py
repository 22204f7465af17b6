"""Which of the source's columns are read, and how its rows are read in SQL."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.engine.cells import Family, family
from discreet.engine.prepare import Table, columns_read, identifier
from discreet.engine.quotes import delimiter
from discreet.engine.source import File, Format, unreadable
from discreet.errors import MetadataError, SourceUnavailable
from discreet.metadata import header
from discreet.query.meaning.names import text_in_sql
from discreet.schema import Schema
from discreet.schema.words import suggestion, toml_value

_DELIMITERS, _QUOTE = ",;\t|", '"'
_OWN_COLUMNS = "hive_partitioning = false"  # a folder called region=north must not stand for the column region
_LONGEST_ROW = 2**26  # bytes; a longer one is a broken one and is left out
SOURCE = "source"  # the name under which a DuckDB file is attached

Look = Callable[[Sequence[str]], list[list[tuple[Any, ...]]]]  # runs statements where only the source can be read


def table(source: File, schema: Schema, look: Look) -> Table:
    """How to read the columns the schema names; MetadataError where one is absent."""
    match source.format:
        case Format.CSV:
            return _csv(source, schema)
        case Format.PARQUET:
            return _parquet(source, schema, look)
        case Format.DUCKDB:
            return _duckdb(source, schema, look)


def attachment(source: File) -> tuple[str, ...]:
    """What must run before the rows of a DuckDB file can be named."""
    if source.format is not Format.DUCKDB:
        return ()
    return (f"ATTACH {text_in_sql(str(source.path))} AS {SOURCE} (READ_ONLY)",)


def column_places(names: Sequence[str], schema: Schema, shown: str) -> dict[str, int]:
    """The index of each column to read, by its exact name, or else by one that differs in case only."""
    exact = {name: place for place, name in enumerate(names)}
    loose = {name.casefold(): place for place, name in enumerate(names)}
    if len(loose) < len(names):
        _refuse_twins(names, shown)
    places = {}
    for name in columns_read(schema):
        place = exact.get(name, loose.get(name.casefold()))
        if place is None:
            raise _absent(name, names, schema, shown)
        places[name] = place
    return places


def _csv(source: File, schema: Schema) -> Table:
    names = header.names(Path(source.path))
    with source.path.open("rb") as handle:
        line = header.first_line(handle).decode("utf-8-sig")
    places = column_places(names, schema, source.shown)
    columns = ", ".join(f"s{place}: 'VARCHAR'" for place in range(len(names)))
    options = (  # one thread: a chunk that starts inside a quoted cell would be read as other rows
        f"auto_detect = false, header = true, delim = {text_in_sql(delimiter(line))}, "
        f"quote = {text_in_sql(_QUOTE)}, escape = {text_in_sql(_QUOTE)}, "
        f"columns = {{{columns}}}, null_padding = true, ignore_errors = true, strict_mode = false, parallel = false, "
        f"allow_quoted_nulls = false, "  # "" is a text, nothing at all is NULL
        f"max_line_size = {_LONGEST_ROW}, {_OWN_COLUMNS}"
    )
    rows = f"read_csv({text_in_sql(str(source.path))}, {options})"
    return Table(rows, {name: (f"s{place}", Family.TEXT) for name, place in places.items()})


def _parquet(source: File, schema: Schema, look: Look) -> Table:
    path = text_in_sql(str(source.path))
    rows = f"read_parquet({path}, {_OWN_COLUMNS})"
    nodes, described = look(
        [f"SELECT name, num_children FROM parquet_schema({path})", f"DESCRIBE SELECT * FROM {rows}"]
    )
    names = _top_level(nodes)
    if len(names) != len(described):
        raise unreadable(source.shown)
    return _table_of(rows, names, described, schema, source.shown)


def _duckdb(source: File, schema: Schema, look: Look) -> Table:
    tables = f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{SOURCE}' AND NOT internal"
    (tables_there,) = look([*attachment(source), tables])[-1:]
    named = [pair for pair in tables_there if pair[1].casefold() == schema.name.casefold()]
    if len(named) != 1 and len(tables_there) != 1:
        why = f"{source.shown} has none called {toml_value(schema.name)}, or more than one."
        fix = f"Name the table {schema.name} there, or keep only one table in the file."
        raise SourceUnavailable("Which table is meant is not clear.", why, fix)
    space, name = (named if len(named) == 1 else tables_there)[0]
    rows = ".".join(map(identifier, (SOURCE, space, name)))
    described = look([*attachment(source), f"DESCRIBE SELECT * FROM {rows}"])[-1]
    return _table_of(rows, [row[0] for row in described], described, schema, source.shown)


def _table_of(
    rows: str, names: Sequence[str], described: Sequence[tuple[Any, ...]], schema: Schema, shown: str
) -> Table:
    places = column_places(names, schema, shown)
    columns = {name: (_readable(*described[place][:2]), family(described[place][1])) for name, place in places.items()}
    return Table(rows, columns)


def _readable(name: str, kind: str) -> str:
    """The column, in a type that functions of time take: there are none for nanoseconds with a zone."""
    column = identifier(name)
    return f"TRY_CAST({column} AS TIMESTAMPTZ)" if kind == "TIMESTAMPTZ_NS" else column


def _top_level(nodes: Sequence[tuple[Any, ...]]) -> list[str]:
    """The names right below the root of a schema listed depth first; unlike the engine's own they may be twins."""
    names, place = [], 1
    while place < len(nodes):
        names.append(str(nodes[place][0]))
        below, place = nodes[place][1] or 0, place + 1
        while below:
            below += (nodes[place][1] or 0) - 1
            place += 1
    return names


def _refuse_twins(names: Sequence[str], shown: str) -> None:
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        first_place = places.setdefault(name.casefold(), place)
        if first_place != place:
            why = f"Columns {first_place} and {place} of {shown} have the same one, upper and lower case alike."
            raise MetadataError("Column names must differ.", why, "Rename one of them in the source.")


def _absent(name: str, names: Sequence[str], schema: Schema, shown: str) -> MetadataError:
    where = "[unit] key" if schema.unit is not None and name == schema.unit.key else "[columns]"
    similar = suggestion(name, names)
    fix = f"Did you mean {toml_value(similar)}? Write that name" if similar else "Correct or remove that name"
    what = f"{where} names a column that the table does not have."
    return MetadataError(what, f"{shown} has no {toml_value(name)}.", f"{fix} in the TOML.")
