"""The public facts about a value, and facts that follow from them without the expression."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeGuard

from discreet import amounts
from discreet.errors import NotAnswerable, short_text
from discreet.query.meaning import dates
from discreet.query.meaning.interval import Ends, function_ends
from discreet.query.meaning.names import in_sql, text_in_sql
from discreet.query.nodes import PARTS, Call, Col, Compare, Expr, Literal
from discreet.schema import Type
from discreet.schema.kind import number_of

TIMES = (Type.DATE, Type.DATETIME)
NUMBERS = (Type.INTEGER, Type.NUMBER)
COUNTED = (*NUMBERS, Type.BOOLEAN)  # what arithmetic takes: a boolean counts as 0 or 1
_UNNAMED = "this expression"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
MOST_VALUES = 10_000  # of what is worked out from other values
_CASTS = {
    Type.INTEGER: (*COUNTED, Type.TEXT),
    Type.NUMBER: (*COUNTED, Type.TEXT),
    Type.BOOLEAN: (*COUNTED, Type.TEXT),
    Type.DATE: (*TIMES, Type.TEXT),
    Type.DATETIME: (*TIMES, Type.TEXT),
    Type.TEXT: (Type.TEXT,),
    Type.CATEGORY: (Type.TEXT,),
}


@dataclass(frozen=True)
class Domain:
    """The public facts about an expression.

    `type` is TEXT for categories too; `interval` the measured range (days and seconds for dates), None without public
    bounds; `values` the finite public set of its non-NULL values in public order, where known; `step` what each of its
    values is a whole multiple of, for bounded columns and whole-number expressions.
    """

    type: Type
    interval: Ends | None = None
    values: tuple[Any, ...] | None = None
    step: Fraction | None = None


BOOLEAN = Domain(Type.BOOLEAN, (Fraction(0), Fraction(1)), (False, True), Fraction(1))


def is_null(expr: Expr) -> TypeGuard[Literal]:
    """Whether it is the constant NULL."""
    return isinstance(expr, Literal) and expr.value is None


def text_of(expr: Expr) -> str:
    """The expression as text for a sentence: a column as SQL spells it, a constant quoted."""
    match expr:
        case Col(name):
            return in_sql(name)
        case Literal(value):
            return short_text(value) if isinstance(value, str | Fraction) else str(value)
        case Call(name, parts):
            return f"{name}({', '.join(map(text_of, parts))})"
        case _:
            return _UNNAMED


def constant_domain(value: Any) -> Domain:
    match value:
        case None:
            why = "NULL has no type of its own."
            raise NotAnswerable("NULL cannot stand here.", why, "Write IS NULL, or leave the NULL out.")
        case bool():
            return Domain(Type.BOOLEAN, (Fraction(value), Fraction(value)), (value,), Fraction(1))
        case int() | Fraction():
            exact, kind = Fraction(value), Type.INTEGER if Fraction(value).denominator == 1 else Type.NUMBER
            return Domain(kind, (exact, exact), (value,), abs(exact) or Fraction(1))
        case str():
            return Domain(Type.TEXT, values=(value,))
        case datetime() | date():
            kind = Type.DATETIME if isinstance(value, datetime) else Type.DATE
            return Domain(kind, (number_of(value), number_of(value)), (value,), Fraction(1))
        case _:
            raise TypeError(f"{type(value).__name__} is no constant")


def family(kind: Type) -> str:
    """The name of the family of types that may be compared with this one."""
    match kind:
        case Type.INTEGER | Type.NUMBER:
            return "number"
        case Type.DATE | Type.DATETIME:
            return "date"
        case Type.CATEGORY | Type.TEXT:
            return "text"
        case _:
            return str(kind)


def require_alike(left: Domain, right: Domain, op: str, expr: Compare) -> None:
    a, b = family(left.type), family(right.type)
    if a != b:
        what = f"{text_of(expr.left)} is a {a} and {text_of(expr.right)} a {b}: they cannot be compared."
        raise NotAnswerable(what, "Types are not mixed silently.", _comparison_fix(a, left, expr))
    if left.type is Type.BOOLEAN and op not in ("=", "!="):
        why = "True and false have no order."
        raise NotAnswerable(f"{text_of(expr.left)} is a boolean and cannot be compared by {op}.", why, "Use = or !=.")


def _comparison_fix(kind: str, facts: Domain, expr: Compare) -> str:
    """The fix: the same constant as another type, or a constant that the left side takes."""
    left, value = text_of(expr.left), expr.right.value if isinstance(expr.right, Literal) else None
    match kind, value:
        case "number", str() if _NUMBER.fullmatch(value.strip()):
            return f"Remove the quotes, for example: {left} {expr.op} {value.strip()}"
        case "number", _ if value is not None:
            return f"{left} takes numbers{_between(facts)}, for example: {_example(expr, _inside(facts))}"
        case "text", bool() | int() | Fraction() if facts.values is None or _plain_text(value) in facts.values:
            return f"Write the text in quotes: {left} {expr.op} {text_in_sql(_plain_text(value))}"
        case "text", _ if value is not None:
            example = text_in_sql(facts.values[0] if facts.values else "text")
            return f"{left} takes texts in quotes, for example: {_example(expr, example)}"
        case "boolean", _ if value is not None:
            return f"Write: {left} = TRUE"
        case "date", _ if value is not None:
            return f"Write a date: {left} {expr.op} DATE '2020-01-31'"
        case _:
            return "Compare columns of one type, or change one with TRY_CAST(… AS …)."


def _example(expr: Compare, constant: str) -> str:
    """The comparison with that constant; the constant alone if the left side has no short text."""
    left = text_of(expr.left)
    return constant if left == _UNNAMED else f"{left} {expr.op} {constant}"


def _plain_text(value: bool | int | Fraction) -> str:
    return str(value).lower() if isinstance(value, bool) else amounts.text_of(Fraction(value))


def _between(facts: Domain) -> str:
    return "" if facts.interval is None else f" from {' to '.join(amounts.text_of(end) for end in facts.interval)}"


def _inside(facts: Domain) -> str:
    """A constant that the public facts allow: a listed value, or a short one near the middle of the bounds."""
    if facts.values:
        return amounts.text_of(Fraction(facts.values[len(facts.values) // 2]))
    if facts.interval is None:
        return "1"
    low, high = facts.interval
    middle = Fraction(round((low + high) / 2))
    return amounts.text_of(middle if low <= middle <= high else low)


def union(sets: Iterable[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """All values in order of appearance; None if one of the sets is not public."""
    values: dict[Any, None] = {}
    for listed in sets:
        if listed is None:
            return None
        values.update(dict.fromkeys(listed))
    return tuple(values)


def mapped(values: tuple[Any, ...] | None, function: Callable[[Any], Any]) -> tuple[Any, ...] | None:
    """The different results on public values, without NULL."""
    if values is None or len(values) > MOST_VALUES:
        return None
    return tuple(dict.fromkeys(result for value in values if (result := function(value)) is not None))


def date_part_domain(part: str, item: Domain) -> Domain:
    if part not in PARTS:
        raise NotAnswerable(
            f"There is no date part {short_text(part)}.", f"Known are {', '.join(PARTS)}.", "Use one of them."
        )
    if part in dates.OF_TIME and item.type is Type.DATE:
        raise NotAnswerable(
            f"A date has no {part}.", "Only a datetime has.", "Ask for year, month, week, day or weekday."
        )
    ends = dates.RANGES.get(part) or dates.years(item.interval, 1 if item.type is Type.DATE else dates.DAY)
    if ends is None:
        return Domain(Type.INTEGER, None, None, Fraction(1))
    return Domain(Type.INTEGER, (Fraction(ends[0]), Fraction(ends[1])), tuple(range(ends[0], ends[1] + 1)), Fraction(1))


def cast_domain(item: Domain, kind: Type) -> Domain:
    if item.type not in _CASTS[kind]:
        fix = "Leave the cast out, or cast text."
        raise NotAnswerable(
            f"{str(item.type).capitalize()} cannot become {kind}.", "Only casts with one clear meaning exist.", fix
        )
    if item.type is Type.TEXT and kind in (Type.TEXT, Type.CATEGORY):
        return item
    if kind is Type.BOOLEAN:
        return BOOLEAN
    step = None if kind is Type.NUMBER else Fraction(1)
    if item.type is Type.TEXT:
        return Domain(kind, None, None, step)
    return Domain(kind, _cast_interval(item, kind), None, step)


def _cast_interval(item: Domain, kind: Type) -> Ends | None:
    if item.interval is None or item.type is kind or kind is Type.NUMBER:
        return item.interval
    low, high = item.interval
    match kind:
        case Type.INTEGER:
            return function_ends("round", item.interval)
        case Type.DATE:
            return function_ends("floor", (low / dates.DAY, high / dates.DAY))
        case _:
            return low * dates.DAY, high * dates.DAY
