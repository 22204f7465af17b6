"""One cell in SQL: whatever the source holds, as the prepared table keeps it.

Every expression is total: TRY_CAST throughout, no divisor but a public constant, every cast behind a clamp.  What
breaks its column's rule is NULL; NaN is NULL; infinities clamp to the bounds, and are NULL for whole numbers without.
Numbers and integers go to the nearest step, ⌊v/step + ½⌋; dates and datetimes to the step they lie in, ⌊v/step⌋.
"""

from enum import Enum
from fractions import Fraction

from discreet.query.layout import Store, stored
from discreet.schema import Column, Lattice, Schema, Type

_EXACT = 2**53  # every whole number below is a double
_FAR = 2**63 - 1  # past the ends of every lattice of step 1, which stays within 2⁶²
_FURTHEST = 10**38  # past the ends of one with a wider step; ends from 10³⁷ on are left to doubles
_MICROSECONDS = 10**6
_DAY = 86_400 * _MICROSECONDS
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


def family(kind: str) -> Family:
    """The family of a type as the engine names it.

    >>> family("UBIGINT").name, family("DECIMAL(18,3)").name, family("STRUCT(a INTEGER)").name
    ('WHOLE', 'DECIMAL', 'TEXT')
    """
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


def text(raw: str, held: Family) -> str:
    """The cell as text, an empty one NULL, a whole float without its .0: alike from CSV, Parquet and frames."""
    match held:
        case Family.REAL:
            whole = f"abs({raw}) < {_EXACT} AND {raw} = trunc({raw})"
            number = f"CASE WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS VARCHAR) ELSE CAST({raw} AS VARCHAR) END"
            return f"CASE WHEN isnan({raw}) THEN NULL ELSE {number} END"
        case Family.TEXT:
            return f"nullif(TRY_CAST({raw} AS VARCHAR), '')"
        case _:
            return f"CAST({raw} AS VARCHAR)"


def unit_key(raw: str, held: Family) -> str:
    """What rows of one unit share: the whole number itself, which is quicker, or the text."""
    return raw if held is Family.WHOLE else text(raw, held)


def value(column: Column, raw: str, held: Family) -> str:
    """The source's cell `raw` read as the column's type: text, flag, double, whole number, days or microseconds."""
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            return text(raw, held)
        case Type.BOOLEAN:
            return raw if held is Family.FLAG else f"TRY_CAST(trim({text(raw, held)}) AS BOOLEAN)"
        case Type.INTEGER if not _too_wide(column.lattice):
            return _whole(raw, held, column.lattice)
        case Type.NUMBER | Type.INTEGER:
            return _double(raw, held)
        case Type.DATE:
            return _days(raw, held, column.lattice)
        case Type.DATETIME:
            return _microseconds(raw, held, column.lattice)


def cell(schema: Schema, column: Column, read: str) -> str:
    """The prepared cell from the column `read` that holds what `value` gave."""
    place, lattice = stored(schema, column), column.lattice
    match column.type:
        case Type.CATEGORY | Type.TEXT:
            return read if place.store is Store.TEXT else f"TRY_CAST({read} AS t{place.name})"
        case Type.BOOLEAN:
            return read
        case Type.INTEGER if not _too_wide(lattice):
            return _integer(read, column)
        case Type.NUMBER | Type.INTEGER:
            return _number(read, lattice)
        case Type.DATE:
            return _floored(read, lattice, 1)
        case Type.DATETIME:
            return _floored(read, lattice, _MICROSECONDS)


def _double(raw: str, held: Family) -> str:
    if held in (Family.WHOLE, Family.REAL, Family.DECIMAL, Family.FLAG):
        return f"TRY_CAST({raw} AS DOUBLE)"
    return f"TRY_CAST({text(raw, held)} AS DOUBLE)"


def _number(read: str, lattice: Lattice | None) -> str:
    nothing = f"{read} IS NULL OR isnan({read})"
    if lattice is None:  # −0 and 0 are one value
        return f"CASE WHEN {nothing} THEN NULL WHEN {read} = 0 THEN 0 ELSE {read} END"
    low, high = (_literal(end * lattice.step) for end in (lattice.low, lattice.high))
    steps = f"TRY_CAST(floor({_scaled(read, lattice.step)} + 0.5) AS BIGINT)"
    return (
        f"CASE WHEN {nothing} THEN NULL WHEN {read} <= {low} THEN {lattice.low} "
        f"WHEN {read} >= {high} THEN {lattice.high} ELSE greatest({lattice.low}, least({lattice.high}, {steps})) END"
    )


def _scaled(read: str, step: Fraction) -> str:
    """v/step in doubles; as v·q/p for a step p/q of two exact doubles, so that a step such as 0.01 is not rounded."""
    up, down = step.denominator, step.numerator
    if not (_is_double(up) and _is_double(down)):
        return f"{read} / {_literal(step)}"
    times = f" * {_literal(Fraction(up))}" if up > 1 else ""
    return read + times + (f" / {_literal(Fraction(down))}" if down > 1 else "")


