"""Expressions as SQL over the prepared table, in total functions only: no cell of any row can raise an error.

Numbers are computed in doubles, which never fail: ±∞ is kept, and NaN counts as NULL wherever a number is looked at.
Whole numbers, days and seconds that are merely read stay BIGINT.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.query import nodes
from discreet.query.compile import spelling
from discreet.query.compile.calendar import cast, date_part
from discreet.query.compile.calls import call_sql
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.piece import KINDS, Kind, Sql, as_joint_kind, constant
from discreet.query.layout import UNIT, Store, id_range, storage
from discreet.query.meaning.domain import domain
from discreet.query.meaning.fold import MOST_FOLDED, ValueTable, value_table
from discreet.query.meaning.interval import has_zero
from discreet.query.meaning.known import is_null
from discreet.query.meaning.steps import FLIPPED, Line, line
from discreet.schema import Column, Schema, Type
from discreet.schema.kind import number_of

_LARGE = 10**100


def value(expr: nodes.Expr, schema: Schema, ops: Operations = DUCKDB) -> str:
    """The SQL of an expression: NULL for NaN, and NULL instead of any error.

    >>> from discreet.schema import Column
    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> value(nodes.Compare(">=", nodes.Col("age"), nodes.Literal(18)), people)
    '(c0 >= 18)'
    """
    piece = sql_of(expr, schema, ops)
    return piece.without_nan(ops) if piece.plain else ops.attempt(piece.without_nan(ops))


def sql_of(expr: nodes.Expr, schema: Schema, ops: Operations = DUCKDB) -> Sql:
    """The SQL of an expression with the kind of its value."""
    table = None if isinstance(expr, nodes.Col | nodes.Literal) else value_table(expr, schema)
    if table is not None:
        return _lookup(table, KINDS[domain(expr, schema).type], schema, ops)
    match expr:
        case nodes.Col(name):
            return column_value(_column(name, schema), schema, ops)
        case nodes.Literal(constant_value):
            return constant(constant_value, ops)
        case nodes.Compare(op, left, right):
            return _comparison(op, left, right, schema, ops)
        case nodes.In(item, options):
            return _membership(item, options, schema, ops)
        case nodes.Like(item, pattern):
            return Sql(ops.like(sql_of(item, schema, ops).text, pattern), Kind.FLAG)
        case nodes.IsNull(item):
            inner = sql_of(item, schema, ops)
            return Sql(f"({inner.without_nan(ops)} IS NULL)", Kind.FLAG, plain=inner.plain)
        case nodes.Not(item):
            inner = sql_of(item, schema, ops)
            return replace(inner, text=f"(NOT {inner.text})")
        case nodes.And(parts) | nodes.Or(parts):
            inner_parts = [sql_of(part, schema, ops) for part in parts]
            joined = (" AND " if isinstance(expr, nodes.And) else " OR ").join(part.text for part in inner_parts)
            return Sql(f"({joined})", Kind.FLAG, plain=all(part.plain for part in inner_parts))
        case nodes.Case():
            return _case(expr, schema, ops)
        case _:
            return _computed_sql(expr, schema, ops)


def _computed_sql(expr: nodes.Expr, schema: Schema, ops: Operations) -> Sql:
    match expr:
        case nodes.Arith():
            return _arithmetic(expr, schema, ops)
        case nodes.Call("nullif", (item, other)):
            piece, same = sql_of(item, schema, ops), _comparison("=", item, other, schema, ops)
            return Sql(f"(CASE WHEN {same.text} THEN NULL ELSE {piece.text} END)", piece.kind, piece.nan)
        case nodes.Call(name, parts):
            bounded = all(is_null(part) or domain(part, schema).interval is not None for part in parts)
            return call_sql(name, [sql_of(part, schema, ops) for part in parts], ops, bounded=bounded)
        case nodes.DatePart(part, item):
            return date_part(part, sql_of(item, schema, ops), ops)
        case nodes.TryCast(item, kind):
            return cast(sql_of(item, schema, ops), kind, ops)
        case nodes.UnitIn():
            return Sql(_part(expr), Kind.FLAG, plain=True)
        case _:
            raise TypeError(f"{type(expr).__name__} is no expression")


def _part(expr: nodes.UnitIn) -> str:
    """A range of ids, without the ends that every id lies within."""
    first, end = id_range(expr)
    ends = [f"{UNIT} >= {spelling.whole(first)}"] if expr.first > 0 else []
    ends += [f"{UNIT} < {spelling.whole(end)}"] if expr.end < 1 else []
    return f"({' AND '.join(ends or ['TRUE'])})"


def _column(name: str, schema: Schema) -> Column:
    column = schema.find(name)
    if column is None:
        raise KeyError("only resolved expressions are rendered")
    return column


def column_value(column: Column, schema: Schema, ops: Operations) -> Sql:
    """A stored cell as the value that it means."""
    cell = storage(schema, column)
    kind = KINDS[column.type]
    match cell.store:
        case Store.CODE:
            return Sql(ops.label(cell.name, tuple(map(str, column.values or ()))), kind, plain=True)
        case Store.STEPS if column.type is Type.NUMBER:
            return Sql(spelling.scaled(ops.double(cell.name), cell.step, ops.real), kind, plain=True)
        case Store.STEPS if column.lattice is not None and column.lattice.largest * cell.step > spelling.LARGEST_WHOLE:
            return Sql(
                spelling.scaled(ops.double(cell.name), cell.step, ops.real), Kind.REAL, plain=True
            )  # as BIGINT it would overflow
        case Store.STEPS if cell.step != 1:
            return Sql(f"({cell.name} * {spelling.whole(int(cell.step))})", kind)
        case _:
            return Sql(cell.name, kind, plain=True)


# --- values looked up by public codes -------------------------------------------------------------------------------


def _lookup(table: ValueTable, kind: Kind, schema: Schema, ops: Operations) -> Sql:
    cell = storage(schema, _column(table.column.name, schema)).name
    if kind is Kind.FLAG:
        return Sql(_flags(table, cell), kind, plain=True)
    if kind is Kind.WHOLE and any(constant(result, ops).kind is Kind.REAL for result in (*table.results, table.empty)):
        kind = Kind.REAL  # a whole number beyond BIGINT
    listed = ["NULL" if result is None else constant(result, ops).text for result in table.results]
    element = ops.element(listed, kind, cell)
    if table.empty is not None:
        element = f"CASE WHEN {cell} IS NULL THEN {constant(table.empty, ops).text} ELSE {element} END"
    return Sql(f"({element})", kind)


def _flags(table: ValueTable, cell: str) -> str:
    """A condition on the codes; NULL, TRUE and FALSE each where SQL has them."""
    codes = {
        flag: [code for code, result in enumerate(table.results) if result is flag] for flag in (True, False, None)
    }
    if not codes[None] and table.empty is None and codes[True] and codes[False]:
        if len(codes[True]) <= len(codes[False]):
            return _among(cell, codes[True], "=", "IN")
        return _among(cell, codes[False], "!=", "NOT IN")
    if not codes[None] and not codes[True] and table.empty is True:
        return f"({cell} IS NULL)"
    branches = [f"WHEN {cell} IS NULL THEN {_flag(table.empty)}"]
    branches += [
        f"WHEN {_among(cell, codes[flag], '=', 'IN')} THEN {_flag(flag)}" for flag in (None, True) if codes[flag]
    ]
    return f"(CASE {' '.join(branches)} ELSE FALSE END)"


def _among(cell: str, codes: list[int], for_one: str, for_several: str) -> str:
    listed = [str(code) for code in codes]
    return f"({cell} {for_one} {listed[0]})" if len(listed) == 1 else f"({cell} {for_several} ({', '.join(listed)}))"


def _flag(flag: nodes.Constant) -> str:
    return "CAST(NULL AS BOOLEAN)" if flag is None else "TRUE" if flag else "FALSE"


# --- comparisons ---------------------------------------------------------------------------------------------------


def _comparison(op: str, left: nodes.Expr, right: nodes.Expr, schema: Schema, ops: Operations) -> Sql:
    axis = line(left, schema)
    if axis is not None and isinstance(right, nodes.Literal):
        name = storage(schema, axis.column).name
        return Sql(_against(name, *axis.comparison(op, _measure(right.value))), Kind.FLAG, plain=True)
    other = line(right, schema)
    if axis is not None and other is not None and _have_equal_steps(axis, other):
        a_name, b_name = (storage(schema, side.column).name for side in (axis, other))
        return Sql(f"({a_name} {op if axis.factor > 0 else FLIPPED[op]} {b_name})", Kind.FLAG, plain=True)
    coded = _code_of(left, right, schema)
    if coded is not None and op in ("=", "!="):
        return Sql(_among(coded[0], [coded[1]], op, ""), Kind.FLAG, plain=True)
    _, (a, b) = as_joint_kind(ops, sql_of(left, schema, ops), sql_of(right, schema, ops))
    return Sql(f"({a.without_nan(ops)} {op} {b.without_nan(ops)})", Kind.FLAG, plain=a.plain and b.plain)


def _code_of(left: nodes.Expr, right: nodes.Expr, schema: Schema) -> tuple[str, int] | None:
    """A coded column of too many values to fold, and the code of one of them."""
    column = schema.find(left.name) if isinstance(left, nodes.Col) else None
    text = right.value if isinstance(right, nodes.Literal) else None
    if column is None or column.values is None or len(column.values) <= MOST_FOLDED or text not in column.values:
        return None
    cell = storage(schema, column)
    return (cell.name, column.values.index(text)) if cell.store is Store.CODE and isinstance(text, str) else None


def _measure(value: nodes.Constant) -> Fraction:
    if value is None or isinstance(value, str):
        raise TypeError("only numbers and dates are measured")
    return number_of(value)


def _have_equal_steps(a: Line, b: Line) -> bool:
    """Whether the two differ in their columns alone, so that their steps compare as they do."""
    return replace(a, column=b.column) == b and a.column.type is b.column.type


def _against(name: str, op: str, place: Fraction) -> str:
    """A stored number of steps beside a place on their axis, exactly: 17.5 lies between 17 and 18."""
    if place.denominator != 1 and op in ("=", "!="):
        return f"(CASE WHEN {name} IS NULL THEN NULL ELSE {'FALSE' if op == '=' else 'TRUE'} END)"
    whole = ceil(place) if op in ("<", ">=") else floor(place)
    return f"({name} {op} {spelling.whole(whole)})"


def _membership(item: nodes.Expr, options: tuple[nodes.Literal, ...], schema: Schema, ops: Operations) -> Sql:
    axis = line(item, schema)
    if axis is not None:
        name = storage(schema, axis.column).name
        places = [axis.place(_measure(option.value)) for option in options]
        listed = ", ".join(spelling.whole(int(place)) for place in places if place.denominator == 1)
        among = f"({name} IN ({listed}))" if listed else _against(name, "=", Fraction(1, 2))
        return Sql(among, Kind.FLAG, plain=True)
    _, (piece, *pieces) = as_joint_kind(
        ops, sql_of(item, schema, ops), *(constant(option.value, ops) for option in options)
    )
    listed = ", ".join(option.text for option in pieces)
    return Sql(f"({piece.without_nan(ops)} IN ({listed}))", Kind.FLAG, plain=piece.plain)


# --- numbers -------------------------------------------------------------------------------------------------------


def _case(expr: nodes.Case, schema: Schema, ops: Operations) -> Sql:
    branches = [sql_of(branch, schema, ops) for _, branch in expr.branches]
    kind, (*results, otherwise) = as_joint_kind(ops, *branches, sql_of(expr.otherwise, schema, ops))
    tests = [sql_of(condition, schema, ops).text for condition, _ in expr.branches]
    cases = " ".join(f"WHEN {test} THEN {result.text}" for test, result in zip(tests, results, strict=True))
    nan = otherwise.nan or any(result.nan for result in results)
    return Sql(f"(CASE {cases} ELSE {otherwise.text} END)", kind, nan)


def _arithmetic(expr: nodes.Arith, schema: Schema, ops: Operations) -> Sql:
    left, right = sql_of(expr.left, schema, ops), sql_of(expr.right, schema, ops)
    if left.kind in (Kind.DAYS, Kind.SECONDS):
        return Sql(ops.difference(left.text, right.text), Kind.WHOLE)
    a, b = domain(expr.left, schema).interval, domain(expr.right, schema).interval
    divisor, nan = right.real(ops), left.nan or right.nan or a is None or b is None
    if expr.op in ("/", "%") and has_zero(b):
        divisor = f"CASE WHEN {right.real(ops)} = 0 THEN NULL ELSE {right.real(ops)} END"
    tame = _is_tame(expr.left, left, schema) and _is_tame(expr.right, right, schema)
    return Sql(ops.arithmetic(expr.op, left.real(ops), divisor, tame=tame), Kind.REAL, nan)


def _is_tame(expr: nodes.Expr, piece: Sql, schema: Schema) -> bool:
    """Whether by public facts it is 0 or of a size within 1e-100 … 1e100."""
    ends = domain(expr, schema).interval
    if ends is None or max(map(abs, ends)) > _LARGE:
        return False
    column = schema.find(expr.name) if isinstance(expr, nodes.Col) else None
    if column is not None and column.lattice is not None:
        return column.lattice.step * _LARGE >= 1
    return piece.kind is not Kind.REAL or (isinstance(expr, nodes.Literal) and ends[0] * _LARGE >= 1)
