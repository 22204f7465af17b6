"""The mechanism of a stream plan, step by step.

    u_t = g_t − Σ_{j≥1} r_j u_{t−j}       exact sums mixed with those before: row t of C·G, private
    v_t = ⌊u_t/h⌉·h + noise               released; h is the step of a public lattice
    Σ_j r_j v_{t−j}                        the noisy sum: what everybody can compute from what was released

No step may be left out: the memory of both recursions moves with every one.  The private memory is in no checkpoint, so
a stream that was interrupted cannot be taken up.
"""

from fractions import Fraction

import numpy as np

from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.training.noise import Lattice, require_finite
from discreet.errors import bad
from discreet.ndarrays import Floats
from discreet.noise.source import Source

_FURTHEST = 2.0**51  # in steps: whole numbers and their noise are exact below it


class Recent:
    """The last vectors of a recursion, as many as there are weights; the first weight is that of the last vector."""

    def __init__(self, weights: Floats, size: int) -> None:
        self._weights, self._rows, self._count = weights, np.zeros((weights.size, size)), 0

    def weighted_sum(self) -> Floats:
        """Σ_j weights[j − 1]·x_{t−j}; vectors before the first are 0."""
        held = self._weights.size
        placed = np.empty(held)
        placed[(self._count - 1 - np.arange(held)) % max(held, 1)] = self._weights
        return np.asarray(placed @ self._rows)

    def push(self, vector: Floats) -> None:
        """Make this the last vector."""
        if self._weights.size:
            self._rows[self._count % self._weights.size] = vector
        self._count += 1


def stream_lattice(plan: StreamPlan, clip: Fraction, size: int) -> Lattice:
    """The lattice of all rows of C·G: rounding moves each of steps·size numbers of two neighbours by half a step."""
    return Lattice(plan.steps * size, clip * plan.sensitivity, plan.sigma)


class StreamNoise:
    """Noisy sums for the steps of one stream, in their order; it lives in one process and is never stored."""

    def __init__(self, plan: StreamPlan, clip: Fraction, size: int, source: Source) -> None:
        weights = -np.array(plan.coefficients[1:])
        self._exact, self._released = Recent(weights, size), Recent(weights, size)
        self._source, self._left, self._is_broken = source, plan.steps, False
        lattice = stream_lattice(plan, clip, size)
        self._law, self._step = lattice.mechanism.noise, float(lattice.step)

    def next(self, total: Floats) -> Floats:
        """The noisy sum of the next step, of the exact sum of its clipped gradients."""
        if self._left == 0:
            raise bad(
                "steps", "must be at most those of the plan", "one more", "Plan more epochs before the first step."
            )
        if self._is_broken:
            fix = "Begin a stream anew: that is charged by itself."
            raise bad("stream", "must not go on after a step that broke off", "one more step", fix)
        self._left, self._is_broken = self._left - 1, True  # until both memories have moved
        require_finite(total)
        mixed = total + self._exact.weighted_sum()
        self._exact.push(mixed)
        released = np.clip(np.rint(mixed / self._step), -_FURTHEST, _FURTHEST)
        released += self._law.draw(released.size, self._source)
        released *= self._step
        noisy = released - self._released.weighted_sum()
        self._released.push(released)
        self._is_broken = False
        return noisy
