"""All parts of a question as one mechanism: it selects keys first, then adds noise to what is released.

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
    """A part with its mechanism and its share of the typed ε (None where parts share one Gaussian)."""

    part: Part
    sensitivity: Sensitivity
    mechanism: Mechanism
    epsilon: Fraction | None

    def __post_init__(self) -> None:
        if not self.mechanism.sensitivity.covers(self.sensitivity):
            raise bad("mechanism", "must cover the part's sensitivity", type(self.part).__name__, "Plan it anew.")


@dataclass(frozen=True)
class Released:
    """What is released: the keys, and a noisy number (or choice) a key for every part."""

    keys: tuple[tuple[Any, ...], ...]
    parts: Mapping[Part, Ints]


@dataclass(frozen=True)
class Joint:
    """The mechanism of a question; of selected private groups it releases the first `max_groups` in order."""

    measured: tuple[Measured, ...]
    max_groups: int | None = None

    @property
    def sensitivity(self) -> SideBySide:
        """What the noise of each part is enough for."""
        return SideBySide({measured.part: _sensitivity(measured.mechanism) for measured in self.measured})

    @property
    def cost(self) -> Cost:
        """Of all parts together."""
        return Together(tuple(measured.mechanism.cost for measured in self.measured))

    def __call__(self, exact: Exacts, source: Source) -> Released:
        """Noisy numbers for every public key, or for the private keys that are selected."""
        selected = self._selection(exact, source)
        every = len(selected) == len(exact.keys)
        keys = tuple(exact.keys) if every else tuple(exact.keys[index] for index in selected)
        noisy: dict[Part, Ints] = {
            measured.part: _noisy(measured, exact.parts[measured.part], selected, source)
            for measured in self.measured
            if not isinstance(measured.part, Present)
        }
        return Released(keys, noisy)

    def _selection(self, exact: Exacts, source: Source) -> Ints:
        """The indices of the groups to release."""
        for measured in self.measured:
            if isinstance(measured.part, Present):
                return np.flatnonzero(measured.mechanism(exact.parts[measured.part], source))[: self.max_groups]
        return np.arange(len(exact.keys))


def _sensitivity(mechanism: Mechanism) -> Sensitivity:
    """What one part's mechanism covers: a part is one vector, with one sensitivity."""
    if not isinstance(mechanism.sensitivity, Sensitivity):
        raise bad("mechanism", "must cover one vector", type(mechanism).__name__, "Plan it anew.")
    return mechanism.sensitivity


def _noisy(measured: Measured, exact: Any, groups: Ints, source: Source) -> Ints:
    """A part's noisy numbers in these groups.

    Each group's choice is made by itself; together they cost what one of them does, for a unit's rows are shared out.
    """
    mechanism = measured.mechanism
    match measured.part:
        case Ranks(grid=grid) if isinstance(mechanism, Quantile) and grid.points > SHORT:
            buckets: Buckets = exact
            choices = [mechanism.choose_from(*buckets.buckets_of(int(group)), grid.points, source) for group in groups]
        case Ranks() | Tops():
            points = measured.part.grid.points if isinstance(measured.part, Ranks) else len(measured.part.values)
            choices = [mechanism(exact.of(int(group), points), source) for group in groups]
        case _:
            noisy: Ints = mechanism(exact[groups], source)
            return noisy
    return np.array(choices, dtype=np.int64)
