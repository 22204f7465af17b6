"""Refuse clauses that a question cannot have, and anything but one plain table in FROM."""

from typing import TYPE_CHECKING

from discreet.query.sql.dialect import fragment, sql_of, without_alias
from discreet.query.sql.merge import nested_refusal
from discreet.query.sql.refusal import excerpt, refusal, require_only, statement_with, unsupported

if TYPE_CHECKING:
    from sqlglot import exp

_CLAUSES = ("expressions", "from_", "where", "group", "having", "order", "limit", "offset")


def require_plain(root: "exp.Select") -> None:
    """Refuses every clause that is not on the list."""
    if root.args.get("distinct"):
        raise unsupported(root, "distinct", rewrite=_grouped_instead(root))
    if root.args.get("with_"):
        raise nested_refusal(root.args["with_"], root, "WITH is not supported.")
    for name in ("joins", "laterals", "sample", "qualify", "windows"):
        if root.args.get(name):
            raise unsupported(root, name)
    require_only(root, *_CLAUSES)
    _require_plain_table(root)
    for node in root.walk():
        if type(node).__name__ == "Window":
            raise unsupported(node, rewrite=_without_window(node, root))
    group = root.args.get("group")
    if group is not None:
        require_only(group, "expressions")
    for item in root.expressions:
        inner = without_alias(item)
        star = inner.this if type(inner).__name__ == "Column" else inner
        if type(star).__name__ == "Star":
            copy = root.copy()
            copy.set("expressions", [fragment("COUNT(*) AS n")])
            raise unsupported(star, rewrite=sql_of(copy))


def _require_plain_table(root: "exp.Select") -> None:
    origin = root.args.get("from_")
    if origin is None:
        why = "A question is about one table."
        raise refusal(root, "FROM is missing.", why, "Write FROM and the table's name.")
    require_only(origin, "this")
    table = origin.this
    if type(table).__name__ == "Subquery":
        raise nested_refusal(table, root, f"A subquery is not supported in {excerpt(table)}.")
    if type(table).__name__ != "Table":
        raise unsupported(table)
    for name in ("sample", "pivots", "joins"):
        if table.args.get(name):
            raise unsupported(table, name)
    for name in ("db", "catalog"):
        if table.args.get(name):
            copy = root.copy()
            copy.args["from_"].this.set(name, None)
            raise unsupported(table, name, rewrite=sql_of(copy))
    require_only(table, "this", "alias")
    if type(table.this).__name__ != "Identifier":
        why = "Only the table of this dataset can be asked about, under its name."
        raise refusal(table, "FROM names no plain table.", why, "Write FROM and the table's name.")
    alias = table.args.get("alias")
    if alias is not None:
        require_only(alias, "this")


def _grouped_instead(root: "exp.Select") -> str | None:
    """SELECT DISTINCT a, b rewritten as a count for each a, b."""
    keys = [sql_of(without_alias(item)) for item in root.expressions]
    if any(type(item).__name__ == "Star" for item in root.expressions) or root.args.get("group"):
        return None
    root = root.copy()
    root.set("distinct", None)
    root.append("expressions", fragment("COUNT(*) AS n"))
    return sql_of(root.group_by(*[fragment(key) for key in keys], copy=False))


def _without_window(node: "exp.Expr", root: "exp.Select") -> str | None:
    """The statement without OVER, if its partition is by exactly the other selected columns."""
    if any(node.args.get(name) for name in ("order", "spec")) or root.args.get("group"):
        return None
    inner = [without_alias(item) for item in root.expressions]
    others = {sql_of(item) for item in inner if not any(type(part).__name__ == "Window" for part in item.walk())}
    partition = {sql_of(key) for key in node.args.get("partition_by") or ()}
    return statement_with(node, sql_of(node.this)) if node in inner and partition == others else None
