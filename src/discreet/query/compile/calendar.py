"""Date parts and casts as SQL.  Days and seconds are integers; parts of a day are computed by arithmetic alone."""

from discreet.query.compile.operations import Operations
from discreet.query.compile.piece import Kind, Sql
from discreet.query.meaning import texts
from discreet.query.meaning.dates import DAY, FIRST_DAY, LAST_DAY
from discreet.schema import Type

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?)?"


def date_part(name: str, item: Sql, ops: Operations) -> Sql:
    """A whole number read off days or seconds; NULL outside of the years 1 to 9999."""
    days = item.text if item.kind is Kind.DAYS else _days(item.text, ops)
    match name:
        case "weekday":
            number = f"{_remainder(f'({days} + 3)', 7)} + 1"
        case "hour":
            number = ops.quotient(_remainder(item.text, DAY), 3600)
        case "minute":
            number = ops.quotient(_remainder(item.text, 3600), 60)
        case "second":
            number = _remainder(item.text, 60)
        case _:
            # clamped although only days within are read: the engine's planner also asks the least and most stored day
            # for its part, outside of every TRY, and fails where that day is beyond its calendar
            clamped = f"greatest({FIRST_DAY}, least({LAST_DAY}, {days}))"
            number = ops.calendar(name, clamped)
    in_years = f"{item.text} BETWEEN {FIRST_DAY} AND {LAST_DAY}"
    if item.kind is Kind.SECONDS:
        in_years = f"{item.text} BETWEEN {FIRST_DAY * DAY} AND {LAST_DAY * DAY + DAY - 1}"
    return Sql(ops.attempt(f"CASE WHEN {in_years} THEN CAST({number} AS BIGINT) END"), Kind.WHOLE)


def _remainder(item: str, by: int) -> str:
    """From 0 to by − 1, also below 0."""
    return f"((({item} % {by}) + {by}) % {by})"


def _days(seconds: str, ops: Operations) -> str:
    midnight = ops.difference_within(seconds, _remainder(seconds, DAY))
    return f"({ops.quotient(midnight, DAY)})"


def cast(item: Sql, kind: Type, ops: Operations) -> Sql:
    """The item as another type, NULL where it does not fit."""
    match item.kind, kind:
        case Kind.TEXT, _:
            return _text_cast(item.text, kind, ops)
        case _, Type.NUMBER:
            return Sql(item.real(ops), Kind.REAL, item.nan)
        case Kind.REAL, Type.INTEGER:
            nearest = ops.function("round", item.without_nan(ops))
            fits = f"abs({nearest}) <= {ops.real(2**62)}"
            return Sql(ops.attempt(f"CASE WHEN {fits} THEN CAST({nearest} AS BIGINT) END"), Kind.WHOLE)
        case Kind.FLAG, Type.INTEGER:
            return Sql(ops.flag_as_whole(item.text), Kind.WHOLE)
        case _, Type.INTEGER:
            return Sql(f"CAST({item.text} AS BIGINT)", Kind.WHOLE)
        case Kind.FLAG, Type.BOOLEAN:
            return item
        case _, Type.BOOLEAN:
            return Sql(f"({item.without_nan(ops)} <> 0)", Kind.FLAG)
        case Kind.SECONDS, Type.DATE:
            return Sql(ops.attempt(_days(item.text, ops)), Kind.DAYS)
        case Kind.DAYS, Type.DATETIME:
            return Sql(ops.product(item.text, DAY), Kind.SECONDS)
        case _:
            return item


def _text_cast(item: str, kind: Type, ops: Operations) -> Sql:
    """Text as a value: only what is written plainly is read, whatever else the engine would accept."""
    match kind:
        case Type.INTEGER:
            return Sql(ops.if_matches(item, texts.INTEGER, ops.value_in_text(item, kind)), Kind.WHOLE)
        case Type.NUMBER:
            return Sql(ops.if_matches(item, texts.NUMBER, ops.value_in_text(item, kind)), Kind.REAL)
        case Type.BOOLEAN:
            yes, no = (", ".join(map(ops.text, words)) for words in (texts.TRUE, texts.FALSE))
            low = ops.lowered_letters(item)
            return Sql(f"(CASE WHEN {low} IN ({yes}) THEN TRUE WHEN {low} IN ({no}) THEN FALSE END)", Kind.FLAG)
        case Type.DATE:
            days = ops.value_in_text(item, kind)
            return Sql(ops.if_matches(item, _DATE, f"CASE WHEN {days} >= {FIRST_DAY} THEN {days} END"), Kind.DAYS)
        case Type.DATETIME:
            seconds = ops.value_in_text(item, kind)
            result = f"CASE WHEN {seconds} >= {FIRST_DAY * DAY} THEN {seconds} END"
            return Sql(ops.if_matches(item, _DATE + _TIME, result), Kind.SECONDS)
        case _:
            return Sql(item, Kind.TEXT)
