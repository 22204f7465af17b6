"""Add noise to several vectors side by side: each has its own mechanism, and all run on the same units.

    M(v₁ … v_K) = (M₁(v₁) … M_K(v_K)),   cost = cost₁ + … + cost_K

By composition (Dwork & Roth 2014, theorem 3.16; for Gaussian noise μ² adds up, Dong, Roth & Su 2022): with shares s_k
that add up to 1, Laplace noise of scale l1_k/(s_k·ε) is ε-DP and Gaussian noise of σ·l2_k/√s_k costs Gaussian(σ).

Proof page: docs/proofs/mechanism/vectors.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.bounded import SideBySide
from discreet.errors import bad
from discreet.mechanism.additive import Additive
from discreet.mechanism.promise import lattice_vector
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Together


@dataclass(frozen=True)
class Vectors:
    """A mechanism for each of several named vectors."""

    mechanisms: Mapping[str, Additive]

    @property
    def sensitivity(self) -> SideBySide:
        """The sensitivity that the noise of each vector covers."""
        return SideBySide({name: mechanism.sensitivity for name, mechanism in self.mechanisms.items()})

    @property
    def cost(self) -> Cost:
        """The cost of all vectors together."""
        return Together(tuple(mechanism.cost for mechanism in self.mechanisms.values()))

    def __call__(self, exact: Mapping[str, Any], source: Source) -> dict[str, Ints]:
        """The noisy vectors, by name."""
        if exact.keys() != self.mechanisms.keys():
            raise bad("exact", "must have the vectors of the mechanism", sorted(exact), "Plan anew.")
        noisy: dict[str, Ints] = {}
        for mechanism, names in self._alike().items():
            parts = [lattice_vector(exact[name]) for name in names]
            ends = np.cumsum([part.size for part in parts])[:-1]
            joined = mechanism(np.concatenate([part.ravel() for part in parts]), source)
            shares = zip(names, parts, np.split(joined, ends), strict=True)
            noisy |= {name: own.reshape(part.shape) for name, part, own in shares}
        return noisy

    def _alike(self) -> dict[Additive, list[str]]:
        """The names of the vectors with an equal mechanism, whose noise is drawn at once."""
        names: dict[Additive, list[str]] = {}
        for name, mechanism in self.mechanisms.items():
            names.setdefault(mechanism, []).append(name)
        return names


def vectors(mechanisms: Mapping[str, Additive]) -> Vectors:
    """The mechanism that adds to each vector its own noise."""
    if not mechanisms:
        raise bad("mechanisms", "must be at least one", 0, "Give a mechanism for each vector.")
    return Vectors(dict(mechanisms))
