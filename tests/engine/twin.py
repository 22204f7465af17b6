"""A slow, obvious twin of preparing: Python over rows of text, and the engine's SQL over the same rows."""

import hashlib
import math
import struct
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import duckdb

from discreet.engine.cells import Family
from discreet.engine.prepare import ID_KEY, KEYS, ROW_KEY, Table, columns_read, steps
from discreet.engine.secret import Secret
from discreet.query.layout import RANK, TABLE, UNIT, UNITS, Store, storage
from discreet.schema import Column, Schema, Type, Unit

_CONNECTION = duckdb.connect(config={"threads": 1})
SECRET = Secret(bytes(range(32)))
_CONNECTION.execute("SET TimeZone = 'UTC'")
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


def sql_rows(schema, rows, *, secret=SECRET, only=None, table=TABLE):
    """The prepared rows, each a tuple (unit, rank, cells …), from rows of text in the order of `wanted`."""
    names = columns_read(schema)
    connection = _CONNECTION.cursor()
    connection.execute("BEGIN")
    try:
        lists = [f"unnest(CAST(? AS VARCHAR[])) AS s{place}" for place in range(len(names))]
        connection.execute(f"CREATE TABLE source AS SELECT {', '.join(lists)}", [list(c) for c in _turned(rows, names)])
        source = Table("source", {name: (f"s{place}", Family.TEXT) for place, name in enumerate(names)})
        for name, digits in KEYS.items():
            connection.execute(f"SET VARIABLE {name} = ?", [secret.key_for(name, digits)])
        for step in steps(schema, source):
            for statement in step.statements:
                connection.execute(statement)
        chosen = only or f"{UNIT}, {RANK}" + "".join(f", {storage(schema, c).name}" for c in schema.columns)
        return connection.execute(f"SELECT {chosen} FROM {table}").fetchall()
    finally:
        connection.execute("ROLLBACK")


def _turned(rows, names):
    return zip(*rows, strict=True) if rows else [[] for _ in names]


def cell(column, text):
    """One prepared cell by the book."""
    if text is None:
        return None
    match column.type:
        case Type.TEXT | Type.CATEGORY:
            if column.values is None:
                return text
            return column.values.index(text) if text in column.values else None
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
        value = float("" if "_" in text else text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _number(column, value):
    lattice = column.lattice
    if value is None or lattice is None:
        return None if value is None else value + 0.0  # −0 is stored as 0
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
    whole = math.floor(value + 0.5) if abs(value) < 2**52 else math.floor(Fraction(text.strip()) + Fraction(1, 2))
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
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
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


# --- hashes, by the book of `query.compile.keyed` and `engine.packing` ---------------------------------------------


def part(value):
    """A value as a part of a message."""
    match value:
        case None:
            return ""
        case str():
            return f"{len(value.encode())}:{value}"
        case float():
            return str(struct.unpack(">q", struct.pack(">d", value))[0])
        case _:
            return str(int(value))


def words(schema, cells):
    """A row's words: digits of public range packed into 62 bits, each with its size; then all other cells."""
    packed, loose = [], []
    pairs = dict(zip((column.name for column in schema.columns), cells, strict=True))
    for column in sorted(schema.columns, key=lambda column: column.name):
        value, store, lattice = pairs[column.name], storage(schema, column).store, column.lattice
        known = {Store.CODE: (0, len(column.values or ()) - 1), Store.FLAG: (0, 1)}.get(store)
        if store is Store.STEPS and lattice is not None and lattice.points < 2**62:
            known = (lattice.low, lattice.high)
        if known is None:
            loose.append(value)
            continue
        bits = len(f"{known[1] - known[0] + 1:b}")
        if not packed or packed[-1][1] + bits > 62:
            packed.append((0, 0))
        word, filled = packed.pop()
        packed.append((word + 2**filled * (0 if value is None else value - known[0] + 1), filled + bits))
    return packed, loose


def mixed(schema, cells, unit, secret=SECRET):
    """What orders a unit's rows: the steps of `engine.mixing` on plain numbers."""
    packed, loose = words(schema, cells)
    limbs = []
    for word, bits in packed:
        limbs += [word % 2**31, *([word // 2**31] if bits > 31 else [])]
    if loose or len(limbs) > 4:
        word = order64(*spelt(schema, cells), secret=secret) // 4
        limbs = [word % 2**31, word // 2**31]
    x = unit % 2**31
    for limb in limbs:
        x ^= limb
        x = (x ^ x // 2**16) * 2246822507 % 2**31
        x = (x ^ x // 2**13) * 3266489909 % 2**31
        x ^= x // 2**16
    return x


def spelt(schema, cells):
    """A row's words as parts of a message."""
    packed, loose = words(schema, cells)
    return [*(str(word) for word, _ in packed), *map(part, loose)]


def order64(*parts, secret=SECRET, key=ROW_KEY):
    message = secret.key_for(key, KEYS[key]) + "|".join(map(str, parts))
    return int.from_bytes(hashlib.md5(message.encode()).digest()[8:], "little")


def id64(*parts, secret=SECRET):
    message = secret.key_for(ID_KEY, KEYS[ID_KEY]) + "|".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(message.encode()).digest()[:8], "big", signed=True)


__all__ = ["SCHEMA", "SECRET", "UNITS", "as_row", "cell", "id64", "mixed", "spelt", "sql_rows", "words"]
