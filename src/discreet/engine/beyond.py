"""Which cells lay beyond their column's bounds before they were clamped: for sketches of units, never for a question.

The side of a cell is 1 below the bounds, 2 above and 0 within.  Sides are carried in whole numbers b0, b1, …, two bits
for each column and 31 columns in each, so that a row that lies within all its bounds is told by zeros.  Where every row
is a unit they are part of its id.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from discreet.engine import cells
from discreet.query.layout import storage
from discreet.schema import Column, Lattice, Schema, Type

_SECOND = 10**6  # datetimes are read in microseconds


BELOW, ABOVE = 1, 2
BITS, IN_A_WORD = 2, 31
Literal = Callable[[Fraction], str]
IsNan = Callable[[str], str]


def sides(schema: Schema, literal: Literal = cells.literal, is_nan: IsNan | None = None) -> dict[str, str]:
    """For each column with bounds a name, s0 for c0, and SQL of its side over what was read, vc0.

    `literal` and `is_nan` give an engine's own SQL of a double and of the test for NaN.

    >>> sides(Schema("people", [Column("born", "date", bounds=("1970-01-01", "1970-01-31"))]))
    {'s0': 'CASE WHEN vc0 < 0 THEN 1 WHEN vc0 >= 31 THEN 2 ELSE 0 END'}
    """
    cases = {}
    for column in sorted(schema.columns, key=lambda column: schema.places[column.name]):
        if column.bounds is not None and column.lattice is not None:
            place = storage(schema, column).name
            below, above = _tests(column, column.lattice, f"v{place}", literal, is_nan or _is_nan)
            cases[place.replace("c", "s")] = f"CASE WHEN {below} THEN {BELOW} WHEN {above} THEN {ABOVE} ELSE 0 END"
    return cases


def words_of(names: Sequence[str]) -> dict[str, str]:
    """The numbers that hold these sides, each with its SQL.

    >>> words_of(["s0", "s2"])
    {'b0': 'CAST(s0 AS BIGINT) * 1 + CAST(s2 AS BIGINT) * 4'}
    """
    parts = [names[first : first + IN_A_WORD] for first in range(0, len(names), IN_A_WORD)]
    return {
        f"b{number}": " + ".join(f"CAST({name} AS BIGINT) * {2 ** (BITS * place)}" for place, name in enumerate(part))
        for number, part in enumerate(parts)
    }


def sides_from_words(names: Sequence[str]) -> dict[str, str]:
    """SQL of each side from the numbers that hold them.

    >>> sides_from_words(["s0", "s2"])
    {'s0': '(b0 & 3)', 's2': '((b0 >> 2) & 3)'}
    """
    places = {name: divmod(place, IN_A_WORD) for place, name in enumerate(names)}
    return {
        name: f"((b{word} >> {BITS * place}) & 3)" if place else f"(b{word} & 3)"
        for name, (word, place) in places.items()
    }


def sketch(sides: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """The columns of a sketch: SQL of the side that decides, and the side that counts.

    >>> sketch({"s0": "s0"})
    {'below_c0': ('s0', 1), 'above_c0': ('s0', 2)}
    """
    return {
        name.replace("s", f"{word}_c", 1): (sql, side)
        for name, sql in sides.items()
        for word, side in (("below", BELOW), ("above", ABOVE))
    }


def _is_nan(sql: str) -> str:
    return f"isnan({sql})"


def _tests(column: Column, lattice: Lattice, read: str, literal: Literal, is_nan: IsNan) -> tuple[str, str]:
    """Below and above the lattice's ends; days and moments belong to the step they lie in, numbers to the nearest."""
    if column.type in (Type.DATE, Type.DATETIME):
        width = int(lattice.step) * (_SECOND if column.type is Type.DATETIME else 1)
        return f"{read} < {lattice.low * width}", f"{read} >= {(lattice.high + 1) * width}"
    ends = [end * lattice.step for end in (lattice.low, lattice.high)]
    if column.type is Type.INTEGER and not cells.is_too_wide(lattice):
        return f"{read} < {ends[0]}", f"{read} > {ends[1]}"
    low, high = map(literal, ends)
    return f"{read} < {low}", f"{read} > {high} AND NOT {is_nan(read)}"
