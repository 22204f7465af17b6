"""From rows in the server to the prepared tables of `query.layout`, inside the server and in one transaction.

What is kept, its ranks and its ids are those of `engine.prepare` for the same content and key.  The keys of ids and
rows lie in a temporary table of this session and the key of groups in no table that stays: `connect.lend`.
"""

from collections.abc import Sequence

from discreet.engine import packing
from discreet.engine.postgres import functions
from discreet.engine.postgres.cells import cast, cell, sides, unit_key, value
from discreet.engine.prepare import ID_KEY, ROW_KEY, Step, Table, wanted
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
    stored,
)
from discreet.schema import Schema

KEYS = "discreet_keys"  # a temporary table of one row: the keys, each a column
_ABOVE = 2**32


def digest(schema: Schema, table: Table) -> str:
    """SQL of the content's digest: SHA-256 over the sorted SHA-256 of every row's wanted cells as texts.

    Sorted within 4,096 parts by their first digits, then over the parts, so that no aggregate grows with the table.
    """
    cells = [_spelt(table.columns[name][0]) for name in wanted(schema)]
    row = f"encode(sha256(convert_to(concat({', '.join(cells)}), 'UTF8')), 'hex')"
    part = "string_agg(h, '' ORDER BY h)"
    hashed = f'SELECT {row} COLLATE "C" AS h FROM {table.rows}'
    parts = f"SELECT left(h, 3) AS p, {_hash(part)} AS d FROM ({hashed}) r GROUP BY 1"
    whole = _hash("coalesce(string_agg(d, '' ORDER BY p), '')")
    return f"SELECT {whole} FROM ({parts}) q"


def _hash(sql: str) -> str:
    return f"encode(sha256(convert_to({sql}, 'UTF8')), 'hex')"


def _spelt(name: str) -> str:
    """A cell for the digest: its length and its text, or a mark for NULL."""
    return f"coalesce(octet_length(CAST({name} AS text)) || ':' || CAST({name} AS text), '-')"


def steps(schema: Schema, table: Table) -> tuple[Step, ...]:
    """Everything from the source to the finished tables, except the facts."""
    typed = f"CREATE TEMP TABLE discreet_typed ON COMMIT DROP AS {_typed(schema, table)}"
    ranked = [_numbered(schema)] if schema.unit is None else [_units(schema), _ranked(schema)]
    writing = _each_row(schema) if schema.unit is None else _with_units(schema)
    return Step("ranking", (*functions.statements(), typed, *ranked)), Step("writing", writing)


def _typed(schema: Schema, table: Table) -> str:
    """u, cells, words and sides; OFFSET 0 keeps each layer apart, so that no cell is read twice."""
    raws, reads, cells = [], [], []
    for column in schema.columns:
        raw, held = table.columns[column.name]
        place = stored(schema, column).name
        raws.append(f"{raw} AS r{place}")
        reads.append(f"{value(column, f'r{place}', held)} AS v{place}")
        cells.append(f"{cast(schema, column, cell(schema, column, f'v{place}'))} AS {place}")
    beyond = [f"{sql} AS {name}" for name, sql in sides(schema, low="1", high=f"CAST({_ABOVE} AS bigint)").items()]
    names = [stored(schema, column).name for column in schema.columns]
    packed = [f"{_packed(schema, word)} AS {word.name}" for word in packing.words(schema)]
    unit = "1" if schema.unit is None else unit_key(*table.columns[schema.unit.key])
    rows = f"SELECT {_listed([f'{unit} AS u', *raws])} FROM {table.rows}"
    source = f"SELECT {_listed(['u', *reads])} FROM ({rows}) a WHERE u IS NOT NULL OFFSET 0"
    inner = f"SELECT {_listed(['u', *cells, *beyond])} FROM ({source}) b OFFSET 0"
    return f"SELECT {_listed(['u', *names, *packed, *sides(schema)])} FROM ({inner}) c"


def _packed(schema: Schema, word: packing.Word) -> str:
    """The word from cells, as `packing.Word.packed`."""
    if word.kind is not None:
        return word.digits[0].cell
    flags = {stored(schema, c).name for c in schema.columns if stored(schema, c).store is Store.FLAG}
    terms = []
    for digit in word.digits:
        whole = POSTGRES.flag_as_whole(digit.cell) if digit.cell in flags else f"CAST({digit.cell} AS bigint)"
        terms.append(f"coalesce({whole} - ({digit.low - 1}), 0)" + (f" * {digit.below}" if digit.below > 1 else ""))
    return " + ".join(terms)


def _part(word: packing.Word) -> str:
    return POSTGRES.spelt(word.name, word.kind or Kind.WHOLE)


