"""Turn calls of row functions into our nodes; refuse other functions with what to write instead."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from discreet.query.nodes import FUNCTIONS, Arith, Call, Case, DatePart, Expr, Like, Literal
from discreet.query.sql import truncate
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.refusal import Refusal, excerpt, refusal, require_only, statement_with
from discreet.schema.words import suggestion

if TYPE_CHECKING:
    from sqlglot import exp

AGGREGATES = (
    *("count", "sum", "avg", "mean", "min", "max", "mode", "median", "histogram", "covar_samp", "covar_pop", "corr"),
    *("variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop"),
    *("quantile", "quantile_cont", "quantile_disc", "approx_quantile", "percentile_cont", "percentile_disc"),
    *("top_k", "approx_top_k", "approx_top_count"),
)
_SAME = {
    "ceiling": "ceil",
    "ifnull": "coalesce",
    "lcase": "lower",
    "ucase": "upper",
    **dict.fromkeys(("len", "char_length", "character_length"), "length"),
}
_PARTS = {
    **{part: part for part in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    **dict.fromkeys(("weekofyear", "isoweek"), "week"),
    "dayofmonth": "day",
    "isodow": "weekday",
}
_SUNDAY = ("dow", "dayofweek", "weekday", "day_of_week")  # 0 or 1 for Sunday, as the dialect has it
_AFFIXES = {"starts_with": "{}%", "ends_with": "%{}", "contains": "%{}%", "prefix": "{}%", "suffix": "%{}"}
_EQUAL = {  # expressions that mean the same, with {0} and {1} for the arguments
    "square": "({0} * {0})",
    "trunc": "CASE WHEN {0} < 0 THEN ceil({0}) ELSE floor({0}) END",
    "divide": "({0} / {1})",
    "safe_divide": "({0} / {1})",
    "approx_count_distinct": "COUNT(DISTINCT {0})",
    "count_if": "COUNT(CASE WHEN {0} THEN 1 END)",
    "countif": "COUNT(CASE WHEN {0} THEN 1 END)",
    "var": "VARIANCE({0})",
}
_SIMILAR = {  # expressions that mean something else: offered in words, never as a rewrite
    "log": "(ln({0}) / 2.302585092994046)",
    "log10": "(ln({0}) / 2.302585092994046)",
    "log2": "(ln({0}) / 0.6931471805599453)",
    "ltrim": "trim({0})",
    "rtrim": "trim({0})",
    "power": "{0} * {0}",
    "pow": "{0} * {0}",
    "regexp_matches": "{0} LIKE '%text%'",
    "regexp_like": "{0} LIKE '%text%'",
    "regexp_contains": "{0} LIKE '%text%'",
    "regexp_full_match": "{0} LIKE '%text%'",
    "any_value": "MODE({0})",
    "first": "MODE({0})",
    "last": "MODE({0})",
    "arg_max": "MAX({1})",
    "arg_min": "MIN({1})",
    "max_by": "MAX({1})",
    "min_by": "MIN({1})",
    "std": "STDDEV({0})",
    "array_agg": "COUNT({0})",
    "list": "COUNT({0})",
    "string_agg": "COUNT({0})",
    "group_concat": "COUNT({0})",
}
_NEARNESS = 0.8  # of a misspelt name to a suggestion: concat is not near count
_WHY = "Only functions that give a value for every cell, in bounded time, are allowed."


def call(node: "exp.Expr", read: "Callable[[exp.Expr], Expr]") -> Expr:
    """The call as one of our nodes; `read` turns an argument into a node."""
    require_only(node, "this", "expressions")
    if not isinstance(node.this, str):
        raise refusal(node, f"{excerpt(node)} is not supported.", "A function's name has no quotes.", "Leave them out.")
    name, parts = _SAME.get(node.this.lower(), node.this.lower()), node.expressions
    if name in AGGREGATES or name == "bin":
        raise _misplaced_aggregate(node, name)
    if name in _SUNDAY or name in _PARTS:
        _require_count(node, 1, 1)
        return DatePart(date_part(name, node, sql_of(parts[0])), read(parts[0]))
    if name in ("date_part", "datepart"):
        _require_count(node, 2, 2)
        part = read(parts[0])
        word = part.value if isinstance(part, Literal) else None
        return DatePart(date_part(str(word), node, sql_of(parts[1])), read(parts[1]))
    if name in ("if", "iff"):
        _require_count(node, 2, 3)
        branch = read(parts[0]), read(parts[1])
        return Case((branch,), read(parts[2]) if len(parts) == 3 else Literal(None))
    if name == "mod":
        _require_count(node, 2, 2)
        return Arith("%", read(parts[0]), read(parts[1]))
    if name in _AFFIXES:
        _require_count(node, 2, 2)
        return _affix(node, name, read)
    if name not in FUNCTIONS:
        raise _unknown_function(node, name)
    if name == "round" and len(parts) == 2 and sql_of(parts[1]) in ("1", "2", "3", "4"):
        scale = 10 ** int(sql_of(parts[1]))
        rewrite = statement_with(node, f"(round(({sql_of(parts[0])}) * {scale}) / {scale})")
        raise refusal(node, "round takes one argument here.", _WHY, "Scale, round, scale back.", rewrite=rewrite)
    _require_count(node, *FUNCTIONS[name])
    return Call(name, tuple(read(part) for part in parts))


def date_part(typed: str, node: "exp.Expr", item: str) -> str:
    """One of `nodes.PARTS`, for SQL's word for it."""
    word = typed.lower()
    if word in _PARTS:
        return _PARTS[word]
    if word in _SUNDAY:
        why = "Whether Sunday is 0, 1 or 7 differs between systems."
        fix = "Use isodow: 1 Monday … 7 Sunday."
        rewrite = (
            statement_with(node, f"(isodow({item}) % 7)") if word == "dow" else None
        )  # 0 is Sunday wherever it is known
        raise refusal(node, f"{typed[:20]} is not supported.", why, fix, rewrite=rewrite)
    fix = f"Use one of {', '.join(_PARTS)}."
    raise refusal(node, f"There is no date part {typed[:20]!r}.", "Only whole parts are known.", fix)


