"""Kinds of persons that no published table tells apart, taken together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, groupby, product
from math import comb, prod

import numpy as np

from discreet.attack.consistent.published import Published
from discreet.ndarrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of kinds by what the tables see of them, ordered by the values of the first table that has some.

    `members` and `values` have a row for each class and a column for each table.
    """

    kinds: tuple[tuple[int, ...], ...]
    members: Bools
    values: Ints

    def worlds_of(self, chosen: Sequence[int]) -> int:
        """How many multisets of kinds have these sorted classes: ∏ C(m + j − 1, j) for j persons of a class of m."""
        counted = ((len(self.kinds[place]), sum(1 for _ in group)) for place, group in groupby(chosen))
        return prod(comb(kinds + persons - 1, persons) for kinds, persons in counted)

    def expand(self, chosen: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Those multisets, each as sorted kinds."""
        groups = [(self.kinds[place], sum(1 for _ in group)) for place, group in groupby(chosen)]
        for parts in product(*(combinations_with_replacement(kinds, persons) for kinds, persons in groups)):
            yield tuple(sorted(kind for part in parts for kind in part))


def classes_of(tables: Sequence[Published], kinds: int) -> Classes:
    """Kinds with the same memberships, and the same values where they are members, in one class."""
    members = np.array([table.members for table in tables], dtype=bool).reshape(len(tables), kinds).T
    values = np.array([np.where(table.members, table.values, 0) for table in tables], dtype=np.int64)
    values = values.reshape(len(tables), kinds).T
    rows, inverse = np.unique(np.hstack([values, members.astype(np.int64)]), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    by_class = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    half = len(tables)
    named = tuple(tuple(int(kind) for kind in group) for group in by_class)
    return Classes(named, rows[:, half:].astype(bool), rows[:, :half])
