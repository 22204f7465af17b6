"""The minimum of a risk with a ridge, Σ weight·loss(x·w, y) + (Λ/2)‖w‖² + b·w, to a public gap.

    1 Newton       at most 50 steps; each is halved until the gradient is shorter by a share of the step
    2 descent      only where Newton did not reach the gap: T = 1 + ⌈√κ·ln(2κ²‖∇‖²/g²)⌉ steps of Nesterov's method

κ = 1 + curvature·R²·Σ weight/Λ.  T steps reach the gap on every table, so whatever the rows are, a point with
‖∇‖ ≤ g is handed on, and no error says that a table was difficult.  Half of the gap is kept for the rounding of doubles
in the gradient, which is not bounded by a proof.  Nesterov (2004); Bubeck (2015), theorem 3.18.  Proof page:
docs/proofs/learn/risk/output.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log, sqrt

import numpy as np

from discreet.kernel.dense import dense_rows
from discreet.kernel.encode import UNIT, Design
from discreet.learn.risk.line_loss import LineLoss
from discreet.ndarrays import Floats

NEWTON_STEPS = 50
_HALVINGS = 30
_BLOCK = 2**14  # rows of a matrix
_HELD = 2**24  # cells of matrices that are kept between steps


@dataclass(frozen=True, eq=False)
class Problem:
    """A risk over encoded rows; a row counts with its weight, 0 where it has no answer."""

    design: Design
    answers: Floats
    weights: Floats
    loss: LineLoss
    ridge: float
    tilt: Floats

    @property
    def smoothness(self) -> float:
        """A Lipschitz constant of the gradient."""
        longest = float(self.design.encoding.norm / UNIT)
        return self.ridge + float(self.loss.curvature) * longest**2 * float(self.weights.sum())

    def gradient(self, point: Floats) -> Floats:
        """∇ at a point."""
        total = self.ridge * point + self.tilt
        for part, rows in self._blocks():
            slopes, _ = self.loss.slopes(rows @ point, self.answers[part])
            total += rows.T @ (slopes * self.weights[part])
        return total

    def hessian(self, point: Floats) -> Floats:
        """The second derivative at a point; at a kink, that of one side."""
        total = self.ridge * np.eye(len(point))
        for part, rows in self._blocks():
            _, curvatures = self.loss.slopes(rows @ point, self.answers[part])
            total += rows.T @ (rows * (curvatures * self.weights[part])[:, None])
        return total

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        return zip(self._parts, self._held, strict=True) if self._held else ((p, self._rows(p)) for p in self._parts)

    @cached_property
    def _parts(self) -> list[slice]:
        return [slice(first, first + _BLOCK) for first in range(0, len(self.answers), _BLOCK)]

    @cached_property
    def _held(self) -> list[Floats]:
        """The matrices, where they are small enough to be kept."""
        is_held = len(self.answers) * self.design.encoding.width <= _HELD
        return [self._rows(part) for part in self._parts] if is_held else []

    def _rows(self, part: slice) -> Floats:
        return dense_rows(self.design, part) * (self.design.clipping[part] / UNIT)[:, None]


def minimum(problem: Problem, gap: float, newton_steps: int = NEWTON_STEPS) -> Floats:
    """A point where the gradient is at most `gap` long."""
    reached, point = gap / 2, np.zeros(len(problem.tilt))
    gradient = problem.gradient(point)
    for _ in range(newton_steps):
        if _length(gradient) <= reached:
            return point
        try:
            direction = np.asarray(np.linalg.solve(problem.hessian(point), gradient), dtype=np.float64)
        except np.linalg.LinAlgError:
            break
        following, gradient = _newton_step(problem, point, gradient, direction)
        if following is point:
            break
        point = following
    return point if _length(gradient) <= reached else _descended(problem, point, reached)


def _newton_step(problem: Problem, point: Floats, gradient: Floats, direction: Floats) -> tuple[Floats, Floats]:
    """The next point and its gradient: the longest of 1, ½, ¼ … of a Newton step that shortens the gradient."""
    step = 1.0
    for _ in range(_HALVINGS):
        candidate = point - step * direction
        following = problem.gradient(candidate)
        if _length(following) <= (1 - step / 4) * _length(gradient):
            return candidate, following
        step /= 2
    return point, gradient


def _descended(problem: Problem, point: Floats, gap: float) -> Floats:
    """The point that Nesterov's method reaches from there, after as many steps as are proven to be enough."""
    steepness, length = problem.smoothness, _length(problem.gradient(point))
    condition = steepness / problem.ridge
    steps = 1 + ceil(sqrt(condition) * max(0.0, log(2 * (condition * length / gap) ** 2)))
    momentum = (sqrt(condition) - 1) / (sqrt(condition) + 1)
    ahead = point
    for _ in range(steps):
        gradient = problem.gradient(ahead)
        if _length(gradient) <= gap:
            return ahead
        following = ahead - gradient / steepness
        point, ahead = following, following + momentum * (following - point)
    return point


def _length(vector: Floats) -> float:
    return float(np.sqrt(np.square(vector).sum()))
