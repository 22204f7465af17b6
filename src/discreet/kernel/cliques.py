"""What the kernel `marginals` counts: which features together, by which groups of their cells, and what a row adds.

Parameters may name thousands of cliques, and come with every chunk: what was parsed is found again by a text of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.kernel.contract import MOST_NUMBERS, MOST_STEPS, Public, require_keys
from discreet.kernel.described import Described, description_of
from discreet.kernel.encode import MOST_FEATURES, MOST_ROWS
from discreet.kernel.grouped import Grouped, Groups
from discreet.ndarrays import Ints

MOST_TOGETHER = 4  # features of a clique
_NEEDED, _OPTIONAL = ("features", "groups", "cliques", "weights"), ("rows", "each")
_EACH = ("row", "unit")
_REMEMBERED = 8  # parsed parameters, of which each may hold a million weights


@dataclass(frozen=True)
class Clique:
    """Features that are counted together, how many groups each has, and what a row adds."""

    features: tuple[int, ...]
    sizes: tuple[int, ...]
    weight: int

    @property
    def length(self) -> int:
        """How many counts it has."""
        return prod(self.sizes)


@dataclass(frozen=True, eq=False)
class Branch:
    """Cliques that begin alike: what their last features are added to is computed once."""

    weight: int  # which the rows of a unit share, 1 where they do not
    first: tuple[int, ...]
    sizes: tuple[int, ...]  # of the first features, and of each last one
    lasts: Sequence[tuple[int, slice]]  # each last feature, and where the clique's counts lie

    @property
    def length(self) -> int:
        """How many counts each clique has."""
        return prod(self.sizes)

    def places(self, groups: Sequence[Groups]) -> Any:
        """The place of each row's first count, as the first features have it: a number for each row, or 0."""
        kind, places = np.min_scalar_type(self.length), np.uint8(0)
        for feature, size in zip(self.first, self.sizes[1:], strict=True):
            places = (places + groups[feature].astype(kind, copy=False)) * kind.type(size)
        return places


@dataclass(frozen=True, eq=False)
class Marginals:
    """Features by groups of their cells, the cliques in which they are counted, and the rows of a unit that count."""

    features: tuple[Grouped, ...]
    cliques: tuple[Clique, ...]
    rows: int
    is_shared: bool  # the weight, by the rows of a unit
    groups: str  # a description of what groups are made by

    @classmethod
    def parse(cls, public: Public) -> "Marginals":
        """From the parameters."""
        require_keys(public, _NEEDED, _OPTIONAL)
        members, weights = _members(public["cliques"]), _whole(public["weights"], "weights")
        shapes = [len(clique) for clique in members]
        text = description_of([{**public, "cliques": None}, shapes, np.concatenate(members)])
        return _marginals_of(Described(text, {**public, "cliques": members, "weights": weights}))

    @classmethod
    def _parse(cls, public: Public) -> "Marginals":
        described, groups = public["features"], public["groups"]
        if not isinstance(described, list) or not 1 <= len(described) <= MOST_FEATURES:
            raise bad("features", f"must be a list of 1 to {MOST_FEATURES}", type(described).__name__, "List them.")
        if not isinstance(groups, list) or len(groups) != len(described):
            rule = f"must be a list of {len(described)}, one for each feature"
            raise bad("groups", rule, type(groups).__name__, "Group the cells of every feature.")
        features = tuple(map(Grouped.parse, described, groups))
        rows = amounts.count(public.get("rows", 1), "rows", 1, MOST_ROWS)
        each = public.get("each", _EACH[0])
        if not isinstance(each, str) or each not in _EACH:
            raise bad("each", "must be 'row' or 'unit'", each, "Leave it out for 'row'.")
        is_shared = each == _EACH[1] and rows > 1
        weights = _weights(public["weights"], len(public["cliques"]), 1 if is_shared else rows)
        cliques = _cliques(public["cliques"], weights, [feature.size for feature in features])
        return cls(features, cliques, rows, is_shared, description_of([described, groups, rows, each]))

    @cached_property
    def ends(self) -> list[int]:
        """Where the counts of each clique begin, and how many counts there are."""
        return list(accumulate((clique.length for clique in self.cliques), initial=0))

    @cached_property
    def weights(self) -> Ints:
        """What a row adds to each count."""
        weights = np.array([clique.weight for clique in self.cliques], dtype=np.int64)
        return np.repeat(weights, np.diff(self.ends))

    @cached_property
    def branches(self) -> Sequence[Branch]:
        """The cliques by what a unit's rows share, and by how they begin."""
        branches: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[tuple[int, slice]]] = {}
        for clique, counts in zip(self.cliques, map(slice, self.ends, self.ends[1:]), strict=True):
            start = clique.weight if self.is_shared else 1, clique.features[:-1], clique.sizes
            branches.setdefault(start, []).append((clique.features[-1], counts))
        return [Branch(*start, branches[start]) for start in sorted(branches)]


@lru_cache(_REMEMBERED)
def _marginals_of(described: Described) -> Marginals:
    return Marginals._parse(described.public)


def _members(public: Any) -> list[Ints]:
    """The cliques as arrays; their numbers are not looked at yet."""
    if not isinstance(public, list) or not 1 <= len(public) <= MOST_NUMBERS:
        rule = f"must be a list of 1 to {MOST_NUMBERS:,} arrays"
        raise bad("cliques", rule, type(public).__name__, "List the features that are counted together.")
    return [_whole(clique, "cliques") for clique in public]


def _whole(numbers: Any, name: str) -> Ints:
    if type(numbers) is not np.ndarray or numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise bad(name, "must be flat arrays of whole numbers", type(numbers).__name__, "Give numpy arrays.")
    return numbers


def _weights(weights: Ints, cliques: int, rows: int) -> list[int]:
    if len(weights) != cliques:
        raise bad("weights", f"must be {cliques}, one for each clique", len(weights), "Weigh every clique.")
    least, largest = int(weights.min()), int(weights.max())
    if least < 1 or largest * rows > MOST_STEPS:
        rule = f"must be 1 to {MOST_STEPS // rows:,} steps, so that a unit moves no count by more than 2^30"
        raise bad("weights", rule, f"{least} … {largest}", "Use a wider step.")
    numbers: list[int] = weights.tolist()
    return numbers


def _cliques(members: Sequence[Ints], weights: Sequence[int], sizes: Sequence[int]) -> tuple[Clique, ...]:
    features = [tuple(clique.tolist()) for clique in members]
    for clique in features:
        is_known = all(0 <= feature < len(sizes) for feature in clique)
        if not is_known or not 1 <= len(clique) <= MOST_TOGETHER or len(set(clique)) < len(clique):
            rule = f"must be 1 to {MOST_TOGETHER} different numbers of features, from 0 to {len(sizes) - 1}"
            raise bad("cliques", rule, clique, "Name each feature once, counted from 0.")
    shapes = [tuple(sizes[feature] for feature in clique) for clique in features]
    if sum(map(prod, shapes)) > MOST_NUMBERS:
        rule = f"must have at most {MOST_NUMBERS:,} counts"
        raise bad("cliques", rule, sum(map(prod, shapes)), "Count fewer cliques, or cells in fewer groups.")
    return tuple(map(Clique, features, shapes, weights))
