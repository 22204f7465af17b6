"""HAVING, ORDER BY, LIMIT and OFFSET: they speak of released columns only."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.query.canonical import canonical
from discreet.query.nodes import After, And, Arith, Col, Compare, Expr, In, Literal, Not, Or, SortKey
from discreet.query.sql.aggregate import aggregate, bins, call_name, is_aggregate
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.expr import expression, named, number
from discreet.query.sql.refusal import Refusal, known, refused, shown
from discreet.query.sql.text import Source

if TYPE_CHECKING:
    from sqlglot import exp

MOST_ROWS = 10**9
_MAY_BE_KEY = ("Anonymous", "Extract", "Case", "Cast", "TryCast", "Add", "Sub", "Mul", "Div", "Mod", "Column")
_WHY = "Only columns of the answer are known after noise was added; nothing else may be looked at."


@dataclass(frozen=True)
class Released:
    """The answer's columns: by what they stand for, by position in SELECT, and their names."""

    by_meaning: Mapping[str, str]
    by_position: tuple[str, ...]
    names: tuple[str, ...]

    def find(self, node: "exp.Expr", source: Source) -> str | None:
        """The released column that the node is, or None."""
        names = {name.casefold(): name for name in self.names}
        if type(node).__name__ == "Column" and node.args.get("table") is None:
            name = names.get(named(node.this, source).casefold())
            if name is not None:
                return name
        if is_aggregate(node):
            return self.by_meaning.get(meaning(aggregate(node, source)))
        if call_name(node) == "bin":
            return self.by_meaning.get(meaning(bins(node, source)))
        if type(node).__name__ not in _MAY_BE_KEY:
            return None
        try:
            return self.by_meaning.get(meaning(expression(node, source)))
        except Refusal:
            return None


def meaning(node: Any) -> str:
    """Text that is equal for nodes that differ at most in the case of column names."""
    return canonical(_folded(node))


def after(source: Source, released: Released) -> After:
    """What is done with the released rows."""
    args = source.root.args
    having = args.get("having")
    order = args.get("order")
    limit, offset = args.get("limit"), args.get("offset")
    return After(
        None if having is None else _having(having, source, released),
        () if order is None else _order(order, source, released),
        None if limit is None else _rows(limit),
        0 if offset is None else _rows(offset),
    )


def _folded(node: Any) -> Any:
    match node:
        case Col(name):
            return Col(name.casefold())
        case tuple():
            return tuple(_folded(part) for part in node)
        case _ if dataclasses.is_dataclass(node) and not isinstance(node, type):
            changed = {field.name: _folded(getattr(node, field.name)) for field in dataclasses.fields(node)}
            return type(node)(**changed)
        case _:
            return node


def _having(clause: "exp.Expr", source: Source, released: Released) -> Expr:
    known(clause, "this")

    def find(node: "exp.Expr") -> Expr | None:
        name = released.find(node, source)
        if name is not None:
            return Col(name)
        if is_aggregate(node) or type(node).__name__ == "Column":
            raise _not_selected(node, "HAVING")
        return None

    return _plain(expression(clause.this, dataclasses.replace(source, released=find)), clause)


def _plain(node: Expr, clause: "exp.Expr") -> Expr:
    """Refuses what is not a comparison, AND, OR, NOT or arithmetic; IN becomes comparisons."""
    match node:
        case And(parts) | Or(parts):
            return type(node)(tuple(_plain(part, clause) for part in parts))
        case Not(item):
            return Not(_plain(item, clause))
        case Compare(op, left, right) | Arith(op, left, right):
            return type(node)(op, _plain(left, clause), _plain(right, clause))
        case In(item, options):
            return Or(tuple(Compare("=", _plain(item, clause), option) for option in options))
        case Col() | Literal():
            return node
        case _:
            why = "HAVING understands comparisons, AND, OR, NOT, IN, BETWEEN and + - * / % on the answer's columns."
            raise refused(
                clause, f"{shown(clause)} is not understood.", why, "Compare a column of the answer: n > 100."
            )


def _order(clause: "exp.Expr", source: Source, released: Released) -> tuple[SortKey, ...]:
    known(clause, "expressions")
    found: list[SortKey] = []
    for item in clause.expressions:
        known(item, "this", "desc", "nulls_first")
        by, descending = item.this, bool(item.args.get("desc"))
        if type(by).__name__ == "Literal":
            found.append(SortKey(_position(by, released), descending))
            continue
        name = released.find(by, source)
        if name is None:
            raise _not_selected(by, "ORDER BY")
        found.append(SortKey(name, descending))
    return tuple(found)


def _position(node: "exp.Expr", released: Released) -> str:
    place = None if node.args.get("is_string") else number(str(node.this), node)
    if isinstance(place, int) and 1 <= place <= len(released.by_position):
        return released.by_position[place - 1]
    why = f"There are {len(released.by_position)} selected columns, counted from 1."
    raise refused(node, f"ORDER BY {shown(node)} names no selected column.", why, "Order by a column's name.")


def _rows(clause: "exp.Expr") -> int:
    known(clause, "expression")
    count = clause.expression
    value = (
        number(str(count.this), count)
        if type(count).__name__ == "Literal" and not count.args.get("is_string")
        else None
    )
    if isinstance(value, int) and 0 <= value <= MOST_ROWS:
        return value
    why = "How many released rows are shown is a public number."
    raise refused(clause, f"{shown(clause)} is not understood.", why, "Write a whole number: LIMIT 10.")


def _not_selected(node: "exp.Expr", clause: str) -> Refusal:
    root = node.root()
    rewrite = None
    if is_aggregate(node):
        copy = root.copy()
        copy.append("expressions", node.copy())
        rewrite = sql_of(copy)
    what = f"{clause} speaks of {shown(node)}, which is not selected."
    return refused(node, what, _WHY, "Add it to SELECT, or use a column of the answer.", rewrite=rewrite)
