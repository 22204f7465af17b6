"""Turn SQLGlot's nodes of row expressions into ours, with one rule for each class; others are refused."""

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
from discreet.query.sql.refusal import excerpt, refusal, require_only, statement_with, unsupported
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
    if source.released is not None and (column := source.released(node)) is not None:
        return column
    name = type(node).__name__
    if name in _COMPARISONS:
        require_only(node, "this", "expression")
        return nodes.Compare(_COMPARISONS[name], expression(node.this, source), expression(node.expression, source))
    if name in _ARITHMETIC:
        require_only(node, "this", "expression", "typed", "safe")
        return nodes.Arith(_ARITHMETIC[name], expression(node.this, source), expression(node.expression, source))
    rule = _RULES.get(name)
    if rule is None:
        raise unsupported(node, rewrite=_rewrite(node))
    return rule(node, source)


def constant(node: "exp.Expr", source: Source, role: str) -> Literal:
    """The node as a constant; `role` says in a refusal what the constant is for."""
    item = expression(node, source)
    if not isinstance(item, Literal):
        why = "It must be public, so it must not depend on a row."
        raise refusal(node, f"{role} must be a constant, not {excerpt(node)}.", why, "Write a number or a 'text'.")
    return item


def name_of(node: "exp.Expr | None", source: Source) -> str:
    """The name that an identifier spells; text in single quotes is refused."""
    if type(node).__name__ != "Identifier" or node is None:
        why = "A name is a word, or a text in double quotes."
        raise refusal(0 if node is None else node, "A name is missing or not a name.", why, "Write a plain name.")
    require_only(node, "this", "quoted")
    if node.meta.get("start") in source.strings:
        what = f"'{node.this[:40]}' is a text, not a name."
        raise refusal(node, what, "Single quotes are for texts.", "Write a name bare or in double quotes.")
    if not str(node.this).strip():
        raise refusal(node, "A name is blank.", "It could not be read.", "Write a plain name, such as n.")
    return str(node.this)


def number(text: str, node: "exp.Expr") -> int | Fraction:
    """The exact number: an int without a point or exponent, else a Fraction."""
    fix = "Write digits, a point and an exponent at most: 12.5 or 1e-3."
    try:
        value = decimal(text, "A number", "must be a decimal of at most 80 digits", fix)
    except BadValue as error:
        raise refusal(node, error.what, error.why, error.fix) from None
    return int(value) if text.isdigit() else value


def selected_index(node: "exp.Expr", count: int, clause: str) -> int:
    """The index of the selected column that GROUP BY or ORDER BY names by its position, counted from 1."""
    position = None if node.args.get("is_string") else number(str(node.this), node)
    if isinstance(position, int) and 1 <= position <= count:
        return position - 1
    why, fix = f"There are {count} selected columns, counted from 1.", f"{clause.capitalize()} a column's name."
    raise refusal(node, f"{clause} {excerpt(node)} names no selected column.", why, fix)


# --- one rule for each class of nodes ------------------------------------------------------------------------------


def _column(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "table")
    table = node.args.get("table")
    if type(node.this).__name__ == "Star":
        raise unsupported(node.this)
    if table is not None and name_of(table, source).casefold() not in source.tables:
        what = f"{excerpt(node)} names another table than the one in FROM."
        raise refusal(node, what, "A question is about one table.", "Write the column's name alone.")
    return Col(name_of(node.this, source))


def _literal(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "is_string")
    text = str(node.this)
    return Literal(text if node.args.get("is_string") else number(text, node))


