"""One cell in PostgreSQL's SQL: read and prepared by the rules of `engine.cells`, with this server's total operations.

A cell's text, its steps and its NULLs are those of the other engine for the same content.  Texts that say a moment are
read where they are written as ISO 8601 has it, with (BC) for years before 1.
"""

from fractions import Fraction

from discreet.engine import beyond
from discreet.engine.cells import Family, clamped_cases, integer, is_double, is_too_wide, literal, number
from discreet.query.compile.postgres import POSTGRES
from discreet.query.layout import Store, engine_type, storage
from discreet.schema import Column, Empty, Lattice, Schema, Type

_EXACT = 2**53
_HALVES = 2**52
_FAR = 2**63 - 1
_FURTHEST = 10**38
_DAY = 86_400 * 10**6
_NAN = "CAST('NaN' AS float8)"
_TYPES = {"UTINYINT": "smallint", "USMALLINT": "integer", "UINTEGER": "bigint", "DOUBLE": "float8"}
_FAMILIES = {
    "smallint": Family.WHOLE,
    "integer": Family.WHOLE,
    "bigint": Family.WHOLE,
    "real": Family.REAL,
    "double precision": Family.REAL,
    "numeric": Family.DECIMAL,
    "boolean": Family.FLAG,
    "date": Family.DAY,
    "timestamp without time zone": Family.MOMENT,
    "timestamp with time zone": Family.MOMENT,
}


def family(kind: str) -> Family:
    """The family of a type as the server names it.

    >>> family("bigint").name, family("character varying").name
    ('WHOLE', 'TEXT')
    """
    return _FAMILIES.get(kind, Family.TEXT)


def cast(schema: Schema, column: Column, sql: str) -> str:
    """A prepared cell as its column's type; texts compare by their bytes."""
    name = engine_type(schema, column)
    return f'CAST({sql} AS text) COLLATE "C"' if name == "VARCHAR" else f"CAST({sql} AS {_TYPES.get(name, name)})"


def text(raw: str, family: Family) -> str:
    """The cell's one text."""
    match family:
        case Family.REAL:
            whole = f"abs({raw}) < {_EXACT} AND {raw} = trunc({raw})"
            plain, spelt = f"CAST(CAST({raw} AS bigint) AS text)", f"CAST(CAST({raw} AS float8) AS text)"
            number = f"CASE WHEN {whole} THEN {plain} ELSE {spelt} END"
            return f"CASE WHEN {_is_nan(raw)} THEN NULL ELSE {number} END"
        case Family.DECIMAL:
            spelt = f"CAST({raw} AS text)"
            cut = f"CASE WHEN strpos({spelt}, '.') > 0 THEN rtrim(rtrim({spelt}, '0'), '.') ELSE {spelt} END"
            return f"CASE WHEN {raw} = CAST('NaN' AS numeric) THEN NULL ELSE {cut} END"
        case _:
            return f"CAST({raw} AS text)"


def unit_key(raw: str, family: Family) -> str:
    """SQL of the unit's key; an empty text is NULL."""
    return f"CAST({raw} AS bigint)" if family is Family.WHOLE else f"""nullif({text(raw, family)}, '') COLLATE "C\""""


def value(column: Column, raw: str, family: Family) -> str:
    """The source's cell read as the column's type."""
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            plain = text(raw, family)
            return plain if column.empty is Empty.VALUE else f"nullif({plain}, '')"
        case Type.BOOLEAN:
            return raw if family is Family.FLAG else _flag(text(raw, family))
        case Type.INTEGER if not is_too_wide(column.lattice):
            return _whole(raw, family, column.lattice)
        case Type.NUMBER | Type.INTEGER:
            return _double(raw, family)
        case Type.DATE:
            return _floor(_moment(raw, family, column.lattice), None, _DAY)
        case Type.DATETIME:
            return _moment(raw, family, column.lattice)


def cell(schema: Schema, column: Column, read: str) -> str:
    """The prepared cell from what `value` gave."""
    place, lattice = storage(schema, column), column.lattice
    match column.type:
        case Type.CATEGORY | Type.TEXT if place.store is Store.TEXT:
            return read
        case Type.CATEGORY | Type.TEXT:
            listed = ", ".join(POSTGRES.text(str(value)) for value in column.values or ())
            return f"CASE WHEN {read} IS NOT NULL THEN array_position(CAST(ARRAY[{listed}] AS text[]), {read}) - 1 END"
        case Type.BOOLEAN:
            return read
        case Type.INTEGER if not is_too_wide(lattice):
            return integer(read, column, _nearest)
        case Type.NUMBER | Type.INTEGER:
            return _number(read, lattice)
        case Type.DATE:
            return _floor(read, lattice, 1)
        case Type.DATETIME:
            return _floor(read, lattice, 10**6)


