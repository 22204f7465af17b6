"""All parts of a question as one promise: keys first, then noise for what is released.

The parts run on the same units, so the costs add up (`Together`); how many keys survive changes no cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.bounded import Sensitivity, SideBySide
from discreet.errors import bad
from discreet.mechanism.promise import Mechanism
from discreet.mechanism.quantile import SHORT, Quantile
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Together
from discreet.query.compile.exacts import Buckets, Exacts
from discreet.query.parts import Part, Present, Ranks, Tops


@dataclass(frozen=True)
class Measured:
    """A part with its promise, and its share of the typed ε (None where parts share one Gaussian)."""

    part: Part
    sensitivity: Sensitivity
    mechanism: Mechanism
    epsilon: Fraction | None

    def __post_init__(self) -> None:
        if not self.mechanism.sensitivity.covers(self.sensitivity):
            raise bad("mechanism", "must cover the part's sensitivity", type(self.part).__name__, "Plan it anew.")


@dataclass(frozen=True)
class Released:
    """What leaves: the keys, and a noisy number (or choice) a key for every part."""

    keys: tuple[tuple[Any, ...], ...]
    parts: Mapping[Part, Ints]


@dataclass(frozen=True)
class Joint:
    """The mechanism of a whole question; of private groups that are selected the first `most` in order are shown."""

    measured: tuple[Measured, ...]
    most: int | None = None

    @property
    def sensitivity(self) -> SideBySide:
        """What the noise of each part is enough for."""
        return SideBySide({measured.part: _covered(measured.mechanism) for measured in self.measured})

    @property
    def cost(self) -> Cost:
        """Of all parts together."""
        return Together(tuple(one.mechanism.cost for one in self.measured))

    def __call__(self, exact: Exacts, source: Source) -> Released:
        """Noisy numbers for every public key, or for the private keys that are selected."""
        kept = self._kept(exact, source)
        keys = tuple(exact.keys) if len(kept) == len(exact.keys) else tuple(exact.keys[place] for place in kept)
        noisy: dict[Part, Ints] = {
            one.part: _noisy(one, exact.parts[one.part], kept, source)
            for one in self.measured
            if not isinstance(one.part, Present)
        }
        return Released(keys, noisy)

    def _kept(self, exact: Exacts, source: Source) -> Ints:
        for one in self.measured:
            if isinstance(one.part, Present):
                return np.flatnonzero(one.mechanism(exact.parts[one.part], source))[: self.most]
        return np.arange(len(exact.keys))


def _covered(mechanism: Mechanism) -> Sensitivity:
    """What one part's mechanism covers: a part is one vector, with one sensitivity."""
    if not isinstance(mechanism.sensitivity, Sensitivity):
        raise bad("mechanism", "must cover one vector", type(mechanism).__name__, "Plan it anew.")
    return mechanism.sensitivity


def _noisy(one: Measured, exact: Any, kept: Ints, source: Source) -> Ints:
    """A part's noisy numbers at the places kept."""
    match one.part:
        case Ranks() if isinstance(one.mechanism, Quantile) and one.part.grid.points > SHORT:
            return _ranked(one.mechanism, exact, one.part.grid.points, kept, source)
        case Ranks():
            return _chosen(one, exact, one.part.grid.points, kept, source)
        case Tops():
            return _chosen(one, exact, len(one.part.values), kept, source)
        case _:
            noisy: Ints = one.mechanism(exact[kept], source)
            return noisy


def _ranked(mechanism: Quantile, exact: Buckets, points: int, kept: Ints, source: Source) -> Ints:
    """`_chosen` for a quantile, which needs only the buckets that are held."""
    every = [mechanism.of_held(*exact.held(int(place)), points, source) for place in kept]
    return np.array(every, dtype=np.int64)


def _chosen(one: Measured, exact: Buckets, points: int, kept: Ints, source: Source) -> Ints:
    """A choice in every group by itself; together they cost what one of them does, for a unit's rows are shared out."""
    return np.array([one.mechanism(exact.of(int(place), points), source) for place in kept], dtype=np.int64)
