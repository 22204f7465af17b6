"""Write the SQL that makes the prepared tables of `query.layout` from a source.

The SQL contains public facts and the names of the source and its columns; the keys of hashes are variables of the
session.  For a table with a unit it first makes these temporary tables:

    typed    every row whose unit key is not NULL: the key u, the row's cells packed into words (`packing`), and which
             cells lay below or above their bounds (`beyond`)
    units    for each u: its id and its number of rows n
    beyond   for each u with a cell outside its bounds: how many cells of each column lay below and above them; it is
             left out if no column has bounds
    ranked   the rows that are kept, each with its rank r among its unit's rows, which are ordered by `mixing` of id and
             row, then by words; a row is kept if r ≤ max_rows and it equals the unit's first row in every column that
             is fixed per unit

Then `prepared` and `discreet_units` are written in the order of ids, and `discreet_secret` with the secret key by
which groups are hashed.

Without a unit every row is a unit by itself, and `numbered` takes the place of the last three tables.  A row's id is a
hash of its words, of the sides on which its cells lay beyond bounds, and of its number among equal rows, so that one
more row adds one id and changes no other.

A change in how cells are read, which rows are kept or what a table holds needs a higher FORMAT, because every snapshot
depends on FORMAT and not on the text of the SQL.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.engine import beyond, mixing, packing
from discreet.engine.cells import Family, cell, common_sql, unit_key, value
from discreet.query.compile.keyed import id64, order64
from discreet.query.layout import (
    BUCKET,
    KEPT,
    MOST_BEYOND,
    MOST_BUCKET,
    RANK,
    SECRET,
    TABLE,
    UNIT,
    UNITS,
    Store,
    engine_type,
    storage,
)
from discreet.query.meaning.names import text_in_sql
from discreet.schema import Column, Empty, Schema

FORMAT = 3  # of the prepared file
FACTS = "discreet_facts"  # a table of one row: what the file was made from
ID_KEY, ROW_KEY, GROUP_KEY = "discreet_id_key", "discreet_row_key", "discreet_group_key"  # variables of the session
KEYS = {ID_KEY: 32, ROW_KEY: 16, GROUP_KEY: 16}  # how many hexadecimal digits each has


@dataclass(frozen=True)
class Table:
    """Rows to read: an expression for FROM, and for each column to read its SQL, quoted if need be, and its type."""

    rows: str
    columns: Mapping[str, tuple[str, Family]]


@dataclass(frozen=True)
class Step:
    """Statements that run together, under the name that progress reports."""

    name: str
    statements: tuple[str, ...]


def steps(schema: Schema, table: Table) -> tuple[Step, ...]:
    """The steps that make the prepared tables from the source; `facts` makes the table of facts afterwards."""
    secret = f"CREATE TABLE {SECRET} AS SELECT getvariable('{GROUP_KEY}') AS word"
    typed = f"CREATE TEMP TABLE typed AS {_typed_rows(schema, table)}"
    if schema.unit is None:
        ranking, writing = (*_types(schema), typed, _numbered_rows(schema)), _each_row(schema)
    else:
        counting = (_units(), *_beyond_of_units(schema))
        ranking, writing = (*_types(schema), typed, *counting, _ranked_rows(schema)), _with_units(schema)
    return Step("ranking", ranking), Step("writing", (*writing, secret))


def layout(schema: Schema) -> str:
    """JSON of the public facts that decide how rows are read and kept.

    Schemas with equal layouts have equal prepared tables of the same source under the same keys.  Names and types are
    written out, options that are not set are left out, numbers are exact, and columns stand in the order of places.

    >>> layout(Schema("people", [Column("age", "integer", bounds=("0", "110.0"))]))
    '{"columns":[{"high":110,"low":0,"name":"age","step":"1","type":"integer"}],"format":3,"name":"people"}'
    """
    ordered = sorted(schema.columns, key=lambda column: schema.places[column.name])
    facts: dict[str, object] = {
        "format": FORMAT,
        "name": schema.name,
        "columns": [_column_facts(column) for column in ordered],
    }
    if schema.unit is not None:
        facts["unit"] = {"key": schema.unit.key, "max_rows": schema.unit.max_rows}
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def _column_facts(column: Column) -> dict[str, object]:
    """The facts about a column that `layout` states."""
    facts: dict[str, object] = {"name": column.name, "type": str(column.type)}
    if column.lattice is not None:
        facts |= {"low": column.lattice.low, "high": column.lattice.high, "step": str(column.lattice.step)}
    if column.values is not None:
        facts["values"] = list(column.values)
    if column.fixed_per_unit:
        facts["fixed_per_unit"] = True
    if column.empty is not Empty.VALUE:
        facts["empty"] = str(column.empty)
    return facts


def columns_read(schema: Schema) -> tuple[str, ...]:
    """The only columns of the source that are read: the unit's key and the declared ones."""
    declared = tuple(column.name for column in schema.columns)
    return declared if schema.unit is None else (schema.unit.key, *declared)


