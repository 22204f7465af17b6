"""Bring expressions into one form: the schema's spelling, typed constants, one text for equal conditions."""

from datetime import date, datetime, time
from fractions import Fraction

from discreet import amounts
from discreet.errors import NotAnswerable, short_text
from discreet.query import nodes
from discreet.query.canonical import canonical
from discreet.query.meaning import dates
from discreet.query.meaning.domain import domain, unknown
from discreet.query.meaning.interval import LARGEST
from discreet.query.meaning.known import TIMES, is_null, text_of
from discreet.query.meaning.names import in_sql, text_in_sql
from discreet.query.meaning.released import Released, Scope
from discreet.query.meaning.steps import FLIPPED, line
from discreet.query.nodes import Col, Expr, Literal
from discreet.schema import Schema, Type
from discreet.schema.words import key, suggestion

_MOST_COMPARED = 2_000  # values that a misspelt one is compared with


def normal(expr: Expr, schema: Scope) -> Expr:
    """The expression in its one form, columns spelled as in the schema; its types are checked."""
    normalized = _normal(expr, schema)
    if not is_null(normalized):
        domain(normalized, schema)
    return normalized


def _normal(expr: Expr, schema: Scope) -> Expr:
    match expr:
        case Col(name):
            return _column(name, schema)
        case Literal():
            return plain(expr)
        case nodes.Compare(op, left, right):
            return _comparison(op, _normal(left, schema), _normal(right, schema), schema)
        case nodes.In(item, options):
            return _membership(_normal(item, schema), options, schema)
        case nodes.Like(item, pattern):
            return nodes.Like(_normal(item, schema), _printable(pattern))
        case nodes.IsNull(item):
            return nodes.IsNull(_normal(item, schema))
        case nodes.Not(item):
            inner = _normal(item, schema)
            return inner.item if isinstance(inner, nodes.Not) else nodes.Not(inner)
        case nodes.And(parts) | nodes.Or(parts):
            return flat(type(expr), tuple(_normal(part, schema) for part in parts))
        case nodes.Case(branches, otherwise):
            pairs = tuple((_normal(test, schema), _normal(value, schema)) for test, value in branches)
            return nodes.Case(pairs, _normal(otherwise, schema))
        case nodes.Arith(op, left, right):
            return nodes.Arith(op, *_with_dates((_normal(left, schema), _normal(right, schema)), schema))
        case nodes.Call(name, parts):
            return nodes.Call(name, _with_dates(tuple(_normal(part, schema) for part in parts), schema))
        case nodes.DatePart(part, item):
            return nodes.DatePart(part, _normal(item, schema))
        case nodes.TryCast(item, kind):
            return nodes.TryCast(_normal(item, schema), kind)
        case nodes.UnitIn():
            return _part(expr, schema)
        case _:
            raise TypeError(f"{type(expr).__name__} is no expression")


def _part(expr: nodes.UnitIn, schema: Scope) -> nodes.UnitIn:
    """A part of the units; refused where it is empty, and of released rows, which belong to no unit."""
    if isinstance(schema, Released) or not 0 <= expr.first < expr.end <= 1:
        why = "A part of the units begins at 0 or later, ends at 1 or before, and divides rows, not released numbers."
        raise NotAnswerable("There is no such part of the units.", why, "Give, for example, the part from 0 to 0.8.")
    return expr


def _column(name: str, schema: Scope) -> Col:
    if isinstance(schema, Released):
        return Col(schema.spelled(name))
    column = schema.find(name)
    if column is not None:
        return Col(column.name)
    if is_unit(Col(name), schema):
        what = f"{name} says which unit a row belongs to: no answer may be about one unit."
        raise NotAnswerable(what, "It can only be counted.", f"Write COUNT(DISTINCT {in_sql(name)}), or leave it out.")
    raise unknown(name, schema)


def is_unit(expr: Expr, schema: Schema) -> bool:
    """Whether it is the key of the privacy units."""
    return isinstance(expr, Col) and schema.unit is not None and expr.name.casefold() == schema.unit.key.casefold()


def plain(constant: Literal) -> Literal:
    """A constant in its one form: whole numbers as int."""
    match constant.value:
        case bool() | None:
            return constant
        case str():
            return Literal(_printable(constant.value))
        case int() | Fraction():
            if abs(Fraction(constant.value)) > LARGEST:
                why = "Numbers beyond 1e300 have no exact place in the engine."
                raise NotAnswerable(f"{short_text(constant.value)} is too large.", why, "Write a smaller number.")
            return Literal(dates.whole(Fraction(constant.value)))
        case datetime():
            if constant.value.tzinfo is not None or constant.value.microsecond:
                fix = "Write, for example: TIMESTAMP '2020-01-31 08:30:00'"
                raise NotAnswerable("A datetime has whole seconds and no offset.", "So has the table.", fix)
            return constant
        case date():
            return constant
        case _:
            raise TypeError(f"{type(constant.value).__name__} is no constant")


