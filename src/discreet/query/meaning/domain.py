"""The type, range, values and step of an expression, derived from public facts alone."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from discreet.errors import NotAnswerable, short_text
from discreet.query import nodes
from discreet.query.meaning import texts
from discreet.query.meaning.interval import common_step, function_ends, hull, operation_ends
from discreet.query.meaning.known import (
    BOOLEAN,
    COUNTED,
    NUMBERS,
    TIMES,
    Domain,
    cast_domain,
    constant_domain,
    date_part_domain,
    family,
    is_null,
    mapped,
    require_alike,
    text_of,
    union,
)
from discreet.query.meaning.names import in_sql
from discreet.query.meaning.released import Released, Scope
from discreet.query.nodes import COMPARISONS, FUNCTIONS, OPERATORS, Col, Expr, Literal
from discreet.schema import Schema, Type
from discreet.schema.words import suggestion

__all__ = ["Domain", "domain", "require", "unknown"]


def domain(expr: Expr, schema: Scope) -> Domain:
    """The domain of an expression; refused where it has none.

    >>> from discreet.schema import Column
    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> domain(nodes.Call("floor", (nodes.Arith("/", Col("age"), Literal(10)),)), people).interval
    (Fraction(0, 1), Fraction(11, 1))
    """
    match expr:
        case Col(name):
            return _column(name, schema)
        case Literal(value):
            return constant_domain(value)
        case nodes.Compare() | nodes.In() | nodes.Like() | nodes.IsNull() | nodes.Not() | nodes.And() | nodes.Or():
            _require_condition(expr, schema)
            return BOOLEAN
        case nodes.UnitIn():
            return BOOLEAN
        case nodes.Case(branches, otherwise):
            for condition, _ in branches:
                require(condition, schema, (Type.BOOLEAN,), "WHEN takes a condition", "Write, for example: WHEN x > 1")
            return _choice([value for _, value in branches] + [otherwise], schema, "The branches of CASE")
        case nodes.Arith():
            return _arithmetic(expr, schema)
        case nodes.Call():
            return _call(expr, schema)
        case nodes.DatePart(part, item):
            return date_part_domain(
                part, require(item, schema, TIMES, f"{part.upper()} reads a date", "Give a date column.")
            )
        case nodes.TryCast(item, kind):
            return cast_domain(domain(item, schema), kind)
        case _:
            raise TypeError(f"{type(expr).__name__} is no expression")


def require(expr: Expr, schema: Scope, kinds: tuple[Type, ...], rule: str, fix: str) -> Domain:
    """The domain of an expression that must be of one of these types."""
    facts = domain(expr, schema)
    if facts.type not in kinds:
        kind = f"{'an' if facts.type is Type.INTEGER else 'a'} {facts.type}"
        raise NotAnswerable(f"{rule}, not {kind} such as {text_of(expr)}.", "Types are not mixed silently.", fix)
    return facts


def _column(name: str, schema: Scope) -> Domain:
    if isinstance(schema, Released):
        return schema.domains[schema.spelled(name)]
    column = schema.find(name)
    if column is None:
        raise unknown(name, schema)
    lattice = column.lattice
    ends = None if lattice is None else (lattice.low * lattice.step, lattice.high * lattice.step)
    match column.type:
        case Type.BOOLEAN:
            return BOOLEAN
        case Type.CATEGORY | Type.TEXT:
            return Domain(Type.TEXT, values=column.values)
        case Type.NUMBER:
            return Domain(Type.NUMBER, ends, None, None if lattice is None else lattice.step)
        case _:
            return Domain(column.type, ends, column.values, Fraction(1) if lattice is None else lattice.step)


def unknown(name: str, schema: Schema) -> NotAnswerable:
    """The refusal of a column that is not declared."""
    close = suggestion(name, [column.name for column in schema.columns])
    listed = ", ".join(in_sql(column.name) for column in schema.columns[:12])
    fix = f"Did you mean {in_sql(close)}?" if close else f"Its columns are: {listed}."
    return NotAnswerable(f"{schema.name} has no column {short_text(name)}.", "Only declared columns exist.", fix)


# --- conditions ----------------------------------------------------------------------------------------------------


def _require_condition(expr: Expr, schema: Scope) -> None:
    match expr:
        case nodes.Compare(op, left, right):
            if op not in COMPARISONS:
                raise NotAnswerable(
                    f"{op} is no comparison.", f"There are {' '.join(COMPARISONS)}.", "Use one of them."
                )
            require_alike(domain(left, schema), domain(right, schema), op, expr)
        case nodes.In(item, options):
            facts = domain(item, schema)
            for option in options:
                require_alike(facts, domain(option, schema), "=", nodes.Compare("=", item, option))
        case nodes.Like(item, _):
            require(item, schema, (Type.TEXT,), "LIKE reads text", "Compare numbers and dates with =, < or BETWEEN.")
        case nodes.IsNull(item):
            domain(item, schema)
        case nodes.Not(item):
            require(item, schema, (Type.BOOLEAN,), "NOT takes a condition", "Write, for example: NOT x = 1")
        case nodes.And(parts) | nodes.Or(parts):
            for part in parts:
                fix = "Write a comparison, for example: x > 1 AND y = 2"
                require(part, schema, (Type.BOOLEAN,), f"{type(expr).__name__.upper()} takes conditions", fix)


# --- choices -------------------------------------------------------------------------------------------------------


def _choice(items: Iterable[Expr], schema: Scope, subject: str) -> Domain:
    """The domain of a value that is one of several; constants NULL add nothing."""
    domains = [domain(item, schema) for item in items if not is_null(item)]
    if not domains:
        raise NotAnswerable(f"{subject} are all NULL.", "The result would say nothing.", "Give at least one value.")
    kinds = {facts.type for facts in domains}
    if kinds == set(NUMBERS):
        kinds = {Type.NUMBER}
    if len(kinds) > 1:
        why = f"They are {', '.join(sorted(kinds))}."
        raise NotAnswerable(f"{subject} must be of one type.", why, "Make all of them numbers, or all text.")
    kind = kinds.pop()
    steps = [facts.step for facts in domains]
    step = steps[0]
    for other_step in steps[1:]:
        step = None if step is None or other_step is None else common_step(step, other_step)
    ends = hull(*(facts.interval for facts in domains))
    return Domain(kind, ends, union(facts.values for facts in domains), step if kind is not Type.NUMBER else None)


# --- numbers -------------------------------------------------------------------------------------------------------


def _arithmetic(expr: nodes.Arith, schema: Scope) -> Domain:
    op = expr.op
    if op not in OPERATORS:
        raise NotAnswerable(f"{op} is no operation.", f"There are {' '.join(OPERATORS)}.", "Use one of them.")
    left, right = domain(expr.left, schema), domain(expr.right, schema)
    if op == "-" and left.type in TIMES and left.type is right.type:
        return Domain(Type.INTEGER, operation_ends(op, left.interval, right.interval), None, Fraction(1))
    for side, facts in ((expr.left, left), (expr.right, right)):
        if facts.type not in COUNTED:
            fix = "Change text with TRY_CAST(… AS INTEGER); of dates only the difference of two alike is known."
            raise NotAnswerable(f"{text_of(side)} is a {facts.type}: {op} takes numbers.", "Types are not mixed.", fix)
    ends = operation_ends(op, left.interval, right.interval)
    if op == "/" or Type.NUMBER in (left.type, right.type):
        return Domain(Type.NUMBER, ends)
    left_step, right_step = left.step or Fraction(1), right.step or Fraction(1)
    return Domain(Type.INTEGER, ends, None, left_step * right_step if op == "*" else common_step(left_step, right_step))


def _call(expr: nodes.Call, schema: Scope) -> Domain:
    name, parts = expr.name, expr.parts
    if name not in FUNCTIONS:
        close = suggestion(name, FUNCTIONS)
        fix = f"Did you mean {close}?" if close else f"The functions are: {', '.join(FUNCTIONS)}."
        raise NotAnswerable(
            f"There is no function {short_text(name)}.", "Only functions that never fail on a row exist.", fix
        )
    lowest, highest = FUNCTIONS[name]
    if not lowest <= len(parts) <= highest:
        takes = f"{lowest}" if lowest == highest else f"{lowest} to {highest}"
        raise NotAnswerable(
            f"{name} takes {takes} arguments.", f"You gave {len(parts)}.", f"Write {name} with {takes}."
        )
    match name:
        case "coalesce":
            return _choice(parts, schema, "The arguments of coalesce")
        case "nullif":
            _require_condition(nodes.Compare("=", *parts), schema)
            return domain(parts[0], schema)
        case "least" | "greatest":
            return _extreme(name, parts, schema)
        case "clamp":
            return _clamp(parts, schema)
        case "lower" | "upper" | "trim" | "length":
            facts = require(parts[0], schema, (Type.TEXT,), f"{name} reads text", "Give a text column.")
            values = mapped(facts.values, texts.FUNCTIONS[name])
            if name != "length":
                return Domain(Type.TEXT, values=values)
            ends = None if not values else (Fraction(min(values)), Fraction(max(values)))
            return Domain(Type.INTEGER, ends, values, Fraction(1))
        case _:
            facts = require(parts[0], schema, COUNTED, f"{name} reads a number", "Give a number.")
            is_whole = name in ("floor", "ceil", "round") or (name == "abs" and facts.type is not Type.NUMBER)
            ends = function_ends(name, facts.interval)
            return Domain(Type.INTEGER, ends, None, Fraction(1)) if is_whole else Domain(Type.NUMBER, ends)


def _extreme(name: str, parts: tuple[Expr, ...], schema: Scope) -> Domain:
    for part in parts:
        require(part, schema, (*NUMBERS, *TIMES), f"{name} compares numbers or dates", "Give numbers.")
    facts = _choice(parts, schema, f"The arguments of {name}")
    intervals = [domain(part, schema).interval for part in parts]
    if facts.interval is None:
        return facts
    pick: Callable[..., Fraction] = min if name == "least" else max
    low, high = (pick(ends[side] for ends in intervals if ends is not None) for side in (0, 1))
    return Domain(facts.type, (low, high), facts.values, facts.step)


def _clamp(parts: tuple[Expr, ...], schema: Scope) -> Domain:
    item = require(parts[0], schema, (*NUMBERS, *TIMES), "clamp bounds a number or a date", "Give a number.")
    low, high = (domain(end, schema) for end in parts[1:])
    constants = all(isinstance(end, Literal) for end in parts[1:])
    if not constants or low.interval is None or high.interval is None or low.interval[0] > high.interval[0]:
        why = "They are the public bounds of the result."
        raise NotAnswerable("clamp takes two constants, low and high.", why, "Write, for example: clamp(x, 0, 100)")
    if {family(low.type), family(high.type)} != {family(item.type)}:
        raise NotAnswerable("clamp takes bounds of the item's type.", "Types are not mixed.", "Write: clamp(x, 0, 100)")
    bottom, top = low.interval[0], high.interval[0]
    ends = (bottom, top) if item.interval is None else tuple(min(max(end, bottom), top) for end in item.interval)
    kind = Type.NUMBER if Type.NUMBER in (item.type, low.type, high.type) else item.type
    step = item.step if kind is not Type.NUMBER else None
    if step is not None:
        step = common_step(step, common_step(bottom, top)) or step
    return Domain(kind, (ends[0], ends[1]), None, step)
