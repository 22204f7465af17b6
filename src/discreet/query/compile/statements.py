"""The SQL statements of parts over the prepared table: one for all that adds up, one for each choice.

The order of the caps: rows of a unit (`discreet_rank`), then WHERE, then groups of a unit.  Ranking groups after WHERE
is as safe as before it, for which groups a unit keeps is a function of that unit's rows and id, the question and the
secret word alone; and no group is spent on rows that the question leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.query.compile.measures import ComputedColumns, bucket, measure, unit_count
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.places import Grouping, grouping, label_grouping
from discreet.query.compile.render import value
from discreet.query.layout import RANK, TABLE, UNIT
from discreet.query.meaning.cells import Cells
from discreet.query.nodes import And, Caps, Col, Expr
from discreet.query.parts import Part, Ranks, Sizes, Tops
from discreet.schema import Schema


@dataclass(frozen=True)
class Statement:
    """SQL whose columns are the groups, a bucket for choices, and one BIGINT a part."""

    sql: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class _Frame:
    """What all statements of a question share."""

    schema: Schema
    cells: Cells
    where: Expr | None
    caps: Caps
    keys: tuple[Grouping, ...]
    ops: Operations

    @property
    def rows(self) -> int:
        """The row cap of one unit."""
        limit = self.schema.max_rows
        return limit if self.caps.rows is None else min(self.caps.rows, limit)

    @property
    def ranks_groups(self) -> bool:
        """Whether a unit's groups must be ranked: it could be in more than the cap."""
        return bool(self.keys) and self.caps.groups is not None and self.caps.groups < self.rows


def statements(
    schema: Schema,
    cells: Cells,
    where: Expr | None,
    caps: Caps,
    parts: Sequence[Part],
    ops: Operations = DUCKDB,
) -> tuple[Statement, ...]:
    """The statements that measure all parts, each part once.

    Columns, in this order: `cell` (public groups, row-major) or `k0`, `k1`, … (private: what is stored, or the place of
    a public label); `bucket` for a choice; `p0`, `p1`, …
    """
    frame = _Frame(schema, cells, where, caps, tuple(grouping(key, schema, ops) for key in cells.keys), ops)
    adding = tuple(part for part in parts if not isinstance(part, Ranks | Tops | Sizes))
    sums = (_sums_statement(frame, adding),) if adding else ()
    choices = tuple(_choice_statement(frame, part) for part in parts if isinstance(part, Ranks | Tops))
    return sums + choices + tuple(_sizes_statement(frame, part) for part in parts if isinstance(part, Sizes))


def _sizes_statement(frame: _Frame, part: Sizes) -> Statement:
    """`cell`, `bucket` = size − 1 and `p0` = groups of that size."""
    schema, largest, subquery = frame.schema, part.largest, frame.ops.subquery
    column = UNIT if part.group is None else ComputedColumns(schema, frame.ops).of(Col(part.group))
    keys = [
        f"discreet_g{i} AS g{i}" if frame.ranks_groups else f"{key.group} AS g{i}" for i, key in enumerate(frame.keys)
    ]
    places = ", ".join(str(place + 1) for place in range(len(keys) + 1))
    source = _source(frame, ComputedColumns(schema, frame.ops))
    per_group = f"SELECT {', '.join([*keys, f'{column} AS discreet_of'])}, count(*) AS n FROM {source}"
    sizes = subquery(f"{per_group} GROUP BY {places}")
    sized = f"SELECT *, least(n, {largest}) - 1 AS b FROM {sizes} WHERE discreet_of IS NOT NULL"
    names = [f"g{i}" for i in range(len(keys))]
    counted = f"SELECT {', '.join([*names, 'b'])}, count(*) AS p0 FROM {subquery(sized)} GROUP BY {places}"
    placed_at = [f"{key.index(f'g{i}')} AS k{i}" for i, key in enumerate(frame.keys)]
    middle = f"SELECT {', '.join(placed_at)}, CAST(b AS BIGINT) AS bucket, p0 FROM {subquery(counted)}"
    kept = " AND ".join(f"k{i} IS NOT NULL" for i in range(len(keys)))
    return Statement(f"SELECT {_cell(frame)[0]}, bucket, p0 FROM {subquery(middle)} WHERE {kept}", (part,))


def _sums_statement(frame: _Frame, parts: tuple[Part, ...]) -> Statement:
    computed = ComputedColumns(frame.schema, frame.ops)
    keys = tuple(key.key.item for key in frame.cells.keys)
    nodes = keys if frame.where is None else (*keys, frame.where)
    units = unit_count(frame.schema, nodes, frame.rows)
    measured = [measure(part, computed, units=units) for part in parts]
    source = _source(frame, computed)
    columns = [f"{sql} AS p{place}" for place, sql in enumerate(measured)]
    shown = [f"p{place}" for place in range(len(parts))]
    return Statement(_by_group(frame, source, columns, shown, None), parts)


