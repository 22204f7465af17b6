"""A SELECT about another SELECT as one about the table itself, for a rewrite."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.query.sql.dialect import fragment, sql_of
from discreet.query.sql.functions import AGGREGATES
from discreet.query.sql.refusal import Refusal, refused

if TYPE_CHECKING:
    from sqlglot import exp

_MOST_LEVELS = 8
_PLAIN = ("expressions", "from_", "where")  # all that an inner SELECT may have to be taken in


def not_merged(at: "exp.Expr", root: "exp.Select", what: str) -> Refusal:
    """The refusal of a SELECT about another one: with the one that asks the same, or with the inner question."""
    why = "A question is about one table, whose units are counted and capped beforehand."
    found, named = root.copy(), _named(root)
    found.set("with_", None)
    fix = "Write one SELECT, with the inner conditions in its WHERE and the inner groups in its GROUP BY."
    for _ in range(_MOST_LEVELS):
        inner = _inner(found, named)
        if inner is None:
            break
        if _is_plain(inner):
            _take_in(found, inner)
        elif any(_aggregates(item) for item in inner.expressions):
            found, fix = inner, "Ask the inner question on its own, and calculate with its answer."
        else:
            break
    origin = found.args.get("from_")
    name = str(origin.this.name).casefold() if origin is not None and type(origin.this).__name__ == "Table" else None
    about_table = name is not None and name not in named
    return refused(at, what, why, fix, rewrite=sql_of(found) if about_table else None)


def _named(root: "exp.Select") -> "dict[str, exp.Expr]":
    given = root.args.get("with_")
    return {} if given is None else {str(one.alias).casefold(): one.this for one in given.expressions}


def inner_question(node: "exp.Expr") -> str | None:
    """The SELECT inside a subquery, if it counts something: its answer can be written as a constant."""
    inner = node.this if type(node).__name__ == "Subquery" else node
    if type(inner).__name__ != "Select" or not any(_aggregates(item) for item in inner.expressions):
        return None
    return sql_of(inner)


def _inner(root: "exp.Select", named: "Mapping[str, exp.Expr]") -> "exp.Select | None":
    """A copy of the SELECT that stands for the table, None where it is a table."""
    from sqlglot import exp

    origin = root.args.get("from_")
    table = None if origin is None else origin.this
    inner = table.this if isinstance(table, exp.Subquery) else None
    if isinstance(table, exp.Table) and not table.args.get("db"):
        inner = named.get(str(table.name).casefold())
    return inner.copy() if isinstance(inner, exp.Select) else None


def _is_plain(inner: "exp.Select") -> bool:
    """Whether it only drops rows and columns, each under its own name."""
    if any(value for name, value in inner.args.items() if name not in _PLAIN and name != "kind"):
        return False
    return all(type(item).__name__ in ("Star", "Column") for item in inner.expressions)


def _take_in(root: "exp.Select", inner: "exp.Select") -> None:
    """The inner table and condition in place of the inner SELECT; names of tables before columns fall away."""
    where = [clause.this for one in (inner, root) if (clause := one.args.get("where")) is not None]
    root.set("from_", inner.args.get("from_"))
    root.set("where", None)
    for condition in where:
        root.where(fragment(sql_of(condition)), copy=False)
    for node in root.walk():
        if type(node).__name__ == "Column":
            node.set("table", None)


def _aggregates(item: "exp.Expr") -> bool:
    return any(str(node.this).lower() in AGGREGATES for node in item.walk() if type(node).__name__ == "Anonymous")