def _key(name: str) -> str:
    return f"(SELECT {name} FROM pg_temp.{KEYS})"


# --- units of several rows -----------------------------------------------------------------------------------------


def _units(schema: Schema) -> str:
    sums = "".join(f", sum({name}) AS {name}" for name in sides(schema))
    grouped = f"SELECT u, count(*) AS n{sums} FROM discreet_typed GROUP BY u"
    made = id64(_key(ID_KEY), ["u"])
    return f"CREATE TEMP TABLE discreet_units_read ON COMMIT DROP AS SELECT *, {made} AS id FROM ({grouped}) q"


def _ranked(schema: Schema) -> str:
    words = packing.words(schema)
    names = packing.listed(words)
    cells = [stored(schema, column).name for column in schema.columns]
    made = order64(_key(ROW_KEY), [*map(_part, words), "u"])
    hashed = f"SELECT {_listed(['u', *cells, *names, f'{made} AS h'])} FROM discreet_typed OFFSET 0"
    fixed = [stored(schema, column).name for column in schema.columns if column.fixed_per_unit]
    firsts = [f"first_value({name}) OVER w AS first_{name}" for name in fixed]
    same = "".join(f" AND {name} IS NOT DISTINCT FROM first_{name}" for name in fixed)
    order = f"PARTITION BY u ORDER BY {_listed(['h', *names])}"
    window = f"SELECT *, {_listed(['row_number() OVER w AS r', *firsts])} FROM ({hashed}) q WINDOW w AS ({order})"
    return (
        f"CREATE TEMP TABLE discreet_ranked ON COMMIT DROP AS SELECT {_listed(['u', 'r', *cells])} FROM ({window}) q "
        f"WHERE r <= {schema.max_rows}{same}"
    )


def _with_units(schema: Schema) -> tuple[str, ...]:
    columns = [f"id AS {UNIT}", f"CAST(r AS integer) AS {RANK}", *_cells(schema)]
    bucket = f"CAST(least({MOST_BUCKET}, 63 - position('1' IN CAST(CAST(n AS bit(64)) AS text)) + 1) AS smallint)"
    about = [f"id AS {UNIT}", f"CAST(kept AS integer) AS {KEPT}", f"{bucket} AS {BUCKET}", *_beyond(schema)]
    counted = "SELECT u, count(*) AS kept FROM discreet_ranked GROUP BY u"
    read = "discreet_units_read"
    return (
        f"CREATE TABLE {TABLE} AS SELECT {_listed(columns)} FROM discreet_ranked JOIN {read} USING (u) ORDER BY id, r",
        f"CREATE TABLE {UNITS} AS SELECT {_listed(about)} FROM {read} JOIN ({counted}) q USING (u) ORDER BY id",
    )


# --- every row a unit ----------------------------------------------------------------------------------------------


def _numbered(schema: Schema) -> str:
    words = packing.words(schema)
    own = [*packing.listed(words), *sides(schema)]
    window = f"PARTITION BY {_listed(own)}" if own else ""
    made = id64(_key(ID_KEY), [*map(_part, words), *sides(schema), "n"])
    numbered = f"SELECT *, row_number() OVER ({window}) AS n FROM discreet_typed"
    return f"CREATE TEMP TABLE discreet_ranked ON COMMIT DROP AS SELECT *, {made} AS id FROM ({numbered}) q"


def _each_row(schema: Schema) -> tuple[str, ...]:
    columns = [f"id AS {UNIT}", f"1 AS {RANK}", *_cells(schema)]
    about = [f"id AS {UNIT}", f"1 AS {KEPT}", f"CAST(0 AS smallint) AS {BUCKET}", *_beyond(schema)]
    return (
        f"CREATE TABLE {TABLE} AS SELECT {_listed(columns)} FROM discreet_ranked ORDER BY id",
        f"CREATE TABLE {UNITS} AS SELECT {_listed(about)} FROM discreet_ranked ORDER BY id",
    )


# --- both ----------------------------------------------------------------------------------------------------------


def _cells(schema: Schema) -> list[str]:
    return [f"c{place}" for place in range(len(schema.columns))]


def _beyond(schema: Schema) -> list[str]:
    found = []
    for name in sides(schema):
        whole = f"CAST({name} AS bigint)"
        parts = {"below": f"{whole} % {_ABOVE}", "above": f"{whole} / {_ABOVE}"}
        found += [
            f"CAST(least({MOST_BEYOND}, {sql}) AS smallint) AS {name.replace('s', f'{side}_c', 1)}"
            for side, sql in parts.items()
        ]
    return found


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts)
