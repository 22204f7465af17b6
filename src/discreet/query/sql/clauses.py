"""Which clauses a statement may have, and its one table."""

from typing import TYPE_CHECKING

from discreet.query.sql.dialect import fragment, sql_of
from discreet.query.sql.merge import not_merged
from discreet.query.sql.refusal import known, not_understood, refused, shown, swapped

if TYPE_CHECKING:
    from sqlglot import exp

_CLAUSES = ("expressions", "from_", "where", "group", "having", "order", "limit", "offset")


def require_plain(root: "exp.Select") -> None:
    """Refuses every clause that is not on the list."""
    if root.args.get("distinct"):
        raise not_understood(root, "distinct", rewrite=_grouped_instead(root))
    if root.args.get("with_"):
        raise not_merged(root.args["with_"], root, "WITH is not understood.")
    for name in ("joins", "laterals", "sample", "qualify", "windows"):
        if root.args.get(name):
            raise not_understood(root, name)
    known(root, *_CLAUSES)
    _require_plain_table(root)
    for node in root.walk():
        if type(node).__name__ == "Window":
            raise not_understood(node, rewrite=_without_window(node, root))
    group = root.args.get("group")
    if group is not None:
        known(group, "expressions")
    for item in root.expressions:
        inner = item.this if type(item).__name__ == "Alias" else item
        if type(inner).__name__ == "Star" or (type(inner).__name__ == "Column" and type(inner.this).__name__ == "Star"):
            copy = root.copy()
            copy.set("expressions", [fragment("COUNT(*) AS n")])
            raise not_understood(inner, rewrite=sql_of(copy))


def _require_plain_table(root: "exp.Select") -> None:
    origin = root.args.get("from_")
    if origin is None:
        why = "A question is about one table."
        raise refused(root, "FROM is missing.", why, "Write FROM and the table's name.")
    known(origin, "this")
    table = origin.this
    if type(table).__name__ == "Subquery":
        raise not_merged(table, root, f"A subquery is not understood in {shown(table)}.")
    if type(table).__name__ != "Table":
        raise not_understood(table)
    for name in ("sample", "pivots", "joins"):
        if table.args.get(name):
            raise not_understood(table, name)
    for name in ("db", "catalog"):
        if table.args.get(name):
            copy = root.copy()
            copy.args["from_"].this.set(name, None)
            raise not_understood(table, name, rewrite=sql_of(copy))
    known(table, "this", "alias")
    if type(table.this).__name__ != "Identifier":
        why = "Only the table of this dataset can be asked about, under its name."
        raise refused(table, "FROM names no plain table.", why, "Write FROM and the table's name.")
    alias = table.args.get("alias")
    if alias is not None:
        known(alias, "this")


def _grouped_instead(root: "exp.Select") -> str | None:
    """SELECT DISTINCT a, b as a count per a, b."""
    keys = [sql_of(item.this if type(item).__name__ == "Alias" else item) for item in root.expressions]
    if any(type(item).__name__ == "Star" for item in root.expressions) or root.args.get("group"):
        return None
    root = root.copy()
    root.set("distinct", None)
    root.append("expressions", fragment("COUNT(*) AS n"))
    return sql_of(root.group_by(*[fragment(key) for key in keys], copy=False))


def _without_window(node: "exp.Expr", root: "exp.Select") -> str | None:
    """The aggregate without OVER, where it is taken over just the rows that the other selected columns name."""
    if any(node.args.get(name) for name in ("order", "spec")) or root.args.get("group"):
        return None
    inner = [item.this if type(item).__name__ == "Alias" else item for item in root.expressions]
    others = {sql_of(item) for item in inner if not any(type(part).__name__ == "Window" for part in item.walk())}
    apart = {sql_of(key) for key in node.args.get("partition_by") or ()}
    return swapped(node, sql_of(node.this)) if node in inner and apart == others else None
