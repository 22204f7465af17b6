"""What two tables of the same units are as one: public facts of persons, and of the rows that belong to them.

persons' columns        the same in all rows of a unit, under their own names
`has <child>`           whether the unit has any such row; a unit without has one row whose other cells are empty
the child's columns     under their own names, or `<child> <name>` where persons have a column of that name

Where a name is taken, upper and lower case alike, the child's name comes before it once more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.errors import bad
from discreet.schema import Column, Schema, Type, Unit
from discreet.synth.column.absence import Absence


@dataclass(frozen=True)
class Joining:
    """The public facts of both tables as one; `names` has for each column of the child what it is called there."""

    child: str
    schema: Schema
    persons: tuple[str, ...]
    names: Mapping[str, str]
    presence: str  # the column that says whether a unit has a row of the child
    tables: tuple[str, str]  # what persons and the child are called in their own metadata
    key: str  # of the child, which may be spelt otherwise than that of persons

    @property
    def absence(self) -> Absence:
        """What is empty where a unit has no row of the child."""
        return Absence(self.presence, self.rows, self.tables)

    def with_presence(self, columns: Sequence[str] | None) -> Sequence[str] | None:
        """Named columns with that of presence, which is synthesised in any case; None for all."""
        if columns is None or isinstance(columns, str) or not isinstance(columns, Sequence):
            return columns
        is_named = any(isinstance(name, str) and name.casefold() == self.presence.casefold() for name in columns)
        return columns if is_named else [*columns, self.presence]

    @property
    def rows(self) -> tuple[str, ...]:
        """The columns of the child, as the joined table calls them."""
        return tuple(self.names.values())


def joining_of(persons: Schema, rows: Schema, child: Any) -> Joining:
    """The joined facts; refused where the tables do not protect the same units in the same way."""
    if not isinstance(child, str) or not child.isidentifier():
        raise bad(
            "children", "must name each table in letters, digits and _", child, 'Write: children={"visits": visits}'
        )
    person_unit, row_unit = _same_units(persons, rows)
    taken = {person_unit.key.casefold(), *(column.name.casefold() for column in persons.columns)}
    presence = _free(f"has {child}", child, taken)
    names = {column.name: _free(column.name, child, taken) for column in rows.columns}
    columns = (
        *(replace(column, fixed_per_unit=True) for column in persons.columns),
        Column(presence, Type.BOOLEAN, fixed_per_unit=True),
        *(replace(column, name=names[column.name]) for column in rows.columns),
    )
    unit = Unit(person_unit.key, row_unit.max_rows)
    schema = Schema(f"{persons.name}_with_{child}", columns, unit, persons.relation, persons.population)
    own = tuple(column.name for column in persons.columns)
    return Joining(child, schema, own, names, presence, (persons.name, rows.name), row_unit.key)


def _free(name: str, child: str, taken: set[str]) -> str:
    """The column's own name, or with the child's before it, as often as needed."""
    free = name
    while free.casefold() in taken:
        free = f"{child} {free}"
    taken.add(free.casefold())
    return free


def _same_units(persons: Schema, rows: Schema) -> tuple[Unit, Unit]:
    """The units of both tables; refused where they are not the same ones."""
    if persons.unit is None or rows.unit is None:
        whose = persons.name if persons.unit is None else rows.name
        fix = f'In the metadata of {whose} write:\n[unit]\nkey = "patient_id"\nmax_rows = 1'
        raise bad("children", "must have a unit in both tables: its key joins them", whose, fix)
    if persons.unit.key.casefold() != rows.unit.key.casefold():
        keys = [persons.unit.key, rows.unit.key]
        raise bad("children", "must have the same unit.key in both tables", keys, "Rename one of the two columns.")
    if persons.max_rows > 1:
        fix = f"Set unit.max_rows = 1 in the metadata of {persons.name}, or put the tables the other way round."
        raise bad("children", "must belong to a table with one row for each unit", persons.max_rows, fix)
    if persons.relation is not rows.relation:
        relations = [str(persons.relation), str(rows.relation)]
        fix = "Write the same dataset.neighbours in both metadata."
        raise bad("children", "must protect units in the same sense", relations, fix)
    return persons.unit, rows.unit
