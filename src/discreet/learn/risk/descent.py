"""Linear models by noisy descent: full passes over centred rows, few of them, with momentum.

    0 centre    (√K·n, Σx) with Gaussian noise, for 5 % of 1/σ²: the number of rows, and a centre m of the features
    1 descent   T gradients of the risk over rows x − m, each clipped to a norm C

Taking off a centre shortens rows and removes the one large eigenvalue of their covariance, so 30 passes do what 150 do
without it.  With s the noise of one pass over √T at C₀ = .67·√(K + 1), τ = .43·W/√K the spread of a weight and λ = s/τ:

    κ = 1 + L·n/λ        T = ⌈3.5·√κ⌉, beyond 30 only 30·(κ/73)^⅛, at most `passes`
    C = C₀·max(1, κ/κ₀)^¼, at most the longest row; κ₀ = 100 for numbers, 1000 for classes
    β = min(1 − .75·T/κ, 1 − 6/T), at least 0        rate = min(1, κ(1 − β)/(.75·T)) · min(1, (κ − 1)/3)/(L·n + λ)

and the model is the mean of the last half of the weights.  Descent stops where signal and noise are level, which is the
ridge.  L and W stand for the curvature and the reach of the loss.  Slopes are clipped to ρ of their bound: .7 where
noise is large (κ < 100 at ρ = 1), 1 otherwise.  For numbers, whose loss is Huber's, ρ is .4, and where noise is small
(κ > 1000 at ρ = .4) it is 1: a residual beyond half the range is rare, so this is nearly least squares.

A number whose mean m lies near one of its bounds varies little: its variance is at most 1 − m².  Its rate is
1/(2(1 − m² + λ/(L·n))) times as fast, at least once and at most 64 times; in a regression only from κ = 1000 on.

With little noise (κ > 5000·√(K + 1)) a regression measures second moments of rows x − m in place of gradients,
unclipped unless a norm was given: one pass, and least squares in the limit (`second_moments`).

All noise is Gaussian; T, C, the rates and the choice follow from released numbers, and whatever they are, the passes
share what stage 0 left.  Song, Chaudhuri & Sarwate (2013) for noisy gradients; proof page:
docs/proofs/learn/risk/descent.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import BadValue
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import UNIT, root_up
from discreet.kernel.gram import DIAGONAL
from discreet.kernel.risk import SLOPE, WEIGHT
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.risk.linear_model import LinearModel, whole_weights
from discreet.learn.risk.second_moments import balance_of, filtered_weights, moments_of
from discreet.learn.steps import Steps, require_sum
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints

PASSES, MOST_PASSES = 100, 10_000
_FEW_PASSES, _FEW_KAPPA = 30, 73.0  # beyond that many, at κ = 73, passes grow by an eighth root
CENTRE_SHARE = Fraction(5, 100)
_NORM, _SPREAD, _NOISY_KAPPA = 0.67, 0.43, 100.0
_CURVATURE = {"logistic": 0.25, "softmax": 0.25, "hinge": 0.25, "huber": 1.0}
_REACH = {"logistic": 3.0, "softmax": 3.0, "hinge": 3.0, "huber": 1.0}
_STEEP = {"huber": Fraction(4, 10)}  # of the bound of a slope; the others have .7 where noise is large
_LESS_STEEP = Fraction(7, 10)
_HEAVIEST = 15.0
_STEADY_KAPPA = 1000.0  # from that κ on rows of classes and slopes of a regression are clipped less
_WIDER_KAPPA = {"huber": 100.0}  # the same for rows of a regression
_SLOWEST, _FASTEST = 1.0, 64.0  # a number's own rate
_SOLVED_KAPPA, _MOST_SOLVED = 5000.0, 256  # κ over √(K + 1), and the columns, of a regression by moments


@dataclass(frozen=True)
class DescentPlan(PricedPlan):
    """A loss over the features, at most how many passes, and the norm of a row where a caller gave one."""

    loss: str
    norm: Fraction | None = None
    passes: int = PASSES
    rows: int | None = None  # the public number of rows, where it is one
    class_weight: tuple[float, ...] | None = None
    may_solve: bool = False  # by second moments, where noise is small

    def __post_init__(self) -> None:
        """Refuses what a pass or its noise would refuse, before anything is charged.

        They are tried with the longest centre and the usual slope, at the first norm, for 30 passes, or all if
        more than 100 were asked for.  What lies beyond that is taken only where `_has_room` says that it is possible.
        """
        amounts.count(self.passes, "passes", 1, MOST_PASSES)
        require_sum(self.subject, "risk", self._centre_public(), self.price, CENTRE_SHARE)
        few = self.passes if self.passes > PASSES else min(self.passes, _FEW_PASSES)
        self._require_passes(self._first_norm, self._usual_slope, few)

    def _require_passes(self, norm: Fraction, slope: Fraction, passes: int) -> None:
        line = np.zeros(self._lines * self._width)
        public = self._public(line, self._furthest_centre, slope, norm)
        require_sum(self.subject, "risk", public, self.price, (1 - CENTRE_SHARE) / passes)

    @cached_property
    def _has_room(self) -> bool:
        """Whether more passes over longer rows and steeper slopes can be carried out, whatever is released."""
        return _is_possible(lambda: self._require_passes(self._last_norm, _bound(self.loss), self.passes))

    @cached_property
    def _has_moments(self) -> bool:
        """Whether second moments can be measured at this price, whatever is released."""
        if not self.may_solve or self._width > _MOST_SOLVED:
            return False
        public = self._moments_public(self._furthest_centre, self._last_norm)
        return _is_possible(lambda: require_sum(self.subject, "gram", public, self.price, 1 - CENTRE_SHARE))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        first, last = float(self._first_norm), float(self._last_norm if self._has_room else self._first_norm)
        norms = f"{first:.3g}" if first == last else f"{first:.3g} to {last:.3g}"
        deviation = self._doubled / (self.price.mu * sqrt(float(1 - CENTRE_SHARE)))
        noise = f"Gaussian noise of standard deviation {deviation:.3g}·norm·√passes"
        passes = f"descent by at most {self.passes} gradients over rows of norm {norms}, with {noise}"
        moments = ", or where noise is small second moments of rows and target with Gaussian noise"
        totals = "the number of rows and the sum of each feature, with Gaussian noise"
        return totals, passes + (moments if self._has_moments else "")

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        rows, centre = self._centre(steps)
        if self._has_moments and self._kappa(rows) > _SOLVED_KAPPA * sqrt(len(self.subject.features) + 1):
            return self._solve(steps, centre)
        course = self._course(rows, centre)
        rates = course.rate * np.tile(self._rates(rows, centre), self._lines)
        weights = speed = np.zeros(self._lines * len(centre))
        path: list[Floats] = []
        for number in range(course.passes):
            ahead = weights + course.momentum * speed
            share = (1 - CENTRE_SHARE) / course.passes
            public = self._public(ahead, centre, course.slope, course.norm)
            gradient = -steps.sum(f"pass {number}", "risk", public, share) / (UNIT * SLOPE)
            speed = ahead + rates * gradient - weights
            weights = weights + speed
            path.append(weights)
        return _numbers_of(np.mean(path[course.passes // 2 :], axis=0), centre, course.norm, course.passes)

    def model(self, released: Released) -> "LinearModel":
        """As `Plan.model`."""
        norm = Fraction(int(released["norm"][0]), UNIT) if "norm" in released else self._first_norm
        described = self._encoding_public(released["centre"], norm)
        lines = (released["weights"] / WEIGHT).reshape(self._lines, -1)
        return LinearModel(self.subject, self.loss, described, lines)

    # --- stage 0 -----------------------------------------------------------------------------------------------------

    def _centre(self, steps: Steps) -> tuple[float, Ints]:
        """The number of rows and what is taken off each column, in steps; both from one noisy sum."""
        count, width, weight = len(self.subject.features), self._width, self._count_weight
        sums = steps.sum("centre", "risk", self._centre_public(), CENTRE_SHARE) / (UNIT * SLOPE)
        noise = self._doubled * sqrt(2 * count) / (self.price.mu * sqrt(float(CENTRE_SHARE)))
        rows, deviation = self._rows(sums, noise, weight)
        centre = np.zeros(width)
        for feature, first, cells in self._spans():
            if feature.is_number:
                centre[first] = np.clip(sums[first] / (rows + noise), -1.0, 1.0)
            else:
                masses = np.maximum(sums[first : first + cells], 0.0) + noise / sqrt(cells)
                centre[first : first + cells] = masses / masses.sum()
        return (float(self.rows) if self.rows is not None else rows + deviation), np.rint(centre * UNIT).astype(
            np.int64
        )

    def _centre_public(self) -> dict[str, Any]:
        return {
            "loss": "total",
            "features": self._features,
            "target": self.subject.target.described_number(),
            "weights": np.zeros(self._width, dtype=np.int64),
            "intercept": self._count_weight,
            "norm": root_up(2 * len(self.subject.features)),
            "rows": self.subject.max_rows,
        }

    @property
    def _count_weight(self) -> float:
        """The weight of the number of rows beside the sums: √K, and less where a row would move it by 2³⁰ steps."""
        return min(sqrt(len(self.subject.features)), _HEAVIEST)

    def _rows(self, sums: Floats, noise: float, weight: float) -> tuple[float, float]:
        """The noisy number of rows and its standard deviation, from the first column and from every block of cells."""
        estimates, weights = [sums[0] / weight], [weight**2]
        for feature, first, cells in self._spans():
            if not feature.is_number:
                estimates.append(sums[first : first + cells].sum())
                weights.append(1 / cells)
        deviation = noise / sqrt(sum(weights))
        return max(float(np.dot(estimates, weights)) / sum(weights), deviation), deviation

    # --- stage 1 -----------------------------------------------------------------------------------------------------

    def _course(self, rows: float, centre: Ints) -> "_Course":
        """How many passes, how fast, how steep and over rows of which norm, from the noisy number of rows."""
        steeper = self._steeper(self._kappa(rows))
        slope, kappa = self._usual_slope * steeper, self._kappa(rows, float(steeper))
        passes = self._passes(kappa)
        momentum = max(0.0, min(1 - 0.75 * passes / kappa, 1 - 6 / passes))
        curvature = _CURVATURE[self.loss] * rows
        rate = min(1.0, kappa * (1 - momentum) / (0.75 * passes)) * min(1.0, (kappa - 1) / 3)
        norm = self._norm(kappa, centre)
        return _Course(passes, momentum, rate / (curvature + curvature / max(kappa - 1, 1e-9)), slope, norm)

    def _passes(self, kappa: float) -> int:
        """T, of which there are more than 30 only where the price has room for them."""
        slow = _FEW_PASSES * max(1.0, kappa / _FEW_KAPPA) ** 0.125 if self._has_room else _FEW_PASSES
        return max(1, min(ceil(3.5 * sqrt(kappa)), ceil(slow), self.passes))

    def _norm(self, kappa: float, centre: Ints) -> Fraction:
        """C: the first norm, and nearer to the longest centred row the less noise there is."""
        first = self._first_norm
        if self.norm is not None or not self._has_room:
            return first
        longer = float(first) * max(1.0, kappa / _WIDER_KAPPA.get(self.loss, _STEADY_KAPPA)) ** 0.25
        return max(first, min(Fraction(int(longer * UNIT), UNIT), self._longest(centre), self._last_norm))

    def _longest(self, centre: Ints) -> Fraction:
        """A norm that no row is longer than once the centre is taken off it."""
        off, square = centre / UNIT, 1.0
        for feature, first, cells in self._spans():
            own = off[first : first + cells]
            if feature.is_number:
                square += (1 + abs(float(own[0]))) ** 2
            else:
                square += float(own @ own) + max(0.0, 1 - 2 * float(own.min()))
        return Fraction(ceil(sqrt(square) * UNIT) + 1, UNIT)

    @property
    def _first_norm(self) -> Fraction:
        """The norm where noise is large, or the one that a caller gave."""
        return default_norm(self.subject) if self.norm is None else self.norm

    @property
    def _last_norm(self) -> Fraction:
        """A norm that no row passes whatever the centre is: 2 for a number, √2 for cells, 1 for the intercept."""
        if self.norm is not None:
            return self.norm
        return root_up(1 + sum(4 if feature.is_number else 2 for feature in self.subject.features))

    def _rates(self, rows: float, centre: Ints) -> Floats:
        """How much faster each column's weight moves: a number whose mean is near a bound varies little."""
        rates, kappa = np.ones(self._width), self._kappa(rows)
        if self.loss == "huber" and kappa < _STEADY_KAPPA:
            return rates
        for feature, first, _ in self._spans():
            if feature.is_number:
                variance = 1 - (int(centre[first]) / UNIT) ** 2
                rates[first] = np.clip(1 / (2 * (variance + 1 / max(kappa - 1, 1e-9))), _SLOWEST, _FASTEST)
        return rates

    @property
    def _usual_slope(self) -> Fraction:
        """What slopes are clipped to unless noise is large or, for a number, small."""
        return _bound(self.loss) * _STEEP.get(self.loss, Fraction(1))

    def _steeper(self, kappa: float) -> Fraction:
        """How many times as steep as usual slopes may be, by the κ of usual ones."""
        if self.loss == "huber":
            return 1 / _STEEP[self.loss] if kappa > _STEADY_KAPPA and self._has_room else Fraction(1)
        return _LESS_STEEP if kappa < _NOISY_KAPPA else Fraction(1)

    def _kappa(self, rows: float, steeper: float = 1.0) -> float:
        """κ: how far the risk's curvature lies above the λ at which signal and noise are level, at the first norm."""
        steepness = float(self._first_norm * self._usual_slope) * steeper
        noise = self._doubled * steepness / (self.price.mu * sqrt(float(1 - CENTRE_SHARE)))
        return 1 + _CURVATURE[self.loss] * rows * self._spread / noise

    @property
    def _spread(self) -> float:
        """τ: how far weights lie from 0."""
        return _SPREAD * _REACH[self.loss] / sqrt(len(self.subject.features))

    @property
    def _doubled(self) -> float:
        """2 under replace-one, where a unit takes its own away and brings another's."""
        return 1.0 if str(self.subject.schema.relation) == "add-remove" else 2.0

    # --- stage 1 of a regression with little noise -------------------------------------------------------------------

    def _solve(self, steps: Steps, centre: Ints) -> Released:
        """Least squares from noisy second moments of centred rows."""
        norm = min(self._longest(centre), self._last_norm)
        public = self._moments_public(centre, norm)
        moments = steps.sum("moments", "gram", public, 1 - CENTRE_SHARE)
        sensitivity = kernel_of("gram").sensitivity(public, self.subject.limit)
        diagonal = sqrt(self.price.mechanism(sensitivity, 1 - CENTRE_SHARE).variance) / (DIAGONAL * UNIT**2)
        noise = diagonal, diagonal * DIAGONAL / public["balance"]
        gram, answers = moments_of(moments, self._width, public["balance"])
        weights = filtered_weights(gram, answers, noise, self._spread, len(self.subject.features))
        return _numbers_of(weights, centre, norm, 0)

    def _moments_public(self, centre: Ints, norm: Fraction) -> dict[str, Any]:
        own = {"target": self.subject.target.described_number(), "balance": balance_of(float(norm))}
        return self._encoding_public(centre, norm) | own

    # --- the design --------------------------------------------------------------------------------------------------

    @property
    def _features(self) -> list[dict[str, Any]]:
        features = self.subject.features
        if self.loss == "huber":
            return [feature.described_number() for feature in features]
        return [feature.described_feature() for feature in features]

    @property
    def _width(self) -> int:
        return 1 + sum(1 if feature.is_number else feature.cells(0) for feature in self.subject.features)

    @property
    def _lines(self) -> int:
        return len(self.subject.classes) if self.loss == "softmax" else 1

    def _spans(self) -> list[tuple[Any, int, int]]:
        """Each feature with its first column and how many it has."""
        spans, first = [], 1
        for feature in self.subject.features:
            cells = 1 if feature.is_number else feature.cells(0)
            spans.append((feature, first, cells))
            first += cells
        return spans

    @property
    def _furthest_centre(self) -> Ints:
        """Longer than any that can be released."""
        centre = np.zeros(self._width, dtype=np.int64)
        centre[[first for _, first, _ in self._spans()]] = 2 * UNIT
        return centre

    def _encoding_public(self, centre: Ints, norm: Fraction) -> dict[str, Any]:
        return {"features": self._features, "centre": centre, "norm": norm, "rows": self.subject.max_rows}

    def _public(self, weights: Floats, centre: Ints, slope: Fraction, norm: Fraction) -> dict[str, Any]:
        public = self._encoding_public(centre, norm) | {
            "loss": self.loss,
            "target": self.subject.target.described_number(),
            "weights": whole_weights(weights),
            "slope": slope,
        }
        return public if self.class_weight is None else public | {"class_weight": list(self.class_weight)}


@dataclass(frozen=True)
class _Course:
    """Passes, momentum, rate, and what slopes and rows are clipped to."""

    passes: int
    momentum: float
    rate: float
    slope: Fraction
    norm: Fraction


def default_norm(subject: Subject) -> Fraction:
    """C = .67·√(K + 1), in steps of a feature."""
    return Fraction(int(_NORM * sqrt(len(subject.features) + 1) * UNIT), UNIT)


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


def _bound(loss: str) -> Fraction:
    """The largest slope; for softmax the largest norm of all slopes."""
    return Fraction(92681, 65536) if loss == "softmax" else Fraction(1)
