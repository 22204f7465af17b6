"""The slow obvious twin: a small prepared table as Python rows, and every expression evaluated row by row on it."""

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

import duckdb

from discreet.query.layout import Store, engine_type, storage
from discreet.query.meaning.fold import columns
from discreet.query.nodes import (
    And,
    Arith,
    Bins,
    Call,
    Case,
    Col,
    Compare,
    DatePart,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    TryCast,
)
from discreet.schema import Column, Schema, Type, Unit
from discreet.schema.column import default_step
from discreet.schema.kind import number_of

EPOCH = datetime(1970, 1, 1)
ODD = ("it's", '";DROP TABLE prepared;--', "ÄÖ ü", "a%b_c", " x ", "12", "-3.5")
SCHEMA = Schema(
    "people",
    [
        Column("region", "category", values=("north", "south", "east", "west")),
        Column("odd", "category", values=ODD, null="key"),
        Column("ward", "category"),
        Column("note", "text", null="key"),
        Column("age", "integer", bounds=(0, 110), bins=(0, 18, 65, 110)),
        Column("code", "integer", values=(7, 3, 11), null="key"),
        Column("big", "integer"),
        Column("tens", "integer", bounds=(-40, 40), step=10),
        Column("price", "number", bounds=(0, 50), step="0.1", bins=(0, 10, 25, 50)),
        Column("score", "number", bounds=(-5, 5)),
        Column("wild", "number"),
        Column("vip", "boolean", null="key"),
        Column("home", "category", values=("a", "b"), fixed_per_unit=True),
        Column("seen", "date", bounds=(date(2019, 12, 20), date(2021, 1, 10))),
        Column("born", "date"),
        Column("weekly", "date", bounds=(date(2020, 1, 2), date(2020, 6, 25)), step=7),
        Column("at", "datetime", bounds=(datetime(1969, 12, 30), datetime(1970, 1, 3))),
        Column("moment", "datetime"),
        Column("x' y\"; --", "integer", bounds=(0, 3)),
    ],
    Unit("pid", 4),
)


@dataclass(frozen=True)
class Days:
    n: int


@dataclass(frozen=True)
class Seconds:
    n: int


# --- the table -----------------------------------------------------------------------------------------------------


