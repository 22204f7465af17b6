"""The value of an expression on public values: a released row, or a declared value of a column.

Private rows are evaluated in the engine alone.
"""

from collections.abc import Mapping
from typing import Any

from discreet.query import nodes
from discreet.query.meaning import functions, texts
from discreet.query.meaning.logic import Value, any_of, comparison, negated, plain
from discreet.query.nodes import Expr


def value(expr: Expr, row: Mapping[str, Any]) -> Value:
    """The value of the expression on the row, whose cells are looked up by column name.

    >>> from discreet.query.nodes import Col, Compare, Literal
    >>> value(Compare(">", Col("n"), Literal(10)), {"n": 12}), value(Compare(">", Col("n"), Literal(10)), {"n": None})
    (True, None)
    """
    match expr:
        case nodes.Col():
            return plain(row.get(expr.name))
        case nodes.Literal():
            return plain(expr.value)
        case nodes.Compare():
            return comparison(expr.op, value(expr.left, row), value(expr.right, row))
        case nodes.In():
            item = value(expr.item, row)
            return any_of([comparison("=", item, plain(option.value)) for option in expr.options])
        case nodes.Like():
            text = value(expr.item, row)
            return texts.like(text, expr.pattern) if isinstance(text, str) else None
        case nodes.IsNull():
            return value(expr.item, row) is None
        case nodes.Not():
            return negated(value(expr.item, row))
        case nodes.And():
            return negated(any_of([negated(value(part, row)) for part in expr.parts]))
        case nodes.Or():
            return any_of([value(part, row) for part in expr.parts])
        case nodes.Case():
            results = (result for test, result in expr.branches if value(test, row) is True)
            return value(next(results, expr.otherwise), row)
        case nodes.Arith():
            return functions.arith(expr.op, value(expr.left, row), value(expr.right, row))
        case nodes.Call():
            return functions.result(expr.name, [value(part, row) for part in expr.parts])
        case nodes.DatePart():
            return functions.date_part(expr.part, value(expr.item, row))
        case nodes.TryCast():
            return functions.cast(value(expr.item, row), expr.type)
        case nodes.UnitIn():
            raise TypeError("public values belong to no unit")
        case _:
            raise TypeError(f"{type(expr).__name__} is no expression")
