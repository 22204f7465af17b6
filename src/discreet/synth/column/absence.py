"""Units without a row in the second of two tables: what all their cells of that table are, and what follows from it.

Where the column of presence is false, each column of the second table is empty, and the unit has one row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools
from discreet.relation import Relation
from discreet.synth.column.column import SynthColumn
from discreet.synth.column.zeros import Zero

ROWS = ""  # what zeros call the number of a unit's rows: no column has that name


@dataclass(frozen=True)
class Absence:
    """The column of presence, the columns that are empty where it is false, and what both tables are called."""

    presence: str
    columns: tuple[str, ...]
    tables: tuple[str, str] = ("", "")

    def to_json(self) -> dict[str, Any]:
        """Its public facts."""
        return {"presence": self.presence, "columns": list(self.columns)}

    def words(self, unit: str, max_rows: int, relation: Relation) -> str:
        """How a unit of two tables counts, who is charged, and what is hidden, in sentences."""
        persons, rows = self.tables
        hidden = f"whether a {unit} is in {persons}, with which values, and its rows of {rows}."
        if relation is Relation.REPLACE_ONE:
            hidden = f"values of a {unit} in {persons}, and its rows of {rows}. That it is in {persons} is not hidden."
        own = f"its rows of {rows}, none to {max_rows}, share its weight, and their number is synthesised too"
        own = own if max_rows > 1 else f"it has one row of {rows}, or none"
        return (
            f"Each {unit} counts once, in both tables: {own}. "
            f"Both ledgers are charged, that of {persons} and that of {rows}; what remains is the lesser of both. "
            f"What is hidden: {hidden}"
        )


def absence_zeros(absence: Absence, columns: Sequence[SynthColumn], max_rows: int) -> tuple[Zero, ...]:
    """What cannot be beside a false presence: a value of the second table, and a second row."""
    by_name = {column.name: column for column in columns}
    if absence.presence not in by_name:
        fix = f"Add {absence.presence!r} to columns."
        raise bad("columns", "must hold the column that says which units have rows", absence.presence, fix)
    if by_name.keys() <= {absence.presence, *absence.columns}:
        rule = f"must hold one of {absence.tables[0]}, for it tells how many there are"
        raise bad("columns", rule, sorted(by_name), f"Add a declared column of {absence.tables[0]}.")
    absent = np.array([True, False, False])
    zeros = [
        Zero({absence.presence: absent, name: _all_but(by_name[name].cells + 1, by_name[name].cells)})
        for name in absence.columns
        if name in by_name
    ]
    if max_rows > 1:
        zeros.append(Zero({absence.presence: absent, ROWS: _all_but(max_rows + 1, 0)}))
    return tuple(zeros)


def absent_codes(absence: Absence, columns: Sequence[SynthColumn]) -> dict[int, int]:
    """The one code that each feature can have where presence is false; the number of rows lies behind the columns."""
    codes = {place: column.cells for place, column in enumerate(columns) if column.name in absence.columns}
    presence = next(place for place, column in enumerate(columns) if column.name == absence.presence)
    return {**codes, presence: 0, len(columns): 0}


def _all_but(codes: int, kept: int) -> Bools:
    mask = np.ones(codes, dtype=np.bool_)
    mask[kept] = False
    return mask