def extremes(column):
    """Stored cells that are likely to hurt."""
    cell = storage(SCHEMA, column)
    match cell.store:
        case Store.CODE:
            return [*column.values, None]
        case Store.TEXT:
            return ["", "north", "12", " 7", "-3.5e2", "1e999", "2020-02-30", "2020-02-29", "2020-02-29 23:59:59",
                    "yes", "F", "O'Neil; --", "Zoë 👍", "nan", None]  # fmt: skip
        case Store.FLAG:
            return [True, False, None]
        case Store.FLOAT:
            return [0.0, -0.0, 1.5, -2.5, 1e308, -1e308, 5e-324, math.inf, -math.inf, 17.0, None]
        case _ if column.values is not None:
            return [*column.values, None]
        case _ if column.lattice is not None:
            low, high = column.lattice.low, column.lattice.high
            return [low, low + 1, (low + high) // 2, high - 1, high, max(low, min(high, 0)), None]
        case _ if column.type is Type.INTEGER:
            return [0, 1, -1, 17, 2**53 + 1, 2**63 - 1, -(2**63), 10**6, None]
        case _ if column.type is Type.DATE:
            return [0, -1, 18321, 11016, 2932896, -719162, 2**62, -(2**62), None]
        case _:
            return [0, -1, 86399, 86400, -86400, 1582934399, 253402300799, 2**62, -(2**62), None]


def nasty_rows(number=60):
    """Rows whose cells go round through the extremes at different speeds; units of 1 to 4 rows."""
    rows, unit, rank = [], 0, 0
    for i in range(number):
        rank += 1
        if rank > (unit % 4) + 1:
            unit, rank = unit + 1, 1
        cells = []
        for place, column in enumerate(SCHEMA.columns):
            listed = extremes(column)
            speed = unit if column.fixed_per_unit else i * (1 + place % 3) + i // (place + 2)
            cells.append(listed[(speed + place) % len(listed)])
        rows.append((unit, rank, *cells))
    return rows


def connected(rows, schema=SCHEMA, word="5ec3e75ec3e75ec3"):
    """A DuckDB with the prepared table of these rows, whose cells of public values are labels."""
    coded = [(unit, rank, *map(_code, schema.columns, cells)) for unit, rank, *cells in rows]
    con = duckdb.connect(config={"threads": 1})
    kinds = []
    for column in schema.columns:
        place = storage(schema, column)
        if place.store is Store.CODE:
            listed = ", ".join("'" + value.replace("'", "''") + "'" for value in column.values)
            con.execute(f"CREATE TYPE t{place.name} AS ENUM ({listed})")
        kinds.append(f"{place.name} {engine_type(schema, column)}")
    con.execute(f"CREATE TABLE prepared(discreet_unit BIGINT, discreet_rank INTEGER, {', '.join(kinds)})")
    con.execute("CREATE TABLE discreet_secret(word VARCHAR)")
    con.execute("INSERT INTO discreet_secret VALUES (?)", [word])
    if coded:
        marks = f"({', '.join('?' * len(coded[0]))})"
        con.execute(
            f"INSERT INTO prepared VALUES {', '.join([marks] * len(coded))}", [cell for row in coded for cell in row]
        )
    return con


def _code(column, cell):
    """A label as its code; every other cell as it is."""
    is_label = cell is not None and column.values is not None and isinstance(cell, str)
    return column.values.index(cell) if is_label else cell


def row_of(cells, schema=SCHEMA):
    """A stored row by column name, without unit and rank."""
    return dict(zip((column.name for column in schema.columns), cells[2:], strict=True))


# --- expressions ---------------------------------------------------------------------------------------------------


def cell_value(column, raw, schema=SCHEMA):
    cell = storage(schema, column)
    if raw is None or cell.store is not Store.STEPS:
        return raw
    match column.type:
        case Type.NUMBER:
            top, bottom = cell.step.numerator, cell.step.denominator
            return float(raw) * float(cell.step) if bottom & (bottom - 1) == 0 else float(raw) * top / bottom
        case Type.DATE:
            return Days(raw * int(cell.step))
        case Type.DATETIME:
            return Seconds(raw * int(cell.step))
        case _:
            return raw * int(cell.step)


def constant(value):
    match value:
        case datetime():
            return Seconds(int(number_of(value)))
        case date():
            return Days(int(number_of(value)))
        case int() | Fraction() if not isinstance(value, bool):
            return int(value) if value.denominator == 1 and abs(value) < 2**63 else float(value)
        case _:
            return value


def evaluated(expr, row, schema=SCHEMA):
    """The value of an expression on a row of stored cells: None, bool, int, float, str, Days or Seconds."""

    def ev(inner):
        return evaluated(inner, row, schema)

    match expr:
        case Col(name):
            column = schema.find(name)
            return cell_value(column, row[column.name], schema)
        case Literal(value):
            return constant(value)
        case Compare(op, left, right):
            return compared(op, left, right, row, schema)
        case In(item, options):
            truths = [compared("=", item, option, row, schema) for option in options]
            return None if None in truths else any(truths)
        case Like(item, pattern):
            truths = ev(item)
            return None if truths is None else liked(truths, pattern)
        case IsNull(item):
            return ev(item) is None
        case Not(item):
            return None if ev(item) is None else not ev(item)
        case And(parts):
            truths = [ev(part) for part in parts]
            return False if False in truths else None if None in truths else True
        case Or(parts):
            truths = [ev(part) for part in parts]
            return True if True in truths else None if None in truths else False
        case Case(branches, otherwise):
            taken = [value for test, value in branches if ev(test) is True]
            return ev(taken[0] if taken else otherwise)
        case Arith(op, left, right):
            return arithmetic(op, ev(left), ev(right))
        case Call(name, parts):
            return call(name, [ev(part) for part in parts], parts, row, schema)
        case DatePart(part, item):
            return date_part(part, ev(item))
        case TryCast(item, kind):
            return cast(ev(item), kind)


def liked(text, pattern):
    shape = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(shape, text, re.DOTALL) is not None


OPS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def compared(op, left, right, row, schema):
    """Beside a constant, a stored number and + - * / of it with constants are compared as Fractions: exactly."""
    names = set(columns(left))
    column = schema.find(next(iter(names))) if len(names) == 1 else None
    number = isinstance(right, Literal) and not isinstance(right.value, str)
    if column is not None and number and storage(schema, column).store is Store.STEPS:
        raw, step, beside = row[column.name], storage(schema, column).step, number_of(right.value)
        exact = exactly(left, raw * step if raw is not None else Fraction(1))
        ends = [exactly(left, Fraction(x)) for x in (0, 1)]
        if exact is not None and ends[0] != ends[1]:
            if column.type is Type.NUMBER and step == default_step(column):
                beside = read_like_a_cell(beside, *ends, step)
            return None if raw is None else OPS[op](exact, beside)
    return both(op, evaluated(left, row, schema), evaluated(right, row, schema))


def exactly(expr, cell):
    """The expression in Fractions where its column holds `cell`; None where it is more than + - * / with constants."""
    match expr:
        case Col():
            return cell
        case Literal(int() | Fraction() as value) if not isinstance(value, bool):
            return Fraction(value)
        case Arith("+" | "-" | "*" | "/" as op, left, right) if Literal in (type(left), type(right)):
            if op == "/" and (not isinstance(right, Literal) or right.value == 0):
                return None
            a, b = exactly(left, cell), exactly(right, cell)
            if a is None or b is None:
                return None
            return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[op]()
        case _:
            return None


def read_like_a_cell(beside, at_zero, at_one, step):
    """Without a declared step a decimal is rounded as cells are, if decimals of its length keep apart."""
    value = (beside - at_zero) / (at_one - at_zero)
    digits = next((n for n in range(1100) if (value * 10**n).denominator == 1), None)
    if digits is None or Fraction(1, 10**digits) < step:
        return beside
    return at_zero + (at_one - at_zero) * math.floor(value / step + Fraction(1, 2)) * step


def both(op, a, b):
    if a is None or b is None:
        return None
    if isinstance(a, Days | Seconds):
        if type(a) is not type(b):
            a, b = (cast(x, Type.DATETIME) for x in (a, b))
        if a is None or b is None:
            return None  # so many days that their seconds pass 2^63
        a, b = a.n, b.n
    elif isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    return OPS[op](a, b)


def tidy(x):
    return None if x is None or math.isnan(x) else x


def arithmetic(op, a, b):
    if a is None or b is None:
        return None
    if isinstance(a, Days | Seconds):
        n = a.n - b.n
        return n if -(2**63) <= n < 2**63 else None
    a, b = float(a), float(b)
    match op:
        case "+":
            return tidy(a + b)
        case "-":
            return tidy(a - b)
        case "*":
            return tidy(a * b)
        case "/":
            try:
                return None if b == 0 else tidy(a / b)
            except OverflowError:
                return math.copysign(math.inf, a) * math.copysign(1, b)
        case "%":
            return None if b == 0 or math.isinf(a) else math.fmod(a, b)


def call(name, values, parts, row, schema):
    if name == "coalesce":
        return next((value for value in values if value is not None), None)
    if name == "nullif":
        return None if compared("=", *parts, row, schema) is True else values[0]
    if any(value is None for value in values):
        return None
    x = values[0]
    match name:
        case "least" | "greatest" | "clamp":
            keys = [value.n if isinstance(value, Days | Seconds) else value for value in values]
            kind = type(x) if isinstance(x, Days | Seconds) else (lambda n: n)
            if name == "clamp":
                return kind(max(keys[1], min(keys[2], keys[0])))
            return kind(min(keys) if name == "least" else max(keys))
        case "lower":
            return x.lower()
        case "upper":
            return x.upper()
        case "trim":
            return x.strip(" ")
        case "length":
            return len(x)
    return of_number(name, float(x))


def of_number(name, x):
    match name:
        case "abs":
            return abs(x)
        case "floor" | "ceil" | "round":
            if math.isinf(x):
                return x
            return float({"floor": math.floor, "ceil": math.ceil, "round": lambda y: math.floor(y + 0.5)}[name](x))
        case "sqrt":
            return None if x < 0 else math.sqrt(x)
        case "ln":
            return None if x <= 0 else math.log(x)
        case "exp":
            try:
                return math.exp(x)
            except OverflowError:
                return math.inf


def date_part(part, x):
    if x is None:
        return None
    try:
        moment = EPOCH + (timedelta(days=x.n) if isinstance(x, Days) else timedelta(seconds=x.n))
    except OverflowError:
        return None
    match part:
        case "quarter":
            return (moment.month + 2) // 3
        case "week":
            return moment.isocalendar().week
        case "weekday":
            return moment.isoweekday()
        case _:
            return getattr(moment, part)


def cast(x, kind):
    if x is None:
        return None
    if isinstance(x, str):
        return read(x, kind)
    match kind:
        case Type.NUMBER:
            return float(x)
        case Type.INTEGER if isinstance(x, float):
            return None if abs(x) > 2.0**62 else math.floor(x + 0.5)
        case Type.INTEGER:
            return int(x)
        case Type.BOOLEAN:
            return x != 0
        case Type.DATE if isinstance(x, Seconds):
            return Days(x.n // 86400) if x.n - x.n % 86400 >= -(2**63) else None
        case Type.DATETIME if isinstance(x, Days):
            return Seconds(x.n * 86400) if abs(x.n * 86400) < 2**63 else None
        case _:
            return x


def read(text, kind):
    match kind:
        case Type.INTEGER:
            return int(text) if re.fullmatch("[+-]?[0-9]{1,18}", text) else None
        case Type.NUMBER:
            plain = re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", text)
            return float(text) if plain else None
        case Type.BOOLEAN:
            low = text.lower()
            return (
                True
                if low in ("true", "t", "yes", "y", "1")
                else False
                if low in ("false", "f", "no", "n", "0")
                else None
            )
        case Type.DATE | Type.DATETIME:
            shape = r"\d{4}-\d\d-\d\d" + ("" if kind is Type.DATE else r"([ T]\d\d:\d\d(:\d\d)?)?")
            if not re.fullmatch(shape, text):
                return None
            try:
                return constant(date.fromisoformat(text) if kind is Type.DATE else datetime.fromisoformat(text))
            except ValueError:
                return None
        case _:
            return text


def bin_place(bins, row, schema=SCHEMA):
    """Which bin a row lies in, by comparing with each edge in turn; None outside."""
    last = len(bins.edges) - 2
    for place in range(last + 1):
        low = compared(">=", bins.item, Literal(bins.edges[place]), row, schema)
        high = compared("<=" if place == last else "<", bins.item, Literal(bins.edges[place + 1]), row, schema)
        if low and high:
            return place
    return None


def key_value(item, row, schema=SCHEMA):
    """The value of a key: a bin's number, or what the expression gives."""
    return bin_place(item, row, schema) if isinstance(item, Bins) else evaluated(item, row, schema)
