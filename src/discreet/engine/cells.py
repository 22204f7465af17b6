"""SQL that reads one cell of a source, whatever it holds, and makes the cell of the prepared table.

A cell has one text, whatever its column's type, scale, unit or zone: `text`.  Every expression is total: TRY_CAST
throughout, no divisor but a public constant, every cast behind a clamp.  What breaks its column's rule is NULL; NaN is
NULL; infinities clamp to the bounds, and are NULL for whole numbers without.
Numbers and integers go to the nearest step, ⌊v/step + ½⌋; dates and datetimes to the step they lie in, ⌊v/step⌋.
"""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction

from discreet.query.layout import Store, storage
from discreet.schema import Column, Empty, Lattice, Schema, Type

_EXACT = 2**53  # every whole number below is a double
_HALVES = 2**52  # doubles from here on are whole; one half added to an odd one would be rounded up
_FAR = 2**63 - 1  # past the ends of every lattice of step 1, which stays within 2⁶²
_FURTHEST = 10**38  # past the ends of one with a wider step; ends from 10³⁷ on are left to doubles
_MICROSECONDS = 10**6
_DAY = 86_400 * _MICROSECONDS
_LEAST_FLOORED = -9_223_372_000_000_000_000  # microseconds; a day less still fits 64 bits
_FIRST_MOMENT = "TIMESTAMP '290000-01-01 (BC) 00:00:00'"  # this engine cannot spell some that are earlier
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


class Family(Enum):
    """How the source stores a column."""

    WHOLE = "whole"
    REAL = "real"
    DECIMAL = "decimal"
    FLAG = "flag"
    DAY = "day"
    MOMENT = "moment"
    TEXT = "text"  # and everything else, by its text
    MIXED = "mixed"  # a struct of the others, one of which holds the cell: `columns.mixed_column`


