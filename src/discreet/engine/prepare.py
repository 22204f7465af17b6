"""The SQL that makes the prepared tables from a source, by public facts and its own names; keys are variables.

    typed    every row whose unit key is not NULL: the key u, its cells in words, and beyond which bounds they lay
    units    for each u its id and its number of rows
    beyond   for each u with such a cell how many lay beyond each bound
    ranked   row_number over each unit's rows, ordered by `mixing` of the row under the id and then by its words;
             kept if rank ≤ max_rows and equal to the unit's first row in every column that is fixed per unit

Then both tables of `query.layout` are written in the order of ids.  Without a unit each row is one: its id is a hash of
its words, of the bounds they lay beyond and of its number among equal rows, so that a row more adds an id and moves no
other.

Whoever changes what a cell is read as, which rows are kept or what a table holds raises FORMAT: it is part of every
snapshot, and the words of the SQL are not.
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
KEYS = {ID_KEY: 32, ROW_KEY: 16, GROUP_KEY: 16}  # their hexadecimal digits


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


def steps(schema: Schema, table: Table) -> tuple[Step, ...]:
    """Everything from the source to the finished tables, except the facts."""
    secret = f"CREATE TABLE {SECRET} AS SELECT getvariable('{GROUP_KEY}') AS word"
    typed = f"CREATE TEMP TABLE typed AS {_typed_rows(schema, table)}"
    if schema.unit is None:
        ranking, writing = (*_types(schema), typed, _numbered_rows(schema)), _each_row(schema)
    else:
        counting = (_units(), *_beyond_of_units(schema))
        ranking, writing = (*_types(schema), typed, *counting, _ranked_rows(schema)), _with_units(schema)
    return Step("ranking", ranking), Step("writing", (*writing, secret))


def layout(schema: Schema) -> str:
    """JSON of the public facts that decide how rows are read and kept: equal wherever the prepared tables must be.

    Names and kinds are spelt out, defaults left out, numbers exact, columns in the order of their places.

    >>> layout(Schema("people", [Column("age", "integer", bounds=("0", "110.0"))]))
    '{"columns":[{"high":110,"low":0,"name":"age","step":"1","type":"integer"}],"format":3,"name":"people"}'
    """
    ordered = sorted(schema.columns, key=lambda column: schema.places[column.name])
    facts: dict[str, object] = {
        "format": FORMAT,
        "name": schema.name,
        "columns": [_facts(column) for column in ordered],
    }
    if schema.unit is not None:
        facts["unit"] = {"key": schema.unit.key, "max_rows": schema.unit.max_rows}
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def _facts(column: Column) -> dict[str, object]:
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
    """The source's columns that are read at all: the unit's key and the declared ones."""
    declared = tuple(column.name for column in schema.columns)
    return declared if schema.unit is None else (schema.unit.key, *declared)


def facts(entries: Mapping[str, str]) -> str:
    """The statement that records what the file was made from, and how many rows and units it holds."""
    counted = [f"(SELECT CAST(count(*) AS VARCHAR) FROM {table}) AS {name}" for name, table in COUNTED.items()]
    constants = [f"{text_in_sql(v)} AS {k}" for k, v in entries.items() if k not in COUNTED]
    return f"CREATE OR REPLACE TABLE {FACTS} AS SELECT {commas([*constants, *counted])}"


COUNTED = {"rows": TABLE, "units": UNITS}  # facts that every opening compares with the tables


def is_key(name: str) -> bool:
    """Whether a result's column holds keys: k0, k1, …"""
    return name[:1] == "k" and name[1:].isdecimal()


