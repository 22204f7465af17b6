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


def side_by_side(made: Plan, exact: Exacts, n: int, source: Source) -> Copies:
    """n releases in one call."""
    keys, groups = exact.keys, len(exact.keys)
    many = Exacts(
        tuple(zip(range(n * groups), strict=True)),
        {part: _repeated(numbers, n, groups) for part, numbers in exact.parts.items()},
    )
    released = _batched(made.joint)(many, source)
    at = np.fromiter(chain.from_iterable(released.keys), dtype=np.int64)
    return _dense(keys, n, at, released.parts)


def one_by_one(made: Plan, exact: Exacts, n: int, source: Source) -> Copies:
    """n releases, each by a call of its own, as every question is answered."""
    return gathered_copies(
        exact.keys, [made.joint(exact, source) for _ in range(n)], [one.part for one in made.measured]
    )


def gathered_copies(keys: Sequence[KeyTuple], releases: Sequence[Released], parts: Sequence[Part]) -> Copies:
    """Releases of the same question as one; keys that are not listed are left out."""
    places = {key: place for place, key in enumerate(keys)}
    found = [(i, j) for i, one in enumerate(releases) for j, key in enumerate(one.keys) if key in places]
    at = np.array([i * len(keys) + places[releases[i].keys[j]] for i, j in found], dtype=np.int64)
    listed = [part for part in parts if part in releases[0].parts]
    numbers = {part: np.array([releases[i].parts[part][j] for i, j in found], dtype=np.int64) for part in listed}
    return _dense(tuple(keys), len(releases), at, numbers)


def narrowed(exact: Exacts, keys: Sequence[KeyTuple]) -> Exacts:
    """Only these groups, as far as the table has them."""
    there = [place for place, key in enumerate(exact.keys) if key in set(keys)]
    return Exacts(tuple(exact.keys[place] for place in there), {p: _picked(x, there) for p, x in exact.parts.items()})


def _picked(numbers: Ints | Buckets, there: list[int]) -> Ints | Buckets:
    if not isinstance(numbers, Buckets):
        return numbers[there]
    kept = np.isin(numbers.cell, there)
    return Buckets(np.searchsorted(there, numbers.cell[kept]), numbers.bucket[kept], numbers.count[kept])


def _dense(keys: Sequence[KeyTuple], n: int, at: Ints, parts: Mapping[Part, Ints]) -> Copies:
    shown = np.zeros(n * len(keys), dtype=np.bool_)
    shown[at] = True
    found = {}
    for part, numbers in parts.items():
        width = (part.k,) if isinstance(part, Tops) else ()
        dense = np.zeros((n * len(keys), *width), dtype=np.int64)
        dense[at] = numbers.reshape(len(at), *width)
        found[part] = dense.reshape(n, len(keys), *width)
    return Copies(keys, shown.reshape(n, len(keys)), found)


@dataclass(frozen=True, eq=False)
class _Alike(Buckets):
    """Buckets of copies that are all the same."""

    groups: int
    found: dict[int, Ints] = field(default_factory=dict)

    def of(self, cell: int, points: int) -> Ints:
        place = cell % self.groups
        if place not in self.found:
            self.found[place] = super().of(place, points)
        return self.found[place]


def _repeated(numbers: Ints | Buckets, n: int, groups: int) -> Ints | Buckets:
    if isinstance(numbers, Buckets):
        return _Alike(numbers.cell, numbers.bucket, numbers.count, groups)
    return np.tile(numbers, n)


@dataclass(frozen=True, eq=False)
class _Batch:
    """A choice handed out from a batch of the same independent choices."""

    inner: Quantile | TopK
    left: dict[int, tuple[Ints, list[Any]]] = field(default_factory=dict)  # by the counts' identity, so kept with them

    @property
    def sensitivity(self) -> Sensitivity:
        return self.inner.sensitivity

    @property
    def cost(self) -> Cost:
        return self.inner.cost

    def __call__(self, exact: Ints, source: Source) -> Any:
        if id(exact) not in self.left:
            self.left[id(exact)] = exact, []
        pile = self.left[id(exact)][1]
        if not pile:
            pile.extend(self.inner.many(exact, _BATCH, source))
        return pile.pop()


def _batched(joint: Joint) -> Joint:
    return Joint(
        tuple(
            replace(one, mechanism=_Batch(one.mechanism)) if isinstance(one.mechanism, Quantile | TopK) else one
            for one in joint.measured
        )
    )
