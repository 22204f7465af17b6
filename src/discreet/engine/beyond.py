"""Which cells lay beyond their column's bounds before they were clamped: for sketches of units, never for the rows."""

from fractions import Fraction

from discreet.query.layout import stored
from discreet.schema import Column, Lattice, Schema, Type

_WIDE = 10**37  # from here on `cells` reads integers as doubles
_SECOND = 10**6  # datetimes are read in microseconds


def sides(schema: Schema, low: str = "1", high: str = "1") -> dict[str, str]:
    """For each column with bounds a name, s0 for c0, and SQL over what was read, v0: `low`, `high`, or 0 within.

    >>> sides(Schema("people", [Column("born", "date", bounds=("1970-01-01", "1970-01-31"))]))
    {'s0': 'CASE WHEN vc0 < 0 THEN 1 WHEN vc0 >= 31 THEN 1 ELSE 0 END'}
    """
    found = {}
    for column in schema.columns:
        if column.bounds is not None and column.lattice is not None:
            place = stored(schema, column).name
            below, above = _tests(column, column.lattice, f"v{place}")
            found[place.replace("c", "s")] = f"CASE WHEN {below} THEN {low} WHEN {above} THEN {high} ELSE 0 END"
    return found


def _tests(column: Column, lattice: Lattice, read: str) -> tuple[str, str]:
    """Below and above the lattice's ends; days and moments belong to the step they lie in, numbers to the nearest."""
    if column.type in (Type.DATE, Type.DATETIME):
        width = int(lattice.step) * (_SECOND if column.type is Type.DATETIME else 1)
        return f"{read} < {lattice.low * width}", f"{read} >= {(lattice.high + 1) * width}"
    ends = [end * lattice.step for end in (lattice.low, lattice.high)]
    if column.type is Type.INTEGER and lattice.largest * lattice.step < _WIDE:
        return f"{read} < {ends[0]}", f"{read} > {ends[1]}"
    low, high = map(_double, ends)
    return f"{read} < {low}", f"{read} > {high} AND NOT isnan({read})"


def _double(number: Fraction) -> str:
    try:
        nearest = repr(float(number))
    except OverflowError:
        nearest = "inf" if number > 0 else "-inf"
    return f"CAST('{nearest}' AS DOUBLE)"
