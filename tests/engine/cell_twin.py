"""A slow, obvious twin of reading a table in memory: one Python cell → what a column of each type makes of it."""

import datetime as dt
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd

from discreet.schema import Type

_EPOCH = dt.datetime(1970, 1, 1)
_WORDS = dict.fromkeys(("true", "t", "1", "yes", "y"), True) | dict.fromkeys(("false", "f", "0", "no", "n"), False)


def plain(cell):
    """The cell as Python's own types have it: None, bool, int, float, Decimal, date, datetime, timedelta or text."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, np.datetime64):
        return plain(pd.Timestamp(cell))
    if isinstance(cell, np.timedelta64):
        return plain(pd.Timedelta(cell))
    if isinstance(cell, pd.Timestamp):
        cell = cell.tz_convert("UTC").tz_localize(None) if cell.tz is not None else cell
        return cell.floor("us").to_pydatetime()
    if isinstance(cell, np.generic):
        return plain(cell.item())
    if isinstance(cell, str):
        return "".join(list(cell))  # of an Enum too: what it is equal to
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        return cell.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return int(cell)
    if (isinstance(cell, float) and math.isnan(cell)) or (isinstance(cell, Decimal) and cell.is_nan()):
        return None
    return cell


def text(cell):
    """The cell's one text."""
    match plain(cell):
        case None:
            return None
        case bool() as flag:
            return "true" if flag else "false"
        case float() as number:
            whole = math.isfinite(number) and number == int(number) and abs(number) < 2**53
            return str(int(number)) if whole else repr(number)
        case Decimal() as number:
            with localcontext(prec=900):
                return format(number.normalize() + 0, "f")
        case dt.timedelta() as length:
            nanoseconds = getattr(length, "value", None) if isinstance(length, pd.Timedelta) else None
            exact = Fraction(
                length // dt.timedelta(microseconds=1) * 1000 if nanoseconds is None else nanoseconds, 10**9
            )
            return text(Decimal(exact.numerator) / Decimal(exact.denominator))
        case dt.datetime() as moment:
            shown = moment.strftime("%H:%M:%S") + f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
            return f"{moment.date().isoformat()} {shown}"
        case dt.date() as day:
            return day.isoformat()
        case bytes() as raw:
            return raw.decode("utf-8", "replace")
        case other:
            return str(other)


def value(column, cell):
    """What the column makes of the cell before it is put on a lattice."""
    known = plain(cell)
    match column.type:
        case _ if known is None:
            return None
        case Type.TEXT | Type.CATEGORY:
            return text(cell)
        case Type.BOOLEAN:
            return _WORDS.get(text(cell).strip(" ").lower())
        case Type.NUMBER:
            return _number(known)
        case Type.INTEGER:
            return _whole(known)
        case Type.DATE:
            return None if (moment := _moment(known)) is None else (moment - _EPOCH) // dt.timedelta(days=1)
        case Type.DATETIME:
            return None if (moment := _moment(known)) is None else (moment - _EPOCH) // dt.timedelta(microseconds=1)


def _number(known):
    if isinstance(known, (bool, float)):
        return float(known)
    if isinstance(known, int):
        return float(known) if abs(known) < 2**1000 else math.copysign(math.inf, known)
    spelt = text(known)
    try:
        number = None if "_" in spelt else float(spelt)
    except ValueError:
        return None
    return None if number is None or math.isnan(number) else number


def _whole(known):
    number = _number(known)
    if number is None or math.isinf(number):
        return None
    exact = Fraction(known) if isinstance(known, (int, float)) else Fraction(text(known).strip())
    whole = math.floor(number + 0.5) if abs(number) < 2**52 else math.floor(exact + Fraction(1, 2))
    return whole if -(2**63) <= whole < 2**63 else None


def _moment(known):
    if isinstance(known, dt.datetime):
        return known
    if isinstance(known, dt.date):
        return dt.datetime.combine(known, dt.time())
    spelt = text(known).strip(" ")
    if not re.match(r"\d{4}-\d\d-\d\d(\D|$)", spelt, re.ASCII):  # Python also reads 20201231 and 2020-W53-4
        return None
    try:
        return plain(dt.datetime.fromisoformat(spelt))
    except ValueError:
        return None
