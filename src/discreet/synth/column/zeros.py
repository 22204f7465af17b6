"""Structural zeros over fine cells: which codes of which columns never stand in one row.

A zero is a mask over the codes of each of its columns, the empty cell last.  Two cells of a column are of one profile
where every zero has both or neither: only such cells may be joined, or a group would be possible in part.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.synth.column.column import SynthColumn
from discreet.synth.column.stated import Members, Stated

MOST_PROFILES = 256  # of one column, each of which stays a cell of its own in every pair


@dataclass(frozen=True, eq=False)
class Zero:
    """One impossible combination: for each of its columns a mask over the codes 0 … cells.

    >>> zero = Zero({"sex": np.array([True, False, False]), "pregnant": np.array([False, True, False])})
    >>> is_impossible([zero], {"sex": np.array([0, 1]), "pregnant": np.array([1, 1])}).tolist()
    [True, False]
    """

    masks: Mapping[str, Bools]

    def to_json(self) -> dict[str, Any]:
        """For each column how many codes it has, and the runs of those that are named: first and last."""
        return {name: {"codes": len(mask), "runs": _runs(mask)} for name, mask in self.masks.items()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Zero":
        """The combination with those codes."""
        masks = {}
        for name, part in facts.items():
            masks[name] = np.zeros(int(part["codes"]), dtype=np.bool_)
            for first, last in part["runs"]:
                masks[name][first : last + 1] = True
        return cls(masks)


def _runs(mask: Bools) -> list[list[int]]:
    changes = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    return [[int(first), int(end) - 1] for first, end in changes.reshape(-1, 2)]


def zeros_of(stated: Iterable[Stated], columns: Sequence[SynthColumn]) -> tuple[Zero, ...]:
    """The combinations over the fine cells of columns that were cut by `cuts_of` them."""
    by_name = {column.name: column for column in columns}
    zeros = []
    for zero in stated:
        missing = [name for name in zero.parts if name not in by_name]
        if missing:
            fix = f"Add {missing[0]!r} to columns, or leave the combination out."
            raise bad("zeros", "must name columns of the synthetic table", missing[0], fix)
        masks = {name: _mask(by_name[name], members) for name, members in zero.parts.items()}
        if all(mask.all() for mask in masks.values()):
            fix = "Leave out what is possible, or the whole combination."
            raise bad("zeros", "must leave some rows possible", sorted(masks), fix)
        zeros.append(Zero(masks))
    return tuple(zeros)


def _mask(column: SynthColumn, members: Members) -> Bools:
    mask = np.zeros(column.cells + 1, dtype=np.bool_)
    mask[-1] = members.with_empty
    if column.values is not None:
        mask[:-1] = [value in members.values for value in column.values]
        return mask
    for low, end in members.ranges:
        first, behind = ceil(low / column.step), ceil(end / column.step)
        is_within = (column.starts[:-1] >= first) & (column.starts[1:] <= behind)
        if (is_within != ((column.starts[:-1] < behind) & (column.starts[1:] > first))).any():
            raise ValueError("a cell lies on both sides of a range's end: cut the column by cuts_of(zeros)")
        mask[:-1] |= is_within
    return mask


def profiles(columns: Sequence[SynthColumn], zeros: Sequence[Zero]) -> dict[str, Ints]:
    """For each column the profile of each code 0 … cells, numbered as they first occur; only zeros without zeros."""
    return {column.name: profile_of(column.name, column.cells + 1, zeros) for column in columns}


def profile_of(name: str, codes: int, zeros: Sequence[Zero]) -> Ints:
    """The profile of each code of the feature with that name."""
    masks = [zero.masks[name] for zero in zeros if name in zero.masks]
    if not masks:
        return np.zeros(codes, dtype=np.int64)
    memberships = np.packbits(np.stack(masks, axis=1), axis=1)
    _, first, kinds = np.unique(memberships, axis=0, return_index=True, return_inverse=True)
    if len(first) > MOST_PROFILES:
        rule = f"must tell apart at most {MOST_PROFILES} kinds of cells of one column"
        fix = f"Name whole groups of {name!r}, or leave some of its combinations out."
        raise bad("zeros", rule, f"{len(first):,} kinds of {name!r}", fix)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[kinds.reshape(-1)]


def is_impossible(zeros: Iterable[Zero], codes: Mapping[str, Ints]) -> Bools:
    """Whether each row of codes has an impossible combination; arrays may be of any shapes that go together."""
    shape = np.broadcast_shapes(*(cells.shape for cells in codes.values()))
    rows = np.zeros(shape, dtype=np.bool_)
    for zero in zeros:
        rows |= reduce(np.logical_and, (mask[codes[name]] for name, mask in zero.masks.items()))
    return rows
