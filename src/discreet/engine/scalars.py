"""One cell of a table in memory: which part of a mixed column holds it, and as what; a function of the cell alone.

A part is a plain type that the engine knows, so that a cell of an object column is read by the very SQL that reads a
typed column.  Nothing raises: what has no value of its own is nothing, and so is what fails when it is looked at.
"""

import datetime as dt
import math
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np

MOST_WHOLE = 2**63
ENDLESS = 2**63 - 1  # the engine's infinite moment, in microseconds
FURTHEST = 9 * 10**18  # microseconds from 1970, about the year 287,000; what lies beyond is endless
_EPOCH, _FIRST_DAY = dt.datetime(1970, 1, 1), dt.date(1970, 1, 1).toordinal()
_MOST_BITS = 2000  # of a whole number that is written out; no double is as large
_MOST_PLACES = 400  # of a decimal that is written out; what is larger keeps its exponent
_NOTHING_TYPES = ("NAType", "NaTType", "NoneType")
_UNITS = {  # of NumPy, pandas, Polars and Arrow, in seconds
    **{"W": Fraction(604_800), "D": Fraction(86_400), "h": Fraction(3600), "m": Fraction(60), "s": Fraction(1)},
    **{"ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12)},
    **{"fs": Fraction(1, 10**15), "as": Fraction(1, 10**18)},
}


class Part(IntEnum):
    """The parts of a mixed column, in their order; at most one of them holds a cell."""

    FLAG = 0
    WHOLE = 1
    REAL = 2
    DAY = 3
    MOMENT = 4
    TEXT = 5


Read = tuple[Part, Any]
NOTHING: Read = (Part.TEXT, None)


def read(cell: Any) -> Read:
    """The part and its value: bool, int64, float, days since 1970, microseconds since 1970 or text.

    >>> read(True), read(3), read(Decimal("1.50")), read(float("nan"))
    ((<Part.FLAG: 0>, True), (<Part.WHOLE: 1>, 3), (<Part.TEXT: 5>, '1.5'), (<Part.TEXT: 5>, None))
    """
    if type(cell) is str:  # most cells are, and most of these are well formed
        return (Part.TEXT, cell) if cell.isascii() else (Part.TEXT, _as_utf8(cell))
    try:
        return _read(cell)
    except Exception:  # a cell's own code may raise anything
        return NOTHING


def microseconds(count: int, unit: str, per: int = 1) -> int:
    """So many times `per` units since 1970, rounded down to microseconds; endless where the engine's moments end."""
    whole = math.floor(count * per * _UNITS[unit] * 10**6)
    return whole if abs(whole) <= FURTHEST else ENDLESS if whole > 0 else -ENDLESS


def seconds_text(count: int, unit: str, per: int = 1) -> str:
    """A duration as its number of seconds.

    >>> seconds_text(1500, "ms")
    '1.5'
    """
    length = int(count * per * _UNITS[unit] * 10**18)
    digits = tuple(map(int, str(abs(length))))  # not by arithmetic, which the caller's context would round
    return _decimal_text(Decimal((int(length < 0), digits, -18)))


def _read(cell: Any) -> Read:
    if type(cell).__name__ in _NOTHING_TYPES:
        return NOTHING
    match cell:
        case str():  # of an Enum or another class: what it is equal to, not what it prints as
            return Part.TEXT, _as_utf8(str.__str__(cell))
        case bool() | np.bool_():
            return Part.FLAG, bool(cell)
        case complex() | np.complexfloating():  # pandas makes complex numbers of all where one is
            return _read(float(cell.real)) if cell.imag == 0 else (Part.TEXT, str(complex(cell)))
        case np.timedelta64() | dt.timedelta():  # NumPy counts the former among its whole numbers
            return _duration(cell)
        case int() | np.integer():
            return _whole(int.__index__(cell) if isinstance(cell, int) else int(cell))
        case float() | np.floating():
            return _real(float.__float__(cell) if isinstance(cell, float) else float(cell))
        case Decimal():
            return _decimal(cell)
        case np.datetime64():
            return _numpy_moment(cell)
        case dt.datetime():
            return _moment(cell)
        case dt.date():
            return Part.DAY, cell.toordinal() - _FIRST_DAY
        case bytes() | bytearray() | memoryview():
            return Part.TEXT, bytes(cell).decode("utf-8", "replace")
        case np.ndarray():
            return Part.TEXT, _as_utf8(str(cell.tolist()))
        case np.generic():
            return read(cell.item()) if type(cell.item()) is not type(cell) else NOTHING
        case _:
            return _other(cell)


def _whole(number: int) -> Read:
    if -MOST_WHOLE <= number < MOST_WHOLE:
        return Part.WHOLE, number
    if number.bit_length() <= _MOST_BITS:
        return Part.TEXT, str(number)
    return Part.REAL, math.inf if number > 0 else -math.inf


def _real(number: float) -> Read:
    return NOTHING if math.isnan(number) else (Part.REAL, number)


def _decimal(number: Decimal) -> Read:
    if number.is_nan():
        return NOTHING
    if number.is_infinite():
        return Part.REAL, math.copysign(math.inf, number)
    return Part.TEXT, _decimal_text(number)


def _decimal_text(number: Decimal) -> str:
    """The number without the zeros that only its scale asks for: equal decimals have one text."""
    sign, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    short = written.rstrip("0")
    if not short:
        return "0"
    power, minus = int(exponent) + len(written) - len(short), "-" if sign else ""
    if abs(power) > _MOST_PLACES:
        return f"{minus}{short}e{power}"
    if power >= 0:
        return f"{minus}{short}{'0' * power}"
    padded = short.rjust(1 - power, "0")
    return f"{minus}{padded[:power]}.{padded[power:]}"


def _moment(cell: dt.datetime) -> Read:
    if hasattr(cell, "to_datetime64"):  # pandas: in UTC, and finer or further than Python's own
        return _numpy_moment(cell.to_datetime64())
    offset = cell.utcoffset()
    gone = cell.replace(tzinfo=None) - _EPOCH - (offset or dt.timedelta())
    return Part.MOMENT, gone // dt.timedelta(microseconds=1)


def _numpy_moment(cell: np.datetime64) -> Read:
    unit, per = np.datetime_data(cell.dtype)
    if np.isnat(cell):
        return NOTHING
    count = int(cell.astype(np.int64))
    if unit in ("Y", "M"):
        months = count * per * (12 if unit == "Y" else 1)
        if abs(months) > 12 * 280_000:
            return Part.MOMENT, ENDLESS if months > 0 else -ENDLESS
        count, unit, per = int(np.datetime64(months, "M").astype("datetime64[D]").astype(np.int64)), "D", 1
    return Part.MOMENT, microseconds(count, unit, per)


def _duration(cell: Any) -> Read:
    if isinstance(cell, dt.timedelta) and not hasattr(cell, "to_timedelta64"):
        return Part.TEXT, seconds_text(cell // dt.timedelta(microseconds=1), "us")
    plain: Any = cell.to_timedelta64() if hasattr(cell, "to_timedelta64") else cell
    unit, per = np.datetime_data(plain.dtype)
    if np.isnat(plain) or unit not in _UNITS:
        return NOTHING
    return Part.TEXT, seconds_text(int(plain.astype(np.int64)), unit, per)


def _other(cell: Any) -> Read:
    kind: Any = type(cell)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return NOTHING  # it would print where it lies in memory
    return Part.TEXT, _as_utf8(str(cell))


def _as_utf8(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode()
