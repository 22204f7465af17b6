"""Rows of whole units as groups of cells: one short number for each row and feature.

A row's group follows from its own cell, or from how many rows its unit has.  Cells of a feature by edges or values are
compared with each number from which on the group is another, one number for all rows at once, and where there are many
such numbers each cell is searched for among them: the groups are the same, and which way is quicker depends on how many
rows there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import amounts
from discreet.errors import bad
from discreet.kernel.encode import MOST_CELLS, Feature
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints

Groups = NDArray[np.unsignedinteger[Any]]
_ROWS_OF_UNIT = "rows_of_unit"
_MOST_CHANGES, _ROWS_A_CHANGE = 2**8 - 1, 40  # measured: beyond, searching is quicker than comparing


@dataclass(frozen=True, eq=False)
class Grouped:
    """A feature by the groups of its cells; without a feature, the groups of how many rows a unit has."""

    feature: Feature | None
    groups: Groups  # of each cell, then of an empty one

    @classmethod
    def parse(cls, public: Any, groups: Any) -> "Grouped":
        """From one of the parameters `features` and one of `groups`."""
        feature, cells = _feature_and_cells(public)
        if type(groups) is not np.ndarray or groups.dtype.kind not in "iu" or groups.shape != (cells + 1,):
            rule = f"must be {cells + 1} whole numbers: one for each cell, and last one for an empty cell"
            raise bad("groups", rule, getattr(groups, "shape", type(groups).__name__), "Give a numpy array.")
        first, last = int(groups.min()), int(groups.max())
        if first < 0 or last > cells or not np.bincount(groups.astype(np.int64)).all():
            raise bad("groups", "must be 0, 1, 2, …, each of them used", f"{first} … {last}", "Number them anew.")
        return cls(feature, groups.astype(np.min_scalar_type(last)))

    @cached_property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    def of_sizes(self, sizes: Ints) -> Groups:
        """The group of each unit with that many rows."""
        return np.take(self.groups, np.minimum(sizes, len(self.groups) - 1) - 1)

    def of_cells(self, feature: Feature, cells: Any) -> Groups:
        """The group of each cell."""
        if feature.size:
            codes: Ints = (cells + 1).astype(np.int64, copy=False)
            return np.take(self._by_code, codes, mode="clip")
        numbers, groups = self._changes
        if len(numbers) > min(_MOST_CHANGES, len(cells) // _ROWS_A_CHANGE):
            return np.take(self.groups, feature.codes(cells), mode="wrap")  # −1 is the last
        passed, changes = np.empty(len(cells), dtype=np.bool_), np.zeros(len(cells), dtype=np.uint8)
        with np.errstate(invalid="ignore"):
            for number in numbers:
                np.greater_equal(cells, number, out=passed)
                np.add(changes, passed.view(np.uint8), out=changes)
        return groups[changes]

    @cached_property
    def _by_code(self) -> Groups:
        """The groups of the codes from −1 to one too many."""
        return np.concatenate((self.groups[-1:], self.groups))

    @cached_property
    def _changes(self) -> tuple[Floats, Groups]:
        """Numbers from which on the group is another, and the group before and from each of them on."""
        feature, empty = self.feature, self.groups[-1:]
        if feature is None or (feature.values is None and feature.edges is None):
            return np.zeros(0), empty
        if feature.values is not None:
            order = np.argsort(feature.values)
            begins, own = feature.values[order], self.groups[order]
            numbers = np.stack((begins, np.nextafter(begins, np.inf)), axis=1).ravel()
            groups = np.stack((own, np.full_like(own, empty[0])), axis=1).ravel()
        else:
            numbers, groups = np.array(feature.edges), self.groups
            numbers[-1] = np.nextafter(numbers[-1], np.inf)  # the last bin is closed
        changes = np.diff(groups, prepend=empty) != 0
        return numbers[changes], np.concatenate((empty, groups[changes]))


def groups_of_rows(chunk: UnitRows, features: Sequence[Grouped]) -> list[Groups]:
    """For each feature the group of each row; the chunk's columns are those of the features that have cells."""
    names, sizes = iter(chunk.columns), unit_sizes(chunk)
    return [
        feature.of_sizes(sizes)[chunk.unit_of_row]
        if feature.feature is None
        else feature.of_cells(feature.feature, chunk.columns[next(names)])
        for feature in features
    ]


def unit_sizes(chunk: UnitRows) -> Ints:
    """How many rows each unit has."""
    return np.diff(chunk.starts, append=chunk.size)


def _feature_and_cells(public: Any) -> tuple[Feature | None, int]:
    if isinstance(public, Mapping) and set(public) == {_ROWS_OF_UNIT}:
        return None, amounts.count(public[_ROWS_OF_UNIT], _ROWS_OF_UNIT, 1, MOST_CELLS)
    feature = Feature.parse(public)
    if feature.is_number:
        raise bad("features", "must be described by cells", public, "Give size, values, edges or rows_of_unit.")
    return feature, feature.cells
