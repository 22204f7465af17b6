"""Turn HAVING, ORDER BY, LIMIT and OFFSET into an `After`, which refers to columns of the answer alone."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.query.canonical import canonical
from discreet.query.nodes import After, And, Arith, Col, Compare, Expr, In, Literal, Not, Or, SortKey
from discreet.query.sql.aggregate import aggregate, bins, call_name, is_aggregate
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.expr import expression, name_of, number, selected_index
from discreet.query.sql.refusal import Refusal, excerpt, refusal, require_only
from discreet.query.sql.text import Source

if TYPE_CHECKING:
    from sqlglot import exp

MOST_ROWS = 10**9
_MAY_BE_KEY = ("Anonymous", "Extract", "Case", "Cast", "TryCast", "Add", "Sub", "Mul", "Div", "Mod", "Column")
_WHY = "After the noise only the answer's columns are known, and nothing else may be read."


@dataclass(frozen=True)
class AnswerColumns:
    """The answer's columns: names by meaning, names by position in SELECT, and all names."""

    by_meaning: Mapping[str, str]
    by_position: tuple[str, ...]
    names: tuple[str, ...]

    def find(self, node: "exp.Expr", source: Source) -> str | None:
        """The name of the answer's column that the node stands for, or None."""
        names = {name.casefold(): name for name in self.names}
        if type(node).__name__ == "Column" and node.args.get("table") is None:
            name = names.get(name_of(node.this, source).casefold())
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
    return canonical(_casefolded(node))


def after(source: Source, released: AnswerColumns) -> After:
    """The clauses that work on released rows."""
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


def _casefolded(node: Any) -> Any:
    match node:
        case Col(name):
            return Col(name.casefold())
        case tuple():
            return tuple(_casefolded(part) for part in node)
        case _ if dataclasses.is_dataclass(node) and not isinstance(node, type):
            return type(node)(*(_casefolded(getattr(node, field.name)) for field in dataclasses.fields(node)))
        case _:
            return node


def _having(clause: "exp.Expr", source: Source, released: AnswerColumns) -> Expr:
    require_only(clause, "this")

    def find(node: "exp.Expr") -> Expr | None:
        name = released.find(node, source)
        if name is not None:
            return Col(name)
        if is_aggregate(node) or type(node).__name__ == "Column":
            raise _not_selected(node, "HAVING")
        return None

    return _plain(expression(clause.this, dataclasses.replace(source, released=find)), clause)


def _plain(node: Expr, clause: "exp.Expr") -> Expr:
    """The condition with IN as comparisons; refused unless it has comparisons, AND, OR, NOT and arithmetic alone."""
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
            why = "HAVING takes comparisons, AND, OR, NOT, IN, BETWEEN and + - * / % on the answer's columns."
            fix = "Compare a column of the answer: n > 100."
            raise refusal(clause, f"{excerpt(clause)} is not supported.", why, fix)


def _order(clause: "exp.Expr", source: Source, released: AnswerColumns) -> tuple[SortKey, ...]:
    require_only(clause, "expressions")
    keys: list[SortKey] = []
    for item in clause.expressions:
        require_only(item, "this", "desc", "nulls_first")
        by, descending = item.this, bool(item.args.get("desc"))
        if type(by).__name__ == "Literal":
            name: str | None = released.by_position[selected_index(by, len(released.by_position), "ORDER BY")]
        else:
            name = released.find(by, source)
        if name is None:
            raise _not_selected(by, "ORDER BY")
        keys.append(SortKey(name, descending))
    return tuple(keys)


def _rows(clause: "exp.Expr") -> int:
    require_only(clause, "expression")
    node = clause.expression
    is_number = type(node).__name__ == "Literal" and not node.args.get("is_string")
    count = number(str(node.this), node) if is_number else None
    if isinstance(count, int) and 0 <= count <= MOST_ROWS:
        return count
    why = "The number of rows to show is a public constant."
    raise refusal(clause, f"{excerpt(clause)} is not supported.", why, "Write a whole number: LIMIT 10.")


def _not_selected(node: "exp.Expr", clause: str) -> Refusal:
    rewrite = None
    if is_aggregate(node):
        copy = node.root().copy()
        copy.append("expressions", node.copy())
        rewrite = sql_of(copy)
    what = f"{clause} refers to {excerpt(node)}, which is not selected."
    return refusal(node, what, _WHY, "Add it to SELECT, or use a column of the answer.", rewrite=rewrite)