def facts(entries: Mapping[str, str]) -> str:
    """The statement that records the entries; rows and units are counted, whatever the entries say of them."""
    counted = [f"(SELECT CAST(count(*) AS VARCHAR) FROM {table}) AS {name}" for name, table in COUNTED.items()]
    constants = [f"{text_in_sql(text)} AS {name}" for name, text in entries.items() if name not in COUNTED]
    return f"CREATE OR REPLACE TABLE {FACTS} AS SELECT {commas([*constants, *counted])}"


COUNTED = {"rows": TABLE, "units": UNITS}  # counts among the facts; whoever opens the file compares them


def is_key(name: str) -> bool:
    """Whether a column of a question's result holds the values that it is grouped by, by its name: k0, k1, …"""
    return name[:1] == "k" and name[1:].isdecimal()


def identifier(name: str) -> str:
    """The name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _types(schema: Schema) -> list[str]:
    """The statements that make an ENUM of the public values of each column that is stored as codes."""
    columns = [(storage(schema, column), column.values or ()) for column in schema.columns]
    return [
        f"CREATE TYPE t{stored.name} AS ENUM ({', '.join(text_in_sql(str(value)) for value in values)})"
        for stored, values in columns
        if stored.store is Store.CODE
    ]


def _typed_rows(schema: Schema, table: Table) -> str:
    """The SELECT of `typed`; without a unit u is left out if there are words.

    It has four layers, so that nothing is computed twice: raw cells, cells as they are read, prepared cells with their
    sides, and words.
    """
    raws, reads, cells = [], [], []
    for column in schema.columns:
        raw, family = table.columns[column.name]
        place = storage(schema, column).name
        shared = common_sql(column, raw, family)
        raws += [f"{raw} AS r{place}", *([] if shared is None else [f"{shared} AS m{place}"])]
        reads.append(f"{value(column, f'r{place}', family, shared and f'm{place}')} AS v{place}")
        cells.append(f"{_cell(schema, column, f'v{place}')} AS {place}")
    sides = beyond.sides(schema)
    side_columns = [f"{sql} AS {name}" for name, sql in sides.items()]
    kept_words = [f"{word.from_cells} AS {word.name}" for word in packing.words(schema)]
    kept_words += [f"{sql} AS {name}" for name, sql in beyond.words_of([*sides]).items()]
    unit = "1" if schema.unit is None else unit_key(*table.columns[schema.unit.key])
    rows = f"SELECT {commas([f'{unit} AS u', *raws])} FROM {table.rows}"
    read_rows = f"SELECT {commas(['u', *reads])} FROM ({rows}) WHERE u IS NOT NULL"
    cell_rows = f"SELECT {commas(['u', *cells, *side_columns])} FROM ({read_rows})"
    keys = [] if schema.unit is None and kept_words else ["u"]
    return f"SELECT {commas([*keys, *kept_words])} FROM ({cell_rows})"


def _cell(schema: Schema, column: Column, read: str) -> str:
    """SQL of the prepared cell from the column `read`; a value of an ENUM as its code."""
    sql = cell(schema, column, read)
    coded = storage(schema, column).store is Store.CODE
    return f"CAST(enum_code({sql}) AS {engine_type(schema, column)})" if coded else sql


# --- units of several rows -----------------------------------------------------------------------------------------


def _units() -> str:
    """The statement that makes `units`; an id is a keyed hash of the unit's key."""
    unit_id = id64(f"getvariable('{ID_KEY}')", ["u"])
    return f"CREATE TEMP TABLE units AS SELECT *, {unit_id} AS id FROM (SELECT u, count(*) AS n FROM typed GROUP BY u)"


def _beyond_of_units(schema: Schema) -> tuple[str, ...]:
    """The statement that makes `beyond` from the rows with a cell outside its bounds; none if no column has bounds."""
    sides = beyond.sides_from_words([*beyond.sides(schema)])
    if not sides:
        return ()
    counts = [f"count(*) FILTER ({sql} = {side}) AS {name}" for name, (sql, side) in beyond.sketch(sides).items()]
    is_beyond = " OR ".join(f"{name} <> 0" for name in beyond.words_of([*sides]))
    return (f"CREATE TEMP TABLE beyond AS SELECT {commas(['u', *counts])} FROM typed WHERE {is_beyond} GROUP BY u",)