def _affix(node: "exp.Expr", name: str, read: "Callable[[exp.Expr], Expr]") -> Expr:
    item, affix = read(node.expressions[0]), read(node.expressions[1])
    if not isinstance(affix, Literal) or not isinstance(affix.value, str):
        why = "A pattern taken from a row can take any time to match."
        raise refusal(node, f"{name} needs a constant text.", why, f"Write {name}(x, 'text').")
    if "%" in affix.value or "_" in affix.value:
        fix = "Use LIKE, where _ stands for any one letter, a % or _ too."
        raise refusal(node, f"The text in {name} holds % or _.", "They are wildcards.", fix)
    return Like(item, _AFFIXES[name].format(affix.value))


def _require_count(node: "exp.Expr", lowest: int, highest: int) -> None:
    if not lowest <= len(node.expressions) <= highest:
        count = f"{lowest}" if lowest == highest else f"{lowest} to {highest}"
        why = f"There are {len(node.expressions)}."
        plural = "" if highest == 1 else "s"
        raise refusal(node, f"{node.this} takes {count} argument{plural}.", why, f"Give it {count}.")


def _misplaced_aggregate(node: "exp.Expr", name: str) -> Refusal:
    if name == "bin":
        fix = "Group by it: SELECT BIN(age) AS age_group, COUNT(*) AS n FROM people GROUP BY age_group"
        return refusal(node, "BIN stands inside an expression.", "It makes keys to group by, not numbers.", fix)
    what = f"{node.this} stands inside an expression, a condition or another aggregate."
    why = "An aggregate is answered with noise of its own, as a column of its own."
    fix = "Select it as a column; put conditions on it into HAVING, and calculate with the answer's columns."
    return refusal(node, what, why, fix)


def _truncation_refusal(node: "exp.Expr", what: str) -> Refusal:
    from sqlglot.errors import SqlglotError

    parts = truncate.date_parts(node) or ["year(d)", "month(d)"]
    fix = f"Group by {', '.join(parts)}; in a condition compare with dates: d >= DATE '2020-03-01'."
    if truncate.unit(node) == "week":
        fix = "Group by year(d), week(d): the last days of December may then lie in week 1 of the same year."
    try:
        rewrite = truncate.statement_by_parts(node)
    except SqlglotError:
        rewrite = None
    return refusal(node, what, _WHY, fix, rewrite=rewrite)


def _unknown_function(node: "exp.Expr", name: str) -> Refusal:
    what = f"{node.this[:40]} is not a supported function."
    if name in truncate.NAMES:
        return _truncation_refusal(node, what)
    parts = [sql_of(part) for part in node.expressions]
    equal = _EQUAL.get(name)
    if name in ("power", "pow") and parts[1:] == ["2"]:
        equal, parts = _EQUAL["square"], parts[:1]
    if equal is not None and len(parts) == 1 + ("{1}" in equal):
        beside_operators = equal.startswith(("(", "CASE"))
        text = equal.format(*(_bracketed(part) if beside_operators else part for part in parts))
        return refusal(node, what, _WHY, f"The same: {text[:200]}.", rewrite=statement_with(node, text))
    similar = _SIMILAR.get(name)
    if similar is not None and len(parts) > ("{1}" in similar):
        return refusal(node, what, _WHY, f"Similar: {similar.format(*parts)[:200]}.")
    close = suggestion(name, [*FUNCTIONS, *AGGREGATES, *_PARTS, *_AFFIXES, "bin", "if"], nearness=_NEARNESS)
    hint = f"Did you mean {close}? " if close else ""
    return refusal(node, what, _WHY, f"{hint}The functions are listed in docs/howto/sql.md.")


def _bracketed(text: str) -> str:
    """An argument beside an operator, in brackets unless it is one word."""
    return text if text.replace("_", "").isalnum() else f"({text})"
