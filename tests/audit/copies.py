"""Many releases of one plan: n copies of the exact groups side by side, through the plan's own `Joint` in one call.

Every group gets its own noise, its own threshold and its own choice, so that n·g groups are n independent releases of
g groups.  Two things are only made faster: the buckets of a copy are looked up once, and choices come from batches of
`many`, through which a single choice goes too.  Where noise is not each group's own, copies are no independent runs;
`one_by_one` calls the plan anew for each and supposes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from discreet.bounded import Sensitivity
from discreet.mechanism.quantile import Quantile
from discreet.mechanism.select import TopK
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost
from discreet.query.compile.exacts import Buckets, Exacts, KeyTuple
from discreet.query.joint import Joint, Released
from discreet.query.parts import Part, Tops
from discreet.query.plan import Plan

_BATCH = 1 << 12


@dataclass(frozen=True, eq=False)
class Copies:
    """What n releases showed of these keys: whether a key was there, and the numbers beside it (0 where it was not).

    `shown` is n × g; a part is n × g, or n × g × k where k values are chosen.
    """

    keys: Sequence[KeyTuple]
    shown: Bools
    parts: Mapping[Part, Ints]


def side_by_side(plan: Plan, exact: Exacts, n: int, source: Source) -> Copies:
    """n releases in one call."""
    keys, groups = exact.keys, len(exact.keys)
    many = Exacts(
        tuple(zip(range(n * groups), strict=True)),
        {part: _repeated(numbers, n, groups) for part, numbers in exact.parts.items()},
    )
    released = _batched(plan.joint)(many, source)
    slots = np.fromiter(chain.from_iterable(released.keys), dtype=np.int64)
    return _dense(keys, n, slots, released.parts)


def one_by_one(plan: Plan, exact: Exacts, n: int, source: Source) -> Copies:
    """n releases, each by a call of its own, as every question is answered."""
    return gathered_copies(
        exact.keys, [plan.joint(exact, source) for _ in range(n)], [measured.part for measured in plan.measured]
    )


def gathered_copies(keys: Sequence[KeyTuple], releases: Sequence[Released], parts: Sequence[Part]) -> Copies:
    """Releases of the same question as one; keys that are not listed are left out."""
    places = {key: place for place, key in enumerate(keys)}
    listed = [(i, j) for i, release in enumerate(releases) for j, key in enumerate(release.keys) if key in places]
    slots = np.array([i * len(keys) + places[releases[i].keys[j]] for i, j in listed], dtype=np.int64)
    released_parts = [part for part in parts if part in releases[0].parts]
    numbers = {
        part: np.array([releases[i].parts[part][j] for i, j in listed], dtype=np.int64) for part in released_parts
    }
    return _dense(tuple(keys), len(releases), slots, numbers)


def narrowed(exact: Exacts, keys: Sequence[KeyTuple]) -> Exacts:
    """Only these groups, as far as the table has them."""
    indices = [place for place, key in enumerate(exact.keys) if key in set(keys)]
    return Exacts(
        tuple(exact.keys[place] for place in indices), {p: _picked(x, indices) for p, x in exact.parts.items()}
    )


def _picked(numbers: Ints | Buckets, indices: list[int]) -> Ints | Buckets:
    if not isinstance(numbers, Buckets):
        return numbers[indices]
    chosen = np.isin(numbers.cell, indices)
    return Buckets(np.searchsorted(indices, numbers.cell[chosen]), numbers.bucket[chosen], numbers.count[chosen])


def _dense(keys: Sequence[KeyTuple], n: int, slots: Ints, parts: Mapping[Part, Ints]) -> Copies:
    shown = np.zeros(n * len(keys), dtype=np.bool_)
    shown[slots] = True
    dense_parts = {}
    for part, numbers in parts.items():
        width = (part.k,) if isinstance(part, Tops) else ()
        dense = np.zeros((n * len(keys), *width), dtype=np.int64)
        dense[slots] = numbers.reshape(len(slots), *width)
        dense_parts[part] = dense.reshape(n, len(keys), *width)
    return Copies(keys, shown.reshape(n, len(keys)), dense_parts)


@dataclass(frozen=True, eq=False)
class _EqualCopies(Buckets):
    """Buckets of copies that are all the same."""

    groups: int
    by_place: dict[int, Ints] = field(default_factory=dict)

    def of(self, cell: int, points: int) -> Ints:
        place = cell % self.groups
        if place not in self.by_place:
            self.by_place[place] = super().of(place, points)
        return self.by_place[place]


def _repeated(numbers: Ints | Buckets, n: int, groups: int) -> Ints | Buckets:
    if isinstance(numbers, Buckets):
        return _EqualCopies(numbers.cell, numbers.bucket, numbers.count, groups)
    return np.tile(numbers, n)


@dataclass(frozen=True, eq=False)
class _Batch:
    """A choice handed out from a batch of the same independent choices."""

    inner: Quantile | TopK
    # By the counts' identity; the counts are held so that it stays theirs.
    choices: dict[int, tuple[Ints, list[Any]]] = field(default_factory=dict)

    @property
    def sensitivity(self) -> Sensitivity:
        return self.inner.sensitivity

    @property
    def cost(self) -> Cost:
        return self.inner.cost

    def __call__(self, exact: Ints, source: Source) -> Any:
        if id(exact) not in self.choices:
            self.choices[id(exact)] = exact, []
        pile = self.choices[id(exact)][1]
        if not pile:
            pile.extend(self.inner.many(exact, _BATCH, source))
        return pile.pop()


def _batched(joint: Joint) -> Joint:
    return Joint(
        tuple(
            replace(part, mechanism=_Batch(part.mechanism)) if isinstance(part.mechanism, Quantile | TopK) else part
            for part in joint.measured
        )
    )
