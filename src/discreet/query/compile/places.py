"""Groups in SQL: the expression to group rows by, and the index of each group among the labels.

Rows are grouped by what is stored wherever possible; indices are computed on groups, of which there are few.  No two
groups have one index, so no unit is counted twice in a cell.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from discreet.query.caps import MOST_LETTERS
from discreet.query.compile import spelling
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.piece import Kind, constant
from discreet.query.compile.render import sql_of, value
from discreet.query.layout import Store, Stored, storage
from discreet.query.meaning.cells import KeyCells, ends_in_steps
from discreet.query.meaning.dates import DAY, FIRST_DAY, LAST_DAY
from discreet.query.meaning.domain import Domain, domain
from discreet.query.meaning.steps import Line, line
from discreet.query.nodes import Bins, Call, Case, Col, Expr, Literal
from discreet.schema import Schema, Type
from discreet.schema.kind import number_of

_FAR = 2**62


@dataclass(frozen=True)
class Grouping:
    """`group` is SQL over a row, of that kind; `index` turns the name of its value into a BIGINT index, or a key."""

    group: str
    index: Callable[[str], str]
    kind: Kind = Kind.WHOLE


def grouping(key: KeyCells, schema: Schema, ops: Operations = DUCKDB) -> Grouping:
    """The grouping of a key; a NULL index belongs to no group unless the key has one for it."""
    if isinstance(key.key.item, Bins):
        return bin_grouping(key.key.item, schema, ops)
    if key.labels is None:
        return Grouping(_private(key.key.item, schema, ops), lambda name: name, _private_kind(key.key.item, schema))
    labels = key.labels[:-1] if key.with_null else key.labels
    by_label = label_grouping(key.key.item, labels, schema, ops)
    if not key.with_null:
        return by_label
    # not coalesce(index, …): a value without an index is no NULL, and two groups must not share one
    return Grouping(
        by_label.group,
        lambda name: f"CASE WHEN {name} IS NULL THEN {len(labels)} ELSE {by_label.index(name)} END",
        by_label.kind,
    )


def label_grouping(expr: Expr, labels: tuple[Any, ...], schema: Schema, ops: Operations = DUCKDB) -> Grouping:
    """The grouping of an expression by its value's index among public labels."""
    known = domain(expr, schema)
    if isinstance(expr, Col):
        return _column_grouping(expr, labels, known, schema, ops)
    if known.type is Type.BOOLEAN and labels == (False, True):
        return Grouping(value(expr, schema, ops), ops.flag_as_whole, Kind.FLAG)
    kind = sql_of(expr, schema, ops).kind
    if known.values is None and known.step is not None and kind is Kind.REAL:
        return Grouping(_rounded_index(value(expr, schema, ops), known, ops), lambda name: name)
    if known.values is None:
        return Grouping(value(expr, schema, ops), _offset(known, ops), kind)
    codes = _as_indices(expr, labels)
    if codes is not None:
        return Grouping(value(codes, schema, ops), lambda name: f"CAST({name} AS BIGINT)")
    return Grouping(value(expr, schema, ops), _position(labels, kind, ops), kind)


def _column_grouping(expr: Col, labels: tuple[Any, ...], known: Domain, schema: Schema, ops: Operations) -> Grouping:
    column = schema.find(expr.name)
    if column is None:
        raise KeyError("only resolved keys are grouped by")
    cell = storage(schema, column)
    match cell.store:
        case Store.CODE if labels == column.values:
            return Grouping(cell.name, lambda name: f"CAST({name} AS BIGINT)")
        case Store.CODE:
            codes = {label: code for code, label in enumerate(column.values or ())}
            return Grouping(cell.name, _position(tuple(codes.get(label) for label in labels), Kind.WHOLE, ops))
        case Store.FLAG:
            return Grouping(cell.name, ops.flag_as_whole, Kind.FLAG)
        case Store.STEPS if known.values is None:
            return Grouping(cell.name, _offset(Domain(Type.INTEGER, _in_steps(known), None, Fraction(1)), ops))
        case _:
            return Grouping(cell.name, _position(tuple(_steps(label, cell) for label in labels), Kind.WHOLE, ops))


def _steps(label: int, cell: Stored) -> int | None:
    """A value in stored steps, which never overflow; None, which equals no cell, where it lies between two."""
    steps = Fraction(label) / cell.step
    return int(steps) if steps.denominator == 1 else None


def _in_steps(known: Domain) -> tuple[Fraction, Fraction]:
    low, high = ends_in_steps(known)
    return Fraction(low), Fraction(high)


def _offset(known: Domain, ops: Operations) -> Callable[[str], str]:
    """The index of an integer between public ends, a whole multiple of the step; nothing else has one."""
    low, high = ends_in_steps(known)
    step = int(known.step or 1)
    first, last = spelling.whole(low * step), spelling.whole(high * step)

    def index(name: str) -> str:
        distance = ops.difference_within(name, first)
        fits = f"{name} BETWEEN {first} AND {last} AND {distance} % {step} = 0"
        return ops.attempt(f"CASE WHEN {fits} THEN {ops.quotient(distance, step)} END")

    return index


def _rounded_index(number: str, known: Domain, ops: Operations) -> str:
    low, high = ends_in_steps(known)
    step = known.step or Fraction(1)
    nearest = ops.nearest(number, ops.real(step), ops.real(low * step))
    inside = f"{nearest} BETWEEN 0 AND {high - low}"
    return spelling.short(ops.attempt(f"CASE WHEN {inside} THEN CAST({nearest} AS BIGINT) END"))


