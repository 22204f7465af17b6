"""The types of columns, and the parsing of a public value of each: int, Fraction, date or datetime."""

from collections.abc import Mapping
from datetime import date, datetime, time
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.schema.words import number, refusal

_EPOCH = datetime(1970, 1, 1)

Value = int | Fraction | date | datetime


class Type(StrEnum):
    """What a cell holds."""

    CATEGORY = "category"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TEXT = "text"


ORDERED = (Type.INTEGER, Type.NUMBER, Type.DATE, Type.DATETIME)
LISTED = (Type.CATEGORY, Type.TEXT, Type.INTEGER)
SYNONYMS: Mapping[str, str] = (
    dict.fromkeys(("int", "int32", "int64", "bigint", "long", "whole", "count"), "integer")
    | dict.fromkeys(("float", "float64", "double", "real", "decimal", "numeric", "money"), "number")
    | dict.fromkeys(("bool", "flag", "logical", "yes_no"), "boolean")
    | dict.fromkeys(("enum", "factor", "nominal", "categorical", "choice", "label"), "category")
    | dict.fromkeys(("str", "string", "varchar", "char", "object"), "text")
    | dict.fromkeys(("timestamp", "time", "date_time"), "datetime")
    | {"day": "date"}
)


def number_of(value: Value) -> Fraction:
    """A value as a number: dates in days, datetimes in seconds since 1970.

    >>> number_of(date(1970, 1, 2)), number_of(datetime(1970, 1, 2))
    (Fraction(1, 1), Fraction(86400, 1))
    """
    match value:
        case datetime():
            elapsed = value - _EPOCH
            return Fraction(elapsed.days * 86400 + elapsed.seconds) + Fraction(elapsed.microseconds, 10**6)
        case date():
            return Fraction(value.toordinal() - _EPOCH.toordinal())
        case _:
            return Fraction(value)


def parse_value(value: Any, kind: Type, where: str, fix: str) -> Value:
    """The value as the column's type has it: int, Fraction, date or datetime."""
    match kind:
        case Type.NUMBER:
            return number(value, where, "must hold numbers", fix)
        case Type.INTEGER:
            parsed = number(value, where, "must hold whole numbers", fix)
            if parsed.denominator != 1:
                raise refusal(where, "must hold whole numbers", value, f'{fix}, or type = "number"')
            return int(parsed)
        case Type.DATE:
            return _day(value, where, fix)
        case Type.DATETIME:
            return _moment(value, where, fix)
        case _:
            raise refusal(where, f"must be left out of a {kind} column", value, "Remove it.")


def _day(value: Any, where: str, fix: str) -> date:
    rule = "must hold dates such as 2020-12-31"
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise refusal(where, rule, value, fix) from None
    if not isinstance(value, date) or isinstance(value, datetime):
        raise refusal(where, rule, value, fix)
    return value


def _moment(value: Any, where: str, fix: str) -> datetime:
    rule = "must hold datetimes such as 2020-12-31T23:59:59, on the table's own clock, without an offset"
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise refusal(where, rule, value, fix) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise refusal(where, rule, value, fix)
    return value
