"""Rewrite a SELECT about another SELECT as a SELECT about the table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.query.sql.dialect import fragment, sql_of
from discreet.query.sql.functions import AGGREGATES
from discreet.query.sql.refusal import Refusal, refusal

if TYPE_CHECKING:
    from sqlglot import exp

_MOST_LEVELS = 8
_PLAIN = ("expressions", "from_", "where")  # all that an inner SELECT may have to be taken in


def nested_refusal(node: "exp.Expr", root: "exp.Select", what: str) -> Refusal:
    """The refusal of a SELECT about another one, with an equal SELECT about the table or else the inner question."""
    why = "A question is about one table, whose units are counted and capped beforehand."
    outer, queries = root.copy(), _with_queries(root)
    outer.set("with_", None)
    fix = "Write one SELECT, with the inner conditions in its WHERE and the inner groups in its GROUP BY."
    for _ in range(_MOST_LEVELS):
        inner = _inner(outer, queries)
        if inner is None:
            break
        if _is_plain(inner):
            _take_in(outer, inner)
        elif any(_has_aggregate(item) for item in inner.expressions):
            outer, fix = inner, "Ask the inner question on its own, and calculate with its answer."
        else:
            break
    origin = outer.args.get("from_")
    name = str(origin.this.name).casefold() if origin is not None and type(origin.this).__name__ == "Table" else None
    about_table = name is not None and name not in queries
    return refusal(node, what, why, fix, rewrite=sql_of(outer) if about_table else None)


def _with_queries(root: "exp.Select") -> "dict[str, exp.Expr]":
    """The queries that WITH names."""
    clause = root.args.get("with_")
    return {} if clause is None else {str(query.alias).casefold(): query.this for query in clause.expressions}


def inner_question(node: "exp.Expr") -> str | None:
    """The SELECT of a subquery, if it has an aggregate: its answer can be written as a constant."""
    inner = node.this if type(node).__name__ == "Subquery" else node
    if type(inner).__name__ != "Select" or not any(_has_aggregate(item) for item in inner.expressions):
        return None
    return sql_of(inner)


def _inner(root: "exp.Select", queries: "Mapping[str, exp.Expr]") -> "exp.Select | None":
    """A copy of the SELECT in FROM; None where FROM names a table."""
    from sqlglot import exp

    origin = root.args.get("from_")
    table = None if origin is None else origin.this
    inner = table.this if isinstance(table, exp.Subquery) else None
    if isinstance(table, exp.Table) and not table.args.get("db"):
        inner = queries.get(str(table.name).casefold())
    return inner.copy() if isinstance(inner, exp.Select) else None


def _is_plain(inner: "exp.Select") -> bool:
    """Whether it only leaves out rows and columns, and renames none."""
    if any(value for name, value in inner.args.items() if name not in _PLAIN and name != "kind"):
        return False
    return all(type(item).__name__ in ("Star", "Column") for item in inner.expressions)


def _take_in(root: "exp.Select", inner: "exp.Select") -> None:
    """Put the inner table and condition in place of the inner SELECT, and remove table names before columns."""
    where = [clause.this for select in (inner, root) if (clause := select.args.get("where")) is not None]
    root.set("from_", inner.args.get("from_"))
    root.set("where", None)
    for condition in where:
        root.where(fragment(sql_of(condition)), copy=False)
    for node in root.walk():
        if type(node).__name__ == "Column":
            node.set("table", None)


def _has_aggregate(item: "exp.Expr") -> bool:
    return any(str(node.this).lower() in AGGREGATES for node in item.walk() if type(node).__name__ == "Anonymous")
