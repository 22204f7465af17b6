"""A question as readable text, SQL in shape: for the ledger, for answers, for people.  Equal questions read alike."""

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.query.meaning.names import in_sql
from discreet.query.nodes import (
    And,
    Arith,
    Bins,
    Call,
    Case,
    Col,
    Compare,
    Correlation,
    Count,
    CountDistinct,
    CountRows,
    CountUnits,
    Covariance,
    DatePart,
    Extreme,
    In,
    IsNull,
    Like,
    Literal,
    Mean,
    Not,
    Or,
    Quantile,
    Question,
    Stddev,
    Sum,
    Top,
    TryCast,
    Variance,
)


def question_text(question: Question) -> str:
    """The question on one line.

    >>> from discreet.query.nodes import Key, Output
    >>> question_text(Question("people", (Output("n", CountRows()),), (Key("region", Col("region")),)))
    'SELECT region, COUNT(*) AS n FROM people GROUP BY region'
    """
    keys = [_named(_item(key.item), key.name) for key in question.keys]
    outputs = [_named(_aggregate(output.aggregate), output.name) for output in question.outputs]
    words = ["SELECT", ", ".join(keys + outputs), "FROM", question.table]
    if question.where is not None:
        words += ["WHERE", _item(question.where)]
    if question.keys:
        words += ["GROUP BY", ", ".join(in_sql(key.name) for key in question.keys)]
    return " ".join(words + _after(question))


def _after(question: Question) -> list[str]:
    after, words = question.after, []
    if after.having is not None:
        words += ["HAVING", _item(after.having)]
    if after.order:
        words += ["ORDER BY", ", ".join(in_sql(one.name) + " DESC" * one.descending for one in after.order)]
    if after.limit is not None:
        words += ["LIMIT", str(after.limit)]
    if after.offset:
        words += ["OFFSET", str(after.offset)]
    return words


def _named(text: str, name: str) -> str:
    return text if text == in_sql(name) else f"{text} AS {in_sql(name)}"


def _aggregate(node: Any) -> str:
    match node:
        case CountRows():
            return "COUNT(*)"
        case CountUnits():
            return "COUNT(DISTINCT unit)"
        case CountDistinct():
            return f"COUNT(DISTINCT {_item(node.item)})"
        case Count() | Sum():
            return f"{type(node).__name__.upper()}({_item(node.item)})"
        case Mean():
            return f"AVG({_item(node.item)})"
        case Variance() | Stddev():
            name = "VAR" if isinstance(node, Variance) else "STDDEV"
            return f"{name}_{'SAMP' if node.less else 'POP'}({_item(node.item)})"
        case Quantile():
            return f"QUANTILE({_item(node.item)}, {amounts.shown(node.q)})"
        case Extreme():
            return f"{str(node.end).upper()}({_item(node.item)})"
        case Top():
            return f"TOP_K({_item(node.item)}, {node.k})"
        case Covariance():
            return f"COVAR_{'SAMP' if node.less else 'POP'}({_item(node.x)}, {_item(node.y)})"
        case Correlation():
            return f"CORR({_item(node.x)}, {_item(node.y)})"
        case _:
            raise TypeError(type(node).__name__)


def _item(node: Any) -> str:
    match node:
        case Col():
            return in_sql(node.name)
        case Literal():
            return _constant(node.value)
        case Compare() | Arith():
            return f"({_item(node.left)} {node.op} {_item(node.right)})"
        case In():
            return f"{_item(node.item)} IN ({', '.join(_item(option) for option in node.options)})"
        case Like():
            return f"{_item(node.item)} LIKE {_constant(node.pattern)}"
        case IsNull():
            return f"{_item(node.item)} IS NULL"
        case Not():
            return f"NOT {_item(node.item)}"
        case And() | Or():
            return "(" + f" {type(node).__name__.upper()} ".join(map(_item, node.parts)) + ")"
        case Case():
            branches = " ".join(f"WHEN {_item(when)} THEN {_item(then)}" for when, then in node.branches)
            return f"CASE {branches} ELSE {_item(node.otherwise)} END"
        case Call():
            return f"{node.name}({', '.join(map(_item, node.parts))})"
        case DatePart():
            return f"EXTRACT({node.part} FROM {_item(node.item)})"
        case TryCast():
            return f"TRY_CAST({_item(node.item)} AS {node.type})"
        case Bins():
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
            return amounts.shown(value) if Fraction(amounts.shown(value)) == value else f"({value})"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return str(value)