def identifier(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _types(schema: Schema) -> list[str]:
    columns = [(storage(schema, column), column.values or ()) for column in schema.columns]
    return [
        f"CREATE TYPE t{place.name} AS ENUM ({', '.join(text_in_sql(str(value)) for value in values)})"
        for place, values in columns
        if place.store is Store.CODE
    ]


def _typed_rows(schema: Schema, table: Table) -> str:
    """SELECT u, words, sides: four layers, so that no cell is read or made twice."""
    raws, reads, cells = [], [], []
    for column in schema.columns:
        raw, family = table.columns[column.name]
        place = storage(schema, column).name
        twice = common_sql(column, raw, family)
        raws += [f"{raw} AS r{place}", *([] if twice is None else [f"{twice} AS m{place}"])]
        reads.append(f"{value(column, f'r{place}', family, twice and f'm{place}')} AS v{place}")
        cells.append(f"{_cell(schema, column, f'v{place}')} AS {place}")
    sides = beyond.sides(schema)
    side_columns = [f"{sql} AS {name}" for name, sql in sides.items()]
    kept_words = [f"{word.from_cells} AS {word.name}" for word in packing.words(schema)]
    kept_words += [f"{sql} AS {name}" for name, sql in beyond.words_of([*sides]).items()]
    unit = "1" if schema.unit is None else unit_key(*table.columns[schema.unit.key])
    rows = f"SELECT {commas([f'{unit} AS u', *raws])} FROM {table.rows}"
    source = f"SELECT {commas(['u', *reads])} FROM ({rows}) WHERE u IS NOT NULL"
    inner = f"SELECT {commas(['u', *cells, *side_columns])} FROM ({source})"
    keys = [] if schema.unit is None and kept_words else ["u"]
    return f"SELECT {commas([*keys, *kept_words])} FROM ({inner})"


def _cell(schema: Schema, column: Column, read: str) -> str:
    sql = cell(schema, column, read)
    coded = storage(schema, column).store is Store.CODE
    return f"CAST(enum_code({sql}) AS {engine_type(schema, column)})" if coded else sql


# --- units of several rows -----------------------------------------------------------------------------------------


def _units() -> str:
    unit_id = id64(f"getvariable('{ID_KEY}')", ["u"])
    return f"CREATE TEMP TABLE units AS SELECT *, {unit_id} AS id FROM (SELECT u, count(*) AS n FROM typed GROUP BY u)"


def _beyond_of_units(schema: Schema) -> tuple[str, ...]:
    """The statement that counts cells beyond their bounds by unit; it reads only rows with such a cell."""
    sides = beyond.sides_from_words([*beyond.sides(schema)])
    if not sides:
        return ()
    counts = [f"count(*) FILTER ({sql} = {side}) AS {name}" for name, (sql, side) in beyond.sketch(sides).items()]
    some = " OR ".join(f"{name} <> 0" for name in beyond.words_of([*sides]))
    return (f"CREATE TEMP TABLE beyond AS SELECT {commas(['u', *counts])} FROM typed WHERE {some} GROUP BY u",)


def _ranked_rows(schema: Schema) -> str:
    """Kept rows with their rank r.  Rows that tie in x and in every word are equal, so either may come first."""
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
    """Rows with the number n of each among its equals, those that lay beyond other bounds apart."""
    words, side_words = packing.words(schema), list(beyond.words_of([*beyond.sides(schema)]))
    partition = [*packing.word_names(words), *side_words]
    window = f"PARTITION BY {commas(partition)}" if partition else ""
    unit_id = id64(f"getvariable('{ID_KEY}')", [*packing.message_parts(words), *side_words, "n"])
    numbered = f"SELECT *, row_number() OVER ({window}) AS n FROM typed"
    return f"CREATE TEMP TABLE numbered AS SELECT *, {unit_id} AS id FROM ({numbered})"


def _each_row(schema: Schema) -> tuple[str, ...]:
    """The sketch of a row lies beside its cells: the table of units is a view."""
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
    cells = {sql.rpartition(" ")[2]: sql for word in packing.words(schema) for sql in word.cells}
    return [cells[f"c{place}"] for place in range(len(schema.columns))]


def commas(parts: Sequence[str]) -> str:
    """The parts with commas between them."""
    return ", ".join(parts)
