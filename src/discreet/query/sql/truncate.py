"""DATE_TRUNC as the parts of a date that it keeps, for a rewrite."""

from typing import TYPE_CHECKING, cast

from discreet.query.sql.dialect import fragment, sql_of

if TYPE_CHECKING:
    from sqlglot import exp

NAMES = ("date_trunc", "datetrunc")
_KEPT = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "month"),
    "day": ("year", "month", "day"),
    "hour": ("year", "month", "day", "hour"),
    "minute": ("year", "month", "day", "hour", "minute"),
}


def kept(node: "exp.Expr") -> list[str] | None:
    """The parts that the call keeps, such as year(d) and month(d); None where it is not written as it should be."""
    found = unit(node)
    return [f"{part}({sql_of(node.expressions[1])})" for part in _KEPT[found]] if found in _KEPT else None


def unit(node: "exp.Expr") -> str:
    """What the call truncates to, such as month; empty where it is not written as it should be."""
    parts = node.expressions
    return str(parts[0].this).lower() if len(parts) == 2 and type(parts[0]).__name__ == "Literal" else ""


def parted(node: "exp.Expr") -> str | None:
    """The statement with the parts selected and grouped by; None where the call stands elsewhere, as in WHERE."""
    parts, text, root = kept(node), sql_of(node), cast("exp.Select", node.root().copy())
    selected = [(item.this, item.alias) if type(item).__name__ == "Alias" else (item, "") for item in root.expressions]
    names = {alias.casefold() for inner, alias in selected if alias and sql_of(inner) == text}
    group, order = root.args.get("group"), root.args.get("order")

    def stands_for(item: "exp.Expr") -> str:
        """What a position or a name in GROUP BY and ORDER BY means."""
        place = str(item.this) if type(item).__name__ == "Literal" else ""
        if place.isdigit() and 1 <= int(place) <= len(selected):
            return sql_of(selected[int(place) - 1][0])
        return text if type(item).__name__ == "Column" and str(item.name).casefold() in names else sql_of(item)

    keys = [stands_for(item) for item in (group.expressions if group is not None else ())]
    wanted = [*(sql_of(inner) for inner, _ in selected), *keys]
    if parts is None or text not in wanted:
        return None
    items = [parts if sql_of(item) == text else [sql_of(whole)] for (item, _), whole in
             zip(selected, root.expressions, strict=True)]  # fmt: skip
    root.set("expressions", [fragment(one) for item in items for one in item])
    root.set("group", None)
    grouped = dict.fromkeys(one for key in keys for one in (parts if key == text else [key]))
    for one in grouped or parts:
        root.group_by(fragment(one), copy=False)
    if order is not None:
        pairs = [(stands_for(item.this), item.args.get("desc") or None) for item in order.expressions]
        _set_order(root, [(one, down) for by, down in pairs for one in (parts if by == text else [by])])
    return sql_of(root)


def _set_order(root: "exp.Expr", wanted: list[tuple[str, bool | None]]) -> None:
    from sqlglot import exp

    root.set("order", exp.Order(expressions=[exp.Ordered(this=fragment(one), desc=down) for one, down in wanted]))
