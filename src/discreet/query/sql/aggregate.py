"""Turn aggregate calls in SELECT into our aggregates."""

from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from discreet.query import nodes
from discreet.query.nodes import Aggregate, Constant, Expr, Literal
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.expr import constant, expression
from discreet.query.sql.functions import AGGREGATES
from discreet.query.sql.refusal import excerpt, refusal, require_only, statement_with, unsupported
from discreet.query.sql.text import Source

if TYPE_CHECKING:
    from sqlglot import exp

MOST_TOP = 100
_BOUNDS = "contribution_bounds_per_row"
_QUANTILES = ("quantile", "quantile_cont", "quantile_disc", "approx_quantile", "percentile_cont", "percentile_disc")
_OF_ONE: dict[str, Callable[[Expr], Aggregate]] = {
    "sum": nodes.Sum,
    "avg": nodes.Mean,
    "mean": nodes.Mean,
    "variance": nodes.Variance,
    "var_samp": nodes.Variance,
    "var_pop": lambda item: nodes.Variance(item, 0),
    "stddev": nodes.Stddev,
    "stddev_samp": nodes.Stddev,
    "stddev_pop": lambda item: nodes.Stddev(item, 0),
    "median": lambda item: nodes.Quantile(item, Fraction(1, 2)),
    "min": lambda item: nodes.Extreme(item, nodes.End.MIN),
    "max": lambda item: nodes.Extreme(item, nodes.End.MAX),
    "mode": nodes.Top,
}
_OF_TWO: dict[str, Callable[[Expr, Expr], Aggregate]] = {
    "covar_samp": nodes.Covariance,
    "covar_pop": lambda x, y: nodes.Covariance(x, y, 0),
    "corr": nodes.Correlation,
}


def call_name(node: "exp.Expr") -> str:
    """The lower-case name of a call; empty for every other node."""
    return str(node.this).lower() if type(node).__name__ == "Anonymous" and isinstance(node.this, str) else ""


def is_aggregate(node: "exp.Expr") -> bool:
    """Whether the node itself is an aggregate, with FILTER, OVER and the like or without."""
    if type(node).__name__ in ("WithinGroup", "Filter", "Window", "IgnoreNulls", "RespectNulls"):
        return True
    return call_name(node) in AGGREGATES


def aggregate(node: "exp.Expr", source: Source) -> Aggregate:
    """The aggregate that the call means."""
    if type(node).__name__ == "WithinGroup":
        return _within_group(node, source)
    if type(node).__name__ == "Filter":
        raise unsupported(node, rewrite=_without_filter(node))
    if type(node).__name__ == "IgnoreNulls":
        raise unsupported(node, rewrite=statement_with(node, sql_of(node.this)))
    if type(node).__name__ in ("Window", "RespectNulls"):
        raise unsupported(node)
    name, parts = call_name(node), node.expressions
    require_only(node, "this", "expressions")
    if name == "count":
        return _count(node, source)
    for part in parts:
        if type(part).__name__ == "Distinct":
            fix = "Leave DISTINCT out."
            same = name in ("min", "max") and len(part.expressions) == 1
            bare = statement_with(part, sql_of(part.expressions[0])) if same else None
            what = f"DISTINCT is not supported in {excerpt(node)}."
            raise refusal(node, what, "Only COUNT takes it.", fix, rewrite=bare)
    if name in _OF_ONE:
        return _OF_ONE[name](_item(node, source))
    _require_two(node)
    if name in _OF_TWO:
        return _OF_TWO[name](expression(parts[0], source), expression(parts[1], source))
    if name in _QUANTILES:
        return nodes.Quantile(expression(parts[0], source), _q(parts[1], source, sql_of(parts[0])))
    return nodes.Top(expression(parts[0], source), _top(parts[1], source))


def bins(node: "exp.Expr", source: Source) -> nodes.Bins:
    """The bins of BIN(x) or HISTOGRAM(x): those between the edges behind x, or else those that the column declares."""
    require_only(node, "this", "expressions")
    if not node.expressions:
        raise refusal(node, f"{node.this} needs a column.", "It has no argument.", f"Write {node.this}(age).")
    item, edges = node.expressions[0], node.expressions[1:]
    if not edges:
        return nodes.Bins(expression(item, source))
    values = [_edge(constant(edge, source, "An edge of a bin").value) for edge in edges]
    if len(values) < 2 or len({type(edge) for edge in values}) > 1 or not _rising(values):
        why = "Bins lie between two or more rising numbers, or dates of one kind."
        fix = f"Write, for example: {node.this}({sql_of(item)}, 0, 18, 65, 110)"
        raise refusal(edges[0], f"The edges in {excerpt(node)} make no bins.", why, fix)
    return nodes.Bins(expression(item, source), tuple(edge for edge in values if edge is not None))


def _edge(value: Constant) -> Fraction | date | None:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, date)):
        return None
    return value if isinstance(value, date) else Fraction(value)


def _rising(edges: Sequence[Any]) -> bool:
    return edges[0] is not None and all(a < b for a, b in pairwise(edges))


