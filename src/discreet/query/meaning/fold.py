"""Expressions over one column of public values, computed once for each value instead of once for each row."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from discreet.query import nodes
from discreet.query.layout import Store, storage
from discreet.query.meaning import texts
from discreet.query.meaning.dates import whole
from discreet.query.meaning.evaluate import value
from discreet.query.nodes import Col, Constant, Expr
from discreet.schema import Column, Schema, Type

MOST_FOLDED = 10_000
_FUNCTIONS = ("coalesce", "nullif", *texts.FUNCTIONS)
_CASTS = (Type.INTEGER, Type.NUMBER, Type.BOOLEAN, Type.TEXT, Type.CATEGORY)


@dataclass(frozen=True)
class ValueTable:
    """The result on each public value of the column, and on NULL."""

    column: Column
    results: tuple[Constant, ...]
    empty: Constant


def columns(node: Any) -> set[str]:
    """The names of the columns in a node.

    >>> sorted(columns(nodes.And((nodes.IsNull(Col("a")), nodes.IsNull(Col("b"))))))
    ['a', 'b']
    """
    if isinstance(node, Col):
        return {node.name}
    return set().union(*map(columns, _children(node)))


def has_part(node: Any) -> bool:
    """Whether the node looks at the unit itself, so that it has no value on public values."""
    return isinstance(node, nodes.UnitIn) or any(map(has_part, _children(node)))


def _children(node: Any) -> tuple[Any, ...]:
    if isinstance(node, tuple):
        return node
    if is_dataclass(node) and not isinstance(node, type):
        return tuple(getattr(node, field.name) for field in fields(node))
    return ()


def is_fixed(node: Any, schema: Schema) -> bool:
    """Whether a node is the same for all rows of a unit, because each of its columns is, and so is the unit's id."""
    return all((column := schema.find(name)) is not None and column.fixed_per_unit for name in columns(node))


def value_table(expr: Expr, schema: Schema) -> ValueTable | None:
    """The expression as a table of results, if it has one column, which is stored in codes; else None."""
    names = columns(expr)
    if len(names) != 1:
        return None
    (name,) = names
    column = schema.find(name)
    if column is None or column.values is None or storage(schema, column).store is not Store.CODE:
        return None
    if len(column.values) > MOST_FOLDED:
        return None
    results: list[Constant] = []
    for cell in (*column.values, None):
        row = {name: cell}
        result = value(expr, row) if _is_exact(expr, row) else math.nan
        if isinstance(result, float):  # inexact, or ±∞, which no text of 200 letters spells
            return None
        results.append(whole(result) if isinstance(result, Fraction) else result)
    return ValueTable(column, tuple(results[:-1]), results[-1])


def _is_exact(node: Any, row: Mapping[str, Any]) -> bool:
    """Whether Python and the engine give equal results on the row, which they need not for arithmetic and dates.

    Branches of a CASE that the row does not reach are not looked at: what is left is exact, as constants are typed.
    """
    match node:
        case nodes.Arith() | nodes.DatePart() | nodes.UnitIn():
            return False
        case nodes.Call(name) if name not in _FUNCTIONS:
            return False
        case nodes.TryCast(item, kind) if kind not in _CASTS or not isinstance(value(item, row), str | None):
            return False
        case nodes.Case(branches, otherwise):
            for condition, branch in branches:
                if not _is_exact(condition, row):
                    return False
                if value(condition, row) is True:
                    return _is_exact(branch, row)
            return _is_exact(otherwise, row)
        case _:
            return all(_is_exact(child, row) for child in _children(node))
