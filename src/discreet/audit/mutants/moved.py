"""Planted bugs of Gaussian noise that is too narrow for how far a vector moves, seen along the move.

y·v/‖v‖ for a move v and noise of σ is within 10⁻³ of N(0, σ²) or N(‖v‖, σ²) in every chance, wherever σ ≥ 10³ steps:
rounding moves each number by at most half a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import erf, sqrt

import numpy as np

from discreet.audit.bounds import Shift
from discreet.audit.events import Event
from discreet.audit.features import Outputs, Values
from discreet.audit.mutants.planted import Drawn
from discreet.audit.runs import outputs
from discreet.audit.trial import Pair
from discreet.mechanism.additive import Additive
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.source import Source
from discreet.privacy.certify import up
from discreet.privacy.cost import Gaussian
from discreet.real import ball

_ROUNDING, _LEAST_SIGMA = 1e-3, 1000


@dataclass(frozen=True)
class Along:
    """The output along a direction of length 1."""

    direction: tuple[float, ...]

    def of(self, outputs: Outputs) -> Values:
        along: Values = np.einsum("ni,i->n", outputs.astype(np.float64), np.array(self.direction))
        return along

    def __str__(self) -> str:
        return "y along the move"


def moved_bug(name: str, wrong: str, pair: Pair, mechanism: Additive, runs: int = 20_000) -> Drawn:
    """The mechanism's noise on two vectors that lie further apart than it covers."""
    first, second = (np.array(side, dtype=np.float64) for side in pair)
    if not isinstance(mechanism.noise, RoundedGaussian) or not isinstance(mechanism.cost, Gaussian):
        raise TypeError("the noise must be Gaussian")
    sigma, length = float(mechanism.noise.sigma), float(np.linalg.norm(second - first))
    if sigma < _LEAST_SIGMA:
        raise ValueError("the noise must be wide, so that rounding does not matter")
    direction = (second - first) / length
    event = Event(Along(tuple(direction.tolist())), "≤", float(direction @ (first + second)) / 2)
    chance = (1 + erf(length / sigma / 2 / sqrt(2))) / 2
    claimed = mechanism.cost.sigma
    shift = Shift(up(lambda: 1 / ball(claimed)))
    chances = (chance - _ROUNDING, 1 - chance + _ROUNDING)
    return Drawn(name, wrong, shift, pair, partial(_draw, mechanism), event, chances, runs)


def _draw(mechanism: Additive, exact: Sequence[int], n: int, source: Source) -> Outputs:
    return outputs(mechanism, exact, n, source)