def sides(schema: Schema) -> dict[str, str]:
    """As `beyond.sides`, on what was read here."""
    return beyond.sides(schema, _literal, _is_nan)


def _is_nan(sql: str) -> str:
    return f"{sql} = {_NAN}"


def _flag(text: str) -> str:
    low = f"""lower(btrim({text}, ' ') COLLATE "C")"""
    return (
        f"CASE WHEN {low} IN ('true', 't', '1', 'yes', 'y') THEN TRUE "
        f"WHEN {low} IN ('false', 'f', '0', 'no', 'n') THEN FALSE END"
    )


def _double(raw: str, family: Family) -> str:
    if family in (Family.WHOLE, Family.REAL):
        return f"CAST({raw} AS float8)"
    if family is Family.FLAG:
        return f"CAST(CAST({raw} AS integer) AS float8)"
    return f"discreet_double({text(raw, family)})"


def _number(read: str, lattice: Lattice | None) -> str:
    steps = "" if lattice is None else f"discreet_whole(floor({_quotient(read, lattice.step)} + 0.5))"
    return number(read, lattice, _is_nan(read), _literal, steps)


def _quotient(read: str, step: Fraction) -> str:
    """As `cells._quotient`: v·q/p in doubles, two roundings at most."""
    up, down = step.denominator, step.numerator
    if not (is_double(up) and is_double(down)):
        return f"discreet_over({read}, {_literal(step)})"
    raised = f"discreet_times({read}, {_literal(Fraction(up))})" if up > 1 else read
    return f"discreet_over({raised}, {_literal(Fraction(down))})" if down > 1 else raised


def _whole(raw: str, family: Family, lattice: Lattice | None) -> str:
    """⌊v + ½⌋, exact beyond 2⁵³ too; past every lattice's end, or NULL without bounds, where its type ends."""
    kind, far = ("bigint", _FAR) if lattice is None or lattice.step == 1 else ("numeric", _FURTHEST)
    if family is Family.WHOLE:
        return f"CAST({raw} AS {kind})"
    double = _double(raw, family)
    huge = f"discreet_exact({double})" if family is Family.REAL else f"discreet_huge({text(raw, family)})"
    least = -(_FAR + 1) if kind == "bigint" else -far
    large = f"CASE WHEN {huge} BETWEEN {least} AND {far} THEN CAST({huge} AS {kind}) END"
    if lattice is not None:
        large = f"coalesce({large}, CASE WHEN {double} > 0 THEN {far} ELSE -{far} END)"
    return (
        f"CASE WHEN abs({double}) < {_HALVES} THEN CAST(floor({double} + 0.5) AS {kind}) "
        f"WHEN NOT {_is_nan(double)} THEN {large} END"
    )


def _nearest(read: str, lattice: Lattice) -> str:
    step = lattice.step.numerator
    low, high = (end * step for end in (lattice.low, lattice.high))
    inside = read if step == 1 else f"CAST(div(2 * ({read} - {low}) + {step}, {2 * step}) + {lattice.low} AS bigint)"
    return f"CASE {clamped_cases(read, low, high, lattice, inside)} END"


def _moment(raw: str, family: Family, lattice: Lattice | None) -> str:
    """Microseconds since 1970 in UTC; an endless moment lies past every lattice's end, and is NULL without bounds."""
    if family is Family.MOMENT or family is Family.DAY:
        since = f"CAST(extract(epoch FROM {raw}) AS numeric) * 1000000"  # a date may lie beyond what a bigint holds
        endless = f"CASE WHEN {raw} > DATE '2000-01-01' THEN {_FAR} ELSE -{_FAR} END" if lattice is not None else "NULL"
        clamped = f"CASE WHEN abs({since}) < {_FAR} THEN CAST({since} AS bigint) ELSE {endless} END"
        return f"CASE WHEN isfinite({raw}) THEN {clamped} WHEN {raw} IS NOT NULL THEN {endless} END"
    moment = f"discreet_moment({text(raw, family)})"
    return moment if lattice is not None else f"CASE WHEN abs({moment}) < {_FAR} THEN {moment} END"


def _floor(read: str, lattice: Lattice | None, unit: int) -> str:
    """⌊read/(step·unit)⌋, clamped."""
    if lattice is None:
        return read if unit == 1 else f"CAST(floor(CAST({read} AS numeric) / {unit}) AS bigint)"
    width = lattice.step.numerator * unit
    low, high = lattice.low * width, lattice.high * width
    return f"CASE {clamped_cases(read, low, high, lattice, f'({read} - {low}) / {width} + {lattice.low}')} END"


def _literal(number: Fraction) -> str:
    return literal(number, "Infinity", "float8")
