"""Row expressions: SQLGlot's node in, one of ours out, class by class; what has no rule here is refused."""

import re
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import BadValue
from discreet.exact import decimal
from discreet.query.nodes import (
    MOST_NODES,
    And,
    Arith,
    Call,
    Case,
    Col,
    Compare,
    DatePart,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    TryCast,
    weight,
)
from discreet.query.sql.dialect import sql_of
from discreet.query.sql.functions import call, date_part
from discreet.query.sql.merge import inner_question
from discreet.query.sql.refusal import known, not_understood, refused, shown, swapped
from discreet.query.sql.text import Source
from discreet.schema import Type

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARISONS = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}
_TYPES = {
    **dict.fromkeys(("INT", "BIGINT"), Type.INTEGER),
    **dict.fromkeys(("DOUBLE", "FLOAT"), Type.NUMBER),
    **dict.fromkeys(("TEXT", "VARCHAR"), Type.TEXT),
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), Type.DATETIME),
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
_NO_FLOAT = "Numbers are read exactly, as decimals."


def expression(node: "exp.Expr", source: Source) -> Expr:
    """The node as one of ours."""
    if source.released is not None and (found := source.released(node)) is not None:
        return found
    name = type(node).__name__
    if name in _COMPARISONS:
        known(node, "this", "expression")
        return Compare(_COMPARISONS[name], expression(node.this, source), expression(node.expression, source))
    if name in _ARITHMETIC:
        known(node, "this", "expression", "typed", "safe")
        return Arith(_ARITHMETIC[name], expression(node.this, source), expression(node.expression, source))
    rule = _RULES.get(name)
    if rule is None:
        raise not_understood(node, rewrite=_rewrite(node))
    return rule(node, source)


def constant(node: "exp.Expr", source: Source, what: str) -> Literal:
    """The node as a constant."""
    found = expression(node, source)
    if not isinstance(found, Literal):
        why = "It must be public, so it must not depend on a row."
        raise refused(node, f"{what} must be a constant, not {shown(node)}.", why, "Write a number or a 'text'.")
    return found


def named(node: "exp.Expr | None", source: Source) -> str:
    """A name, never a text in single quotes."""
    if type(node).__name__ != "Identifier" or node is None:
        why = "A name is a word, or a text in double quotes."
        raise refused(0 if node is None else node, "A name is missing or not a name.", why, "Write a plain name.")
    known(node, "this", "quoted")
    if node.meta.get("start") in source.strings:
        what = f"'{node.this[:40]}' is a text, not a name."
        raise refused(node, what, "Single quotes are for texts.", "Write a name bare or in double quotes.")
    if not str(node.this).strip():
        raise refused(node, "A name is blank.", "Nobody could say what it names.", "Write a plain name, such as n.")
    return str(node.this)


def number(text: str, node: "exp.Expr") -> int | Fraction:
    """The exact number: an int without a point or exponent, else a Fraction."""
    fix = "Write digits, a point and an exponent at most: 12.5 or 1e-3."
    try:
        value = decimal(text, "A number", "must be a decimal of at most 80 digits", fix)
    except BadValue as error:
        raise refused(node, error.what, error.why, error.fix) from None
    return int(value) if text.isdigit() else value


# --- one rule a class ----------------------------------------------------------------------------------------------


def _column(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "table")
    table = node.args.get("table")
    if type(node.this).__name__ == "Star":
        raise not_understood(node.this)
    if table is not None and named(table, source).casefold() not in source.tables:
        what = f"{shown(node)} names another table than the one in FROM."
        raise refused(node, what, "A question is about one table.", "Write the column's name alone.")
    return Col(named(node.this, source))


def _literal(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "is_string")
    text = str(node.this)
    return Literal(text if node.args.get("is_string") else number(text, node))