_PARTS = {  # of a mixed column, under the names that `columns.mixed_column` gives them
    "discreet_flag": Family.FLAG,
    "discreet_whole": Family.WHOLE,
    "discreet_real": Family.REAL,
    "discreet_day": Family.DAY,
    "discreet_moment": Family.MOMENT,
    "discreet_text": Family.TEXT,
}
_MIXED_KINDS = ("BOOLEAN", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR")
_MIXED = f"STRUCT({', '.join(f'{part} {kind}' for part, kind in zip(_PARTS, _MIXED_KINDS, strict=True))})"


def family(kind: str) -> Family:
    """The family of a type as the engine names it.

    >>> family("UBIGINT").name, family("DECIMAL(18,3)").name, family("STRUCT(a INTEGER)").name
    ('WHOLE', 'DECIMAL', 'TEXT')
    """
    if kind == _MIXED:
        return Family.MIXED
    if kind in _WHOLE or kind.removeprefix("U") in _WHOLE:
        return Family.WHOLE
    if kind in ("FLOAT", "DOUBLE"):
        return Family.REAL
    if kind == "BOOLEAN":
        return Family.FLAG
    if kind == "DATE":
        return Family.DAY
    if kind.endswith("]"):
        return Family.TEXT
    if kind.startswith("DECIMAL("):
        return Family.DECIMAL
    return Family.MOMENT if kind.startswith("TIMESTAMP") else Family.TEXT


def text(raw: str, family: Family) -> str:
    """The cell's one text: no .0 at a whole float, no zeros of a scale, moments in UTC to the microsecond."""
    match family:
        case Family.MIXED:
            return _of_parts(raw, text)
        case Family.REAL:
            real = f"CAST({raw} AS DOUBLE)"  # 0.1 as a FLOAT is another number than as a DOUBLE
            whole = f"abs({raw}) < {_EXACT} AND {raw} = trunc({raw})"
            number = (
                f"CASE WHEN {whole} THEN CAST(TRY_CAST({raw} AS BIGINT) AS VARCHAR) ELSE CAST({real} AS VARCHAR) END"
            )
            return f"CASE WHEN isnan({raw}) THEN NULL ELSE {number} END"
        case Family.DECIMAL:
            plain = f"CAST({raw} AS VARCHAR)"
            return f"CASE WHEN contains({plain}, '.') THEN rtrim(rtrim({plain}, '0'), '.') ELSE {plain} END"
        case Family.MOMENT:
            # Clamped inside of the cast: the engine may try both branches of a CASE on every row.
            moment = f"TRY_CAST({raw} AS TIMESTAMP)"
            plain = f"CASE WHEN {moment} < {_FIRST_MOMENT} THEN TIMESTAMP '-infinity' ELSE {moment} END"
            return f"CAST({plain} AS VARCHAR)"
        case Family.TEXT:
            return f"TRY_CAST({raw} AS VARCHAR)"
        case _:
            return f"CAST({raw} AS VARCHAR)"


def unit_key(raw: str, family: Family) -> str:
    """SQL of the unit's key: the whole number itself, which is quicker, or the text; an empty text is NULL."""
    return raw if family is Family.WHOLE else f"nullif({text(raw, family)}, '')"


def common_sql(column: Column, raw: str, family: Family) -> str | None:
    """SQL that `value` uses more than once, for a layer of its own; None if there is none."""
    match column.type:
        case Type.INTEGER if family not in (Family.WHOLE, Family.MIXED) and not is_too_wide(column.lattice):
            return _double(raw, family)
        case Type.DATE if family not in (Family.MOMENT, Family.DAY, Family.MIXED):
            return f"epoch_us(TRY_CAST(trim({text(raw, family)}) AS TIMESTAMPTZ))"
        case _:
            return None


def value(column: Column, raw: str, family: Family, shared: str | None = None) -> str:
    """The source's cell `raw` read as the column's type: text, flag, double, whole number, days or microseconds.

    Where `common_sql` gives something, `shared` names the column that holds it; without one it is written out.
    """
    twice = shared or common_sql(column, raw, family) or ""
    if family is Family.MIXED:
        return _of_parts(raw, lambda part, kind: value(column, part, kind))
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            plain = text(raw, family)
            return plain if column.empty is Empty.VALUE else f"nullif({plain}, '')"
        case Type.BOOLEAN:
            return raw if family is Family.FLAG else f"TRY_CAST(trim({text(raw, family)}) AS BOOLEAN)"
        case Type.INTEGER if not is_too_wide(column.lattice):
            return _whole(raw, family, column.lattice, twice)
        case Type.NUMBER | Type.INTEGER:
            return _double(raw, family)
        case Type.DATE:
            return _days(raw, family, column.lattice, twice)
        case Type.DATETIME:
            return _microseconds(raw, family, column.lattice)


def _of_parts(raw: str, read: Callable[[str, Family], str]) -> str:
    """SQL that reads the one part that holds the cell by its own family; all other parts are NULL."""
    parts = ", ".join(read(f"struct_extract({raw}, '{name}')", family) for name, family in _PARTS.items())
    return f"coalesce({parts})"


def cell(schema: Schema, column: Column, read: str) -> str:
    """The prepared cell from the column `read` that holds what `value` gave."""
    place, lattice = storage(schema, column), column.lattice
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            return read if place.store is Store.TEXT else f"TRY_CAST({read} AS t{place.name})"
        case Type.BOOLEAN:
            return read
        case Type.INTEGER if not is_too_wide(lattice):
            return integer(read, column, _nearest)
        case Type.NUMBER | Type.INTEGER:
            return _number(read, lattice)
        case Type.DATE:
            return _floor(read, lattice, 1)
        case Type.DATETIME:
            return _floor(read, lattice, _MICROSECONDS)


def _double(raw: str, family: Family) -> str:
    if family in (Family.WHOLE, Family.REAL, Family.FLAG):
        return f"TRY_CAST({raw} AS DOUBLE)"
    return f"TRY_CAST(replace({text(raw, family)}, '_', '?') AS DOUBLE)"  # 1_000 is no number


def _number(read: str, lattice: Lattice | None) -> str:
    steps = "" if lattice is None else f"TRY_CAST(floor({_quotient(read, lattice.step)} + 0.5) AS BIGINT)"
    return number(read, lattice, f"isnan({read})", literal, steps)


def number(read: str, lattice: Lattice | None, is_nan: str, literal: Callable[[Fraction], str], steps: str) -> str:
    """SQL of a double as its clamped step, by an engine's test for NaN, its doubles, and `steps` between the ends."""
    nothing = f"{read} IS NULL OR {is_nan}"
    if lattice is None:  # −0 and 0 are one value
        return f"CASE WHEN {nothing} THEN NULL WHEN {read} = 0 THEN 0 ELSE {read} END"
    low, high = (literal(end * lattice.step) for end in (lattice.low, lattice.high))
    inside = f"greatest({lattice.low}, least({lattice.high}, {steps}))"
    return f"CASE WHEN {nothing} THEN NULL {clamped_cases(read, low, high, lattice, inside)} END"


def clamped_cases(read: str, low: object, high: object, lattice: Lattice, inside: str) -> str:
    """SQL of the cases of a clamped step: at and beyond the lattice's ends, and between them."""
    return f"WHEN {read} <= {low} THEN {lattice.low} WHEN {read} >= {high} THEN {lattice.high} ELSE {inside}"


def _quotient(read: str, step: Fraction) -> str:
    """v/step in doubles; as v·q/p for a step p/q of two exact doubles, so that a step such as 0.01 is not rounded."""
    up, down = step.denominator, step.numerator
    if not (is_double(up) and is_double(down)):
        return f"{read} / {literal(step)}"
    times = f" * {literal(Fraction(up))}" if up > 1 else ""
    return read + times + (f" / {literal(Fraction(down))}" if down > 1 else "")


def _whole(raw: str, family: Family, lattice: Lattice | None, double: str) -> str:
    """⌊v + ½⌋, exact beyond 2⁵³ too; past every lattice's end, or NULL without bounds, where its type ends."""
    kind, far = ("BIGINT", _FAR) if lattice is None or lattice.step == 1 else ("HUGEINT", _FURTHEST)
    if family is Family.WHOLE:
        beyond = f"CASE WHEN {raw} > 0 THEN {far} WHEN {raw} < 0 THEN -{far} END"
        return f"TRY_CAST({raw} AS {kind})" if lattice is None else f"coalesce(TRY_CAST({raw} AS {kind}), {beyond})"
    large = f"TRY_CAST(TRY_CAST({raw if family is Family.REAL else text(raw, family)} AS HUGEINT) AS {kind})"
    if lattice is not None:
        large = f"coalesce({large}, CASE WHEN {double} > 0 THEN {far} ELSE -{far} END)"
    return (
        f"CASE WHEN abs({double}) < {_HALVES} THEN TRY_CAST(floor({double} + 0.5) AS {kind}) "
        f"WHEN NOT isnan({double}) THEN {large} END"  # no branch takes NULL, and no number is below NaN
    )


def integer(read: str, column: Column, nearest: Callable[[str, Lattice], str]) -> str:
    """SQL of a whole number as its step by `nearest`, where the column has bounds; NULL unless it is listed."""
    steps = nearest(read, column.lattice) if column.lattice is not None else read
    if column.values is None:
        return steps
    return f"CASE WHEN {read} IN ({', '.join(map(str, column.values))}) THEN {steps} END"


def _nearest(read: str, lattice: Lattice) -> str:
    """The clamped step nearest to a whole number, halves upward; shifted by the low end, as // cuts towards 0."""
    step = lattice.step.numerator
    low, high = (f"CAST('{end * step}' AS HUGEINT)" if step > 1 else str(end) for end in (lattice.low, lattice.high))
    inside = read if step == 1 else f"CAST((2 * ({read} - {low}) + {step}) // {2 * step} + {lattice.low} AS BIGINT)"
    return f"CASE {clamped_cases(read, low, high, lattice, inside)} END"


def _days(raw: str, family: Family, lattice: Lattice | None, moment: str) -> str:
    if family is Family.MOMENT:
        return _or_endless(raw, _floor(f"epoch_us({raw})", None, _DAY), lattice)
    day = raw if family is Family.DAY else f"TRY_CAST({text(raw, family)} AS DATE)"
    since = f"date_diff('day', DATE '1970-01-01', {day})"
    if family is not Family.DAY:  # a text with an hour is of the day that it is in UTC, as a moment is
        since = f"coalesce({_floor(moment, None, _DAY)}, {since})"
    return _or_endless(day, since, lattice)


def _microseconds(raw: str, family: Family, lattice: Lattice | None) -> str:
    if family is Family.MOMENT:
        moment = raw
    elif family is Family.DAY:
        moment = f"TRY_CAST({raw} AS TIMESTAMP)"
    else:  # in UTC, whatever offset it has; without one it is on the table's own clock already
        moment = f"TRY_CAST(trim({text(raw, family)}) AS TIMESTAMPTZ)"
    return _or_endless(moment, f"epoch_us({moment})", lattice)


def _or_endless(moment: str, since: str, lattice: Lattice | None) -> str:
    """The time since 1970, NULL for an infinite moment; with bounds, past every lattice's end."""
    if lattice is None:
        return since
    sign = f"CASE WHEN {moment} < DATE '2000-01-01' THEN -{_FAR} ELSE {_FAR} END"
    return f"coalesce({since}, CASE WHEN isinf({moment}) THEN {sign} END)"


def _floor(read: str, lattice: Lattice | None, unit: int) -> str:
    """⌊read/(step·unit)⌋, clamped; shifted to be positive first, as // and % cut towards 0."""
    if lattice is None:
        if unit == 1:
            return read
        floored = f"({read} - ({read} % {unit} + {unit}) % {unit}) // {unit}"  # a unit below the least would overflow
        return f"CASE WHEN {read} < {_LEAST_FLOORED} THEN {_LEAST_FLOORED // unit} ELSE {floored} END"
    width = lattice.step.numerator * unit
    low, high = lattice.low * width, lattice.high * width
    return f"CASE {clamped_cases(read, low, high, lattice, f'({read} - {low}) // {width} + {lattice.low}')} END"


def is_too_wide(lattice: Lattice | None) -> bool:
    """Whether the ends leave the 128-bit integers; such a column is read as doubles."""
    return lattice is not None and lattice.largest * lattice.step >= _FURTHEST // 10


def is_double(number: int) -> bool:
    """Whether a double holds the whole number."""
    return number.bit_length() <= 1000 and int(float(number)) == number


def literal(number: Fraction, infinity: str = "inf", double: str = "DOUBLE") -> str:
    """The nearest double, infinite where there is none, by an engine's words for both."""
    try:
        nearest = repr(float(number))
    except OverflowError:
        nearest = infinity if number > 0 else f"-{infinity}"
    return f"CAST('{nearest}' AS {double})"
