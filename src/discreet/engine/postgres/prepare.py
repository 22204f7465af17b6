"""From rows in the server to the prepared tables of `query.layout`, inside the server and in one transaction.

What is kept, its ranks and its ids are those of `engine.prepare` for the same content and key.  The keys of ids and
rows lie in a temporary table of this session and the key of groups in no table that stays: `connect.lend`.
"""

from collections.abc import Sequence

from discreet.engine import beyond, mixing, packing
from discreet.engine.postgres import functions
from discreet.engine.postgres.cells import cast, cell, sides, unit_key, value
from discreet.engine.prepare import ID_KEY, ROW_KEY, Step, Table, columns_read, commas
from discreet.query.compile.piece import Kind
from discreet.query.compile.postgres import POSTGRES, id64, order64
from discreet.query.layout import (
    BUCKET,
    KEPT,
    MOST_BEYOND,
    MOST_BUCKET,
    RANK,
    TABLE,
    UNIT,
    UNITS,
    Store,
    storage,
)
from discreet.schema import Schema

KEYS = "discreet_keys"  # a temporary table of one row: the keys, each a column


def digest(schema: Schema, table: Table) -> str:
    """SQL of the content's digest: SHA-256 over the sorted SHA-256 of every row's cells, as texts, of the columns read.

    Sorted within 4,096 parts by their first digits, then over the parts, so that no aggregate grows with the table.
    """
    cells = [_digest_part(table.columns[name][0]) for name in columns_read(schema)]
    row = f"encode(sha256(convert_to(concat({', '.join(cells)}), 'UTF8')), 'hex')"
    part = "string_agg(h, '' ORDER BY h)"
    hashed = f'SELECT {row} COLLATE "C" AS h FROM {table.rows}'
    parts = f"SELECT left(h, 3) AS p, {_hash(part)} AS d FROM ({hashed}) r GROUP BY 1"
    digest = _hash("coalesce(string_agg(d, '' ORDER BY p), '')")
    return f"SELECT {digest} FROM ({parts}) q"


def _hash(sql: str) -> str:
    return f"encode(sha256(convert_to({sql}, 'UTF8')), 'hex')"


def _digest_part(name: str) -> str:
    """A cell for the digest: its length and its text, or a mark for NULL."""
    return f"coalesce(octet_length(CAST({name} AS text)) || ':' || CAST({name} AS text), '-')"


def steps(schema: Schema, table: Table) -> tuple[Step, ...]:
    """Everything from the source to the finished tables, except the facts."""
    typed = f"CREATE TEMP TABLE discreet_typed ON COMMIT DROP AS {_typed_rows(schema, table)}"
    if schema.unit is None:
        ranking, writing = [typed, _numbered_rows(schema)], _each_row(schema)
    else:
        ranking, writing = [typed, _units(), *_beyond_of_units(schema), _ranked_rows(schema)], _with_units(schema)
    return Step("ranking", (*functions.statements(), *ranking)), Step("writing", writing)


def _typed_rows(schema: Schema, table: Table) -> str:
    """u, cells, words and sides; OFFSET 0 keeps each layer apart, so that no cell is read twice."""
    raws, reads, cells = [], [], []
    for column in schema.columns:
        raw, family = table.columns[column.name]
        place = storage(schema, column).name
        raws.append(f"{raw} AS r{place}")
        reads.append(f"{value(column, f'r{place}', family)} AS v{place}")
        cells.append(f"{cast(schema, column, cell(schema, column, f'v{place}'))} AS {place}")
    side_columns = [f"{sql} AS {name}" for name, sql in sides(schema).items()]
    side_words = [f"{sql} AS {name}" for name, sql in beyond.words_of([*sides(schema)]).items()]
    names = [storage(schema, column).name for column in schema.columns]
    packed = [f"{_word_from_cells(schema, word)} AS {word.name}" for word in packing.words(schema)]
    unit = "1" if schema.unit is None else unit_key(*table.columns[schema.unit.key])
    rows = f"SELECT {commas([f'{unit} AS u', *raws])} FROM {table.rows}"
    source = f"SELECT {commas(['u', *reads])} FROM ({rows}) a WHERE u IS NOT NULL OFFSET 0"
    inner = f"SELECT {commas(['u', *cells, *side_columns])} FROM ({source}) b OFFSET 0"
    return f"SELECT {commas(['u', *names, *packed, *side_words])} FROM ({inner}) c"


def _word_from_cells(schema: Schema, word: packing.Word) -> str:
    """The word from cells, as `packing.Word.packed`."""
    if word.kind is not None:
        return word.digits[0].cell
    flags = {storage(schema, c).name for c in schema.columns if storage(schema, c).store is Store.FLAG}
    terms = []
    for digit in word.digits:
        whole = POSTGRES.flag_as_whole(digit.cell) if digit.cell in flags else f"CAST({digit.cell} AS bigint)"
        terms.append(f"coalesce({whole} - ({digit.low - 1}), 0)" + (f" * {2**digit.shift}" if digit.shift else ""))
    return " + ".join(terms)


def _message_parts(words: Sequence[packing.Word]) -> list[str]:
    return [POSTGRES.message_part(word.name, word.kind or Kind.WHOLE) for word in words]


def _key(name: str) -> str:
    return f"(SELECT {name} FROM pg_temp.{KEYS})"


# --- units of several rows -----------------------------------------------------------------------------------------


def _units() -> str:
    grouped = "SELECT u, count(*) AS n FROM discreet_typed GROUP BY u"
    unit_id = id64(_key(ID_KEY), ["u"])
    return f"CREATE TEMP TABLE discreet_units_read ON COMMIT DROP AS SELECT *, {unit_id} AS id FROM ({grouped}) q"


