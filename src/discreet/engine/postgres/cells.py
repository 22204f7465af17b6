"""One cell in PostgreSQL's SQL: read and prepared by the rules of `engine.cells`, with this server's total operations.

A cell's text, its steps and its NULLs are those of the other engine for the same content.  Texts that say a moment are
read where they are written as ISO 8601 has it, with (BC) for years before 1.
"""

from fractions import Fraction

from discreet.engine import beyond
from discreet.engine.cells import Family
from discreet.query.compile.postgres import POSTGRES
from discreet.query.layout import Store, engine_type, stored
from discreet.schema import Column, Empty, Lattice, Schema, Type

_EXACT = 2**53
_HALVES = 2**52
_FAR = 2**63 - 1
_FURTHEST = 10**38
_DAY = 86_400 * 10**6
_WIDE = _FURTHEST // 10
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


def text(raw: str, held: Family) -> str:
    """The cell's one text."""
    match held:
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


def unit_key(raw: str, held: Family) -> str:
    """What rows of one unit share; an empty text is nobody's."""
    return f"CAST({raw} AS bigint)" if held is Family.WHOLE else f"""nullif({text(raw, held)}, '') COLLATE "C\""""


def value(column: Column, raw: str, held: Family) -> str:
    """The source's cell read as the column's type."""
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            spelt = text(raw, held)
            return spelt if column.empty is Empty.VALUE else f"nullif({spelt}, '')"
        case Type.BOOLEAN:
            return raw if held is Family.FLAG else _flag(text(raw, held))
        case Type.INTEGER if not _too_wide(column.lattice):
            return _whole(raw, held, column.lattice)
        case Type.NUMBER | Type.INTEGER:
            return _double(raw, held)
        case Type.DATE:
            return _floor(_moment(raw, held, column.lattice), None, _DAY)
        case Type.DATETIME:
            return _moment(raw, held, column.lattice)


def cell(schema: Schema, column: Column, read: str) -> str:
    """The prepared cell from what `value` gave."""
    place, lattice = stored(schema, column), column.lattice
    match column.type:
        case Type.CATEGORY | Type.TEXT if place.store is Store.TEXT:
            return read
        case Type.CATEGORY | Type.TEXT:
            listed = ", ".join(POSTGRES.text(str(value)) for value in column.values or ())
            return f"CASE WHEN {read} IS NOT NULL THEN array_position(CAST(ARRAY[{listed}] AS text[]), {read}) - 1 END"
        case Type.BOOLEAN:
            return read
        case Type.INTEGER if not _too_wide(lattice):
            kept = _nearest(read, lattice) if lattice is not None else read
            return kept if column.values is None else f"CASE WHEN {read} IN ({_values(column)}) THEN {kept} END"
        case Type.NUMBER | Type.INTEGER:
            return _number(read, lattice)
        case Type.DATE:
            return _floor(read, lattice, 1)
        case Type.DATETIME:
            return _floor(read, lattice, 10**6)


def sides(schema: Schema) -> dict[str, str]:
    """As `beyond.sides`, on what was read here."""
    return beyond.sides(schema, _tests)


def _tests(column: Column, lattice: Lattice, read: str) -> tuple[str, str]:
    if column.type in (Type.DATE, Type.DATETIME):
        width = int(lattice.step) * (10**6 if column.type is Type.DATETIME else 1)
        return f"{read} < {lattice.low * width}", f"{read} >= {(lattice.high + 1) * width}"
    ends = [end * lattice.step for end in (lattice.low, lattice.high)]
    if column.type is Type.INTEGER and not _too_wide(lattice):
        return f"{read} < {ends[0]}", f"{read} > {ends[1]}"
    low, high = map(_literal, ends)
    return f"{read} < {low}", f"{read} > {high} AND NOT {_is_nan(read)}"


def _values(column: Column) -> str:
    return ", ".join(map(str, column.values or ()))


def _is_nan(sql: str) -> str:
    return f"{sql} = {_NAN}"


def _flag(spelt: str) -> str:
    low = f"""lower(btrim({spelt}, ' ') COLLATE "C")"""
    return (
        f"CASE WHEN {low} IN ('true', 't', '1', 'yes', 'y') THEN TRUE "
        f"WHEN {low} IN ('false', 'f', '0', 'no', 'n') THEN FALSE END"
    )