def _choice_statement(frame: _Frame, part: Ranks | Tops) -> Statement:
    computed = ComputedColumns(frame.schema, frame.ops)
    match part:
        case Ranks(item, grid, _):
            choice = bucket(item, grid, computed)
        case Tops(item, values, _):
            choice = label_grouping(item, values, frame.schema, frame.ops)
    return Statement(_by_group(frame, _source(frame, computed), ["count(*) AS p0"], ["p0"], choice), (part,))


def _by_group(frame: _Frame, source: str, columns: list[str], shown: list[str], choice: Grouping | None) -> str:
    """Aggregates by stored keys, then the place of every group; what has no place is left out."""
    groups = _group_columns(frame)
    groups += [] if choice is None else [f"{choice.group} AS b"]
    grouping = f" GROUP BY {', '.join(str(place + 1) for place in range(len(groups)))}" if groups else ""
    inner = f"SELECT {', '.join(groups + columns)} FROM {source}{grouping}"
    places = [f"{key.index(f'g{i}')} AS k{i}" for i, key in enumerate(frame.keys)]
    places += [] if choice is None else [f"CAST({choice.index('b')} AS BIGINT) AS bucket"]
    middle = f"SELECT {', '.join(places + shown)} FROM {frame.ops.subquery(inner)}"
    kept = [f"k{i} IS NOT NULL" for i, key in enumerate(frame.cells.keys) if not (key.with_null and key.labels is None)]
    kept += [] if choice is None else ["bucket IS NOT NULL"]
    tail = f" WHERE {' AND '.join(kept)}" if kept else ""
    last = ([] if choice is None else ["bucket"]) + shown
    return f"SELECT {', '.join(_cell(frame) + last)} FROM {frame.ops.subquery(middle)}{tail}"


def _group_columns(frame: _Frame) -> list[str]:
    """The keys to group by, as g0, g1, …"""
    computed = frame.ranks_groups
    return [f"{f'discreet_g{i}' if computed else key.group} AS g{i}" for i, key in enumerate(frame.keys)]


def _cell(frame: _Frame) -> list[str]:
    if not frame.cells.public:
        return [f"k{i}" for i in range(len(frame.keys))]
    row_major = "0"
    for i, size in enumerate(frame.cells.sizes):
        row_major = f"k{i}" if i == 0 else f"({row_major}) * {size} + k{i}"
    return [f"CAST({row_major} AS BIGINT) AS cell"]


# --- rows ----------------------------------------------------------------------------------------------------------


def _source(frame: _Frame, computed: ComputedColumns) -> str:
    """The rows that count, with computed columns, as what follows FROM."""
    columns = [f"{sql} AS {name}" for sql, name in computed.names.items()]
    tail = _where(frame)
    if not frame.ranks_groups:
        if not columns:
            return f"{TABLE}{tail}"
        return frame.ops.subquery_computed_once(f"SELECT *, {', '.join(columns)} FROM {TABLE}{tail}")
    columns += [f"{key.group} AS discreet_g{i}" for i, key in enumerate(frame.keys)]
    return _within_group_cap(frame, f"SELECT *, {', '.join(columns)} FROM {TABLE}{tail}")


def _within_group_cap(frame: _Frame, rows: str) -> str:
    """Rows without those in groups beyond the cap of their unit; hashed are only the groups of units with too many."""
    ops, names = frame.ops, [f"discreet_g{i}" for i in range(len(frame.keys))]
    listed, cap = ", ".join(names), frame.caps.groups
    kept = [f"{name} IS NOT NULL" for name, key in zip(names, frame.cells.keys, strict=True) if not key.with_null]
    present = f" WHERE {' AND '.join(kept)}" if kept else ""
    parts = [*(ops.message_part(name, key.kind) for name, key in zip(names, frame.keys, strict=True)), UNIT]
    order = f"{ops.group_order(parts)}, {listed}"
    crowded = f"SELECT {UNIT} FROM discreet_pairs GROUP BY {UNIT} HAVING count(*) > {cap}"
    ranked = (
        f"SELECT *, row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS discreet_group "
        f"FROM {ops.among('discreet_pairs', UNIT, crowded)}"
    )
    same = f"a.{UNIT} = b.{UNIT}" + "".join(f" AND a.{name} IS NOT DISTINCT FROM b.{name}" for name in names)
    beyond = f"SELECT * FROM {ops.subquery(ranked)} WHERE discreet_group > {cap}"
    return ops.subquery(
        f"WITH discreet_rows AS (SELECT * FROM {ops.subquery_computed_once(rows)}{present}), "
        f"discreet_pairs AS (SELECT DISTINCT {UNIT}, {listed} FROM discreet_rows) "
        f"SELECT a.* FROM {ops.without('discreet_rows', beyond, same)}"
    )


def _where(frame: _Frame) -> str:
    conditions = [f"{RANK} <= {frame.rows}"] if frame.rows < frame.schema.max_rows else []
    if frame.where is not None:
        joined = frame.where.parts if isinstance(frame.where, And) else (frame.where,)
        conditions += [value(part, frame.schema, frame.ops) for part in joined]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
