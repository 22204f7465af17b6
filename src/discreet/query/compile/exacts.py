"""The engine's columns as exact integers per group: what mechanisms add noise to.  They never leave unprotected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.query.compile.statements import Statement
from discreet.query.meaning.cells import Cells
from discreet.query.parts import Part, Ranks, Tops

Ints = NDArray[np.int64]
KeyTuple = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Rows per group and bucket, in order of both; what is not held is 0, what is held twice is added up."""

    cell: Ints
    bucket: Ints
    count: Ints

    def of(self, cell: int, points: int) -> Ints:
        """The counts of all buckets of one group.

        >>> Buckets(np.array([0, 2, 2]), np.array([1, 0, 2]), np.array([5, 6, 7])).of(2, 4).tolist()
        [6, 0, 7, 0]
        """
        first, last = np.searchsorted(self.cell, [cell, cell + 1])
        found = np.zeros(points, dtype=np.int64)
        np.add.at(found, self.bucket[first:last], self.count[first:last])
        return found


@dataclass(frozen=True, eq=False)
class Exacts:
    """All groups by their labels, and for each part a number a group, or its buckets."""

    keys: tuple[KeyTuple, ...]
    parts: Mapping[Part, Ints | Buckets]


def exacts(statement: Statement, columns: Mapping[str, Any], cells: Cells) -> Exacts:
    """One statement's result as exact integers: public groups all of them in order, private ones those present.

    Private groups are sorted by key, None last, so that the order in which rows are stored is not told.
    """
    if cells.public:
        keys = _public(cells)
        return Exacts(keys, _arranged(statement, columns, _ints(columns["cell"]), len(keys)))
    raw = zip(*(_plain(columns[f"k{i}"]) for i in range(len(cells.keys))), strict=True)
    labels = [tuple(one.label(part) for one, part in zip(cells.keys, key, strict=True)) for key in raw]
    present, group = _sorted(labels, cells)
    return Exacts(present, _arranged(statement, columns, group, len(present)))


def _public(cells: Cells) -> tuple[KeyTuple, ...]:
    """The labels of all public groups, row-major."""
    return tuple(product(*(key.labels for key in cells.keys if key.labels is not None)))


def _arranged(statement: Statement, columns: Mapping[str, Any], group: Ints, groups: int) -> dict[Part, Ints | Buckets]:
    if any(isinstance(part, Ranks | Tops) for part in statement.parts):
        bucket, count = _ints(columns["bucket"]), _ints(columns["p0"])
        order = np.lexsort((bucket, group))
        return {statement.parts[0]: Buckets(group[order], bucket[order], count[order])}
    found: dict[Part, Ints | Buckets] = {}
    for number, part in enumerate(statement.parts):
        dense = np.zeros(groups, dtype=np.int64)
        np.add.at(dense, group, _ints(columns[f"p{number}"]))  # a group named twice must not lose what came first
        found[part] = dense
    return found


def _ints(column: Any) -> Ints:
    return np.asarray(column).astype(np.int64)


def _plain(column: Any) -> list[Any]:
    """Python values, None for NULL however the driver marks it."""
    return [None if found is None or found is np.ma.masked else found for found in column.tolist()]


def _sorted(labels: Sequence[KeyTuple], cells: Cells) -> tuple[tuple[KeyTuple, ...], Ints]:
    """The different keys, public labels in public order and private ones by value, and the place of each given one."""
    places = [None if one.labels is None else {label: i for i, label in enumerate(one.labels)} for one in cells.keys]

    def order(key: KeyTuple) -> list[tuple[bool, Any]]:
        known = (part if place is None else place[part] for part, place in zip(key, places, strict=True))
        return [(part is None, 0 if part is None else part) for part in known]

    present = tuple(sorted(set(labels), key=order))
    place = {key: number for number, key in enumerate(present)}
    return present, np.array([place[key] for key in labels], dtype=np.int64)


def gathered(statements: Sequence[Statement], results: Sequence[Mapping[str, Any]], cells: Cells) -> Exacts:
    """All statements of a question side by side, on the same groups."""
    read = [exacts(statement, columns, cells) for statement, columns in zip(statements, results, strict=True)]
    if cells.public:
        keys = read[0].keys if read else _public(cells)
        return Exacts(keys, {part: found for one in read for part, found in one.parts.items()})
    every, place = _sorted([key for one in read for key in one.keys], cells)
    parts: dict[Part, Ints | Buckets] = {}
    first = 0
    for one in read:
        moved, first = place[first : first + len(one.keys)], first + len(one.keys)
        parts |= {part: _moved(found, moved, len(every)) for part, found in one.parts.items()}
    return Exacts(every, parts)


def _moved(found: Ints | Buckets, moved: Ints, groups: int) -> Ints | Buckets:
    if isinstance(found, Buckets):
        return Buckets(moved[found.cell], found.bucket, found.count)
    dense = np.zeros(groups, dtype=np.int64)
    dense[moved] = found
    return dense