def _boolean(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this")
    return Literal(bool(node.this))


def _null(node: "exp.Expr", source: Source) -> Expr:
    require_only(node)
    return Literal(None)


def _paren(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this")
    return expression(node.this, source)


def _negative(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this")
    item = expression(node.this, source)
    if isinstance(item, Literal) and isinstance(item.value, (int, Fraction)) and not isinstance(item.value, bool):
        return Literal(-item.value)
    return nodes.Arith("-", Literal(0), item)


def _not(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this")
    return nodes.Not(expression(node.this, source))


def _chain(node: "exp.Expr", source: Source) -> Expr:
    """AND or OR of any length, flat; SQLGlot nests them to the left."""
    operator, rights, left = type(node), [], node
    while type(left) is operator:
        require_only(left, "this", "expression")
        rights.append(left.expression)
        left = left.this
    parts = tuple(expression(part, source) for part in (left, *reversed(rights)))
    return nodes.And(parts) if operator.__name__ == "And" else nodes.Or(parts)


def _is(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "expression")
    item, constant = expression(node.this, source), expression(node.expression, source)
    if constant == Literal(None):
        return nodes.IsNull(item)
    if isinstance(constant, Literal) and isinstance(constant.value, bool):
        return nodes.And((nodes.Not(nodes.IsNull(item)), nodes.Compare("=", item, constant)))
    raise refusal(node, f"{excerpt(node)} is not supported.", "IS stands before NULL, TRUE and FALSE.", "Use =.")


def _in(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "expressions")
    options = node.expressions
    if not options:
        why = "IN needs a list of constants."
        raise refusal(node, f"{excerpt(node)} is not supported.", why, "Write x IN (1, 2).")
    constants = tuple(constant(option, source, "Each option of IN") for option in options)
    if Literal(None) in constants:
        empty = options[constants.index(Literal(None))]
        others = [sql_of(cell) for cell, option in zip(options, constants, strict=True) if option.value is not None]
        listed = f"{sql_of(node.this)} IN ({', '.join(others)})"
        rewrite = statement_with(node, listed) if others and _is_filter(node) else None
        why = "x IN (…, NULL) is never false, and x NOT IN (…, NULL) never true."
        fix = "Leave NULL out; use IS NULL for empty cells."
        raise refusal(empty, "NULL stands in a list.", why, fix, rewrite=rewrite)
    return nodes.In(expression(node.this, source), constants)


def _is_filter(node: "exp.Expr") -> bool:
    """Whether the node lies in WHERE under nothing but AND and OR, so that NULL has the effect of false."""
    parent = node.parent
    while type(parent).__name__ in ("And", "Or", "Paren"):
        parent = None if parent is None else parent.parent
    return type(parent).__name__ == "Where"


def _between(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "low", "high")
    item = expression(node.this, source)
    low, high = expression(node.args["low"], source), expression(node.args["high"], source)
    return _light(nodes.And((nodes.Compare(">=", item, low), nodes.Compare("<=", item, high))), node)


def _like(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "expression", "negate")
    item, pattern = expression(node.this, source), constant(node.expression, source, "A LIKE pattern").value
    if not isinstance(pattern, str):
        raise refusal(node, "A LIKE pattern must be a text.", "It is compared with texts.", "Write x LIKE 'a%'.")
    if type(node).__name__ == "ILike":
        item, pattern = nodes.Call("lower", (item,)), pattern.lower()
    return nodes.Not(nodes.Like(item, pattern)) if node.args.get("negate") else nodes.Like(item, pattern)


def _case(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "ifs", "default")
    value = node.args.get("this")
    against = None if value is None else expression(value, source)
    branches = []
    for branch in node.args["ifs"]:
        require_only(branch, "this", "true")
        test = expression(branch.this, source)
        condition = test if against is None else nodes.Compare("=", against, test)
        branches.append((condition, expression(branch.args["true"], source)))
    default = node.args.get("default")
    return _light(nodes.Case(tuple(branches), Literal(None) if default is None else expression(default, source)), node)


def _light(expr: Expr, node: "exp.Expr") -> Expr:
    """The expression; refused where nested BETWEEN and CASE, which repeat their value, have made it too large."""
    if weight(expr) > MOST_NODES:
        why = "BETWEEN and CASE with a value write the value once for each comparison; nested, it doubles each time."
        raise refusal(node, f"An expression has more than {MOST_NODES:,} parts when written out.", why, "Nest less.")
    return expr


def _cast(node: "exp.Expr", source: Source) -> Expr:
    """A cast that never fails; of a text in the question to a date, the date itself."""
    require_only(node, "this", "to", "safe")
    to = node.args["to"]
    kind = _TYPES.get(getattr(to.this, "name", str(to.this)))
    if kind is None or to.args.get("expressions") or to.args.get("kind"):
        what = f"Casting to {excerpt(to)} is not supported."
        why = "Known types are BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP."
        number_like = re.match(r"DECIMAL|NUMERIC|BIGNUMERIC", excerpt(to), re.IGNORECASE)
        raise refusal(node, what, why, f"Cast to one of those, for example {'DOUBLE' if number_like else 'BIGINT'}.")
    require_only(to, "this", "nested")
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
    raise refusal(node, f"{text[:40]!r} is no {kind}.", why, f"Write {example}.")


def _extract(node: "exp.Expr", source: Source) -> Expr:
    require_only(node, "this", "expression")
    part = date_part(str(node.this.this), node, sql_of(node.expression))
    return nodes.DatePart(part, expression(node.expression, source))


def _anonymous(node: "exp.Expr", source: Source) -> Expr:
    return call(node, lambda part: expression(part, source))


def _rewrite(node: "exp.Expr") -> str | None:
    """The statement with an equal expression in place of an operator that is not supported; None if there is none."""
    if type(node).__name__ in ("Subquery", "Select"):
        return inner_question(node)
    left, right = node.args.get("this"), node.args.get("expression")
    if left is None or right is None or not hasattr(left, "args") or not hasattr(right, "args"):
        return None
    match type(node).__name__:
        case "NullSafeEQ":
            return statement_with(node, _null_safe(left, right, "="))
        case "NullSafeNEQ":
            return statement_with(node, _null_safe(left, right, "<>"))
        case "Escape":
            return _without_escape(node, left, right)
        case "Pow" if sql_of(right) == "2":
            return statement_with(node, f"({operand(left)} * {operand(left)})")
        case _:
            return None


def operand(node: "exp.Expr") -> str:
    """The node as SQL beside an operator, in brackets where it needs them."""
    text, atoms = sql_of(node), ("Column", "Literal", "Boolean", "Null", "Paren", "Anonymous")
    return text if type(node).__name__ in atoms else f"({text})"


def _null_safe(left: "exp.Expr", right: "exp.Expr", op: str) -> str:
    """IS NOT DISTINCT FROM by = and IS NULL, IS DISTINCT FROM by <>: true or false on every row, never NULL."""
    a, b = operand(left), operand(right)
    equal = op == "="  # IS DISTINCT FROM is its negation: AND and OR change places, and so do the tests of NULL
    both, either = ("AND", "OR") if equal else ("OR", "AND")
    filled, empty = ("IS NOT NULL", "IS NULL") if equal else ("IS NULL", "IS NOT NULL")
    constants = ("Literal", "Boolean")
    if type(right).__name__ == "Null":
        return f"{a} {empty}"
    if type(left).__name__ == "Null":
        return f"{b} {empty}"
    if type(right).__name__ in constants:
        return f"({a} {op} {b} {both} {a} {filled})"
    if type(left).__name__ in constants:
        return f"({a} {op} {b} {both} {b} {filled})"
    return f"(({a} {op} {b} {both} {a} {filled} {both} {b} {filled}) {either} ({a} {empty} {both} {b} {empty}))"


def _without_escape(node: "exp.Expr", like: "exp.Expr", mark: "exp.Expr") -> str | None:
    """LIKE without ESCAPE where nothing is escaped, = where all wildcards are; None if both kinds occur."""
    pattern = like.args.get("expression")
    if not (_is_text(pattern) and _is_text(mark)) or pattern is None or len(str(mark.this)) != 1:
        return None
    text, letter = str(pattern.this), str(mark.this)
    if letter not in text:
        return statement_with(node, sql_of(like))
    escaped = re.escape(letter) + "([%_" + re.escape(letter) + "])"
    if type(like).__name__ != "Like" or re.search(f"[%_{re.escape(letter)}]", re.sub(escaped, "", text)):
        return None
    plain = re.sub(escaped, r"\1", text).replace("'", "''")
    return statement_with(node, f"{operand(like.this)} {'<>' if like.args.get('negate') else '='} '{plain}'")


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
