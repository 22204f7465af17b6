"""Date parts and casts as SQL.  Days and seconds are integers; parts of a day are worked out by arithmetic alone."""

from discreet.query.compile import spelling
from discreet.query.compile.piece import Kind, Sql
from discreet.query.meaning import texts
from discreet.query.meaning.dates import DAY, FIRST_DAY, LAST_DAY
from discreet.schema import Type

_CALENDAR = {"year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day"}
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?)?"


def date_part(name: str, item: Sql) -> Sql:
    """A whole number read off days or seconds; NULL outside of the years 1 to 9999."""
    days = item.text if item.kind is Kind.DAYS else _days(item.text)
    match name:
        case "weekday":
            made = f"{_remainder(f'({days} + 3)', 7)} + 1"
        case "hour":
            made = f"{_remainder(item.text, DAY)} // 3600"
        case "minute":
            made = f"{_remainder(item.text, 3600)} // 60"
        case "second":
            made = _remainder(item.text, 60)
        case _:
            # clamped although only days within are read: the engine's planner also asks the least and most stored day
            # for its part, outside of every TRY, and fails where that day is beyond its calendar
            near = f"greatest({FIRST_DAY}, least({LAST_DAY}, {days}))"
            made = f"{_CALENDAR[name]}(DATE '1970-01-01' + CAST({near} AS INTEGER))"
    within = f"{item.text} BETWEEN {FIRST_DAY} AND {LAST_DAY}"
    if item.kind is Kind.SECONDS:
        within = f"{item.text} BETWEEN {FIRST_DAY * DAY} AND {LAST_DAY * DAY + DAY - 1}"
    return Sql(f"TRY(CASE WHEN {within} THEN CAST({made} AS BIGINT) END)", Kind.WHOLE)


def _remainder(item: str, by: int) -> str:
    """From 0 to by − 1, also below 0."""
    return f"((({item} % {by}) + {by}) % {by})"


def _days(seconds: str) -> str:
    return f"(({seconds} - {_remainder(seconds, DAY)}) // {DAY})"


def cast(item: Sql, kind: Type) -> Sql:
    """The item as another type, NULL where it does not fit."""
    match item.kind, kind:
        case Kind.TEXT, _:
            return _read(item.text, kind)
        case _, Type.NUMBER:
            return Sql(item.real, Kind.REAL, item.nan)
        case Kind.REAL, Type.INTEGER:
            nearest = f"floor({item.known} + 0.5e0)"
            fits = spelling.real(2**62)
            return Sql(f"TRY(CASE WHEN abs({nearest}) <= {fits} THEN CAST({nearest} AS BIGINT) END)", Kind.WHOLE)
        case _, Type.INTEGER:
            return Sql(f"CAST({item.text} AS BIGINT)", Kind.WHOLE)
        case Kind.FLAG, Type.BOOLEAN:
            return item
        case _, Type.BOOLEAN:
            return Sql(f"({item.known} <> 0)", Kind.FLAG)
        case Kind.SECONDS, Type.DATE:
            return Sql(f"TRY({_days(item.text)})", Kind.DAYS)
        case Kind.DAYS, Type.DATETIME:
            return Sql(f"TRY({item.text} * {DAY})", Kind.SECONDS)
        case _:
            return item


def _read(item: str, kind: Type) -> Sql:
    """Text as a value: only what is written plainly is read, whatever else the engine would accept."""
    match kind:
        case Type.INTEGER:
            return Sql(_where_shaped(item, texts.INTEGER, f"TRY_CAST({item} AS BIGINT)"), Kind.WHOLE)
        case Type.NUMBER:
            return Sql(_where_shaped(item, texts.NUMBER, f"TRY_CAST({item} AS DOUBLE)"), Kind.REAL)
        case Type.BOOLEAN:
            yes, no = (", ".join(map(spelling.text, words)) for words in (texts.TRUE, texts.FALSE))
            low = f"lower({item})"
            return Sql(f"(CASE WHEN {low} IN ({yes}) THEN TRUE WHEN {low} IN ({no}) THEN FALSE END)", Kind.FLAG)
        case Type.DATE:
            days = f"(TRY_CAST({item} AS DATE) - DATE '1970-01-01')"
            return Sql(_where_shaped(item, _DATE, f"CASE WHEN {days} >= {FIRST_DAY} THEN {days} END"), Kind.DAYS)
        case Type.DATETIME:
            seconds = f"CAST(epoch(TRY_CAST({item} AS TIMESTAMP)) AS BIGINT)"
            made = f"CASE WHEN {seconds} >= {FIRST_DAY * DAY} THEN {seconds} END"
            return Sql(_where_shaped(item, _DATE + _TIME, made), Kind.SECONDS)
        case _:
            return Sql(item, Kind.TEXT)


def _where_shaped(item: str, pattern: str, made: str) -> str:
    return f"TRY(CASE WHEN regexp_full_match({item}, {spelling.text(pattern)}) THEN {made} END)"