def _position(labels: tuple[Any, ...], kind: Kind, ops: Operations) -> Callable[[str], str]:
    pieces = [constant(label, ops) for label in labels]
    listed = [piece.real(ops) if kind is Kind.REAL else piece.text for piece in pieces]  # NULL equals no value
    return lambda name: ops.position(listed, kind, name)


def _as_indices(expr: Expr, labels: tuple[Any, ...]) -> Expr | None:
    """The expression with every constant result as its index; None if a result is no constant."""
    match expr:
        case Literal(None):
            return expr
        case Literal(result):
            return Literal(labels.index(result))
        case Case(branches, otherwise):
            results = [_as_indices(branch, labels) for _, branch in branches]
            last = _as_indices(otherwise, labels)
            if last is None or any(result is None for result in results):
                return None
            pairs = zip(branches, results, strict=True)
            return Case(tuple((test, result) for (test, _), result in pairs if result is not None), last)
        case Call("coalesce", parts):
            indices = [_as_indices(part, labels) for part in parts]
            return None if None in indices else Call("coalesce", tuple(part for part in indices if part is not None))
        case _:
            return None


# --- private keys --------------------------------------------------------------------------------------------------


def _private(expr: Expr, schema: Schema, ops: Operations) -> str:
    """A private key as it is shown later: text, or an integer of steps, days or seconds."""
    column = schema.find(expr.name) if isinstance(expr, Col) else None
    cell = None if column is None else storage(schema, column)
    kind = sql_of(expr, schema, ops).kind
    if cell is not None and cell.store is Store.FLOAT:
        return f"CASE WHEN {ops.is_finite(cell.name)} THEN {cell.name} + 0.0e0 END"  # −0 and 0 are one key
    text = cell.name if cell is not None else value(expr, schema, ops)
    step = 1 if cell is None else int(cell.step) or 1
    match kind:
        case Kind.DAYS:
            return f"CASE WHEN {text} BETWEEN {-(-FIRST_DAY // step)} AND {LAST_DAY // step} THEN {text} END"
        case Kind.SECONDS:
            last = (LAST_DAY * DAY + DAY - 1) // step
            return f"CASE WHEN {text} BETWEEN {-(-FIRST_DAY * DAY // step)} AND {last} THEN {text} END"
        case Kind.REAL if cell is None:
            return ops.whole(text)
        case Kind.TEXT:
            return f"CASE WHEN length({text}) <= {MOST_LETTERS} THEN {text} END"
        case _:
            return text


def _private_kind(expr: Expr, schema: Schema) -> Kind:
    """The kind of what `_private` gives: a computed number is a whole one, a stored one is not."""
    kind = sql_of(expr, schema).kind
    column = schema.find(expr.name) if isinstance(expr, Col) else None
    if kind is Kind.REAL and (column is None or storage(schema, column).store is not Store.FLOAT):
        return Kind.WHOLE
    return kind


# --- bins ----------------------------------------------------------------------------------------------------------


def bin_grouping(bins: Bins, schema: Schema, ops: Operations = DUCKDB) -> Grouping:
    """The number of the bin, counted from 0; the last bin is closed, outside of all there is none."""
    edges = [number_of(edge) for edge in bins.edges or ()]
    axis = line(bins.item, schema)
    if axis is not None and axis.factor > 0:
        name = storage(schema, axis.column).name
        return Grouping(_stepped_bins(axis, name, edges, ops), lambda name: f"CAST({name} AS BIGINT)")
    kind, item = sql_of(bins.item, schema, ops).kind, value(bins.item, schema, ops)
    item = ops.double(item) if kind is not Kind.REAL else item
    inner = [ops.real(edge) for edge in edges]
    tree = _tree(item, inner[1:-1], 0)
    sql = f"CASE WHEN {item} BETWEEN {inner[0]} AND {inner[-1]} THEN {tree} END"
    return Grouping(spelling.short(sql), lambda name: f"CAST({name} AS BIGINT)")


def _stepped_bins(axis: Line, name: str, edges: list[Fraction], ops: Operations) -> str:
    """In steps; an edge between two of them parts them, as a constant in a comparison does."""
    steps = [axis.place(edge) for edge in edges]
    starts, last = [ceil(step) for step in steps], floor(steps[-1])
    widths = {high - low for low, high in pairwise(starts)}
    inside = f"{name} BETWEEN {spelling.whole(starts[0])} AND {spelling.whole(last)}"
    in_range = max(map(abs, starts)) < _FAR  # beyond, `spelling.whole` cuts them, which only comparisons bear
    if in_range and len(widths) == 1 and (width := widths.pop()) > 0:
        tree = f"least({ops.quotient(f'({name} - {spelling.whole(starts[0])})', width)}, {len(edges) - 2})"
    else:
        tree = _tree(name, [spelling.whole(start) for start in starts[1:-1]], 0)
    number = f"CASE WHEN {inside} THEN {tree} END"
    # without bounds, far outside of the edges, a difference may overflow
    return number if axis.column.lattice is not None else ops.attempt(number)


def _tree(item: str, inner: list[str], first: int) -> str:
    """Halving: which of the bins between the inner edges the item lies in."""
    if not inner:
        return str(first)
    middle = len(inner) // 2
    below, above = _tree(item, inner[:middle], first), _tree(item, inner[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {item} < {inner[middle]} THEN {below} ELSE {above} END"
