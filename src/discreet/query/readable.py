"""A question as readable text in the shape of SQL, for the ledger and for answers; equal questions have one text."""

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.query import nodes
from discreet.query.meaning.names import in_sql


def question_text(question: nodes.Question) -> str:
    """The question on one line.

    >>> keys = (nodes.Key("region", nodes.Col("region")),)
    >>> question_text(nodes.Question("people", (nodes.Output("n", nodes.CountRows()),), keys))
    'SELECT region, COUNT(*) AS n FROM people GROUP BY region'
    """
    keys = [_with_alias(_item(key.item), key.name) for key in question.keys]
    outputs = [_with_alias(_aggregate(output.aggregate), output.name) for output in question.outputs]
    words = ["SELECT", ", ".join(keys + outputs), "FROM", question.table]
    if question.where is not None:
        words += ["WHERE", _item(question.where)]
    if question.keys:
        words += ["GROUP BY", ", ".join(in_sql(key.name) for key in question.keys)]
    return " ".join(words + _after(question))


def _after(question: nodes.Question) -> list[str]:
    after, words = question.after, []
    if after.having is not None:
        words += ["HAVING", _item(after.having)]
    if after.order:
        words += ["ORDER BY", ", ".join(in_sql(key.name) + " DESC" * key.descending for key in after.order)]
    if after.limit is not None:
        words += ["LIMIT", str(after.limit)]
    if after.offset:
        words += ["OFFSET", str(after.offset)]
    return words


def _with_alias(text: str, name: str) -> str:
    return text if text == in_sql(name) else f"{text} AS {in_sql(name)}"


def _aggregate(node: Any) -> str:
    match node:
        case nodes.CountRows():
            return "COUNT(*)"
        case nodes.CountUnits():
            return "COUNT(DISTINCT unit)"
        case nodes.CountDistinct():
            return f"COUNT(DISTINCT {_item(node.item)})"
        case nodes.Count() | nodes.Sum():
            return f"{type(node).__name__.upper()}({_item(node.item)})"
        case nodes.Mean():
            return f"AVG({_item(node.item)})"
        case nodes.Variance() | nodes.Stddev():
            name = "VAR" if isinstance(node, nodes.Variance) else "STDDEV"
            return f"{name}_{'SAMP' if node.less else 'POP'}({_item(node.item)})"
        case nodes.Quantile():
            return f"QUANTILE({_item(node.item)}, {amounts.text_of(node.q)})"
        case nodes.Extreme():
            return f"{str(node.end).upper()}({_item(node.item)})"
        case nodes.Top():
            return f"TOP_K({_item(node.item)}, {node.k})"
        case nodes.Covariance():
            return f"COVAR_{'SAMP' if node.less else 'POP'}({_item(node.x)}, {_item(node.y)})"
        case nodes.Correlation():
            return f"CORR({_item(node.x)}, {_item(node.y)})"
        case _:
            raise TypeError(type(node).__name__)


def _item(node: Any) -> str:
    match node:
        case nodes.Col():
            return in_sql(node.name)
        case nodes.Literal():
            return _constant(node.value)
        case nodes.Compare() | nodes.Arith():
            return f"({_item(node.left)} {node.op} {_item(node.right)})"
        case nodes.In():
            return f"{_item(node.item)} IN ({', '.join(_item(option) for option in node.options)})"
        case nodes.Like():
            return f"{_item(node.item)} LIKE {_constant(node.pattern)}"
        case nodes.IsNull():
            return f"{_item(node.item)} IS NULL"
        case nodes.Not():
            return f"NOT {_item(node.item)}"
        case nodes.And() | nodes.Or():
            return "(" + f" {type(node).__name__.upper()} ".join(map(_item, node.parts)) + ")"
        case nodes.Case():
            branches = " ".join(f"WHEN {_item(when)} THEN {_item(then)}" for when, then in node.branches)
            return f"CASE {branches} ELSE {_item(node.otherwise)} END"
        case nodes.Call():
            return f"{node.name}({', '.join(map(_item, node.parts))})"
        case nodes.DatePart():
            return f"EXTRACT({node.part} FROM {_item(node.item)})"
        case nodes.TryCast():
            return f"TRY_CAST({_item(node.item)} AS {node.type})"
        case nodes.UnitIn():
            return f"UNIT_SHARE FROM {_constant(node.first)} TO {_constant(node.end)}"
        case nodes.Bins():
            edges = "".join(f", {_constant(edge)}" for edge in node.edges or ())
            return f"BIN({_item(node.item)}{edges})"
        case _:
            raise TypeError(type(node).__name__)


def _constant(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case Fraction():
            return amounts.text_of(value) if Fraction(amounts.text_of(value)) == value else f"({value})"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return str(value)
