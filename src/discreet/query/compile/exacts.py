"""The engine's columns as exact integers per group: what mechanisms add noise to.  They never leave unprotected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.ndarrays import Ints
from discreet.query.compile.statements import Statement
from discreet.query.meaning.cells import Cells
from discreet.query.parts import Part, Ranks, Sizes, Tops

KeyTuple = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Rows per group and bucket, in order of both; what is not held is 0, what is held twice is added up."""

    cell: Ints
    bucket: Ints
    count: Ints

    def held(self, cell: int) -> tuple[Ints, Ints]:
        """The buckets of one group that are held, each once and rising, and their counts.

        >>> [part.tolist() for part in Buckets(np.array([0, 2, 2]), np.array([1, 3, 3]), np.array([5, 6, 7])).held(2)]
        [[3], [13]]
        """
        first, last = np.searchsorted(self.cell, [cell, cell + 1])
        order = first + np.argsort(self.bucket[first:last], kind="stable")  # in order already, which costs one look
        buckets = self.bucket[order]
        new = np.flatnonzero(np.diff(buckets, prepend=-1))
        if new.size == buckets.size:
            return buckets, self.count[order]
        return buckets[new], np.add.reduceat(self.count[order], new)

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

    keys: Sequence[KeyTuple]
    parts: Mapping[Part, Ints | Buckets]


@dataclass(frozen=True, eq=False)
class _Placed:
    """The same with private groups by what is stored: a group is a place, and only what is shown has a label."""

    places: tuple[KeyTuple, ...]
    parts: Mapping[Part, Ints | Buckets]


def _placed(statement: Statement, columns: Mapping[str, Any], cells: Cells) -> _Placed:
    if cells.public:
        return _Placed((), _arranged(statement, columns, cells.numbers(_ints(columns["cell"])), cells.size))
    raw = list(zip(*(_plain(columns[f"k{i}"]) for i in range(len(cells.keys))), strict=True))
    present, group = _sorted(raw)
    return _Placed(present, _arranged(statement, columns, group, len(present)))


def _arranged(statement: Statement, columns: Mapping[str, Any], group: Ints, groups: int) -> dict[Part, Ints | Buckets]:
    """Every part by group; what belongs to no group, marked by −1, is left out."""
    columns = {name: np.asarray(column)[group >= 0] for name, column in columns.items()}
    group = group[group >= 0]
    if any(isinstance(part, Ranks | Tops | Sizes) for part in statement.parts):
        bucket, count = _ints(columns["bucket"]), _ints(columns["p0"])
        order = np.argsort(group * (1 + int(bucket.max(initial=0))) + bucket)  # below 2⁵³: groups are rows at most
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


def _sorted(stored: Sequence[KeyTuple]) -> tuple[tuple[KeyTuple, ...], Ints]:
    """The different keys by what is stored, which for a public label is its place; and where each given one went."""

    def order(key: KeyTuple) -> list[tuple[bool, Any]]:
        return [(part is None, 0 if part is None else part) for part in key]

    present = tuple(sorted(set(stored), key=order))
    place = {key: number for number, key in enumerate(present)}
    return present, np.array([place[key] for key in stored], dtype=np.int64)


def exacts_of(statements: Sequence[Statement], results: Sequence[Mapping[str, Any]], cells: Cells) -> Exacts:
    """All statements of a question side by side, on the same groups."""
    read = [_placed(statement, columns, cells) for statement, columns in zip(statements, results, strict=True)]
    if cells.public:
        return Exacts(cells.all_labels, {part: found for one in read for part, found in one.parts.items()})
    every, place = _sorted([key for one in read for key in one.places])
    parts: dict[Part, Ints | Buckets] = {}
    first = 0
    for one in read:
        moved, first = place[first : first + len(one.places)], first + len(one.places)
        parts |= {part: _moved(found, moved, len(every)) for part, found in one.parts.items()}
    labels = (tuple(one.label(part) for one, part in zip(cells.keys, key, strict=True)) for key in every)
    return Exacts(tuple(labels), parts)


def _moved(found: Ints | Buckets, moved: Ints, groups: int) -> Ints | Buckets:
    if isinstance(found, Buckets):
        return Buckets(moved[found.cell], found.bucket, found.count)
    dense = np.zeros(groups, dtype=np.int64)
    dense[moved] = found
    return dense
