"""Parts in SQL: counts, sums of lattice steps, and the buckets that quantiles and favourites are chosen by."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from discreet.query.compile import spelling
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.places import Grouped
from discreet.query.compile.render import rendered, value
from discreet.query.layout import RANK, UNIT, Store, stored
from discreet.query.meaning.fold import is_fixed
from discreet.query.nodes import Arith, Case, Col, Expr, IsNull, Literal
from discreet.query.parts import Distinct, Grid, Part, Present, Rows, RowSum, Units
from discreet.schema import Lattice, Schema

SATURATED = 2**62 - 1
_ROOM = 2**62


@dataclass
class Named:
    """Computed columns of the source, each once: SQL of a row → its name."""

    schema: Schema
    ops: Operations = DUCKDB
    found: dict[str, str] = field(default_factory=dict)

    def of(self, expr: Expr) -> str:
        """The name under which the value is read: a stored cell as it is, everything else by a computed column."""
        column = self.schema.find(expr.name) if isinstance(expr, Col) else None
        if column is not None:
            return stored(self.schema, column).name
        return self.add(value(expr, self.schema, self.ops))

    def real(self, expr: Expr) -> str:
        """The name of its value as a double."""
        made, ops = rendered(expr, self.schema, self.ops), self.ops
        double = made.real(ops)
        if made.nan:
            return self.add(ops.attempt(f"CASE WHEN {ops.is_nan(double)} THEN NULL ELSE {double} END"))
        return self.add(double if made.plain else ops.attempt(double))

    def add(self, sql: str) -> str:
        """The name of a computed column."""
        return self.found.setdefault(sql, f"discreet_x{len(self.found)}")


def measure(part: Part, named: Named, *, units: str) -> str:
    """The aggregate that measures a part: a BIGINT, never NULL, at most 2⁶² − 1 in size."""
    match part:
        case Rows(()):
            return "count(*)"
        case Rows((item,)):
            return f"count({named.of(item)})"
        case Rows(items):
            return f"count(*) FILTER (WHERE {' AND '.join(f'{named.of(item)} IS NOT NULL' for item in items)})"
        case Units() | Present():
            return units
        case Distinct(item):
            return f"count(DISTINCT {named.of(item)})"
        case RowSum(item, lattice):
            total = f"coalesce(sum({steps(item, lattice, named)}), 0)"
            return f"CAST(greatest(-{SATURATED}, least({SATURATED}, {total})) AS BIGINT)"
        case _:
            raise TypeError(f"{type(part).__name__} is measured by buckets")


def unit_count(schema: Schema, nodes: tuple[object, ...], rows: int) -> str:
    """How units are counted: by their first row where all their rows fare alike, for no unit has two of those."""
    if rows == 1:
        return "count(*)"
    if is_fixed(nodes, schema):
        return f"count(*) FILTER (WHERE {RANK} = 1)"
    return f"count(DISTINCT {UNIT})"


# --- sums ----------------------------------------------------------------------------------------------------------


def steps(item: Expr, lattice: Lattice, named: Named) -> str:
    """The item in lattice steps, within the lattice's ends; NULL adds nothing."""
    exact = stored_steps(item, lattice.step, named.schema, named.ops)
    low, high = spelling.whole(lattice.low), spelling.whole(lattice.high)
    if exact is not None:
        sql, bottom, top = exact
        if lattice.low <= bottom and top <= lattice.high:
            return sql
        name = named.add(sql)
        return f"CASE WHEN {name} IS NULL THEN 0 ELSE greatest({low}, least({high}, {name})) END"
    name, ops = named.real(item), named.ops
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
            own = None if column is None else column.lattice
            if column is None or own is None or own.step != step:
                return None
            cell = stored(schema, column)
            sql = cell.name if cell.store is Store.STEPS else ops.flag_as_whole(cell.name)
            return sql, own.low, own.high
        case Arith("-", Col() as column, Literal(moved)) if isinstance(moved, int | Fraction):
            inner = stored_steps(column, step, schema, ops)
            places = Fraction(moved) / step
            if inner is None or places.denominator != 1 or abs(places) > _ROOM:
                return None
            by = int(places)
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


def bucket(item: Expr, grid: Grid, named: Named) -> Grouped:
    """The nearest point of the grid, clamped to its ends; NULL for NULL."""
    last = grid.points - 1
    exact = _exact_bucket(item, grid, named.schema, named.ops)
    if exact is not None:
        # least() skips NULL; on groups, not on rows: what lies above the last point is added up by whoever reads
        return Grouped(exact, lambda name: f"CASE WHEN {name} IS NULL THEN NULL ELSE least({name}, {last}) END")
    name, ops = named.real(item), named.ops
    first = ops.real(grid.first)
    nearest = ops.steps_within(name, grid.step, grid.first)
    sql = (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN {name} <= {first} THEN 0 "
        f"WHEN {name} >= {ops.real(grid.first + last * grid.step)} THEN {last} "
        f"ELSE greatest(0, least({last}, {nearest})) END"
    )
    return Grouped(sql, lambda name: name)


def _exact_bucket(item: Expr, grid: Grid, schema: Schema, ops: Operations) -> str | None:
    """In integers, where the item is a bounded column: ⌊(a·c + b)/d⌋ for c stored steps."""
    column = schema.find(item.name) if isinstance(item, Col) else None
    own = None if column is None else column.lattice
    if column is None or own is None or stored(schema, column).store is not Store.STEPS:
        return None
    name = stored(schema, column).name
    slope, shift = own.step / grid.step, Fraction(1, 2) - grid.first / grid.step
    d = lcm(slope.denominator, shift.denominator)
    a, b = int(slope * d), int(shift * d)
    if not a * own.low + b >= 0 or not a * own.high + b < _ROOM or max(abs(a * own.low), abs(b)) >= _ROOM:
        return None
    if a == d == 2 and b % 2 == 1:
        a, b, d = 1, (b - 1) // 2, 1  # ⌊(2c + 2k + 1)/2⌋ = c + k
    moved = f"({name} * {a} + {spelling.whole(b)})" if a != 1 else f"({name} + {spelling.whole(b)})" if b else name
    return ops.quotient(moved, d) if d != 1 else moved
