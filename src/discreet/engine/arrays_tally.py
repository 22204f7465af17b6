"""Tallies on held rows: rows, units and sums of steps by columns with public groups, and nothing else yet."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from discreet.engine.arrays_cells import Cells, Held
from discreet.engine.arrays_part import is_part, part_of
from discreet.errors import NotAnswerable
from discreet.ndarrays import Bools, Ints
from discreet.query.compile.exacts import Buckets, Exacts
from discreet.query.compile.measures import SATURATED
from discreet.query.layout import Store, storage
from discreet.query.meaning.cells import KeyCells
from discreet.query.meaning.steps import line
from discreet.query.nodes import Arith, Bins, Col, Expr, Literal
from discreet.query.parts import Part, Rows, RowSum, Units
from discreet.query.tally import Tally
from discreet.schema import Column, Schema
from discreet.schema.kind import number_of

_NO_CELL = -(2**63)  # in place of a label between two steps
_LIMB = 31  # bits of a step that are added up apart: 2³² rows of either half stay within 2⁶³


def require_countable(tally: Tally) -> None:
    """Refuses what is counted by the engine on files alone."""
    whole = is_part(tally.where) and tally.caps.groups is None and tally.cells.public
    keys = all(_key_column(key, tally.schema) is not None for key in tally.cells.keys)
    if not whole or not keys or not all(_is_counted(part, tally.schema) for part in tally.parts):
        what = "Arrays do not answer this question."
        why = "They count rows, units and sums of columns, by columns with public groups, without WHERE or a group cap."
        raise NotAnswerable(what, why, "Ask that, or hand the table to the engine on files.")


def exacts_of_tally(held: Held, tally: Tally) -> Exacts:
    """Every part in every cell."""
    held = part_of(held, tally.where)
    rows = np.ones(len(held.rank), dtype=np.bool_)
    if tally.caps.rows is not None:
        rows = held.rank <= tally.caps.rows
    cell = np.zeros(len(held.unit), dtype=np.int64)
    for key in tally.cells.keys:
        place, size = _places(key, held, tally.schema), len(key.labels or ())
        rows = rows & (place >= 0)
        cell = cell * size + np.maximum(place, 0)
    group = np.where(rows, tally.cells.numbers(cell), -1)
    rows = group >= 0
    parts: dict[Part, Ints | Buckets] = {
        part: _count(part, held, group, rows, tally.cells.size, tally.schema) for part in tally.parts
    }
    return Exacts(tally.cells.all_labels, parts)


def _count(part: Part, held: Held, group: Ints, rows: Bools, size: int, schema: Schema) -> Ints:
    match part:
        case Rows(items):
            for item in items:
                rows = rows & ~_cells(item, held, schema).empty
            return np.bincount(group[rows], minlength=size).astype(np.int64)
        case Units():
            pairs = np.unique(np.stack([held.unit[rows], group[rows]]), axis=1)
            return np.bincount(pairs[1], minlength=size).astype(np.int64)
        case RowSum(item, lattice):
            column, moved = _item(item, schema) or (None, 0)
            if column is None:
                raise TypeError
            own = held.cells[column.name]
            steps = np.clip(own.stored.astype(np.int64) - moved, lattice.low, lattice.high)
            return _sums(np.where(own.empty, 0, steps)[rows], group[rows], size)
        case _:
            raise TypeError


def _sums(steps: Ints, group: Ints, size: int) -> Ints:
    """Sums of steps, saturated as the engine on files does it."""
    halves = []
    for half in (steps >> _LIMB, steps & (2**_LIMB - 1)):
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, group, half)
        halves.append(total.tolist())
    sums = [(high << _LIMB) + low for high, low in zip(*halves, strict=True)]
    return np.array([max(-SATURATED, min(SATURATED, total)) for total in sums], dtype=np.int64)


def _places(key: KeyCells, held: Held, schema: Schema) -> Ints:
    """The place of each row's cell among the labels; −1 for none."""
    column = _key_column(key, schema)
    if column is None or key.labels is None:
        raise TypeError
    if isinstance(key.key.item, Bins):
        return _bins(key.key.item, held.cells[column.name], schema)
    labels = key.labels[:-1] if key.with_null else key.labels
    own, place = held.cells[column.name], storage(schema, column)
    if place.store is Store.CODE:
        codes = {str(value): code for code, value in enumerate(column.values or ())}
        cells_of_labels = [codes.get(str(label), _NO_CELL) for label in labels]
    else:
        cells_of_labels = [_steps(label, place.step) for label in labels]
    order = np.argsort(cells_of_labels)
    ordered = np.array(cells_of_labels, dtype=np.int64)[order]
    nearest = np.minimum(np.searchsorted(ordered, own.stored.astype(np.int64)), len(cells_of_labels) - 1)
    places = np.where(ordered[nearest] == own.stored, order[nearest], -1)
    return np.where(own.empty, len(labels) if key.with_null else -1, places)


def _bins(bins: Bins, own: Cells, schema: Schema) -> Ints:
    """The bin of each row's cell, the last one closed; −1 for none.  Edges lie where constants of a comparison do."""
    axis = line(bins.item, schema)
    if axis is None:
        raise TypeError
    edges = [axis.place(number_of(edge)) for edge in bins.edges or ()]
    starts = np.array([ceil(edge) for edge in edges], dtype=np.int64)
    steps = own.stored.astype(np.int64)
    place = np.minimum(np.searchsorted(starts, steps, side="right"), len(edges) - 1) - 1
    return np.where(own.empty | (steps < starts[0]) | (steps > floor(edges[-1])), -1, place)


def _steps(label: Any, step: Fraction) -> int:
    steps = Fraction(label) / step
    return int(steps) if steps.denominator == 1 else _NO_CELL


def _key_column(key: KeyCells, schema: Schema) -> Column | None:
    item = key.key.item.item if isinstance(key.key.item, Bins) else key.key.item
    column = schema.find(item.name) if isinstance(item, Col) else None
    if column is None or key.labels is None or storage(schema, column).store in (Store.FLOAT, Store.TEXT):
        return None
    return column


def _is_counted(part: Part, schema: Schema) -> bool:
    match part:
        case Rows(items):
            return all(isinstance(item, Col) and schema.find(item.name) is not None for item in items)
        case Units():
            return True
        case RowSum(item, lattice):
            column_and_shift = _item(item, schema)
            own = None if column_and_shift is None else column_and_shift[0].lattice
            return own is not None and own.step == lattice.step
        case _:
            return False


def _item(item: Expr, schema: Schema) -> tuple[Column, int] | None:
    """A column, and by how many steps it is moved."""
    match item:
        case Col(name):
            column = schema.find(name)
            return None if column is None else (column, 0)
        case Arith("-", Col(name), Literal(moved)) if isinstance(moved, int | Fraction):
            column = schema.find(name)
            if column is None or column.lattice is None:
                return None
            steps = Fraction(moved) / column.lattice.step
            return (column, int(steps)) if steps.denominator == 1 else None
        case _:
            return None


def _cells(item: Expr, held: Held, schema: Schema) -> Cells:
    column_and_shift = _item(item, schema)
    if column_and_shift is None:
        raise TypeError
    return held.cells[column_and_shift[0].name]
