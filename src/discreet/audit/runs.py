"""Many outputs of the real mechanism: its own code, run on many independent copies at once where possible.

Additive noise, randomized answers and key selection treat every number of an array alike, so n equal inputs are n runs.
Choices have `many`, through which their single call goes.  A table over a tree is measured over many copies of the tree
(forest.py), and a minimum gets the noise of many runs (minimised.py).  A sparse vector draws its noise one number at a
time; here the same code takes those numbers from a large batch of the same law.
"""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from discreet.audit import forest
from discreet.audit.features import Outputs
from discreet.audit.minimised import draw_weights
from discreet.learn.risk.objective import ObjectivePerturbation
from discreet.learn.risk.output import OutputPerturbation
from discreet.mechanism.additive import Additive
from discreet.mechanism.demonstration import AllOrNothing, NameAndShame
from discreet.mechanism.keys import KeySelection
from discreet.mechanism.response import KaryResponse, Survey
from discreet.mechanism.select import PermuteAndFlip
from discreet.mechanism.threshold import SparseVector
from discreet.mechanism.vectors import Vectors
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.release.measure import Measurement

NOT_ASKED = -1
_BATCH = 1 << 14


@dataclass
class Pool:
    """A law that hands out its draws from batches: the same independent numbers without the price of small requests."""

    law: DiscreteLaplace
    batch: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    used: int = 0

    def draw(self, n: int, source: Source) -> Ints:
        if self.used + n > self.batch.size:
            self.batch, self.used = self.law.draw(max(n, _BATCH), source), 0
        self.used += n
        return self.batch[self.used - n : self.used]


def outputs(mechanism: Any, exact: Any, n: int, source: Source) -> Outputs:
    """n independent outputs on one input, one a row."""
    match mechanism:
        case Additive() | KaryResponse() | Survey():
            flat = np.asarray(exact, dtype=np.int64).reshape(-1)
            numbers = mechanism(np.tile(flat, n), source)
            return numbers if flat.size == 1 else numbers.reshape(n, flat.size)
        case KeySelection():
            flat = np.asarray(exact, dtype=np.int64)
            return mechanism(np.tile(flat, n), source).astype(np.int64).reshape(n, flat.size)
        case Vectors():
            return _side_by_side(mechanism, exact, n, source)
        case Measurement():
            return forest.draw_measurements(mechanism, exact, n, source)
        case ObjectivePerturbation() | OutputPerturbation():
            return draw_weights(mechanism, exact, n, source)
        case SparseVector():
            return _verdicts(mechanism, exact, n, source)
        case PermuteAndFlip():
            return np.array([mechanism(exact, source) for _ in range(n)], dtype=np.int64)
        case NameAndShame() | AllOrNothing():
            return _published_rows(mechanism, exact, n, source)
        case _:
            return cast(Outputs, mechanism.many(exact, n, source))


def _side_by_side(mechanism: Vectors, exact: Any, n: int, source: Source) -> Ints:
    """The vectors of a run behind each other; every vector is n copies long, whose noise is drawn apart."""
    copies = {name: np.tile(vector, n) for name, vector in zip(mechanism.mechanisms, exact, strict=True)}
    noisy = mechanism(copies, source)
    return np.hstack([numbers.reshape(n, -1) for numbers in noisy.values()])


def _verdicts(mechanism: SparseVector, exact: Any, n: int, source: Source) -> Ints:
    """A row of verdicts a run, then a row of numbers where they are paid for (0 where there is none)."""
    pools: dict[str, Any] = {
        "threshold_noise": Pool(mechanism.threshold_noise),
        "question_noise": Pool(mechanism.question_noise),
    }
    if mechanism.number_noise is not None:
        pools["number_noise"] = Pool(mechanism.number_noise)
    pooled = replace(mechanism, **pools)
    above = np.full((n, len(exact)), NOT_ASKED, dtype=np.int64)
    numbers = np.zeros((n, len(exact)), dtype=np.int64)
    for i in range(n):
        for j, verdict in enumerate(pooled(exact, source)):
            above[i, j], numbers[i, j] = verdict.above, verdict.number or 0
    return above if mechanism.number_noise is None else np.hstack([above, numbers])


def _published_rows(mechanism: NameAndShame | AllOrNothing, exact: Any, n: int, source: Source) -> Ints:
    """How many rows were published, and the first and the last of them."""
    runs = [mechanism(exact, source) for _ in range(n)]
    return np.array([(len(rows), *(rows[:1] or [NOT_ASKED]), *(rows[-1:] or [NOT_ASKED])) for rows in runs])
