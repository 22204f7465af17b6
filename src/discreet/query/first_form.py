"""The text of a question in the keys of the first ledgers: names of classes and all fields of that time.

Answers stored under such keys are found by it and replayed; nothing new is stored under one.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.query import nodes

_CLASSES: Mapping[type, tuple[str, str]] = {
    nodes.Col: ("Col", "name"),
    nodes.Literal: ("Literal", "value"),
    nodes.Compare: ("Compare", "op left right"),
    nodes.Like: ("Like", "item pattern"),
    nodes.IsNull: ("IsNull", "item"),
    nodes.Not: ("Not", "item"),
    nodes.Case: ("Case", "branches otherwise"),
    nodes.Arith: ("Arith", "op left right"),
    nodes.Call: ("Call", "name parts"),
    nodes.DatePart: ("DatePart", "part item"),
    nodes.TryCast: ("TryCast", "item type"),
    nodes.CountRows: ("CountRows", ""),
    nodes.Count: ("Count", "item"),
    nodes.CountUnits: ("CountUnits", ""),
    nodes.CountDistinct: ("CountDistinct", "item"),
    nodes.Sum: ("Sum", "item"),
    nodes.Mean: ("Mean", "item"),
    nodes.Variance: ("Variance", "item less"),
    nodes.Stddev: ("Stddev", "item less"),
    nodes.Quantile: ("Quantile", "item q"),
    nodes.Extreme: ("Extreme", "item end"),
    nodes.Top: ("Top", "item k"),
    nodes.Covariance: ("Covariance", "x y less"),
    nodes.Correlation: ("Correlation", "x y"),
    nodes.Bins: ("Bins", "item edges"),
    nodes.Key: ("Key", "name item"),
    nodes.Output: ("Output", "name aggregate"),
    nodes.SortKey: ("Order", "name descending"),
    nodes.After: ("After", "having order limit offset"),
    nodes.Caps: ("Caps", "rows groups"),
    nodes.Question: ("Question", "table outputs keys where caps after"),
}
_SORTED: Mapping[type, str] = {nodes.And: "And", nodes.Or: "Or"}


def first_key(facts: Mapping[str, Any]) -> str:
    """The key that the first ledgers made of these facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def first_digest(question: nodes.Question) -> str:
    """The question in such a key."""
    text = json.dumps(_plain(question), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(node: Any) -> Any:
    match node:
        case nodes.And() | nodes.Or():
            return [_SORTED[type(node)], sorted((_plain(part) for part in node.parts), key=json.dumps)]
        case nodes.In():
            return ["In", _plain(node.item), sorted((_plain(option) for option in node.options), key=json.dumps)]
        case Fraction():
            return ["fraction", str(node)]
        case datetime():
            return ["datetime", node.isoformat()]
        case date():
            return ["date", node.isoformat()]
        case tuple():
            return [_plain(part) for part in node]
        case StrEnum():
            return str(node)
        case None | bool() | int() | str():
            return node
        case _:
            name, fields = _CLASSES[type(node)]
            return [name, *(_plain(getattr(node, field)) for field in fields.split())]