def _whole(raw: str, held: Family, lattice: Lattice | None) -> str:
    """⌊v + ½⌋, exact beyond 2⁵³ too; past every lattice's end, or NULL without bounds, where its type ends."""
    kind, far = ("BIGINT", _FAR) if lattice is None or lattice.step == 1 else ("HUGEINT", _FURTHEST)
    if held is Family.WHOLE:
        beyond = f"CASE WHEN {raw} > 0 THEN {far} WHEN {raw} < 0 THEN -{far} END"
        return f"TRY_CAST({raw} AS {kind})" if lattice is None else f"coalesce(TRY_CAST({raw} AS {kind}), {beyond})"
    double = _double(raw, held)
    large = f"TRY_CAST(TRY_CAST({raw if held is Family.REAL else text(raw, held)} AS HUGEINT) AS {kind})"
    if lattice is not None:
        large = f"coalesce({large}, CASE WHEN {double} > 0 THEN {far} ELSE -{far} END)"
    return (
        f"CASE WHEN {double} IS NULL OR isnan({double}) THEN NULL "
        f"WHEN abs({double}) < {_EXACT} THEN TRY_CAST(floor({double} + 0.5) AS {kind}) ELSE {large} END"
    )


def _integer(read: str, column: Column) -> str:
    lattice = column.lattice
    kept = _nearest(read, lattice) if lattice is not None else read
    if column.values is None:
        return kept
    return f"CASE WHEN {read} IN ({', '.join(map(str, column.values))}) THEN {kept} END"


def _nearest(read: str, lattice: Lattice) -> str:
    """The clamped step nearest to a whole number, halves upward; shifted by the low end, as // cuts towards 0."""
    step = lattice.step.numerator
    low, high = (f"CAST('{end * step}' AS HUGEINT)" if step > 1 else str(end) for end in (lattice.low, lattice.high))
    inside = read if step == 1 else f"CAST((2 * ({read} - {low}) + {step}) // {2 * step} + {lattice.low} AS BIGINT)"
    return (
        f"CASE WHEN {read} IS NULL THEN NULL WHEN {read} <= {low} THEN {lattice.low} "
        f"WHEN {read} >= {high} THEN {lattice.high} ELSE {inside} END"
    )


def _days(raw: str, held: Family, lattice: Lattice | None) -> str:
    if held is Family.MOMENT:
        return _or_endless(raw, _floored(f"epoch_us({raw})", None, _DAY), lattice)
    day = raw if held is Family.DAY else f"TRY_CAST({text(raw, held)} AS DATE)"
    return _or_endless(day, f"date_diff('day', DATE '1970-01-01', {day})", lattice)


def _microseconds(raw: str, held: Family, lattice: Lattice | None) -> str:
    source = raw if held is Family.DAY else f"trim({text(raw, held)})"
    moment = raw if held is Family.MOMENT else f"TRY_CAST({source} AS TIMESTAMP)"
    return _or_endless(moment, f"epoch_us({moment})", lattice)


def _or_endless(moment: str, since: str, lattice: Lattice | None) -> str:
    """The time since 1970, NULL for an infinite moment; with bounds, past every lattice's end."""
    if lattice is None:
        return since
    sign = f"CASE WHEN starts_with(CAST({moment} AS VARCHAR), '-') THEN -{_FAR} ELSE {_FAR} END"
    return f"coalesce({since}, CASE WHEN isinf({moment}) THEN {sign} END)"


def _floored(read: str, lattice: Lattice | None, unit: int) -> str:
    """⌊read/(step·unit)⌋, clamped; shifted to be positive first, as // and % cut towards 0."""
    if lattice is None:
        return read if unit == 1 else f"({read} - ({read} % {unit} + {unit}) % {unit}) // {unit}"
    width = lattice.step.numerator * unit
    low, high = lattice.low * width, lattice.high * width
    return (
        f"CASE WHEN {read} IS NULL THEN NULL WHEN {read} <= {low} THEN {lattice.low} "
        f"WHEN {read} >= {high} THEN {lattice.high} ELSE ({read} - {low}) // {width} + {lattice.low} END"
    )


def _too_wide(lattice: Lattice | None) -> bool:
    """Whether the ends leave the 128-bit integers; such a column is read as doubles."""
    return lattice is not None and lattice.largest * lattice.step >= _FURTHEST // 10


def _is_double(whole: int) -> bool:
    return whole.bit_length() <= 1000 and int(float(whole)) == whole


def _literal(number: Fraction) -> str:
    """The nearest double, infinite where there is none."""
    try:
        nearest = repr(float(number))
    except OverflowError:
        nearest = "inf" if number > 0 else "-inf"
    return f"CAST('{nearest}' AS DOUBLE)"
