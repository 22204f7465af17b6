"""Rows invented from public facts alone, as a CSV: about nobody, and the same for the same seed.

numbers, dates    uniform on the lattice between the bounds; without bounds a range of their own
listed values     each equally often; the levels above a leaf are those of its branch
unlisted texts    categories: a few labels, some of them rare; texts: many labels, some three units to each
empty cells       one in twenty, where `null = "key"` makes a group of them
rows of a unit    up to ten; those of the first reach the cap, where it is at most 1,000
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.noise.public import generator
from discreet.schema import Column, Hierarchy, Lattice, Null, Schema, Type
from discreet.schema.kind import number_of

UNITS, SEED = 1000, 1
_MOST_UNITS = 10**6
_ROWS, _MOST_ROWS = 10, 1000  # of most units, of the first
_EMPTY = 0.05
_LABELS = 30  # of a category without a list
_SHARING = 3  # units to each label of a text
_EPOCH = datetime(1970, 1, 1)
_UNBOUNDED = {  # what a column without bounds is drawn from
    Type.INTEGER: Lattice(0, 100, Fraction(1)),
    Type.NUMBER: Lattice(0, 1000, Fraction(1, 10)),
    Type.DATE: Lattice(18_262, 21_914, Fraction(1)),  # 2020 to 2029
    Type.DATETIME: Lattice(18_262 * 86_400, 21_914 * 86_400, Fraction(1)),
}

Cells = list[Any]  # None for an empty cell


def write_rows(schema: Schema, path: Path, *, units: int = UNITS, seed: int = SEED) -> None:
    """Write the invented table as a CSV that the engine reads."""
    path.write_text(as_csv(invented_table(schema, units=units, seed=seed)), encoding="utf-8", newline="")


def invented_table(schema: Schema, *, units: int = UNITS, seed: int = SEED) -> dict[str, Cells]:
    """Columns of equal length: the unit's key and every declared column.

    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> all(0 <= age <= 110 for age in invented_table(people, units=50, seed=7)["age"])
    True
    """
    number = amounts.count(units, "units", 1, _MOST_UNITS)
    chance = generator(amounts.count(seed, "seed", 0, 2**63 - 1))
    limit = min(schema.max_rows, _ROWS)
    row_counts = chance.integers(1, limit, size=number, endpoint=True)
    row_counts[0] = min(schema.max_rows, _MOST_ROWS)
    who = np.repeat(np.arange(number), row_counts)
    table: dict[str, Cells] = {} if schema.unit is None else {schema.unit.key: [f"invented-{unit}" for unit in who]}
    for column in schema.columns:
        if column.fixed_per_unit:
            cells = _cells(column, schema, number, number, chance)
            table[column.name] = [cells[unit] for unit in who]
        else:
            table[column.name] = _cells(column, schema, len(who), number, chance)
    for hierarchy in schema.hierarchies:
        table |= _above(hierarchy, schema, table)
    return table or {"row": list(range(len(who)))}


def as_csv(table: dict[str, Cells]) -> str:
    """The table as CSV: texts in quotes, nothing at all for an empty cell.

    >>> as_csv({"a b": ["x", None], "n": [1, 2.5]})
    '"a b","n"\\n"x",1\\n,2.5\\n'
    """
    rows = [table.keys(), *zip(*table.values(), strict=True)]
    return "".join(",".join(map(_csv_cell, row)) + "\n" for row in rows)


def _csv_cell(cell: Any) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else repr(cell)


def _cells(column: Column, schema: Schema, rows: int, units: int, chance: Any) -> Cells:
    cells = _full(column, schema, rows, units, chance)
    if column.null is not Null.KEY:
        return cells
    empty = chance.random(rows) < _EMPTY
    return [None if gone else cell for cell, gone in zip(cells, empty, strict=True)]


def _full(column: Column, schema: Schema, rows: int, units: int, chance: Any) -> Cells:
    listed = column.values or _leaves(column, schema.hierarchies)
    if listed:
        return [listed[index] for index in chance.integers(len(listed), size=rows)]
    if column.type is Type.BOOLEAN:
        return ["true" if yes else "false" for yes in chance.integers(2, size=rows)]
    if column.type is Type.CATEGORY:
        weights = 1 / np.arange(1, _LABELS + 1)
        return [f"{column.name} {index}" for index in chance.choice(_LABELS, size=rows, p=weights / weights.sum())]
    if column.type is Type.TEXT:
        return [f"{column.name} {index}" for index in chance.integers(max(units // _SHARING, 1), size=rows)]
    lattice = column.lattice or _UNBOUNDED[column.type]
    steps = chance.integers(lattice.low, lattice.high, size=rows, endpoint=True)
    ends = None if column.bounds is None else tuple(map(number_of, column.bounds))
    return [_value(_within(int(index) * lattice.step, ends), column.type) for index in steps]


def _within(value: Fraction, ends: tuple[Fraction, ...] | None) -> Fraction:
    """The value clamped to the bounds, which a lattice, rounded outward, may pass."""
    return value if ends is None else min(max(value, ends[0]), ends[1])


def _value(value: Fraction, kind: Type) -> Any:
    match kind:
        case Type.DATE:
            return date.fromordinal(date(1970, 1, 1).toordinal() + int(value)).isoformat()
        case Type.DATETIME:
            return (_EPOCH + timedelta(microseconds=int(value * 10**6))).isoformat()
        case _:
            return int(value) if value.denominator == 1 else float(value)


def _leaves(column: Column, hierarchies: Iterable[Hierarchy]) -> tuple[str, ...]:
    """The leaves of the tree that ends in this column."""
    ending = (hierarchy for hierarchy in hierarchies if hierarchy.levels[-1].casefold() == column.name.casefold())
    return next((hierarchy.leaves for hierarchy in ending if hierarchy.branches), ())


def _above(hierarchy: Hierarchy, schema: Schema, table: dict[str, Cells]) -> dict[str, Cells]:
    """The declared levels above the leaves, each as the branch of the row's leaf has it."""
    leaf = schema.find(hierarchy.levels[-1])
    if leaf is None or not hierarchy.branches:
        return {}
    branch = dict(zip(hierarchy.leaves, hierarchy.branches, strict=True))
    levels = {}
    for depth, level in enumerate(hierarchy.levels[:-1]):
        column = schema.find(level)
        if column is not None and (leaf.fixed_per_unit or not column.fixed_per_unit):
            paths = (branch.get(cell) for cell in table[leaf.name])
            levels[column.name] = [None if path is None else path[depth] or None for path in paths]
    return levels
