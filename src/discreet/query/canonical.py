"""The text of a question in keys, under tags.

Classes may be renamed, moved and given new fields with defaults: no key changes.  A tag that was ever used keeps its
meaning for good.
"""

import json
from typing import Any

from discreet.query import nodes
from discreet.schema import Type
from discreet.tagged import Form, Single, Tags

NODES = {
    nodes.Col: Form("column", "name"),
    nodes.Literal: Form("constant", "value"),
    nodes.Compare: Form("compare", "op left right"),
    nodes.In: Form("in", "item options"),
    nodes.Like: Form("like", "item pattern"),
    nodes.IsNull: Form("is_null", "item"),
    nodes.Not: Form("not", "item"),
    nodes.And: Form("and", "parts"),
    nodes.Or: Form("or", "parts"),
    nodes.Case: Form("case", "branches otherwise"),
    nodes.Arith: Form("arithmetic", "op left right"),
    nodes.Call: Form("call", "name parts"),
    nodes.DatePart: Form("date_part", "part item"),
    nodes.TryCast: Form("cast", "item type"),
    nodes.UnitIn: Form("unit_in", "first end"),
    nodes.CountRows: Form("count_rows"),
    nodes.Count: Form("count", "item"),
    nodes.CountUnits: Form("count_units"),
    nodes.CountDistinct: Form("count_distinct", "item"),
    nodes.Sum: Form("sum", "item"),
    nodes.Mean: Form("mean", "item"),
    nodes.Variance: Form("variance", "item less"),
    nodes.Stddev: Form("stddev", "item less"),
    nodes.Quantile: Form("quantile", "item q"),
    nodes.Extreme: Form("extreme", "item end"),
    nodes.Top: Form("top", "item k"),
    nodes.Covariance: Form("covariance", "x y less"),
    nodes.Correlation: Form("correlation", "x y"),
    nodes.Bins: Form("bins", "item edges"),
    nodes.Key: Form("key", "name item"),
    nodes.Output: Form("output", "name aggregate"),
    nodes.SortKey: Form("order", "name descending"),
    nodes.After: Form("after", "having order limit offset"),
    nodes.Caps: Form("caps", "rows groups"),
    nodes.Question: Form("question", "table outputs keys where caps after"),
}
SINGLES = (Single("type", Type, str, Type), Single("end", nodes.End, str, nodes.End))
TAGS = Tags(NODES, SINGLES)


def canonical(node: Any) -> str:
    """JSON that is equal for equal nodes; parts of AND and OR and options of IN are sorted.

    >>> a, b = nodes.Compare("=", nodes.Col("x"), nodes.Literal(1)), nodes.IsNull(nodes.Col("y"))
    >>> canonical(nodes.And((a, b))) == canonical(nodes.And((b, a)))
    True
    """
    return canonical_json(_sorted(TAGS.plain(node)))


def meaning(question: nodes.Question) -> str:
    """The text of what a question measures, part of every key.

    Names, HAVING, ORDER BY and LIMIT are not in it: they change only what is shown of the released numbers.
    """
    outputs = [output.aggregate for output in question.outputs]
    keys = [key.item for key in question.keys]
    facts = {"table": question.table, "measures": outputs, "by": keys, "where": question.where, "caps": question.caps}
    return canonical_json({name: _sorted(TAGS.plain(fact)) for name, fact in facts.items()})


def canonical_json(value: Any) -> str:
    """The one text of a JSON value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _sorted(stored: Any) -> Any:
    """The JSON value with lists that have no order sorted."""
    if isinstance(stored, list):
        return [_sorted(part) for part in stored]
    if not isinstance(stored, dict):
        return stored
    inner = {name: _sorted(part) for name, part in stored.items()}
    for tag, field in (("and", "parts"), ("or", "parts"), ("in", "options")):
        if inner.get("is") == tag:
            inner[field] = sorted(inner[field], key=canonical_json)
    return inner
