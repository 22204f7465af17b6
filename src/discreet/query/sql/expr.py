"""Row expressions: SQLGlot's node in, one of ours out, class by class; what has no rule here is refused."""

import re
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.amounts import decimal
from discreet.errors import BadValue
from discreet.query import nodes
from discreet.query.nodes import MOST_NODES, Col, Expr, Literal, weight
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
        return nodes.Compare(_COMPARISONS[name], expression(node.this, source), expression(node.expression, source))
    if name in _ARITHMETIC:
        known(node, "this", "expression", "typed", "safe")
        return nodes.Arith(_ARITHMETIC[name], expression(node.this, source), expression(node.expression, source))
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
    return nodes.Arith("-", Literal(0), item)


def _not(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this")
    return nodes.Not(expression(node.this, source))


def _chain(node: "exp.Expr", source: Source) -> Expr:
    """AND and OR of any length, flat; the tree leans left."""
    kind, parts, at = type(node), [], node
    while type(at) is kind:
        known(at, "this", "expression")
        parts.append(at.expression)
        at = at.this
    found = tuple(expression(part, source) for part in (at, *reversed(parts)))
    return nodes.And(found) if kind.__name__ == "And" else nodes.Or(found)


def _is(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expression")
    item, what = expression(node.this, source), expression(node.expression, source)
    if what == Literal(None):
        return nodes.IsNull(item)
    if isinstance(what, Literal) and isinstance(what.value, bool):
        return nodes.And((nodes.Not(nodes.IsNull(item)), nodes.Compare("=", item, what)))
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
        rewrite = swapped(node, f"{sql_of(node.this)} IN ({', '.join(kept)})") if kept and _must_hold(node) else None
        why = "x IN (…, NULL) is never false, and x NOT IN (…, NULL) never true."
        fix = "Leave NULL out; use IS NULL for empty cells."
        raise refused(empty, "NULL stands in a list.", why, fix, rewrite=rewrite)
    return nodes.In(expression(node.this, source), found)


def _must_hold(node: "exp.Expr") -> bool:
    """Whether NULL is as good as false here: a condition under nothing but AND and OR."""
    at = node.parent
    while type(at).__name__ in ("And", "Or", "Paren"):
        at = None if at is None else at.parent
    return type(at).__name__ == "Where"


def _between(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "low", "high")
    item = expression(node.this, source)
    low, high = expression(node.args["low"], source), expression(node.args["high"], source)
    return _light(nodes.And((nodes.Compare(">=", item, low), nodes.Compare("<=", item, high))), node)


def _like(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "expression", "negate")
    item, pattern = expression(node.this, source), constant(node.expression, source, "A LIKE pattern").value
    if not isinstance(pattern, str):
        raise refused(node, "A LIKE pattern must be a text.", "It is compared with texts.", "Write x LIKE 'a%'.")
    if type(node).__name__ == "ILike":
        item, pattern = nodes.Call("lower", (item,)), pattern.lower()
    return nodes.Not(nodes.Like(item, pattern)) if node.args.get("negate") else nodes.Like(item, pattern)


def _case(node: "exp.Expr", source: Source) -> Expr:
    known(node, "this", "ifs", "default")
    whole = node.args.get("this")
    against = None if whole is None else expression(whole, source)
    branches = []
    for branch in node.args["ifs"]:
        known(branch, "this", "true")
        test = expression(branch.this, source)
        condition = test if against is None else nodes.Compare("=", against, test)
        branches.append((condition, expression(branch.args["true"], source)))
    default = node.args.get("default")
    return _light(nodes.Case(tuple(branches), Literal(None) if default is None else expression(default, source)), node)


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
        raise refused(node, what, why, f"Cast to one of those, for example {'DOUBLE' if number_like else 'BIGINT'}.")
    known(to, "this", "nested")
    item = expression(node.this, source)
    if isinstance(item, Literal) and isinstance(item.value, str) and kind in (Type.DATE, Type.DATETIME):
        return Literal(_moment(item.value, kind, node))
    return nodes.TryCast(item, kind)


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
    return nodes.DatePart(part, expression(node.expression, source))


def _anonymous(node: "exp.Expr", source: Source) -> Expr:
    return call(node, lambda part: expression(part, source))


def _rewrite(node: "exp.Expr") -> str | None:
    """A statement without the operator that is not understood, where there is an equal one."""
    if type(node).__name__ in ("Subquery", "Select"):
        return inner_question(node)
    left, right = node.args.get("this"), node.args.get("expression")
    if left is None or right is None or not hasattr(left, "args") or not hasattr(right, "args"):
        return None
    match type(node).__name__:
        case "NullSafeEQ":
            return swapped(node, _alike(left, right))
        case "NullSafeNEQ":
            return swapped(node, _distinct(left, right))
        case "Escape":
            return _without_escape(node, left, right)
        case "Pow" if sql_of(right) == "2":
            return swapped(node, f"({operand(left)} * {operand(left)})")
        case _:
            return None


def operand(node: "exp.Expr") -> str:
    """The node as SQL beside an operator, in brackets where it needs them."""
    text, whole = sql_of(node), ("Column", "Literal", "Boolean", "Null", "Paren", "Anonymous")
    return text if type(node).__name__ in whole else f"({text})"


def _alike(left: "exp.Expr", right: "exp.Expr") -> str:
    """IS NOT DISTINCT FROM by = and IS NULL: true or false on every row, and never NULL."""
    a, b = operand(left), operand(right)
    match _kind(left), _kind(right):
        case _, "null":
            return f"{a} IS NULL"
        case "null", _:
            return f"{b} IS NULL"
        case _, "constant":
            return f"({a} = {b} AND {a} IS NOT NULL)"
        case "constant", _:
            return f"({a} = {b} AND {b} IS NOT NULL)"
        case _:
            return f"(({a} = {b} AND {a} IS NOT NULL AND {b} IS NOT NULL) OR ({a} IS NULL AND {b} IS NULL))"


def _distinct(left: "exp.Expr", right: "exp.Expr") -> str:
    """IS DISTINCT FROM by <> and IS NULL: true or false on every row, and never NULL."""
    a, b = operand(left), operand(right)
    match _kind(left), _kind(right):
        case _, "null":
            return f"{a} IS NOT NULL"
        case "null", _:
            return f"{b} IS NOT NULL"
        case _, "constant":
            return f"({a} <> {b} OR {a} IS NULL)"
        case "constant", _:
            return f"({a} <> {b} OR {b} IS NULL)"
        case _:
            return f"(({a} <> {b} OR {a} IS NULL OR {b} IS NULL) AND ({a} IS NOT NULL OR {b} IS NOT NULL))"


def _kind(node: "exp.Expr") -> str:
    if type(node).__name__ == "Null":
        return "null"
    return "constant" if type(node).__name__ in ("Literal", "Boolean") else "other"


def _without_escape(node: "exp.Expr", like: "exp.Expr", mark: "exp.Expr") -> str | None:
    """LIKE without ESCAPE where nothing is escaped, = where everything is; None for what LIKE alone cannot say."""
    pattern = like.args.get("expression")
    if not (_is_text(pattern) and _is_text(mark)) or pattern is None or len(str(mark.this)) != 1:
        return None
    text, letter = str(pattern.this), str(mark.this)
    if letter not in text:
        return swapped(node, sql_of(like))
    escaped = re.escape(letter) + "([%_" + re.escape(letter) + "])"
    if type(like).__name__ != "Like" or re.search(f"[%_{re.escape(letter)}]", re.sub(escaped, "", text)):
        return None
    plain = re.sub(escaped, r"\1", text).replace("'", "''")
    return swapped(node, f"{operand(like.this)} {'<>' if like.args.get('negate') else '='} '{plain}'")


def _is_text(node: "exp.Expr | None") -> bool:
    return type(node).__name__ == "Literal" and node is not None and bool(node.args.get("is_string"))


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
