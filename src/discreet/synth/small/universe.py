"""The cells that a row can lie in, and which query holds in which cell: public facts alone.

The cells are the product of the public values of all columns that the queries look at: declared values, true and false,
bins, or the points of a bounded lattice.  None is a value where the metadata say `null = "key"`; otherwise a row with
an empty cell lies in no cell, as in GROUP BY, and satisfies no query.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from discreet.errors import NotAnswerable, bad
from discreet.inert import unused_name
from discreet.ndarrays import Bools
from discreet.query.bound import draft_of
from discreet.query.excluded import MOST_WORK, with_kept
from discreet.query.form.words import bins as bins_of
from discreet.query.meaning.cells import Cells, KeyCells
from discreet.query.meaning.evaluate import value
from discreet.query.meaning.fold import columns
from discreet.query.meaning.names import in_sql
from discreet.query.nodes import Bins, Case, Col, CountRows, Expr, Key, Literal, Output, Question, weight
from discreet.query.tally import Tally
from discreet.schema import Column, Schema, Type
from discreet.schema.kind import number_of
from discreet.schema.words import key as toml_key

MOST_CELLS = 20_000
MOST_ALONE = 1_000_000  # values of one column
_MOST_TRIED = 1_000_000  # values of conditions: some ten seconds
_MOST_TRUTHS = 50_000_000  # one byte for each query and cell
_OF_BINS = 16  # what a bin takes, where a value takes 1: all that lies in it has to be looked at


@dataclass(frozen=True, eq=False)
class Universe:
    """The tally of rows by cell, and for each condition the cells in which it holds."""

    tally: Tally
    truths: Bools  # conditions × cells

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(key.key.name for key in self.tally.cells.keys)

    @property
    def cells(self) -> int:
        """|X|."""
        return self.tally.cells.size

    def row(self, cell: int) -> dict[str, Any]:
        """The public values of a cell; a number that is not whole is a float."""
        labels = self.tally.cells.labels(cell)
        values = (float(label) if isinstance(label, Fraction) else label for label in labels)
        return dict(zip(self.names, values, strict=True))


def universe_of(schema: Schema, conditions: tuple[Expr, ...], bins: Any = None) -> Universe:
    """The universe of these conditions; refused where a column has no public cells, or a condition cuts one in two.

    `bins` gives the edges of columns that are to be read in bins; without them the bins that the metadata declare.
    """
    used = set().union(*map(columns, conditions))
    edges = _edges(bins, used, schema)
    keys = tuple(_key(column, edges) for column in schema.columns if column.name in used)
    names = {key.name.casefold() for key in keys}
    counted = (Output(unused_name("n", names), CountRows()),)
    _require_few(keys, counted, schema)
    tally = draft_of(Question(schema.name, counted, keys), schema).tally
    for axis in tally.cells.keys:
        _require_public(axis)
    return Universe(tally, _truths(tally.cells, conditions, schema))


def _edges(bins: Any, used: Iterable[str], schema: Schema) -> dict[str, Bins]:
    """The bins that were typed, by the schema's name of their column."""
    if bins is None:
        return {}
    fix = 'Give, for example, bins={"age": [0, 40, 110]}.'
    if not isinstance(bins, Mapping):
        raise bad("bins", "must be edges by column", bins, fix)
    typed = {}
    for name, edges in bins.items():
        column = schema.find(name) if isinstance(name, str) else None
        if column is None or column.name not in used:
            raise bad("bins", "must be of columns that the queries look at", name, fix)
        typed[column.name] = bins_of(column.name, edges)
    return typed


def _key(column: Column, edges: Mapping[str, Bins]) -> Key:
    item: Expr | Bins = Col(column.name)
    if column.name in edges:
        item = edges[column.name]
    elif column.bins is not None and column.values is None:
        item = Bins(Col(column.name))
    return Key(column.name, item)


def _require_public(axis: KeyCells) -> None:
    if axis.labels is None:
        name = axis.key.name
        what = f"{name} has no public values."
        why = "A small database is chosen from rows that are listed before any private row is read."
        table = toml_key("columns", name)
        edges = f", or give edges of bins: bins={{{name!r}: [0, 40, 110]}}" if axis.type is not Type.TEXT else ""
        declared = "values" if axis.type is Type.TEXT else "bounds, a step and bins"
        raise NotAnswerable(what, why, f"Under [{table}] declare {declared}{edges}.")


def _require_few(keys: Sequence[Key], counted: tuple[Output, ...], schema: Schema) -> None:
    """Refuses columns whose values together have too many combinations; a column alone may have too many."""
    sizes = {key.name: _size(Question(schema.name, counted, (key,)), schema) for key in keys}
    if prod(sizes.values()) <= MOST_CELLS:
        return
    largest = max(sizes, key=lambda name: sizes[name])
    many = "more than a million" if max(sizes.values()) > MOST_ALONE else f"{prod(sizes.values()):,}"
    why = f"The columns of the queries have {many} combinations of values, and {MOST_CELLS:,} are the most."
    fix = f"Ask about fewer columns, or give {largest} edges: bins={{{largest!r}: {_edges_example(schema, largest)}}}."
    raise NotAnswerable("There are too many cells.", why, fix)


