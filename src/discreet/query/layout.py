"""The layout of the prepared table, which planning and engines share.

    prepared          discreet_unit   BIGINT    the unit's id, a keyed hash of its key alone
                      discreet_rank   INTEGER   1 … max_rows within the unit, by `engine.mixing` under its id
                      c0, c1, …       the declared columns in the order of their names, each as `Stored` says
    discreet_units    discreet_unit   BIGINT    one row for each unit
                      discreet_kept   INTEGER   how many rows it kept
                      discreet_bucket UTINYINT  b for 2ᵇ ≤ rows before capping < 2ᵇ⁺¹, at most `MOST_BUCKET`
                      below_c0, above_c0, …     UTINYINT, for each column with bounds: how many of its cells lay beyond
                                                them, before capping, at most `MOST_BEYOND`
    discreet_secret   word            VARCHAR   the key of every hash in a question

Without a unit `discreet_units` is a view, and the columns below_c0, above_c0, … lie in `prepared`, behind the others.

Rows lie in the order of units, then of ranks.  Every cell is already typed, clamped and NULL where it broke its
column's rule, so questions meet no surprise.  `discreet_units` is as private as the rows; no question reads it yet.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil

from discreet.query.nodes import UnitIn
from discreet.schema import Column, Schema, Type

TABLE, UNITS, SECRET = "prepared", "discreet_units", "discreet_secret"
UNIT, RANK, KEPT, BUCKET = "discreet_unit", "discreet_rank", "discreet_kept", "discreet_bucket"
MOST_BUCKET, MOST_BEYOND = 31, 255


class Store(StrEnum):
    """How the engine keeps a cell."""

    CODE = "code"  # the place among the public values, from 0; an ENUM of the labels is named like the column: tc0
    TEXT = "varchar"
    STEPS = "bigint"  # value = steps · step; dates in days, datetimes in seconds since 1970
    FLOAT = "double"  # a number without bounds: finite or infinite, never NaN
    FLAG = "boolean"


@dataclass(frozen=True)
class Stored:
    """Where a column lies and what its cells mean."""

    name: str
    store: Store
    step: Fraction = Fraction(1)


def storage(schema: Schema, column: Column) -> Stored:
    """Where the column lies in the prepared table.

    >>> age = Column("age", "integer", bounds=(0, 110))
    >>> storage(Schema("people", [age]), age)
    Stored(name='c0', store=<Store.STEPS: 'bigint'>, step=Fraction(1, 1))
    """
    name = f"c{schema.places[column.name]}"
    match column.type:
        case Type.BOOLEAN:
            return Stored(name, Store.FLAG)
        case Type.CATEGORY | Type.TEXT:
            return Stored(name, Store.TEXT if column.values is None else Store.CODE)
        case Type.NUMBER if column.bounds is None:
            return Stored(name, Store.FLOAT)
        case _:
            return Stored(name, Store.STEPS, column.step or Fraction(1))


def id_range(part: UnitIn) -> tuple[int, int]:
    """The ids of the units in a part: from the first of the two on, and below the second.

    >>> id_range(UnitIn(Fraction(1, 2), Fraction(3, 4))) == (0, 2**62)
    True
    """
    first, end = (ceil(share * 2**64) - 2**63 for share in (part.first, part.end))
    return first, end


def engine_type(schema: Schema, column: Column) -> str:
    """The type of its cells: for codes the smallest that holds them all.

    >>> sex = Column("sex", "category", values=("f", "m"))
    >>> engine_type(Schema("people", [sex]), sex)
    'UTINYINT'
    """
    store = storage(schema, column).store
    if store is not Store.CODE:
        return store.upper()
    last = len(column.values or ()) - 1
    return "UTINYINT" if last < 2**8 else "USMALLINT" if last < 2**16 else "UINTEGER"
