"""The SQL that makes the prepared table from a source: text built from public facts, two names and the dataset's key.

    typed    every row whose unit key is not NULL, its cells as the layout keeps them
    ranked   row_number over each unit's rows, ordered by a keyed hash of the row and then by all its cells
    kept     rank ≤ max_rows, and equal to the unit's first row in every column that is fixed per unit
    units    one code and one salt for each unit

`discreet_unit` is for telling units apart and nothing else: which code a unit gets depends on the other units.  What a
question ranks by must be a function of the unit alone, and that is `discreet_salt`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from discreet.engine.cells import Family, cell, text, unit_key, value
from discreet.query.layout import RANK, SALT, SECRET, TABLE, UNIT, Store, stored
from discreet.schema import Schema

FORMAT = 2  # of the prepared file
FACTS = "discreet_facts"  # a table of one row: what the file was made from
_SALTS = 2**16


@dataclass(frozen=True)
class Table:
    """Rows to read: an expression for FROM, and for each wanted column its name there and how it is held."""

    rows: str
    columns: Mapping[str, tuple[str, Family]]


@dataclass(frozen=True)
class Step:
    """Statements that run together, named for whoever waits."""

    name: str
    statements: tuple[str, ...]


def steps(schema: Schema, table: Table, word: int) -> tuple[Step, ...]:
    """Everything from the source to the finished tables, except the facts."""
    secret = f"CREATE TABLE {SECRET} AS SELECT {_word(word)} AS word"
    if schema.unit is None:
        return Step("ranking", tuple(_types(schema))), Step("writing", (_each_row(schema, table, word), secret))
    ranked = _ranked(schema, table, word)
    return Step("ranking", (*_types(schema), ranked)), Step("writing", (*_with_units(schema, word), secret))


def layout_hash(schema: Schema) -> str:
    """SHA-256 of what the file's columns mean and which engine hashed its rows.

    Unlike the schema's hash it sees the order of columns and of values, on which it depends which rows of a unit count.
    """
    sight = Table("source", {name: (name, Family.TEXT) for name in wanted(schema)})
    whole = repr((FORMAT, version("duckdb"), steps(schema, sight, 0)))
    return hashlib.sha256(whole.encode()).hexdigest()


def wanted(schema: Schema) -> tuple[str, ...]:
    """The source's columns that are read at all: the unit's key and the declared ones."""
    declared = tuple(column.name for column in schema.columns)
    return declared if schema.unit is None else (schema.unit.key, *declared)


def facts(entries: Mapping[str, str]) -> str:
    """The statement that records what the file was made from."""
    return f"CREATE OR REPLACE TABLE {FACTS} AS SELECT " + ", ".join(f"{quoted(v)} AS {k}" for k, v in entries.items())


def quoted(given: str) -> str:
    """A text as an SQL literal."""
    return "'" + given.replace("'", "''") + "'"


def identifier(given: str) -> str:
    """A name as SQL has it."""
    return '"' + given.replace('"', '""') + '"'


def _names(schema: Schema) -> list[str]:
    return [stored(schema, column).name for column in schema.columns]


def _types(schema: Schema) -> list[str]:
    listed = [(stored(schema, column), column.values or ()) for column in schema.columns]
    return [
        f"CREATE TYPE t{place.name} AS ENUM ({', '.join(quoted(str(value)) for value in values)})"
        for place, values in listed
        if place.store is Store.CODE
    ]


def _typed(schema: Schema, table: Table) -> str:
    """SELECT u, c0, c1, …: two layers, so that no cell is read twice."""
    reads, cells = [], []
    for number, column in enumerate(schema.columns):
        raw, held = table.columns[column.name]
        reads.append(f"{value(column, raw, held)} AS v{number}")
        cells.append(f"{cell(schema, column, f'v{number}')} AS {stored(schema, column).name}")
    if schema.unit is None:
        return f"SELECT {_listed(cells) or '1 AS nothing'} FROM (SELECT {_listed(reads) or '1'} FROM {table.rows})"
    raw, held = table.columns[schema.unit.key]
    inner = f"SELECT {_listed([f'{unit_key(raw, held)} AS u', *reads])} FROM {table.rows}"
    return f"SELECT {_listed(['u', *cells])} FROM ({inner}) WHERE u IS NOT NULL"


def _ranked(schema: Schema, table: Table, word: int) -> str:
    """Kept rows with their rank r.  Rows that tie in the hash and in every cell are equal, so either may come first."""
    names = _names(schema)
    spelt = text("u", Family.TEXT)
    hashed = f"SELECT *, hash(hash({_listed([_word(word), spelt, *names])})) AS h FROM ({_typed(schema, table)})"
    order = f"PARTITION BY u ORDER BY {_listed(['h', *names])}"
    fixed = [stored(schema, column).name for column in schema.columns if column.fixed_per_unit]
    firsts = [f"first_value({name}) OVER w AS first_{name}" for name in fixed]
    same = "".join(f" AND {name} IS NOT DISTINCT FROM first_{name}" for name in fixed)
    window = f"SELECT *, {_listed(['row_number() OVER w AS r', *firsts])} FROM ({hashed}) WINDOW w AS ({order})"
    return (
        f"CREATE TEMP TABLE ranked AS SELECT {_listed(['u', 'r', *names])} FROM ({window}) "
        f"WHERE r <= {schema.max_rows}{same}"
    )


def _with_units(schema: Schema, word: int) -> tuple[str, ...]:
    salt = f"CAST(hash(hash({_word(word)}, {text('u', Family.TEXT)})) % {_SALTS} AS INTEGER) AS salt"
    columns = [f"code AS {UNIT}", f"CAST(r AS INTEGER) AS {RANK}", f"salt AS {SALT}", *_names(schema)]
    return (
        f"CREATE TEMP TABLE units AS SELECT u, row_number() OVER () AS code, {salt} FROM ranked WHERE r = 1",
        f"CREATE TABLE {TABLE} AS SELECT {_listed(columns)} FROM ranked JOIN units USING (u)",
        "DROP TABLE ranked",
        "DROP TABLE units",
    )


def _each_row(schema: Schema, table: Table, word: int) -> str:
    salt = f"CAST(hash(hash({_listed([_word(word), *_names(schema)])})) % {_SALTS} AS INTEGER) AS {SALT}"
    columns = [f"row_number() OVER () AS {UNIT}", f"CAST(1 AS INTEGER) AS {RANK}", salt, *_names(schema)]
    return f"CREATE TABLE {TABLE} AS SELECT {_listed(columns)} FROM ({_typed(schema, table)})"


def _word(word: int) -> str:
    return f"CAST({word} AS UBIGINT)"


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts)
