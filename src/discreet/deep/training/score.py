"""Noisy scores of a net on the rows that it is trained on: planned, charged with the training, and all that is shown.

    score    Σ over persons of the mean of her rows' scores, each in [0, 1], plus noise; divided by the public rows

A person moves the sum by at most 1.  Each person's share is rounded down to steps of 2⁻²⁰, so the sum is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.bounded import RowLimit, scalar
from discreet.deep.accounting.plan import Plan
from discreet.deep.clipping.order import outputs_of
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.modules.invented import invented
from discreet.deep.modules.rowwise import require_own_rows
from discreet.deep.training.course import Course
from discreet.deep.training.data import Rows
from discreet.deep.training.draws import AnyPlan, scores_of_plan
from discreet.errors import bad
from discreet.mechanism import additive
from discreet.ndarrays import Floats
from discreet.noise.source import Source
from discreet.privacy.cost import Cost

STEPS = 2**20  # of the lattice, in a score of 1
_OF_NUMBERS = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss)
Metric = Callable[[Any, Any], Tensor]


def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    """1 for each row whose largest output is at its class, or whose single output has the sign of its class."""
    if targets.is_floating_point() and outputs.dim() > 1 and outputs.shape[-1] > 1:
        fix = "Give score=, a function of outputs and targets, or whole numbers as classes."
        raise bad("score", "must be given where targets are no classes", str(targets.dtype), fix)
    if outputs.dim() > 1 and outputs.shape[-1] > 1:
        return (outputs.argmax(-1) == targets).float()
    return ((outputs.reshape(len(outputs)) > 0) == (targets.reshape(len(targets)) > 0.5)).float()


@dataclass(frozen=True, eq=False)
class Score:
    """One noisy score of the module as it is, as a mechanism on rows."""

    course: Course
    metric: Metric

    @property
    def sensitivity(self) -> RowLimit:
        """As that of a block."""
        return RowLimit(self.course.max_rows)

    @property
    def cost(self) -> Cost:
        """What one score costs."""
        return require_scored(self.course.plan).score_cost

    def __call__(self, exact: Rows, source: Source) -> float:
        """The noisy mean score; it may lie outside [0, 1]."""
        plan, persons = require_scored(self.course.plan), exact.persons
        with secret_draws(source):
            scores = scores_of(self.course, self.metric, exact)
        sums = np.add.reduceat(np.append(scores, 0.0), persons.starts[:-1]) if persons.count else np.zeros(0)
        shares = np.floor(sums / np.maximum(persons.sizes, 1) * STEPS).clip(0, STEPS)
        noise = additive.gaussian(scalar(STEPS), Fraction(plan.score_sigma or 0) * STEPS)
        noisy = noise(np.array([int(shares.sum())]), source)
        return int(noisy[0]) / STEPS / plan.rows


def scores_of(course: Course, metric: Metric, rows: Rows) -> Floats:
    """The score of each row in the order of persons, within [0, 1]; 0 where it is no number."""
    order, parts = rows.persons.order, [np.zeros(0)]
    course.module.eval()
    with torch.no_grad():
        for start in range(0, order.size, course.rows_forward):
            own = order[start : start + course.rows_forward]
            inputs, targets = rows.pick(own)
            scores = require_scores(metric(outputs_of(course.module, inputs), targets), targets)
            if scores.shape != own.shape:  # as it was on invented rows
                raise ArithmeticError
            parts.append(scores)
    return within(np.concatenate(parts))


def within(scores: Floats) -> Floats:
    """Scores as they count: within [0, 1], and 0 where there is no number."""
    return np.nan_to_num(scores, nan=0.0).clip(0.0, 1.0)


def require_scored(plan: AnyPlan) -> Plan:
    """Refuses a plan that has no scores."""
    if not isinstance(plan, Plan) or not plan.scores:
        fix = "Give scores= when the plan is made, for example dp.deep.plan(…, scores=20)."
        raise bad("scores", "must be planned before they are shown: each is charged", scores_of_plan(plan), fix)
    return plan


def require_own_scores(course: Course, metric: Metric, like: tuple[Any, Any]) -> None:
    """Refuses a metric that gives no number for each row, or one that depends on other rows: tried on invented ones,
    and on outputs that a net of other weights may give."""

    if not callable(metric):
        fix = "Write: score=lambda outputs, targets: …, or leave it out for accuracy."
        raise bad("score", "must be a function of outputs and targets", type(metric).__name__, fix)
    if metric is accuracy and isinstance(course.loss, _OF_NUMBERS):
        fix = "Give score=, a function of outputs and targets with a value in [0, 1] for each row."
        raise bad("score", "must be given where numbers are predicted", "accuracy, the default", fix)

    def scores(inputs: Any, targets: Any) -> Floats:
        return scores_of_outputs(outputs_of(course.module, inputs), targets)

    def scores_of_outputs(outputs: Any, targets: Any) -> Floats:
        return within(require_scores(metric(outputs, targets), targets))

    with torch.no_grad():
        require_own_rows("score", scores, *like)
        outputs = outputs_of(course.module, invented(like[0], 2, "even", torch.Generator().manual_seed(0)))
        if isinstance(outputs, Tensor) and outputs.dim() > 0 and len(outputs) == 2:
            require_own_rows("score", scores_of_outputs, outputs, like[1])


def require_scores(scores: Any, targets: Any) -> Floats:
    """One number for each row."""
    if not isinstance(scores, Tensor) or scores.dim() != 1:
        rule = "must give one number between 0 and 1 for each row"
        raise bad("score", rule, type(targets).__name__, "Write: score=lambda outputs, targets: …")
    return scores.detach().double().cpu().numpy()
