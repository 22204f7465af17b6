"""Rewrite DATE_TRUNC as the date parts that it keeps."""

from typing import TYPE_CHECKING, cast

from discreet.query.sql.dialect import fragment, sql_of

if TYPE_CHECKING:
    from sqlglot import exp

NAMES = ("date_trunc", "datetrunc")
_PARTS = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "month"),
    "day": ("year", "month", "day"),
    "hour": ("year", "month", "day", "hour"),
    "minute": ("year", "month", "day", "hour", "minute"),
}


def date_parts(node: "exp.Expr") -> list[str] | None:
    """The parts that the call keeps, such as year(d) and month(d); None if its arguments are not as they should be."""
    parts = _PARTS.get(unit(node))
    return None if parts is None else [f"{part}({sql_of(node.expressions[1])})" for part in parts]


def unit(node: "exp.Expr") -> str:
    """The unit that the call truncates to, such as month; empty if its arguments are not as they should be."""
    parts = node.expressions
    return str(parts[0].this).lower() if len(parts) == 2 and type(parts[0]).__name__ == "Literal" else ""


def statement_by_parts(node: "exp.Expr") -> str | None:
    """The statement with the parts selected and grouped by; None if the call is elsewhere, as in WHERE."""
    from sqlglot import exp

    parts, text, root = date_parts(node), sql_of(node), cast("exp.Select", node.root().copy())
    selected = [(item.this, item.alias) if type(item).__name__ == "Alias" else (item, "") for item in root.expressions]
    names = {alias.casefold() for inner, alias in selected if alias and sql_of(inner) == text}
    group, order = root.args.get("group"), root.args.get("order")

    def stands_for(item: "exp.Expr") -> str:
        """The SQL of the column that a position or a name in GROUP BY or ORDER BY stands for."""
        position = str(item.this) if type(item).__name__ == "Literal" else ""
        if position.isdigit() and 1 <= int(position) <= len(selected):
            return sql_of(selected[int(position) - 1][0])
        return text if type(item).__name__ == "Column" and str(item.name).casefold() in names else sql_of(item)

    keys = [stands_for(item) for item in (group.expressions if group is not None else ())]
    if parts is None or text not in [*(sql_of(inner) for inner, _ in selected), *keys]:
        return None

    def parts_of(item: str, otherwise: str) -> list[str]:
        return parts if item == text and parts is not None else [otherwise]

    entries = zip(selected, root.expressions, strict=True)
    items = [part for (inner, _), item in entries for part in parts_of(sql_of(inner), sql_of(item))]
    root.set("expressions", [fragment(item) for item in items])
    root.set("group", None)
    for part in dict.fromkeys(part for key in keys for part in parts_of(key, key)) or parts:
        root.group_by(fragment(part), copy=False)
    if order is not None:
        directions = [(stands_for(item.this), item.args.get("desc") or None) for item in order.expressions]
        pairs = [(part, descending) for key, descending in directions for part in parts_of(key, key)]
        ordered = [exp.Ordered(this=fragment(part), desc=descending) for part, descending in pairs]
        root.set("order", exp.Order(expressions=ordered))
    return sql_of(root)