def _double(raw: str, held: Family) -> str:
    if held in (Family.WHOLE, Family.REAL):
        return f"CAST({raw} AS float8)"
    if held is Family.FLAG:
        return f"CAST(CAST({raw} AS integer) AS float8)"
    return f"discreet_double({text(raw, held)})"


def _number(read: str, lattice: Lattice | None) -> str:
    nothing = f"{read} IS NULL OR {_is_nan(read)}"
    if lattice is None:  # −0 and 0 are one value
        return f"CASE WHEN {nothing} THEN NULL WHEN {read} = 0 THEN 0 ELSE {read} END"
    low, high = (_literal(end * lattice.step) for end in (lattice.low, lattice.high))
    steps = f"discreet_whole(floor({_quotient(read, lattice.step)} + 0.5))"
    return (
        f"CASE WHEN {nothing} THEN NULL WHEN {read} <= {low} THEN {lattice.low} "
        f"WHEN {read} >= {high} THEN {lattice.high} ELSE greatest({lattice.low}, least({lattice.high}, {steps})) END"
    )


def _quotient(read: str, step: Fraction) -> str:
    """As `cells._scaled`: v·q/p in doubles, two roundings at most."""
    up, down = step.denominator, step.numerator
    if not (_is_double(up) and _is_double(down)):
        return f"discreet_over({read}, {_literal(step)})"
    raised = f"discreet_times({read}, {_literal(Fraction(up))})" if up > 1 else read
    return f"discreet_over({raised}, {_literal(Fraction(down))})" if down > 1 else raised


def _whole(raw: str, held: Family, lattice: Lattice | None) -> str:
    """⌊v + ½⌋, exact beyond 2⁵³ too; past every lattice's end, or NULL without bounds, where its type ends."""
    kind, far = ("bigint", _FAR) if lattice is None or lattice.step == 1 else ("numeric", _FURTHEST)
    if held is Family.WHOLE:
        return f"CAST({raw} AS {kind})"
    double = _double(raw, held)
    huge = f"discreet_exact({double})" if held is Family.REAL else f"discreet_huge({text(raw, held)})"
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
    return f"CASE WHEN {read} <= {low} THEN {lattice.low} WHEN {read} >= {high} THEN {lattice.high} ELSE {inside} END"


def _moment(raw: str, held: Family, lattice: Lattice | None) -> str:
    """Microseconds since 1970 in UTC; an endless moment lies past every lattice's end, and is NULL without bounds."""
    if held is Family.MOMENT or held is Family.DAY:
        since = f"CAST(extract(epoch FROM {raw}) AS numeric) * 1000000"  # a date may lie beyond what a bigint holds
        endless = f"CASE WHEN {raw} > DATE '2000-01-01' THEN {_FAR} ELSE -{_FAR} END" if lattice is not None else "NULL"
        clamped = f"CASE WHEN abs({since}) < {_FAR} THEN CAST({since} AS bigint) ELSE {endless} END"
        return f"CASE WHEN isfinite({raw}) THEN {clamped} WHEN {raw} IS NOT NULL THEN {endless} END"
    moment = f"discreet_moment({text(raw, held)})"
    return moment if lattice is not None else f"CASE WHEN abs({moment}) < {_FAR} THEN {moment} END"


def _floor(read: str, lattice: Lattice | None, unit: int) -> str:
    """⌊read/(step·unit)⌋, clamped."""
    if lattice is None:
        return read if unit == 1 else f"CAST(floor(CAST({read} AS numeric) / {unit}) AS bigint)"
    width = lattice.step.numerator * unit
    low, high = lattice.low * width, lattice.high * width
    return (
        f"CASE WHEN {read} <= {low} THEN {lattice.low} "
        f"WHEN {read} >= {high} THEN {lattice.high} ELSE ({read} - {low}) / {width} + {lattice.low} END"
    )


def _too_wide(lattice: Lattice | None) -> bool:
    return lattice is not None and lattice.largest * lattice.step >= _WIDE


def _is_double(whole: int) -> bool:
    return whole.bit_length() <= 1000 and int(float(whole)) == whole


def _literal(number: Fraction) -> str:
    try:
        nearest = repr(float(number))
    except OverflowError:
        nearest = "Infinity" if number > 0 else "-Infinity"
    return f"CAST('{nearest}' AS float8)"
