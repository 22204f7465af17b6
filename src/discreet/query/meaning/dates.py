"""Dates as numbers: days and seconds since 1970, and the ranges of their parts."""

from datetime import date, datetime, timedelta
from fractions import Fraction
from math import floor

from discreet.query.meaning.interval import Ends

EPOCH = datetime(1970, 1, 1)
DAY = 86_400
FIRST_DAY = date.min.toordinal() - EPOCH.toordinal()
LAST_DAY = date.max.toordinal() - EPOCH.toordinal()
OF_TIME = ("hour", "minute", "second")
RANGES = {
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "weekday": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}


def day(days: int) -> date | None:
    """The date so many days after 1970-01-01; None outside of the years 1 to 9999."""
    return date.fromordinal(EPOCH.toordinal() + days) if FIRST_DAY <= days <= LAST_DAY else None


def moment(seconds: int) -> datetime | None:
    """The datetime so many seconds after 1970-01-01; None outside of the years 1 to 9999."""
    is_within = FIRST_DAY * DAY <= seconds < (LAST_DAY + 1) * DAY
    return EPOCH + timedelta(seconds=seconds) if is_within else None


def years(ends: Ends | None, unit: int) -> tuple[int, int] | None:
    """First and last year of an interval in days (unit 1) or seconds (unit 86,400)."""
    if ends is None:
        return None
    first, last = (day(floor(end / unit)) for end in ends)
    return None if first is None or last is None else (first.year, last.year)


def parse(text: str) -> date | datetime | None:
    """The date, or datetime, that ISO text means; None for other text.

    >>> parse("2020-01-31"), parse("2020-01-31 08:30")
    (datetime.date(2020, 1, 31), datetime.datetime(2020, 1, 31, 8, 30))
    """
    shaped = len(text) in (10, 16, 19) and text.isascii() and text[4:8:3] == "--" and text[10:11] in ("", " ", "T")
    if not shaped:
        return None
    try:
        parsed = date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if isinstance(parsed, datetime) and parsed.tzinfo is not None else parsed


def whole(value: Fraction) -> int | Fraction:
    """The number, as an int where it is one."""
    return int(value) if value.denominator == 1 else value
