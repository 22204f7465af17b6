"""The engine's columns as exact integers per group, which mechanisms add noise to; they are never shown."""

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
    """Rows per group and bucket, in order of both; a missing bucket is 0, one that occurs twice is added up."""

    cell: Ints
    bucket: Ints
    count: Ints

    def buckets_of(self, cell: int) -> tuple[Ints, Ints]:
        """The buckets of one group, each once and rising, and their counts.

        >>> buckets = Buckets(np.array([0, 2, 2]), np.array([1, 3, 3]), np.array([5, 6, 7]))
        >>> [column.tolist() for column in buckets.buckets_of(2)]
        [[3], [13]]
        """
        start, stop = np.searchsorted(self.cell, [cell, cell + 1])
        order = start + np.argsort(self.bucket[start:stop], kind="stable")  # in order already, which costs one look
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
        start, stop = np.searchsorted(self.cell, [cell, cell + 1])
        counts = np.zeros(points, dtype=np.int64)
        np.add.at(counts, self.bucket[start:stop], self.count[start:stop])
        return counts


@dataclass(frozen=True, eq=False)
class Exacts:
    """All groups by their labels, and for each part a number a group, or its buckets."""

    keys: Sequence[KeyTuple]
    parts: Mapping[Part, Ints | Buckets]


@dataclass(frozen=True, eq=False)
class _ByStoredKey:
    """The same with private groups by their stored keys, () where groups are public."""

    stored_keys: tuple[KeyTuple, ...]
    parts: Mapping[Part, Ints | Buckets]


def _by_stored_key(statement: Statement, columns: Mapping[str, Any], cells: Cells) -> _ByStoredKey:
    if cells.public:
        return _ByStoredKey((), _parts_by_group(statement, columns, cells.numbers(_ints(columns["cell"])), cells.size))
    stored_keys = list(zip(*(_plain(columns[f"k{i}"]) for i in range(len(cells.keys))), strict=True))
    present, group = _distinct(stored_keys)
    return _ByStoredKey(present, _parts_by_group(statement, columns, group, len(present)))


def _parts_by_group(
    statement: Statement, columns: Mapping[str, Any], group: Ints, groups: int
) -> dict[Part, Ints | Buckets]:
    """Every part by group; what belongs to no group, marked by −1, is left out."""
    columns = {name: np.asarray(column)[group >= 0] for name, column in columns.items()}
    group = group[group >= 0]
    if any(isinstance(part, Ranks | Tops | Sizes) for part in statement.parts):
        bucket, count = _ints(columns["bucket"]), _ints(columns["p0"])
        order = np.argsort(group * (1 + int(bucket.max(initial=0))) + bucket)  # below 2⁵³: groups are rows at most
        return {statement.parts[0]: Buckets(group[order], bucket[order], count[order])}
    numbers: dict[Part, Ints | Buckets] = {}
    for index, part in enumerate(statement.parts):
        dense = np.zeros(groups, dtype=np.int64)
        np.add.at(dense, group, _ints(columns[f"p{index}"]))  # a group named twice must not lose what came first
        numbers[part] = dense
    return numbers


def _ints(column: Any) -> Ints:
    return np.asarray(column).astype(np.int64)


def _plain(column: Any) -> list[Any]:
    """Python values, None for NULL however the driver marks it."""
    return [None if value is None or value is np.ma.masked else value for value in column.tolist()]


def _distinct(stored_keys: Sequence[KeyTuple]) -> tuple[tuple[KeyTuple, ...], Ints]:
    """The different keys in order of what is stored, None last, and the index of each given one among them."""

    def order(key: KeyTuple) -> list[tuple[bool, Any]]:
        return [(part is None, 0 if part is None else part) for part in key]

    present = tuple(sorted(set(stored_keys), key=order))
    index = {key: number for number, key in enumerate(present)}
    return present, np.array([index[key] for key in stored_keys], dtype=np.int64)


def exacts_of(statements: Sequence[Statement], results: Sequence[Mapping[str, Any]], cells: Cells) -> Exacts:
    """The results of all statements on the same groups: all public ones in order, or the private ones present.

    Private groups are sorted by what is stored, so that the order in which rows are stored is not told.
    """
    read = [_by_stored_key(statement, columns, cells) for statement, columns in zip(statements, results, strict=True)]
    if cells.public:
        return Exacts(cells.all_labels, {part: numbers for result in read for part, numbers in result.parts.items()})
    present, index = _distinct([key for result in read for key in result.stored_keys])
    parts: dict[Part, Ints | Buckets] = {}
    start = 0
    for result in read:
        stop = start + len(result.stored_keys)
        parts |= {part: _renumbered(n, index[start:stop], len(present)) for part, n in result.parts.items()}
        start = stop
    labels = (tuple(key.label(part) for key, part in zip(cells.keys, stored, strict=True)) for stored in present)
    return Exacts(tuple(labels), parts)


def _renumbered(numbers: Ints | Buckets, index: Ints, groups: int) -> Ints | Buckets:
    """A part with the group i moved to index[i] of all groups."""
    if isinstance(numbers, Buckets):
        return Buckets(index[numbers.cell], numbers.bucket, numbers.count)
    dense = np.zeros(groups, dtype=np.int64)
    dense[index] = numbers
    return dense
