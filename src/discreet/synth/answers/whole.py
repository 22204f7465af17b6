"""Which answers of a question count whole cells of one or two columns: such counts may have been measured.

A fine cell is whole for a question where all of its values meet the same conditions and have the same keys.  Listed
values are cells of their own.  Of a bin, the points beside each constant and both ends are tried: that is enough where
a question does no more than compare the column with constants, and others are not looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

import numpy as np

from discreet.ndarrays import Bools
from discreet.query.bound import Draft
from discreet.query.meaning import dates
from discreet.query.meaning.cells import KeyCells
from discreet.query.meaning.evaluate import value
from discreet.query.meaning.fold import columns, has_part
from discreet.query.nodes import (
    Aggregate,
    And,
    Bins,
    Col,
    Compare,
    Count,
    CountRows,
    CountUnits,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
)
from discreet.schema import Column, Schema, Type
from discreet.schema.column import has_undeclared_step
from discreet.schema.kind import number_of
from discreet.synth.column.column import SynthColumn
from discreet.synth.subject import Subject

Whole = Mapping[int, Bools]  # for each feature which of its fine cells are counted; features that do not matter lack
MOST_FEATURES = 2
_MOST_ROWS = 10_000  # of an answer that are looked at
_PLAIN = (And, Or, Not, Compare, In, Like, IsNull, Col, Literal)


@dataclass(frozen=True)
class _Asked:
    """What a question asks of one column: conditions, and keys with their place in the answer's labels."""

    tests: tuple[Expr, ...]
    keys: tuple[tuple[int, KeyCells], ...]


Signature = tuple[int, ...]  # of the keys, the place of each one's label, −1 for none; nothing where a test fails


def whole_counts(draft: Draft, aggregate: Aggregate, subject: Subject) -> list[Whole | None]:
    """For each row of the answer the cells that are counted, or None where it counts no whole cells."""
    nothing: list[Whole | None] = [None] * draft.cells.size if draft.cells.public else []
    asked = _by_column(draft, aggregate, subject)
    if asked is None or not nothing or len(nothing) > _MOST_ROWS:
        return nothing
    places = {column.name: place for place, column in enumerate(subject.columns)}
    signatures = {}
    for name, own in asked.items():
        codes = _signatures(subject.columns[places[name]], own, draft.schema)
        if codes is None:
            return nothing
        signatures[places[name]] = codes
    keys = {places[name]: [place for place, _ in own.keys] for name, own in asked.items()}
    return [_row(draft, labels, signatures, keys) for labels in draft.cells.all_labels]


def _row(
    draft: Draft,
    labels: Sequence[Any],
    signatures: Mapping[int, Sequence[Signature | str | None]],
    keys: Mapping[int, Sequence[int]],
) -> Whole | None:
    whole: dict[int, Bools] = {}
    for feature, codes in signatures.items():
        wanted = tuple(_label_place(draft.cells.keys[place], labels[place]) for place in keys[feature])
        if any(code == _SPLIT for code in codes):
            return None
        mask = np.array([code == wanted for code in codes])
        if not mask.all():
            whole[feature] = mask
    return whole


_SPLIT = "split"


def _by_column(draft: Draft, aggregate: Aggregate, subject: Subject) -> dict[str, _Asked] | None:
    """What is asked of each column; None where it is no count, or something looks at several columns at once."""
    match aggregate:
        case CountRows() | Count() if subject.is_shared:
            return None  # units were measured, not rows
        case CountRows() | CountUnits():
            tests = list[Expr]()
        case Count(item):
            tests = [Not(IsNull(item))]
        case _:
            return None
    where = draft.question.where
    tests += where.parts if isinstance(where, And) else [] if where is None else [where]
    keys = [(place, key) for place, key in enumerate(draft.cells.keys)]
    named: dict[str, list[Any]] = {}
    for thing, node in [*((test, test) for test in tests), *((key, key[1].key.item) for key in keys)]:
        own = columns(node)
        if len(own) != 1 or has_part(node):
            return None
        named.setdefault(own.pop(), []).append(thing)
    if len(named) > MOST_FEATURES or (subject.is_shared and not _are_persons(named, subject)):
        return None
    return {
        name: _Asked(
            tuple(thing for thing in things if not isinstance(thing, tuple)),
            tuple(thing for thing in things if isinstance(thing, tuple)),
        )
        for name, things in named.items()
    }


