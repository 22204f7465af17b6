"""Linear models by noisy descent: full passes over centred rows, few of them, with momentum.

    0 centre    (√K·n, Σx) with Gaussian noise, for 5 % of 1/σ²: the number n of units, and a centre m of the features
    1 descent   T gradients of the risk over rows x − m, each clipped to a norm C

Taking off a centre shortens rows and removes the one large eigenvalue of their covariance, so few passes are enough.
How many passes there are and how they go is the `course`.  The model is the mean of the last half of the
weights.  Descent stops where signal and noise are level, which is the ridge.

With little noise (κ > 5000·√(K + 1)), at most 256 columns and solver="auto" a regression measures second moments of
rows x − m in place of gradients, unclipped unless a norm was given: one pass, and least squares in the limit
(`second_moments`).

All noise is Gaussian; the course and the choice follow from released numbers, and whatever they are, the passes share
what stage 0 left.  Song, Chaudhuri & Sarwate (2013) for noisy gradients; proof page:
docs/proofs/learn/risk/descent.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import BadValue
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import UNIT
from discreet.kernel.gram import DIAGONAL
from discreet.kernel.risk import SLOPE, WEIGHT, whole_weights
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.risk.centre import CENTRE_SHARE, Centre, centre_of, centre_public
from discreet.learn.risk.course import FEW_PASSES, Limits, Rule, default_norm, slope_bound
from discreet.learn.risk.design_columns import DesignColumns
from discreet.learn.risk.linear_model import LinearModel
from discreet.learn.risk.second_moments import balance_of, filtered_weights, moments_of
from discreet.learn.steps import Steps, require_sum
from discreet.ndarrays import Floats, Ints

PASSES, MOST_PASSES = 100, 10_000
_SOLVED_KAPPA, _MOST_SOLVED = 5000.0, 256  # κ over √(K + 1), and the columns, of a regression by moments


@dataclass(frozen=True)
class DescentPlan(PricedPlan):
    """A loss over the features, at most how many passes, and the norm of a row where a caller gave one."""

    loss: str
    norm: Fraction | None = None
    passes: int = PASSES
    rows: int | None = None  # the number of units that count, where it is public
    class_weight: tuple[float, ...] | None = None
    may_solve: bool = False  # by second moments, where noise is small

    def __post_init__(self) -> None:
        """Refuses what a pass or its noise would refuse, before anything is charged: all within the near limits."""
        amounts.count(self.passes, "passes", 1, MOST_PASSES)
        require_sum(self.subject, "risk", centre_public(self.columns), self.price, CENTRE_SHARE)
        self._require(self._near)

    @cached_property
    def columns(self) -> DesignColumns:
        """The columns."""
        return DesignColumns(self.subject, self.loss)

    @cached_property
    def rule(self) -> Rule:
        """How the course follows from released numbers."""
        noise = self.subject.schema.relation.changes / (self.price.mu * sqrt(float(1 - CENTRE_SHARE)))
        return Rule(self.columns, noise, default_norm(self.subject) if self.norm is None else self.norm)

    @cached_property
    def limits(self) -> Limits:
        """Longer rows, steeper slopes and more passes where all of that can be carried out, whatever is released."""
        return self._far if _is_possible(lambda: self._require(self._far)) else self._near

    @property
    def _near(self) -> Limits:
        few = self.passes if self.passes > PASSES else min(self.passes, FEW_PASSES)
        return Limits(self.rule.first_norm, self.rule.usual_slope, few)

    @property
    def _far(self) -> Limits:
        return Limits(self.columns.longest if self.norm is None else self.norm, slope_bound(self.loss), self.passes)

    def _require(self, limits: Limits) -> None:
        """Refuses limits that a pass with the longest centre could not keep."""
        line = np.zeros(self.columns.lines * self.columns.width)
        public = self._public(line, self.columns.furthest_centre, limits.slope, limits.norm)
        require_sum(self.subject, "risk", public, self.price, (1 - CENTRE_SHARE) / limits.passes)

    @cached_property
    def has_moments(self) -> bool:
        """Whether second moments can be measured at this price, whatever is released."""
        if not self.may_solve or self.columns.width > _MOST_SOLVED:
            return False
        public = self._moments_public(self.columns.furthest_centre, self._far.norm)
        return _is_possible(lambda: require_sum(self.subject, "gram", public, self.price, 1 - CENTRE_SHARE))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        first, last = float(self.rule.first_norm), float(self.limits.norm)
        norms = f"{first:.3g}" if first == last else f"{first:.3g} to {last:.3g}"
        noise = f"Gaussian noise of standard deviation {self.rule.noise:.3g}·norm·slope·√passes"
        slopes = f"slopes within ± {float(self.limits.slope):.3g}"
        passes = f"descent by at most {self.passes} gradients over rows of norm {norms}, {slopes}, with {noise}"
        moments = ", or where noise is small second moments of rows and target with Gaussian noise"
        totals = "the number of units and the sum of each feature, with Gaussian noise"
        return totals, passes + (moments if self.has_moments else "")

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        centre = centre_of(self.columns, self.price, steps)
        if self.rows is not None:
            centre = replace(centre, rows=float(self.rows))
        is_precise = self.rule.kappa(centre.rows) > _SOLVED_KAPPA * sqrt(len(self.subject.features) + 1)
        return self._solve(steps, centre) if self.has_moments and is_precise else self._descend(steps, centre)

    def model(self, released: Released) -> LinearModel:
        """As `Plan.model`."""
        norm = Fraction(int(released["norm"][0]), UNIT) if "norm" in released else self.rule.first_norm
        lines = (released["weights"] / WEIGHT).reshape(self.columns.lines, -1)
        return LinearModel(self.subject, self.loss, self.columns.encoding(released["centre"], norm), lines)

    def _descend(self, steps: Steps, centre: Centre) -> Released:
        """The mean of the last half of the weights along the course."""
        course = self.rule.course(centre.rows, centre.steps, self.limits)
        share = (1 - CENTRE_SHARE) / course.passes
        weights = speed = np.zeros(self.columns.lines * self.columns.width)
        path: list[Floats] = []
        for number in range(course.passes):
            ahead = weights + course.momentum * speed
            public = self._public(ahead, centre.steps, course.slope, course.norm)
            gradient = -steps.sum(f"pass {number}", "risk", public, share) / (UNIT * SLOPE)
            speed = ahead + course.rates * gradient - weights
            weights = weights + speed
            path.append(weights)
        return _numbers_of(np.mean(path[course.passes // 2 :], axis=0), centre.steps, course.norm, course.passes)

    def _solve(self, steps: Steps, centre: Centre) -> Released:
        """Least squares from noisy second moments of centred rows."""
        norm = min(self.columns.longest_at(centre.steps), self._far.norm)
        public = self._moments_public(centre.steps, norm)
        moments = steps.sum("moments", "gram", public, 1 - CENTRE_SHARE)
        sensitivity = kernel_of("gram").sensitivity(public, self.subject.limit)
        diagonal = sqrt(self.price.mechanism(sensitivity, 1 - CENTRE_SHARE).variance) / (DIAGONAL * UNIT**2)
        noise = diagonal, diagonal * DIAGONAL / public["balance"]
        gram, answers = moments_of(moments, self.columns.width, public["balance"])
        weights = filtered_weights(gram, answers, noise, self.rule.spread, len(self.subject.features))
        return _numbers_of(weights, centre.steps, norm, 0)

    def _public(self, weights: Floats, centre: Ints, slope: Fraction, norm: Fraction) -> dict[str, Any]:
        public = self.columns.encoding(centre, norm) | {
            "loss": self.loss,
            "target": self.subject.target.described_number(),
            "weights": whole_weights(weights),
            "slope": slope,
        }
        return public if self.class_weight is None else public | {"class_weight": list(self.class_weight)}

    def _moments_public(self, centre: Ints, norm: Fraction) -> dict[str, Any]:
        own = {"target": self.subject.target.described_number(), "balance": balance_of(float(norm))}
        return self.columns.encoding(centre, norm) | own


def _is_possible(require: Callable[[], None]) -> bool:
    """Whether a guard lets it pass."""
    try:
        require()
    except BadValue:
        return False
    return True


def _numbers_of(weights: Floats, centre: Ints, norm: Fraction, passes: int) -> Released:
    """What is stored; 0 passes stand for second moments."""
    whole = {"weights": whole_weights(weights), "centre": centre}
    return whole | {"norm": np.array([int(norm * UNIT)]), "passes": np.array([passes])}
