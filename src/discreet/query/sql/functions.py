"""The functions of one row that may be called, and what to write instead of those that may not."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from discreet.query.nodes import FUNCTIONS, Arith, Call, Case, DatePart, Expr, Like, Literal
from discreet.query.sql import truncate
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.refusal import Refusal, known, refused, shown, swapped
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
_EQUAL = {  # means the same, of one argument or two: {0} and {1}
    "square": "({0} * {0})",
    "trunc": "CASE WHEN {0} < 0 THEN ceil({0}) ELSE floor({0}) END",
    "divide": "({0} / {1})",
    "safe_divide": "({0} / {1})",
    "approx_count_distinct": "COUNT(DISTINCT {0})",
    "count_if": "COUNT(CASE WHEN {0} THEN 1 END)",
    "countif": "COUNT(CASE WHEN {0} THEN 1 END)",
    "var": "VARIANCE({0})",
}
_NEAR = {  # means something else: said in words, never to be pasted
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
_NEARNESS = 0.8  # of a misspelt name to the one that was meant: concat is not count
_WHY = "Only functions are known that give a value for every cell, at a bounded cost."


def call(node: "exp.Expr", read: "Callable[[exp.Expr], Expr]") -> Expr:
    """The call as one of our nodes; `read` turns an argument into one."""
    known(node, "this", "expressions")
    if not isinstance(node.this, str):
        raise refused(node, f"{shown(node)} is not understood.", "A function's name has no quotes.", "Leave them out.")
    name, parts = _SAME.get(node.this.lower(), node.this.lower()), node.expressions
    if name in AGGREGATES or name == "bin":
        raise _misplaced(node, name)
    if name in _SUNDAY or name in _PARTS:
        _require_count(node, 1, 1)
        return DatePart(date_part(name, node, sql_of(parts[0])), read(parts[0]))
    if name in ("date_part", "datepart"):
        _require_count(node, 2, 2)
        which = read(parts[0])
        given = which.value if isinstance(which, Literal) else None
        return DatePart(date_part(str(given), node, sql_of(parts[1])), read(parts[1]))
    if name in ("if", "iff"):
        _require_count(node, 2, 3)
        test, then = read(parts[0]), read(parts[1])
        return Case(((test, then),), read(parts[2]) if len(parts) == 3 else Literal(None))
    if name == "mod":
        _require_count(node, 2, 2)
        return Arith("%", read(parts[0]), read(parts[1]))
    if name in _AFFIXES:
        _require_count(node, 2, 2)
        return _affix(node, name, read)
    if name not in FUNCTIONS:
        raise _unknown(node, name)
    if name == "round" and len(parts) == 2 and sql_of(parts[1]) in ("1", "2", "3", "4"):
        scale = 10 ** int(sql_of(parts[1]))
        rewrite = swapped(node, f"(round(({sql_of(parts[0])}) * {scale}) / {scale})")
        raise refused(node, "round takes one argument here.", _WHY, "Scale, round, scale back.", rewrite=rewrite)
    _require_count(node, *FUNCTIONS[name])
    return Call(name, tuple(read(part) for part in parts))


def date_part(given: str, node: "exp.Expr", item: str) -> str:
    """One of PARTS, for the word that SQL has for it."""
    word = given.lower()
    if word in _PARTS:
        return _PARTS[word]
    if word in _SUNDAY:
        why = "Whether Sunday is 0, 1 or 7 differs between systems."
        fix = "Use isodow: 1 Monday … 7 Sunday."
        rewrite = swapped(node, f"(isodow({item}) % 7)") if word == "dow" else None  # 0 is Sunday wherever it is known
        raise refused(node, f"{given[:20]} is not understood.", why, fix, rewrite=rewrite)
    fix = f"Use one of {', '.join(_PARTS)}."
    raise refused(node, f"There is no date part {given[:20]!r}.", "Only whole parts are known.", fix)


def _affix(node: "exp.Expr", name: str, read: "Callable[[exp.Expr], Expr]") -> Expr:
    item, affix = read(node.expressions[0]), read(node.expressions[1])
    if not isinstance(affix, Literal) or not isinstance(affix.value, str):
        why = "A pattern taken from a row can take any time to match."
        raise refused(node, f"{name} needs a constant text.", why, f"Write {name}(x, 'text').")
    if "%" in affix.value or "_" in affix.value:
        fix = "Use LIKE, where _ stands for any one letter, a % or _ too."
        raise refused(node, f"The text in {name} holds % or _.", "They are wildcards.", fix)
    return Like(item, _AFFIXES[name].format(affix.value))


def _require_count(node: "exp.Expr", least: int, most: int) -> None:
    if not least <= len(node.expressions) <= most:
        count = f"{least}" if least == most else f"{least} to {most}"
        why = f"There are {len(node.expressions)}."
        plural = "" if most == 1 else "s"
        raise refused(node, f"{node.this} takes {count} argument{plural}.", why, "Give as many as it takes.")


def _misplaced(node: "exp.Expr", name: str) -> Refusal:
    if name == "bin":
        fix = "Group by it: SELECT BIN(age) AS age_group, COUNT(*) AS n FROM people GROUP BY age_group"
        return refused(node, "BIN stands inside an expression.", "It makes keys to group by, not numbers.", fix)
    what = f"{node.this} stands inside an expression, a condition or another aggregate."
    why = "An aggregate is answered with noise of its own, as a column of its own."
    fix = "Select it as a column; put conditions on it into HAVING, and calculate with the answer's columns."
    return refused(node, what, why, fix)


def _truncated(node: "exp.Expr", what: str) -> Refusal:
    from sqlglot.errors import SqlglotError

    parts = truncate.kept(node) or ["year(d)", "month(d)"]
    fix = f"Group by {', '.join(parts)}; in a condition compare with dates: d >= DATE '2020-03-01'."
    if truncate.unit(node) == "week":
        fix = "Group by year(d), week(d): the last days of December may then lie in week 1 of the same year."
    try:
        rewrite = truncate.parted(node)
    except SqlglotError:
        rewrite = None
    return refused(node, what, _WHY, fix, rewrite=rewrite)


def _unknown(node: "exp.Expr", name: str) -> Refusal:
    what = f"{node.this[:40]} is no function that can be asked for."
    if name in truncate.NAMES:
        return _truncated(node, what)
    parts = [sql_of(part) for part in node.expressions]
    equal = _EQUAL.get(name)
    if name in ("power", "pow") and parts[1:] == ["2"]:
        equal, parts = _EQUAL["square"], parts[:1]
    if equal is not None and len(parts) == 1 + ("{1}" in equal):
        beside_operators = equal.startswith(("(", "CASE"))
        text = equal.format(*(_bracketed(part) if beside_operators else part for part in parts))
        return refused(node, what, _WHY, f"The same: {text[:200]}.", rewrite=swapped(node, text))
    near = _NEAR.get(name)
    if near is not None and len(parts) > ("{1}" in near):
        return refused(node, what, _WHY, f"Near to it: {near.format(*parts)[:200]}.")
    close = suggestion(name, [*FUNCTIONS, *AGGREGATES, *_PARTS, *_AFFIXES, "bin", "if"], nearness=_NEARNESS)
    hint = f"Did you mean {close}? " if close else ""
    return refused(node, what, _WHY, f"{hint}The functions are listed in docs/howto/sql.md.")


def _bracketed(text: str) -> str:
    """An argument beside an operator."""
    return text if text.replace("_", "").isalnum() else f"({text})"