def _boolean(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this")
    return Literal(bool(node.this))


def _null(node: "exp.Expr", source: Source) -> Expr:
    known(node)
    return Literal(None)


def _paren(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this")
    return expression(node.this, source)


def _negative(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this")
    item = expression(node.this, source)
    if isinstance(item, Literal) and isinstance(item.value, (int, Fraction)) and not isinstance(item.value, bool):
        return Literal(-item.value)
    return Arith("-", Literal(0), item)


def _not(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this")
    return Not(expression(node.this, source))


def _chain(node: "exp.Expr", source: Source) -> Expr:
    """AND and OR of any length, flat; the tree leans left."""
    kind, parts, at = type(node), [], node
    while type(at) is kind:
        known(at, "this", "expression")
        parts.append(at.expression)
        at = at.this
    found = tuple(expression(part, source) for part in (at, *reversed(parts)))
    return And(found) if kind.__name__ == "And" else Or(found)


def _is(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expression")
    item, what = expression(node.this, source), expression(node.expression, source)
    if what == Literal(None):
        return IsNull(item)
    if isinstance(what, Literal) and isinstance(what.value, bool):
        return And((Not(IsNull(item)), Compare("=", item, what)))
    raise refused(node, f"{shown(node)} is not understood.", "IS stands before NULL, TRUE and FALSE.", "Use =.")


def _in(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expressions")
    options = node.expressions
    if not options:
        why = "IN needs a list of constants."
        raise refused(node, f"{shown(node)} is not understood.", why, "Write x IN (1, 2).")
    found = tuple(constant(option, source, "Each option of IN") for option in options)
    if Literal(None) in found:
        empty = options[found.index(Literal(None))]
        kept = [sql_of(option) for option, value in zip(options, found, strict=True) if value.value is not None]
        instead = f"{sql_of(node.this)} IN ({', '.join(kept)})" if kept else f"{sql_of(node.this)} IS NULL"
        why = "x IN (…, NULL) is never false, and x NOT IN (…, NULL) never true."
        fix = "Leave NULL out; use IS NULL for empty cells."
        raise refused(empty, "NULL stands in a list.", why, fix, rewrite=swapped(node, instead))
    return In(expression(node.this, source), found)


def _between(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "low", "high")
    item = expression(node.this, source)
    low, high = expression(node.args["low"], source), expression(node.args["high"], source)
    return _light(And((Compare(">=", item, low), Compare("<=", item, high))), node)


def _like(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expression", "negate")
    item, pattern = expression(node.this, source), constant(node.expression, source, "A LIKE pattern").value
    if not isinstance(pattern, str):
        raise refused(node, "A LIKE pattern must be a text.", "It is compared with texts.", "Write x LIKE 'a%'.")
    if type(node).__name__ == "ILike":
        item, pattern = Call("lower", (item,)), pattern.lower()
    return Not(Like(item, pattern)) if node.args.get("negate") else Like(item, pattern)


def _case(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "ifs", "default")
    whole = node.args.get("this")
    against = None if whole is None else expression(whole, source)
    branches = []
    for branch in node.args["ifs"]:
        known(branch, "this", "true")
        test = expression(branch.this, source)
        condition = test if against is None else Compare("=", against, test)
        branches.append((condition, expression(branch.args["true"], source)))
    default = node.args.get("default")
    return _light(Case(tuple(branches), Literal(None) if default is None else expression(default, source)), node)


def _light(made: Expr, node: "exp.Expr") -> Expr:
    """What was made of the node; refused where what BETWEEN and CASE write twice, inside each other, has grown."""
    if weight(made) > MOST_NODES:
        why = "BETWEEN and CASE with a value write the value once for each comparison; nested, it doubles each time."
        raise refused(node, f"An expression has more than {MOST_NODES:,} parts when written out.", why, "Nest less.")
    return made


def _cast(node: "exp.Expr", source: Source) -> Expr:
    """A cast that never fails; of a text in the question to a date, the date itself."""
    known(node, "this", "to", "safe")
    to = node.args["to"]
    kind = _TYPES.get(getattr(to.this, "name", str(to.this)))
    if kind is None or to.args.get("expressions") or to.args.get("kind"):
        what = f"Casting to {shown(to)} is not understood."
        why = "Known types are BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP."
        number_like = re.match(r"DECIMAL|NUMERIC|BIGNUMERIC", shown(to), re.IGNORECASE)
        to_text = "DOUBLE" if number_like else "BIGINT"
        rewrite = swapped(node, f"CAST({sql_of(node.this)} AS {to_text})")
        raise refused(node, what, why, f"Cast to one of those, for example {to_text}.", rewrite=rewrite)
    known(to, "this", "nested")
    item = expression(node.this, source)
    if isinstance(item, Literal) and isinstance(item.value, str) and kind in (Type.DATE, Type.DATETIME):
        return Literal(_moment(item.value, kind, node))
    return TryCast(item, kind)


def _moment(text: str, kind: Type, node: "exp.Expr") -> date | datetime:
    try:
        if kind is Type.DATE and _DAY.fullmatch(text):
            return date.fromisoformat(text)
        if kind is Type.DATETIME and _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    why = "Dates are written year-month-day, datetimes with hours and minutes behind, without a time zone."
    example = "DATE '2020-12-31'" if kind is Type.DATE else "TIMESTAMP '2020-12-31 23:59:59'"
    raise refused(node, f"{text[:40]!r} is no {kind}.", why, f"Write {example}.")


def _extract(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expression")
    part = date_part(str(node.this.this), node, sql_of(node.expression))
    return DatePart(part, expression(node.expression, source))


def _anonymous(node: "exp.Expr", source: Source) -> Expr:
    return call(node, lambda part: expression(part, source))


def _rewrite(node: "exp.Expr") -> str | None:
    """A statement without the operator that is not understood, where there is an equal one."""
    if type(node).__name__ in ("Subquery", "Select"):
        return inner_question(node)
    left, right = node.args.get("this"), node.args.get("expression")
    if left is None or right is None or not hasattr(left, "args") or not hasattr(right, "args"):
        return None
    a, b = sql_of(left), sql_of(right)
    match type(node).__name__:
        case "IntDiv":
            return swapped(node, f"floor(({a}) / ({b}))")
        case "NullSafeEQ":
            return swapped(node, f"({a} = {b} OR ({a} IS NULL AND {b} IS NULL))")
        case "NullSafeNEQ":
            return swapped(node, f"({a} <> {b} OR ({a} IS NULL AND {b} IS NOT NULL))")
        case "Escape":
            return swapped(node, a)
        case "Pow" if b == "2":
            return swapped(node, f"(({a}) * ({a}))")
        case "SimilarTo" | "Glob":
            return swapped(node, f"{a} LIKE '%text%'")
        case _:
            return None


_RULES: "dict[str, Callable[[exp.Expr, Source], Expr]]" = {
    "Column": _column,
    "Literal": _literal,
    "Boolean": _boolean,
    "Null": _null,
    "Paren": _paren,
    "Neg": _negative,
    "Not": _not,
    "And": _chain,
    "Or": _chain,
    "Is": _is,
    "In": _in,
    "Between": _between,
    "Like": _like,
    "ILike": _like,
    "Case": _case,
    "Cast": _cast,
    "TryCast": _cast,
    "Extract": _extract,
    "Anonymous": _anonymous,
}
