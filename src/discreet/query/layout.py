"""The prepared table, as planning and engine both know it.

    discreet_unit   BIGINT    which privacy unit, in a code that depends on the other units: for equality only
    discreet_rank   INTEGER   1 … max_rows within the unit, by keyed hash
    discreet_salt   INTEGER   a keyed hash of the unit and of nothing else, for ranking a unit's groups in a question
    c0, c1, …       the declared columns in their order, each as `Stored` says

Every cell is already typed, clamped and NULL where it broke its column's rule, so questions meet no surprise.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.schema import Column, Schema, Type

TABLE, UNIT, RANK, SALT = "prepared", "discreet_unit", "discreet_rank", "discreet_salt"
SECRET = "discreet_secret"  # a table of one row and one UBIGINT column, `word`: the key of every hash in a question


class Store(StrEnum):
    """How the engine keeps a cell."""

    CODE = "enum"  # one of the public values, as an ENUM named like the column with a leading t: tc0, in public order
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


def stored(schema: Schema, column: Column) -> Stored:
    """Where the column lies in the prepared table.

    >>> stored(Schema("people", [Column("age", "integer", bounds=(0, 110))]), Column("age", "integer", bounds=(0, 110)))
    Stored(name='c0', store=<Store.STEPS: 'bigint'>, step=Fraction(1, 1))
    """
    name = f"c{schema.columns.index(column)}"
    match column.type:
        case Type.BOOLEAN:
            return Stored(name, Store.FLAG)
        case Type.CATEGORY | Type.TEXT:
            return Stored(name, Store.TEXT if column.values is None else Store.CODE)
        case Type.NUMBER if column.bounds is None:
            return Stored(name, Store.FLOAT)
        case _:
            return Stored(name, Store.STEPS, column.step or Fraction(1))
