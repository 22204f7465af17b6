"""Parts in SQL: counts, sums of lattice steps, and the buckets by which values are chosen."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from discreet.query.compile import spelling
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.places import Grouping
from discreet.query.compile.render import sql_of, value
from discreet.query.layout import RANK, UNIT, Store, storage
from discreet.query.meaning.fold import is_fixed
from discreet.query.nodes import Arith, Case, Col, Expr, IsNull, Literal
from discreet.query.parts import Distinct, Grid, Part, Present, Rows, RowSum, Units
from discreet.schema import Lattice, Schema

SATURATED = 2**62 - 1
_ROOM = 2**62


@dataclass
class ComputedColumns:
    """Computed columns of the source, each once: SQL of a row → its name."""

    schema: Schema
    ops: Operations = DUCKDB
    names: dict[str, str] = field(default_factory=dict)

    def of(self, expr: Expr) -> str:
        """The name under which the value is read: a stored cell as it is, everything else by a computed column."""
        column = self.schema.find(expr.name) if isinstance(expr, Col) else None
        if column is not None:
            return storage(self.schema, column).name
        return self.add(value(expr, self.schema, self.ops))

    def real(self, expr: Expr) -> str:
        """The name of its value as a double."""
        piece, ops = sql_of(expr, self.schema, self.ops), self.ops
        double = piece.real(ops)
        if piece.nan:
            return self.add(ops.attempt(f"CASE WHEN {ops.is_nan(double)} THEN NULL ELSE {double} END"))
        return self.add(double if piece.plain else ops.attempt(double))

    def add(self, sql: str) -> str:
        """The name of a computed column."""
        return self.names.setdefault(sql, f"discreet_x{len(self.names)}")


def measure(part: Part, computed: ComputedColumns, *, units: str) -> str:
    """The aggregate that measures a part: a BIGINT, never NULL, at most 2⁶² − 1 in size."""
    match part:
        case Rows(()):
            return "count(*)"
        case Rows((item,)):
            return f"count({computed.of(item)})"
        case Rows(items):
            return f"count(*) FILTER (WHERE {' AND '.join(f'{computed.of(item)} IS NOT NULL' for item in items)})"
        case Units() | Present():
            return units
        case Distinct(item):
            return f"count(DISTINCT {computed.of(item)})"
        case RowSum(item, lattice):
            total = f"coalesce(sum({steps(item, lattice, computed)}), 0)"
            return f"CAST(greatest(-{SATURATED}, least({SATURATED}, {total})) AS BIGINT)"
        case _:
            raise TypeError(f"{type(part).__name__} is measured by buckets")


def unit_count(schema: Schema, nodes: tuple[object, ...], rows: int) -> str:
    """SQL that counts units: by their first rows where all rows of a unit fare alike, for no unit has two of those."""
    if rows == 1:
        return "count(*)"
    if is_fixed(nodes, schema):
        return f"count(*) FILTER (WHERE {RANK} = 1)"
    return f"count(DISTINCT {UNIT})"


# --- sums ----------------------------------------------------------------------------------------------------------


def steps(item: Expr, lattice: Lattice, computed: ComputedColumns) -> str:
    """The item in lattice steps, within the lattice's ends; NULL adds nothing."""
    exact = stored_steps(item, lattice.step, computed.schema, computed.ops)
    low, high = spelling.whole(lattice.low), spelling.whole(lattice.high)
    if exact is not None:
        sql, lowest, highest = exact
        if lattice.low <= lowest and highest <= lattice.high:
            return sql
        name = computed.add(sql)
        return f"CASE WHEN {name} IS NULL THEN 0 ELSE greatest({low}, least({high}, {name})) END"
    name, ops = computed.real(item), computed.ops
    nearest = ops.steps_within(name, lattice.step)
    return (
        f"CASE WHEN {name} IS NULL THEN 0 WHEN {name} <= {ops.real(lattice.low * lattice.step)} THEN {low} "
        f"WHEN {name} >= {ops.real(lattice.high * lattice.step)} THEN {high} "
        f"ELSE greatest({low}, least({high}, {nearest})) END"
    )


def stored_steps(item: Expr, step: Fraction, schema: Schema, ops: Operations = DUCKDB) -> tuple[str, int, int] | None:
    """Stored steps, moved by whole steps: exact, with their least and most; None for anything else."""
    match item:
        case Col(name):
            column = schema.find(name)
            lattice = None if column is None else column.lattice
            if column is None or lattice is None or lattice.step != step:
                return None
            cell = storage(schema, column)
            sql = cell.name if cell.store is Store.STEPS else ops.flag_as_whole(cell.name)
            return sql, lattice.low, lattice.high
        case Arith("-", Col() as column, Literal(distance)) if isinstance(distance, int | Fraction):
            inner = stored_steps(column, step, schema, ops)
            shift = Fraction(distance) / step
            if inner is None or shift.denominator != 1 or abs(shift) > _ROOM:
                return None
            by = int(shift)
            return f"({inner[0]} - {spelling.whole(by)})" if by else inner[0], inner[1] - by, inner[2] - by
        case Case(((IsNull(other), Literal(None)),), otherwise):
            inner = stored_steps(otherwise, step, schema, ops)
            if inner is None:
                return None
            empty = f"({value(other, schema, ops)}) IS NULL"
            return f"CASE WHEN {empty} THEN NULL ELSE {inner[0]} END", inner[1], inner[2]
        case _:
            return None


# --- buckets -------------------------------------------------------------------------------------------------------


def bucket(item: Expr, grid: Grid, computed: ComputedColumns) -> Grouping:
    """The nearest point of the grid, clamped to its ends; NULL for NULL."""
    last = grid.points - 1
    exact = _exact_bucket(item, grid, computed.schema, computed.ops)
    if exact is not None:
        # least() skips NULL; on groups, not on rows: what lies above the last point is added up by whoever reads
        return Grouping(exact, lambda name: f"CASE WHEN {name} IS NULL THEN NULL ELSE least({name}, {last}) END")
    name, ops = computed.real(item), computed.ops
    first = ops.real(grid.first)
    nearest = ops.steps_within(name, grid.step, grid.first)
    sql = (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN {name} <= {first} THEN 0 "
        f"WHEN {name} >= {ops.real(grid.first + last * grid.step)} THEN {last} "
        f"ELSE greatest(0, least({last}, {nearest})) END"
    )
    return Grouping(sql, lambda name: name)


def _exact_bucket(item: Expr, grid: Grid, schema: Schema, ops: Operations) -> str | None:
    """In integers, where the item is a bounded column: ⌊(a·c + b)/d⌋ for c stored steps."""
    column = schema.find(item.name) if isinstance(item, Col) else None
    lattice = None if column is None else column.lattice
    if column is None or lattice is None or storage(schema, column).store is not Store.STEPS:
        return None
    name = storage(schema, column).name
    slope, shift = lattice.step / grid.step, Fraction(1, 2) - grid.first / grid.step
    d = lcm(slope.denominator, shift.denominator)
    a, b = int(slope * d), int(shift * d)
    if not a * lattice.low + b >= 0 or not a * lattice.high + b < _ROOM or max(abs(a * lattice.low), abs(b)) >= _ROOM:
        return None
    if a == d == 2 and b % 2 == 1:
        a, b, d = 1, (b - 1) // 2, 1  # ⌊(2c + 2k + 1)/2⌋ = c + k
    line = f"({name} * {a} + {spelling.whole(b)})" if a != 1 else f"({name} + {spelling.whole(b)})" if b else name
    return ops.quotient(line, d) if d != 1 else line