def _ranked_rows(schema: Schema) -> str:
    """The statement that makes `ranked`; x mixes the id with the words, or with a hash of them if they are long.

    Rows that tie in x and in every word are equal, so either may come first.
    """
    words = packing.words(schema)
    names = packing.word_names(words)
    columns, limbs = ["id", *names], [limb for word in words for limb in mixing.limbs(word.name, word.bits)]
    rows = f"SELECT {commas(columns)} FROM typed JOIN (SELECT u, id FROM units) USING (u)"
    if not packing.is_short(words):
        row_hash = order64(f"getvariable('{ROW_KEY}')", packing.message_parts(words))
        rows = f"SELECT {commas([*columns, f'CAST({row_hash} >> 2 AS BIGINT) AS h'])} FROM ({rows})"
        columns, limbs = [*columns, "h"], [*mixing.limbs("h", packing.BITS)]
    hashed = rows
    for step in mixing.steps(f"id & {mixing.MASK}", limbs, "xor({}, {})"):
        hashed = f"SELECT {commas([*columns, f'{step} AS x'])} FROM ({hashed})"
    order = f"PARTITION BY id ORDER BY {commas(['x', *names])}"
    firsts = [f"first_value({word.name}) OVER w AS first_{word.name}" for word in words if word.agrees]
    same = "".join(f" AND {agreement}" for word in words for agreement in word.agrees)
    window = f"SELECT *, {commas(['row_number() OVER w AS r', *firsts])} FROM ({hashed}) WINDOW w AS ({order})"
    return (
        f"CREATE TEMP TABLE ranked AS SELECT {commas(['id', 'r', *names])} FROM ({window}) "
        f"WHERE r <= {schema.max_rows}{same}"
    )


def _with_units(schema: Schema) -> tuple[str, ...]:
    """The statements that write `prepared` and `discreet_units`, and drop the temporary tables."""
    columns = [f"id AS {UNIT}", f"CAST(r AS INTEGER) AS {RANK}", *_cells(schema)]
    bucket = f"CAST(least({MOST_BUCKET}, floor(log2(n))) AS UTINYINT) AS {BUCKET}"  # right for every n below 2⁴⁵
    sketch = beyond.sketch(beyond.sides(schema))
    sketches = [f"CAST(least({MOST_BEYOND}, coalesce({name}, 0)) AS UTINYINT) AS {name}" for name in sketch]
    about = [f"id AS {UNIT}", f"CAST(kept AS INTEGER) AS {KEPT}", bucket, *sketches]
    counted = f"SELECT *, least(n, {schema.max_rows}) AS kept FROM units"
    if any(word.agrees for word in packing.words(schema)):  # rows that differ from the first one were left out too
        counted = "SELECT * FROM units JOIN (SELECT id, count(*) AS kept FROM ranked GROUP BY id) USING (id)"
    joined = f"({counted}) LEFT JOIN beyond USING (u)" if sketch else f"({counted})"
    dropped = ("ranked", *(["beyond"] if sketch else []), "units", "typed")
    return (
        f"CREATE TABLE {TABLE} AS SELECT {commas(columns)} FROM ranked ORDER BY id, r",
        f"CREATE TABLE {UNITS} AS SELECT {commas(about)} FROM {joined} ORDER BY id",
        *(f"DROP TABLE {name}" for name in dropped),
    )


# --- every row a unit ----------------------------------------------------------------------------------------------


def _numbered_rows(schema: Schema) -> str:
    """The statement that makes `numbered`: rows with id and number n among rows of equal words and sides."""
    words, side_words = packing.words(schema), list(beyond.words_of([*beyond.sides(schema)]))
    partition = [*packing.word_names(words), *side_words]
    window = f"PARTITION BY {commas(partition)}" if partition else ""
    unit_id = id64(f"getvariable('{ID_KEY}')", [*packing.message_parts(words), *side_words, "n"])
    numbered = f"SELECT *, row_number() OVER ({window}) AS n FROM typed"
    return f"CREATE TEMP TABLE numbered AS SELECT *, {unit_id} AS id FROM ({numbered})"


def _each_row(schema: Schema) -> tuple[str, ...]:
    """The statements that write `prepared` and `discreet_units`, and drop the temporary tables.

    Which cells lay below and above their bounds stands in each row of `prepared`, so `discreet_units` is a view of it.
    """
    sketch = beyond.sketch(beyond.sides_from_words([*beyond.sides(schema)]))
    sketches = [f"CAST({sql} = {side} AS UTINYINT) AS {name}" for name, (sql, side) in sketch.items()]
    columns = [f"id AS {UNIT}", f"CAST(1 AS INTEGER) AS {RANK}", *_cells(schema), *sketches]
    about = [UNIT, f"{RANK} AS {KEPT}", f"CAST(0 AS UTINYINT) AS {BUCKET}", *sketch]
    return (
        f"CREATE TABLE {TABLE} AS SELECT {commas(columns)} FROM numbered ORDER BY id",
        f"CREATE VIEW {UNITS} AS SELECT {commas(about)} FROM {TABLE}",
        *(f"DROP TABLE {name}" for name in ("numbered", "typed")),
    )


# --- both ----------------------------------------------------------------------------------------------------------


def _cells(schema: Schema) -> list[str]:
    """SQL of each prepared cell from its word, c0 first."""
    cells = {sql.rpartition(" ")[2]: sql for word in packing.words(schema) for sql in word.cells}
    return [cells[f"c{place}"] for place in range(len(schema.columns))]


def commas(parts: Sequence[str]) -> str:
    """The parts with commas between them."""
    return ", ".join(parts)
