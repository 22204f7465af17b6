"""Which tables of counts are compared, by which groups of cells, and the same counts of the synthetic rows.

    cells        every column by its own cells
    columns      every column by groups of its cells, as they were released by the build
    pairs        pairs of columns by these groups, at most 2,000 of them
    triples      triples by these groups, or by fewer where a column has more than 48, at most 500 of them

Where there are more pairs or triples, public words say which ones; a table with too many cells is passed over.
Synthetic rows are counted by the kernel's own arithmetic, so that equal rows give equal counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from discreet.kernel.cliques import Marginals
from discreet.kernel.marginals import Counted
from discreet.ndarrays import Ints
from discreet.noise.public import words_of
from discreet.synth.build import Build
from discreet.synth.measured.coarse import grouped
from discreet.synth.subject import Subject

STEPS = 2**20  # of what one unit adds to a table
ORDERS = {"cells": 1, "columns": 1, "pairs": 2, "triples": 3}
MOST_TABLES = {1: 10**3, 2: 2_000, 3: 500}
MOST_TABLE, MOST_CELLS = 2**18, 2**24  # cells of one table, and of all tables of one kind
_PASS_CELLS = 2**19  # counted in one pass
_WIDE, _FEWER = 48, 24  # groups of a column of a triple
Clique = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables by groups of cells, and what a unit adds; `possible` is how many there are of as many columns."""

    subject: Subject
    groups: tuple[Ints, ...]
    cliques: tuple[Clique, ...]
    possible: int
    steps: int = STEPS

    @cached_property
    def sizes(self) -> list[int]:
        """How many groups each feature has."""
        return [int(group.max()) + 1 for group in self.groups]

    @property
    def cells(self) -> int:
        """Of all tables together."""
        return sum(self.cells_of(clique) for clique in self.cliques)

    def cells_of(self, clique: Clique) -> int:
        """Of one table."""
        return prod(self.sizes[feature] for feature in clique)

    def batches(self) -> Iterator[list[Clique]]:
        """The tables in order, as many together as one pass counts."""
        batch, cells = list[Clique](), 0
        for clique in self.cliques:
            own = self.cells_of(clique)
            if batch and cells + own > _PASS_CELLS:
                yield batch
                batch, cells = [], 0
            batch.append(clique)
            cells += own
        if batch:
            yield batch

    def public(self, cliques: Sequence[Clique]) -> dict[str, Any]:
        """The parameters of the kernel that counts these tables."""
        return self.subject.public(self.groups, cliques, [self.steps] * len(cliques))

    def split(self, counts: Ints, cliques: Sequence[Clique]) -> list[Ints]:
        """The counts of each of the tables, which lie one behind the other."""
        ends = np.cumsum([self.cells_of(clique) for clique in cliques])
        return np.split(counts, ends[:-1])


def tables_of(build: Build, kind: str) -> Tables:
    """The tables of that kind (`ORDERS`), from released numbers and public words."""
    subject, order = build.plan.subject, ORDERS[kind]
    groups = _groups(build, kind)
    sizes = [int(group.max()) + 1 for group in groups]
    chosen, cells = list[Clique](), 0
    for clique in cliques_of(len(sizes), order):
        own = prod(sizes[feature] for feature in clique)
        if own <= MOST_TABLE and cells + own <= MOST_CELLS:
            chosen.append(clique)
            cells += own
    return Tables(subject, groups, tuple(chosen), comb(len(sizes), order))


def cliques_of(features: int, order: int) -> list[Clique]:
    """All cliques of so many features, or as many as there may be, chosen by public words.

    >>> cliques_of(3, 2), len(cliques_of(100, 3)), len(set(cliques_of(100, 3)))
    ([(0, 1), (0, 2), (1, 2)], 500, 500)
    """
    most_tables = MOST_TABLES[order]
    if comb(features, order) <= most_tables:
        return list(combinations(range(features), order))
    words = words_of(f"tables of a check: {order} of {features}", 8 * order * most_tables)
    drawn = np.sort((words % np.uint64(features)).astype(np.int64).reshape(-1, order), axis=1)
    apart = drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)]
    _, first = np.unique(apart, axis=0, return_index=True)
    return [tuple(clique) for clique in apart[np.sort(first)][:most_tables].tolist()]


def _groups(build: Build, kind: str) -> tuple[Ints, ...]:
    subject = build.plan.subject
    if kind == "cells":
        return tuple(np.arange(size) for size in subject.sizes)
    groups = build.synthesis.groups
    if kind != "triples":
        return tuple(groups)
    facts = zip(groups, build.synthesis.singles.shares, subject.are_ordered, subject.profiles, strict=True)
    return tuple(
        group if int(group.max()) < _WIDE else grouped(shares, _FEWER, is_ordered=is_ordered, profiles=profiles)
        for group, shares, is_ordered, profiles in facts
    )


@dataclass(frozen=True, eq=False)
class SyntheticCounts:
    """Counts of the synthetic rows, in the steps in which the kernel counts real ones."""

    build: Build

    @cached_property
    def total(self) -> int:
        """What all synthetic units add to each table."""
        subject = self.build.plan.subject
        groups = [np.zeros(size, dtype=np.int64) for size in subject.sizes]
        return int(self.of(subject.public(groups, [(0,)], [STEPS]))[0])

    def of(self, public: dict[str, Any]) -> Ints:
        """As the kernel `marginals` counts."""
        marginals = Marginals.parse(public)
        groups = [feature.groups[codes] for feature, codes in zip(marginals.features, self._codes, strict=True)]
        sharing = self._sizes if marginals.is_shared else None
        first, *others = Counted(groups, sharing).blocks()
        counts = first.counts(marginals)
        for block in others:
            counts += block.counts(marginals)
        return counts

    @cached_property
    def _codes(self) -> list[Ints]:
        """The code of each row for each feature; the last one of whole units is how many rows the unit has."""
        codes = [column.astype(np.intp) for column in self.build.codes.columns]
        return [*codes, self._sizes - 1] if self.build.plan.subject.is_shared else codes

    @cached_property
    def _sizes(self) -> Ints:
        """How many rows the unit of each row has."""
        units = self.build.codes.units
        if units is None or not len(units):
            return np.ones(self.build.codes.rows, dtype=np.int64)
        rows: Ints = np.bincount(units)[units]
        return np.minimum(rows, self.build.plan.subject.schema.max_rows)