def _printable(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotAnswerable("Text must not hold NUL or half a letter.", "No cell holds them.", "Remove the character.")
    return text


def flat(node: type[nodes.And] | type[nodes.Or], parts: tuple[Expr, ...]) -> Expr:
    """AND or OR of all parts: nested ones lifted, each once, sorted by their canonical text."""
    lifted: dict[str, Expr] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, node) else (part,):
            lifted[canonical(inner)] = inner
    if not lifted:
        raise NotAnswerable("AND and OR join conditions.", "There are none.", "Write, for example: x > 1 AND y = 2")
    ordered = tuple(lifted[text] for text in sorted(lifted))
    return ordered[0] if len(ordered) == 1 else node(ordered)


# --- comparisons ---------------------------------------------------------------------------------------------------


def _comparison(op: str, left: Expr, right: Expr, schema: Scope) -> Expr:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        op, left, right = FLIPPED.get(op, op), right, left
    if is_null(left) or is_null(right):
        instead = f"{text_of(left)} IS {'NOT NULL' if op == '!=' else 'NULL'}"
        raise NotAnswerable("Nothing is equal to NULL.", "A comparison with NULL is never true.", f"Write: {instead}")
    if isinstance(right, Literal):
        right = coerced(right, left, schema)
        if op in ("=", "!="):
            _require_among(right, left, schema)
            _require_on_step(right, left, schema)
    return nodes.Compare(op, left, right)


def _membership(item: Expr, options: tuple[Literal, ...], schema: Scope) -> Expr:
    if not options or any(option.value is None for option in options):
        why = "NULL is equal to nothing." if options else "The list is empty."
        raise NotAnswerable("IN takes a list of constants.", why, f"Write, for example: {text_of(item)} IN (1, 2)")
    literals: dict[str, Literal] = {}
    for option in options:
        literal = coerced(plain(option), item, schema)
        _require_among(literal, item, schema)
        _require_on_step(literal, item, schema)
        literals[canonical(literal)] = literal
    ordered = tuple(literals[text] for text in sorted(literals))
    return nodes.Compare("=", item, ordered[0]) if len(ordered) == 1 else nodes.In(item, ordered)


def coerced(constant: Literal, beside: Expr, schema: Scope) -> Literal:
    """The constant in the type of the expression beside it: text and days become dates."""
    kind, value = domain(beside, schema).type, constant.value
    if kind not in TIMES or not isinstance(value, str | date):
        return constant
    moment = dates.parse(value) if isinstance(value, str) else value
    if kind is Type.DATETIME and moment is not None and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if kind is Type.DATE and isinstance(moment, datetime):
        moment = moment.date() if moment.time() == time() else None
    if moment is None:
        example = "DATE '2020-01-31'" if kind is Type.DATE else "TIMESTAMP '2020-01-31 08:30:00'"
        raise NotAnswerable(
            f"{text_of(constant)} is no {kind}.", f"{text_of(beside)} holds a {kind}.", f"Write: {example}"
        )
    return Literal(moment)


def _require_among(constant: Literal, item: Expr, schema: Scope) -> None:
    """Refuses a text that is no public value: the answer to a spelling mistake would be noise alone."""
    facts, value = domain(item, schema), constant.value
    if facts.type is not Type.TEXT or facts.values is None or not isinstance(value, str) or value in facts.values:
        return
    if isinstance(item, Literal):
        return
    close = suggestion(value, facts.values[:_MOST_COMPARED])
    begin = ", ".join(map(text_in_sql, facts.values[:5]))
    fix = f"Did you mean {text_in_sql(close)}?" if close else f"Its values begin: {begin}."
    what = f"{short_text(value)} is not among the values of {text_of(item)}."
    raise NotAnswerable(what, "The values are public, so no row holds it.", fix)


def _require_on_step(constant: Literal, item: Expr, schema: Scope) -> None:
    """Refuses an equality with a number between two steps of a column whose step is not declared."""
    axis, value = None if isinstance(schema, Released) else line(item, schema), constant.value
    if axis is None or not axis.undeclared or isinstance(value, bool) or not isinstance(value, int | Fraction):
        return
    steps = axis.place(Fraction(value))
    if steps.denominator == 1:
        return
    name, step = in_sql(axis.column.name), amounts.text_of(axis.step)
    what = f"{text_of(constant)} lies between two steps of {name}, which are {step} apart."
    why = (
        f"No step is declared for {name}, so its cells were rounded to the nearest of those; equal ones are not known."
    )
    fix = f"Under [{key('columns', axis.column.name)}] write a step, such as step = 1, or ask for a range with BETWEEN."
    raise NotAnswerable(what, why, fix)


def _with_dates(parts: tuple[Expr, ...], schema: Scope) -> tuple[Expr, ...]:
    """The arguments, with text constants as dates if another argument is a date."""
    others = [part for part in parts if not isinstance(part, Literal)]
    beside = next((part for part in others if domain(part, schema).type in TIMES), None)
    if beside is None:
        return parts
    return tuple(
        coerced(part, beside, schema) if isinstance(part, Literal) and isinstance(part.value, str | date) else part
        for part in parts
    )
