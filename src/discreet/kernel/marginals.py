"""Counts of rows by the groups of their cells, for several cliques of features at once, each with a weight of its own.

A clique names 1 to 4 features; its counts are in the order in which it names them, the last one's groups side by side,
and lie behind those of the clique before.  A unit counts with its first `rows` rows, and each of these adds to one
count of every clique: the clique's weight w, or, where a unit's k rows share it, ⌊w/k⌋.  With t = w·r for r rows of a
unit, or t = w where they share it, and s counts in a clique, sums over the cliques are

                     l0               l1       l2²       linf
    add-remove       Σ min(r, s)      Σ t      Σ t²      max t
    replace-one      Σ min(2·r, s)    2·Σ t    2·Σ t²    max t

Columns are the features that have one, in their order.  Parameters: `features`, by their cells (`encode`), or
{"rows_of_unit": m} for how many rows the unit has, 1 to m and more; `groups`, for each feature the group of each cell
and last of an empty one; `cliques`, arrays of numbers of features; `weights`, in steps; `rows`; `each`, "row" or "unit"
for rows that share.  Proof page: docs/proofs/kernel.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.cliques import Marginals
from discreet.kernel.contract import Public
from discreet.kernel.grouped import Groups, groups_of_rows, unit_sizes
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints
from discreet.relation import Relation
from discreet.schema import Column

_BLOCK = 2**20  # rows of which 2³⁰ each add up to at most 2⁵³


@dataclass(frozen=True, eq=False)
class Counted:
    """The rows that count: for each feature their groups, and how many rows of the unit share what each adds."""

    groups: Sequence[Groups]
    sharing: Ints | None  # none where every row has the whole weight

    @classmethod
    def of(cls, chunk: UnitRows, marginals: Marginals) -> "Counted":
        """The chunk's rows; each unit's first ones where it has too many."""
        groups, sizes = groups_of_rows(chunk, marginals.features), unit_sizes(chunk)
        sharing = np.minimum(sizes, marginals.rows) if marginals.is_shared and sizes.max(initial=1) > 1 else None
        by_row = None if sharing is None else sharing[chunk.unit_of_row]
        if sizes.max(initial=1) <= marginals.rows:
            return cls(groups, by_row)
        first = np.arange(chunk.size) - chunk.starts[chunk.unit_of_row] < marginals.rows
        return cls([group[first] for group in groups], None if by_row is None else by_row[first])

    def blocks(self) -> Iterator["Counted"]:
        """The rows in parts whose sums doubles hold exactly."""
        for begin in range(0, max(len(self.groups[0]), 1), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            yield Counted([group[part] for group in self.groups], None if self.sharing is None else self.sharing[part])

    def counts(self, marginals: Marginals) -> Ints:
        """All counts, in steps."""
        counts, shares, weight = np.empty(marginals.ends[-1], dtype=np.int64), None, 0
        for branch in marginals.branches:
            if self.sharing is not None and branch.weight != weight:
                shares, weight = _shares(branch.weight, self.sharing, marginals.rows), branch.weight
            places, length = branch.places(self.groups), branch.length
            for feature, own in branch.lasts:
                counts[own] = np.bincount(places + self.groups[feature], shares, length)
        if self.sharing is None:
            counts *= marginals.weights
        return counts


def _shares(weight: int, sharing: Ints, rows: int) -> Floats:
    """⌊w/k⌋ for each row, k being how many rows share w."""
    by_rows = (weight // np.maximum(np.arange(rows + 1), 1)).astype(np.float64)
    return np.take(by_rows, sharing)


def _counted_rows(chunk: UnitRows, marginals: Marginals) -> Counted:
    """The rows of the chunk; a chunk that is passed over again remembers them."""
    remembered = chunk.remembered.get("groups")
    if remembered is None or remembered[0] != marginals.groups:
        chunk.remembered["groups"] = remembered = (marginals.groups, Counted.of(chunk, marginals))
    counted: Counted = remembered[1]
    return counted


class MarginalCounts:
    """Clique after clique, each by the groups of its first feature, then of its second, and so on."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        parsed = Marginals.parse(public).features
        features = [feature.feature for feature in parsed if feature.feature is not None]
        if len(columns) != len(features):
            rule = f"must be {len(features)}, one for each feature but those of rows_of_unit"
            raise bad("columns", rule, [column.name for column in columns], "Name as many columns as features.")
        for feature, column in zip(features, columns, strict=True):
            feature.require(column)

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        return Marginals.parse(public).ends[-1]

    def per_row(self, public: Public) -> int:
        """As `Kernel.per_row`: rows are counted, one clique after the other."""
        return 0

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: all rows of a unit may lie in one count of each clique."""
        marginals = Marginals.parse(public)
        rows = min(marginals.rows, limit.rows)
        most_moved = [clique.weight * (1 if marginals.is_shared else rows) for clique in marginals.cliques]
        units = 1 if limit.relation is Relation.ADD_REMOVE else 2
        touched = sum(min(units * rows, clique.length) for clique in marginals.cliques)
        squared = Fraction(units * sum(moved**2 for moved in most_moved))
        l1, linf = Fraction(units * sum(most_moved)), Fraction(max(most_moved))
        return Sensitivity(Fraction(touched), l1, squared, linf, limit.relation)

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """As `Kernel.__call__`."""
        marginals = Marginals.parse(public)
        first, *others = _counted_rows(chunk, marginals).blocks()
        total = first.counts(marginals)
        for block in others:
            total += block.counts(marginals)
        return total


MARGINALS = MarginalCounts()
