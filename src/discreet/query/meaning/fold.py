"""Expressions over one column of public values, worked out on those values instead of on every row."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from discreet.query import nodes
from discreet.query.layout import Store, stored
from discreet.query.meaning import texts
from discreet.query.nodes import Col, Constant, Expr, Literal
from discreet.schema import Column, Schema, Type

MOST_FOLDED = 10_000
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_CASTS: dict[Type, Callable[[str], Any]] = {
    Type.INTEGER: texts.integer,
    Type.NUMBER: texts.number,
    Type.BOOLEAN: texts.boolean,
    Type.TEXT: str,
    Type.CATEGORY: str,
}


class _Unfoldable(Exception):
    """Something that is left to the engine."""


@dataclass(frozen=True)
class Folded:
    """The result on each public value of the column, and on NULL."""

    column: Column
    results: tuple[Constant, ...]
    empty: Constant


def columns(node: Any) -> set[str]:
    """The columns that a node looks at.

    >>> sorted(columns(nodes.And((nodes.IsNull(Col("a")), nodes.IsNull(Col("b"))))))
    ['a', 'b']
    """
    if isinstance(node, Col):
        return {node.name}
    if isinstance(node, tuple):
        return set().union(*map(columns, node))
    if is_dataclass(node) and not isinstance(node, type):
        return set().union(*(columns(getattr(node, field.name)) for field in fields(node)))
    return set()


def is_fixed(node: Any, schema: Schema) -> bool:
    """Whether a node is the same for all rows of a unit, because every column it looks at is."""
    found = (schema.find(name) for name in columns(node))
    return all(column is not None and column.fixed_per_unit for column in found)


def folded(expr: Expr, schema: Schema) -> Folded | None:
    """The expression as a table of results, if it looks at one coded column only."""
    named = columns(expr)
    column = schema.find(next(iter(named))) if len(named) == 1 else None
    if column is None or column.values is None or stored(schema, column).store is not Store.CODE:
        return None
    if len(column.values) > MOST_FOLDED:
        return None
    try:
        results = tuple(_value(expr, value) for value in column.values)
        return Folded(column, results, _value(expr, None))
    except _Unfoldable:
        return None


def _value(expr: Expr, cell: Any) -> Any:
    """The value of the expression where its column holds `cell`; SQL's logic of three values."""
    match expr:
        case Col():
            return cell
        case Literal(value):
            return value
        case nodes.IsNull(item):
            return _value(item, cell) is None
        case nodes.Not(item):
            found = _value(item, cell)
            return None if found is None else not found
        case nodes.And(parts):
            return _joined([_value(part, cell) for part in parts], False)
        case nodes.Or(parts):
            return _joined([_value(part, cell) for part in parts], True)
        case nodes.Case(branches, otherwise):
            for condition, branch in branches:
                if _value(condition, cell) is True:
                    return _value(branch, cell)
            return _value(otherwise, cell)
        case nodes.Call():
            return _called(expr, cell)
        case _:
            return _known(expr, cell)


def _known(expr: Expr, cell: Any) -> Any:
    """What is NULL wherever an argument is."""
    match expr:
        case nodes.Compare(op, left, right):
            a, b = _value(left, cell), _value(right, cell)
            return None if a is None or b is None else _COMPARE[op](a, b)
        case nodes.In(item, options):
            found = _value(item, cell)
            return None if found is None else any(found == option.value for option in options)
        case nodes.Like(item, pattern):
            found = _value(item, cell)
            return None if found is None else texts.like(found, pattern)
        case nodes.TryCast(item, kind) if kind in _CASTS:
            found = _value(item, cell)
            if found is not None and not isinstance(found, str):
                raise _Unfoldable
            return None if found is None else _CASTS[kind](found)
        case _:
            raise _Unfoldable


def _joined(found: list[Any], decisive: bool) -> bool | None:
    if decisive in found:
        return decisive
    return None if None in found else not decisive


def _called(expr: nodes.Call, cell: Any) -> Any:
    found = [_value(part, cell) for part in expr.parts]
    match expr.name:
        case "coalesce":
            return next((value for value in found if value is not None), None)
        case "nullif":
            return None if found[1] is not None and found[0] == found[1] else found[0]
        case name if name in texts.FUNCTIONS:
            return None if found[0] is None else texts.FUNCTIONS[name](found[0])
        case _:
            raise _Unfoldable