def _count(node: "exp.Expr", source: Source) -> Aggregate:
    parts = node.expressions
    if len(parts) != 1:
        why, fix = "COUNT takes *, a column or DISTINCT and a column.", "Count one thing at a time."
        rewrite = None if parts else statement_with(node, "COUNT(*)")
        raise refusal(node, f"{excerpt(node)} is not supported.", why, fix, rewrite=rewrite)
    part = parts[0]
    if type(part).__name__ == "Star":
        require_only(part)
        return nodes.CountRows()
    if type(part).__name__ == "Distinct":
        require_only(part, "expressions")
        if len(part.expressions) != 1:
            what = f"COUNT(DISTINCT …) takes one column, not {len(part.expressions) or 'none'}."
            raise refusal(node, what, "Different pairs are not counted.", "Count one column, or group by the others.")
        return nodes.CountDistinct(expression(part.expressions[0], source))
    item = expression(part, source)
    if not isinstance(item, Literal):
        return nodes.Count(item)
    if item.value is None:
        raise refusal(node, "COUNT(NULL) counts nothing.", "NULL is never counted.", "For all rows use COUNT(*).")
    return nodes.CountRows()


def _item(node: "exp.Expr", source: Source) -> Expr:
    """The one argument; BigQuery's bounds per row clamp it."""
    parts = node.expressions
    if len(parts) == 2 and type(parts[1]).__name__ == "Kwarg" and call_name(node) in ("sum", "avg", "mean"):
        return _clamp(parts[0], parts[1], source)
    if len(parts) != 1:
        why = f"There are {len(parts)}."
        raise refusal(node, f"{node.this} takes one argument.", why, "Give it one column.")
    return expression(parts[0], source)


def _clamp(item: "exp.Expr", argument: "exp.Expr", source: Source) -> Expr:
    require_only(argument, "this", "expression")
    name, pair = str(argument.this.this), argument.expression
    fix = f"Write {_BOUNDS} => (0, 100)."
    if name.lower() != _BOUNDS:
        why = "Bounds per group would have to be read off the data of each unit."
        raise refusal(argument, f"There is no argument {name[:40]!r}.", why, fix)
    ends = pair.expressions if type(pair).__name__ == "Tuple" else []
    bounds = tuple(constant(end, source, "A bound") for end in ends)
    values = [bound.value for bound in bounds]
    numbers = [value for value in values if isinstance(value, (int, Fraction)) and not isinstance(value, bool)]
    if len(values) != 2 or len(numbers) != 2 or numbers[0] > numbers[1]:
        raise refusal(argument, f"{_BOUNDS} takes two rising numbers.", "They bound each row's value.", fix)
    return nodes.Call("clamp", (expression(item, source), *bounds))


def _require_two(node: "exp.Expr") -> None:
    if len(node.expressions) == 2:
        return
    why = f"There {'is' if len(node.expressions) == 1 else 'are'} {len(node.expressions)}."
    examples = {"corr": "x, y", "covar_samp": "x, y", "covar_pop": "x, y"}
    number = "3" if "top" in call_name(node) else "0.5"
    example = f"{node.this}({examples.get(call_name(node), f'x, {number}')})"
    raise refusal(node, f"{node.this} takes two arguments.", why, f"Write, for example, {example}.")


def _q(node: "exp.Expr", source: Source, item: str) -> Fraction:
    value = constant(node, source, "A quantile's share").value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        if 0 < value < 1:
            return Fraction(value)
        if value in (0, 1) and node.parent is not None:
            end = "MAX" if value else "MIN"
            what, why = f"A share of {value} is the {end.lower()}imum.", "It is answered as an extreme quantile."
            raise refusal(node, what, why, f"Use {end}.", rewrite=statement_with(node.parent, f"{end}({item})"))
    why = "It is the share of rows below the quantile."
    raise refusal(node, f"{excerpt(node)} does not lie between 0 and 1.", why, "Write, for example, 0.9.")


def _top(node: "exp.Expr", source: Source) -> int:
    value = constant(node, source, "How many").value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TOP:
        return value
    why = "Each of the most frequent values is selected and paid for in turn."
    raise refusal(node, f"{excerpt(node)} is no number from 1 to {MOST_TOP}.", why, "Write, for example, 3.")


def _within_group(node: "exp.Expr", source: Source) -> Aggregate:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x); descending, it is the quantile at 1 − q."""
    require_only(node, "this", "expression")
    inner, order = node.this, node.expression
    fix = "Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)."
    ordered = order.expressions[0] if type(order).__name__ == "Order" and len(order.expressions) == 1 else None
    if ordered is None or call_name(inner) not in _QUANTILES or len(inner.expressions) != 1:
        why = "WITHIN GROUP belongs to PERCENTILE_CONT and PERCENTILE_DISC with one share and one column."
        raise refusal(node, f"{excerpt(node)} is not supported.", why, fix)
    require_only(order, "expressions")
    require_only(ordered, "this", "desc", "nulls_first")
    q = _q(inner.expressions[0], source, sql_of(ordered.this))
    return nodes.Quantile(expression(ordered.this, source), 1 - q if ordered.args.get("desc") else q)


def _without_filter(node: "exp.Expr") -> str | None:
    """COUNT(*) FILTER (WHERE c) as COUNT(CASE WHEN c THEN 1 END), and so on."""
    inner, where = node.this, node.expression
    if not call_name(inner) or len(inner.expressions) != 1 or type(where).__name__ != "Where":
        return None
    item = inner.expressions[0]
    value = "1" if type(item).__name__ == "Star" else sql_of(item)
    return statement_with(node, f"{inner.this}(CASE WHEN {sql_of(where.this)} THEN {value} END)")