def _are_persons(names: Mapping[str, Any], subject: Subject) -> bool:
    """Whether the columns are the same in all rows of a unit, so that a unit counts in one cell of each."""
    return all(column.is_person for column in subject.columns if column.name in names)


def _signatures(column: SynthColumn, asked: _Asked, schema: Schema) -> list[Signature | str | None] | None:
    """For each fine cell, last the empty one, its signature: None where it is not counted, or that it is split."""
    declared = schema.find(column.name)
    points = None if declared is None else _points(column, asked, declared)
    if points is None:
        return None
    codes = [{_signature(column.name, cell, asked) for cell in cells} for cells in points]
    return [next(iter(own)) if len(own) == 1 else _SPLIT for own in codes]


def _signature(name: str, cell: Any, asked: _Asked) -> Signature | None:
    row = {name: cell}
    if any(value(test, row) is not True for test in asked.tests):
        return None
    places = tuple(_place(key, cell, row) for _, key in asked.keys)
    return None if -1 in places else places


def _place(key: KeyCells, cell: Any, row: Mapping[str, Any]) -> int:
    """The place of the key's label, −1 where the cell has none."""
    labels, item = key.labels or (), key.key.item
    if isinstance(item, Bins):
        return _bin(item, value(item.item, row))
    own = value(item, row)
    if own is None:
        return len(labels) - 1 if key.with_null else -1
    return _label_place(key, own)


def _label_place(key: KeyCells, label: Any) -> int:
    labels = key.labels or ()
    return labels.index(label) if label in labels else -1


def _bin(bins: Bins, measure: Any) -> int:
    if measure is None:
        return -1
    number, edges = number_of(measure), [number_of(edge) for edge in bins.edges or ()]
    if not edges[0] <= number <= edges[-1]:
        return -1
    return min(sum(edge <= number for edge in edges), len(edges) - 1) - 1


# --- points of cells -------------------------------------------------------------------------------------------------


def _points(column: SynthColumn, asked: _Asked, declared: Column) -> list[list[Any]] | None:
    """For each fine cell, and last the empty one, values that stand for all of it; None where none are known."""
    if not all(map(_is_plain, [*asked.tests, *(_bare(key) for _, key in asked.keys)])):
        return None
    if column.values is not None:
        return [[own] for own in (*column.values, None)]
    beside_constants = _near_constants(column, asked)
    if beside_constants and has_undeclared_step(declared):
        return None  # constants beside it are rounded
    starts = [int(start) for start in column.starts]
    bins = [
        sorted({first, end - 1, *(point for point in beside_constants if first <= point < end)})
        for first, end in pairwise(starts)
    ]
    return [*([_cell(column, point) for point in own] for own in bins), [None]]


def _bare(key: KeyCells) -> Expr:
    return key.key.item.item if isinstance(key.key.item, Bins) else key.key.item


def _is_plain(node: Any) -> bool:
    """Whether it compares a column with constants and nothing else, which engines and Python do alike."""
    return isinstance(node, _PLAIN) and all(map(_is_plain, _parts_of(node)))


def _parts_of(node: Any) -> Iterator[Any]:
    match node:
        case And(parts) | Or(parts):
            yield from parts
        case Not(item) | IsNull(item) | Like(item, _):
            yield item
        case Compare(_, left, right):
            yield from (left, right)
        case In(item, options):
            yield from (item, *options)


def _near_constants(column: SynthColumn, asked: _Asked) -> set[int]:
    """The points of the lattice next to each constant that the column is compared with."""
    measures = [m for test in asked.tests for m in _constants(test)]
    measures += [number_of(edge) for _, key in asked.keys if isinstance(key.key.item, Bins) for edge in _edges(key)]
    return {floor(measure / column.step) + beside for measure in measures for beside in (-1, 0, 1, 2)}


def _edges(key: KeyCells) -> Sequence[Any]:
    item = key.key.item
    return item.edges or () if isinstance(item, Bins) else ()


def _constants(node: Any) -> Iterator[Fraction]:
    if isinstance(node, Literal) and not isinstance(node.value, str | bool | None):
        yield number_of(node.value)
    for part in _parts_of(node):
        yield from _constants(part)


def _cell(column: SynthColumn, point: int) -> Any:
    """The value of a point of the lattice."""
    measure = point * column.step
    match column.type:
        case Type.DATE:
            return dates.day(int(measure))
        case Type.DATETIME:
            return dates.moment(int(measure))
        case _:
            return dates.whole(measure)