def _edges_example(schema: Schema, name: str) -> str:
    """Edges within the bounds of a number: both ends and the middle."""
    column = schema.find(name)
    if column is None or column.bounds is None or column.type not in (Type.INTEGER, Type.NUMBER):
        return "[…]"
    low, high = (number_of(end) for end in column.bounds)
    return f"[{float(low):g}, {float((low + high) // 2):g}, {float(high):g}]"


def _size(question: Question, schema: Schema) -> int:
    """How many values one column has; of one without public values 1, and more than `MOST_ALONE` where it has."""
    try:
        return draft_of(question, schema).tally.cells.size
    except NotAnswerable:
        return MOST_ALONE + 1


# --- which query holds where -----------------------------------------------------------------------------------------


def _truths(cells: Cells, conditions: tuple[Expr, ...], schema: Schema) -> Bools:
    own = {condition: _own_cells(cells, condition) for condition in conditions}
    tried_values = sum(part.size * (_OF_BINS if _has_bins(part) else 1) for part in own.values())
    if tried_values > _MOST_TRIED or len(conditions) * cells.size > _MOST_TRUTHS:
        why = "They are tried on every cell of their columns, before anything is charged."
        raise NotAnswerable("The queries are too many for so many cells.", why, "Ask fewer, or use coarser bins.")
    tried: dict[Expr, Bools] = {}
    truths = np.zeros((len(conditions), *cells.sizes), dtype=np.bool_)
    for number, (row, condition) in enumerate(zip(truths, conditions, strict=True), 1):
        if condition not in tried:
            tried[condition] = _holds(own[condition], condition, schema, number)
        shape = [len(axis.labels or ()) if axis in own[condition].keys else 1 for axis in cells.keys]
        row |= tried[condition].reshape(shape)
        if row.all() or not row.any():
            what = f"Query {number} is {'true' if row.all() else 'false'} for every row that has a cell."
            why = 'Rows with an empty cell have none, unless the metadata say null = "key" for that column.'
            raise NotAnswerable(what, why, "Leave it out, or change what is compared.")
    return truths.reshape(len(conditions), -1)


def _has_bins(cells: Cells) -> bool:
    return any(isinstance(axis.key.item, Bins) for axis in cells.keys)


def _own_cells(cells: Cells, condition: Expr) -> Cells:
    """The cells of the columns that one condition looks at."""
    used = columns(condition)
    return Cells(tuple(axis for axis in cells.keys if axis.key.name in used))


def _holds(cells: Cells, condition: Expr, schema: Schema, number: int) -> Bools:
    """In which cells the condition is true; refused where it is true for some rows of a cell and not for others.

    A row satisfies it if it is true: neither false nor NULL.
    """
    if not _has_bins(cells):  # steps are declared where points are keys, so that constants are compared exactly
        names = [axis.key.name for axis in cells.keys]
        rows = (dict(zip(names, labels, strict=True)) for labels in cells.all_labels)
        return np.array([value(condition, row) is True for row in rows])
    fails = Case(((condition, Literal(False)),), Literal(True))
    if cells.size * weight(fails) > MOST_WORK:
        why = "It is tried on every cell of its columns."
        fix = "Use coarser bins, or write it shorter."
        raise NotAnswerable(f"Query {number} is too long for so many cells.", why, fix)
    can_hold, can_fail = (_possible(cells, where, schema) for where in (condition, fails))
    if (can_hold & can_fail).any():
        raise _cut_cell(cells, int(np.argmax(can_hold & can_fail)), number)
    return can_hold


def _possible(cells: Cells, where: Expr, schema: Schema) -> Bools:
    """The cells in which some row could satisfy the condition."""
    possible = np.zeros(prod(cells.sizes), dtype=np.bool_)
    try:
        kept = with_kept(cells, where, schema).kept
    except NotAnswerable:  # in none of them
        return possible
    possible[slice(None) if kept is None else list(kept)] = True
    return possible


def _cut_cell(cells: Cells, cell: int, number: int) -> NotAnswerable:
    """The refusal of a condition that is not the same for all rows of a cell."""
    binned = [index for index, axis in enumerate(cells.keys) if isinstance(axis.key.item, Bins)]
    names = [cells.keys[index].key.name for index in binned]
    labels = cells.labels(cell)
    inside = ", ".join(f"{in_sql(cells.keys[index].key.name)} in {labels[index]}" for index in binned)
    what = f"Query {number} is true for some values and false for others of the cell {inside}."
    why = "Rows of one cell are alike in a small database."
    fix = f"Ask at the edges of the bins, or give edges where the queries change: bins={{{names[0]!r}: […]}}."
    return NotAnswerable(what, why, fix)