def _beyond_of_units(schema: Schema) -> tuple[str, ...]:
    side_sql = beyond.sides_from_words([*sides(schema)])
    if not side_sql:
        return ()
    counts = [
        f"count(*) FILTER (WHERE {sql} = {side}) AS {name}" for name, (sql, side) in beyond.sketch(side_sql).items()
    ]
    some = " OR ".join(f"{name} <> 0" for name in beyond.words_of([*side_sql]))
    grouped = f"SELECT {commas(['u', *counts])} FROM discreet_typed WHERE {some} GROUP BY u"
    return (f"CREATE TEMP TABLE discreet_beyond ON COMMIT DROP AS {grouped}",)


def _ranked_rows(schema: Schema) -> str:
    words = packing.words(schema)
    cells = [storage(schema, column).name for column in schema.columns]
    names = ["id", *cells, *packing.word_names(words)]
    limbs = [limb for word in words for limb in mixing.limbs(word.name, word.bits)]
    hashed = f"SELECT {commas(names)} FROM discreet_typed JOIN discreet_units_read USING (u) OFFSET 0"
    if not packing.is_short(words):
        row_hash = _upper(order64(_key(ROW_KEY), _message_parts(words)))
        hashed = f"SELECT {commas([*names, f'{row_hash} AS h'])} FROM ({hashed}) q OFFSET 0"
        names, limbs = [*names, "h"], [*mixing.limbs("h", packing.BITS)]
    for step in mixing.steps(f"id & {mixing.MASK}", limbs, "({} # {})"):
        hashed = f"SELECT {commas([*names, f'{step} AS x'])} FROM ({hashed}) q OFFSET 0"
    fixed = [storage(schema, column).name for column in schema.columns if column.fixed_per_unit]
    firsts = [f"first_value({name}) OVER w AS first_{name}" for name in fixed]
    same = "".join(f" AND {name} IS NOT DISTINCT FROM first_{name}" for name in fixed)
    order = f"PARTITION BY id ORDER BY {commas(['x', *packing.word_names(words)])}"
    window = f"SELECT *, {commas(['row_number() OVER w AS r', *firsts])} FROM ({hashed}) q WINDOW w AS ({order})"
    return (
        f"CREATE TEMP TABLE discreet_ranked ON COMMIT DROP AS SELECT {commas(['id', 'r', *cells])} FROM ({window}) q "
        f"WHERE r <= {schema.max_rows}{same}"
    )


def _upper(order: str) -> str:
    """The upper 62 bits of an `order64`."""
    return f"((CAST(CAST('x' || {order} AS bit(64)) AS bigint) >> 2) & {2**packing.BITS - 1})"


def _with_units(schema: Schema) -> tuple[str, ...]:
    columns = [f"id AS {UNIT}", f"CAST(r AS integer) AS {RANK}", *_cells(schema)]
    bucket = f"CAST(least({MOST_BUCKET}, 63 - position('1' IN CAST(CAST(n AS bit(64)) AS text)) + 1) AS smallint)"
    sketch = beyond.sketch(sides(schema))
    sketches = [f"CAST(least({MOST_BEYOND}, coalesce({name}, 0)) AS smallint) AS {name}" for name in sketch]
    about = [f"id AS {UNIT}", f"CAST(kept AS integer) AS {KEPT}", f"{bucket} AS {BUCKET}", *sketches]
    counted = "discreet_units_read JOIN (SELECT id, count(*) AS kept FROM discreet_ranked GROUP BY id) q USING (id)"
    joined = f"{counted} LEFT JOIN discreet_beyond USING (u)" if sketch else counted
    return (
        f"CREATE TABLE {TABLE} AS SELECT {commas(columns)} FROM discreet_ranked ORDER BY id, r",
        f"CREATE TABLE {UNITS} AS SELECT {commas(about)} FROM {joined} ORDER BY id",
    )


# --- every row a unit ----------------------------------------------------------------------------------------------


def _numbered_rows(schema: Schema) -> str:
    words, side_words = packing.words(schema), list(beyond.words_of([*sides(schema)]))
    partition = [*packing.word_names(words), *side_words]
    window = f"PARTITION BY {commas(partition)}" if partition else ""
    unit_id = id64(_key(ID_KEY), [*_message_parts(words), *side_words, "n"])
    numbered = f"SELECT *, row_number() OVER ({window}) AS n FROM discreet_typed"
    return f"CREATE TEMP TABLE discreet_ranked ON COMMIT DROP AS SELECT *, {unit_id} AS id FROM ({numbered}) q"


def _each_row(schema: Schema) -> tuple[str, ...]:
    sketch = beyond.sketch(beyond.sides_from_words([*sides(schema)]))
    sketches = [f"CAST(CAST({sql} = {side} AS integer) AS smallint) AS {name}" for name, (sql, side) in sketch.items()]
    columns = [f"id AS {UNIT}", f"1 AS {RANK}", *_cells(schema), *sketches]
    about = [UNIT, f"{RANK} AS {KEPT}", f"CAST(0 AS smallint) AS {BUCKET}", *sketch]
    return (
        f"CREATE TABLE {TABLE} AS SELECT {commas(columns)} FROM discreet_ranked ORDER BY id",
        f"CREATE VIEW {UNITS} AS SELECT {commas(about)} FROM {TABLE}",
    )


# --- both ----------------------------------------------------------------------------------------------------------


def _cells(schema: Schema) -> list[str]:
    return [f"c{place}" for place in range(len(schema.columns))]
