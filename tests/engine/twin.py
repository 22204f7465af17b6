"""A slow, obvious twin of preparing: Python over rows of text, and the engine's SQL over the same rows."""

import math
from datetime import datetime, timedelta
from fractions import Fraction

import duckdb

from discreet.engine.cells import Family
from discreet.engine.prepare import RANK, SALT, TABLE, UNIT, Table, steps, wanted
from discreet.query.layout import stored
from discreet.schema import Column, Schema, Type, Unit

_CONNECTION = duckdb.connect(config={"threads": 1})
WORD = 0x9E3779B97F4A7C15
SCHEMA = Schema(
    "people",
    [
        Column("who", "text"),
        Column("region", "category", values=["north", "south", "o'east"]),
        Column("age", "integer", bounds=(0, 110)),
        Column("cents", "integer", bounds=(-1000, 1000), step=50),
        Column("income", "number", bounds=(-10, 100)),
        Column("price", "number", bounds=(0, 1), step="0.01"),
        Column("size", "number"),
        Column("visits", "integer"),
        Column("code", "integer", values=[1, 2, 5]),
        Column("born", "date", bounds=("1950-01-01", "2020-12-31")),
        Column("seen", "datetime", bounds=("2020-01-01T00:00:00", "2020-12-31T23:59:59"), step=60),
        Column("day", "date"),
        Column("moment", "datetime"),
        Column("member", "boolean"),
    ],
    Unit("who_id", 3),
)


def sql_rows(schema, rows, *, word=WORD, only=None):
    """The prepared rows, each a tuple (unit, rank, salt, c0, …), from rows of text in the order of `wanted`."""
    names = wanted(schema)
    connection = _CONNECTION.cursor()
    connection.execute("BEGIN")
    try:
        lists = [f"unnest(CAST(? AS VARCHAR[])) AS s{place}" for place in range(len(names))]
        connection.execute(f"CREATE TABLE source AS SELECT {', '.join(lists)}", [list(c) for c in _turned(rows, names)])
        table = Table("source", {name: (f"s{place}", Family.TEXT) for place, name in enumerate(names)})
        for step in steps(schema, table, word):
            for statement in step.statements:
                connection.execute(statement)
        chosen = only or f"{UNIT}, {RANK}, {SALT}" + "".join(f", {stored(schema, c).name}" for c in schema.columns)
        return connection.execute(f"SELECT {chosen} FROM {TABLE}").fetchall()
    finally:
        connection.execute("ROLLBACK")


def _turned(rows, names):
    return zip(*rows, strict=True) if rows else [[] for _ in names]


def cell(column, text):
    """One prepared cell by the book."""
    if text in (None, ""):
        return None
    match column.type:
        case Type.TEXT | Type.CATEGORY:
            return text if column.values is None or text in column.values else None
        case Type.BOOLEAN:
            known = {"true": True, "t": True, "1": True, "yes": True, "y": True}
            known |= {"false": False, "f": False, "0": False, "no": False, "n": False}
            return known.get(text.strip(" ").lower())
        case Type.NUMBER:
            return _number(column, _float(text))
        case Type.INTEGER:
            return _integer(column, text)
        case Type.DATE:
            return _floored(column, _moment(text), timedelta(days=1))
        case Type.DATETIME:
            return _floored(column, _moment(text), timedelta(seconds=1))


def _float(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _number(column, value):
    lattice = column.lattice
    if value is None or lattice is None:
        return value
    if math.isinf(value):
        return lattice.low if value < 0 else lattice.high
    scaled = value * lattice.step.denominator / lattice.step.numerator  # in doubles, as stated
    return lattice.low if scaled < lattice.low else lattice.high if scaled > lattice.high else math.floor(scaled + 0.5)


def _integer(column, text):
    lattice, value = column.lattice, _float(text)
    if value is None or (math.isinf(value) and (lattice is None or column.values)):
        return None
    if math.isinf(value):
        return lattice.low if value < 0 else lattice.high
    whole = math.floor(value + 0.5) if abs(value) < 2**53 else math.floor(Fraction(text.strip()) + Fraction(1, 2))
    if column.values is not None:
        return whole if whole in column.values else None
    if lattice is None:
        return whole if -(2**63) <= whole < 2**63 else None
    steps = math.floor(Fraction(whole) / lattice.step + Fraction(1, 2))
    return min(max(steps, lattice.low), lattice.high)


def _moment(text):
    if text.strip().lower().removeprefix("-") in ("inf", "infinity"):
        return -math.inf if "-" in text else math.inf
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _floored(column, moment, unit):
    lattice = column.lattice
    if moment is None or (lattice is None and isinstance(moment, float)):
        return None
    if isinstance(moment, float):
        return lattice.low if moment < 0 else lattice.high
    steps = (moment - datetime(1970, 1, 1)) // unit
    if lattice is None:
        return steps
    return min(max(steps // int(lattice.step), lattice.low), lattice.high)


def as_row(schema, row):
    """A row of text as its prepared cells; the unit's key comes first in `row`."""
    return tuple(cell(column, text) for column, text in zip(schema.columns, row[1:], strict=True))


__all__ = ["SCHEMA", "WORD", "as_row", "cell", "sql_rows"]
