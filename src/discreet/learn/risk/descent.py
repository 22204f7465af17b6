"""Linear models by noisy descent: full passes over centred rows, few of them, with momentum.

    0 centre    (√K·n, Σx) with Gaussian noise, for 5 % of 1/σ²: the number of rows, and a centre m of the features
    1 descent   T gradients of the risk over rows x − m, each clipped to the norm C = .67·√(K + 1)

Taking off a centre shortens rows and removes the one large eigenvalue of their covariance, so 30 passes do what 150 do
without it.  With s the noise of one pass over √T, τ = .43·B/√K the spread of a weight and λ = s/τ:

    κ = 1 + L·n/λ        T = ⌈3.5·√κ⌉, at most `passes`        β = min(1 − .75·T/κ, 1 − 6/T), at least 0
    rate = min(1, κ(1 − β)/(.75·T)) · min(1, (κ − 1)/3)/(L·n + λ)

and the model is the mean of the last half of the weights.  Descent stops where signal and noise are level, which is the
ridge.  L and B stand for the curvature and the reach of the loss.  Slopes are clipped to ρ of their bound: .7 where
noise is large (κ < 100 at ρ = 1), 1 otherwise, and .4 for numbers, whose loss is then Huber's.

All noise is Gaussian; T and the centre follow from released numbers, and whatever T is, the passes share what stage 0
left.  Song, Chaudhuri & Sarwate (2013) for noisy gradients; proof page: docs/proofs/learn/risk/descent.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.kernel.encode import UNIT, Design, Encoding, root_up
from discreet.kernel.risk import FURTHEST_WEIGHT, SLOPE, WEIGHT
from discreet.kernel.rows import UnitRows
from discreet.learn.counts.naive_bayes import softmax
from discreet.learn.learner import LATTICE, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps, require_sum
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints
from discreet.privacy.cost import Cost

PASSES, MOST_PASSES = 30, 10_000
CENTRE_SHARE = Fraction(5, 100)
_NORM, _SPREAD, _NOISY = 0.67, 0.43, 100.0
_CURVATURE = {"logistic": 0.25, "softmax": 0.25, "hinge": 0.25, "huber": 1.0}
_REACH = {"logistic": 3.0, "softmax": 3.0, "hinge": 3.0, "huber": 1.0}
_STEEP = {"huber": Fraction(4, 10)}  # of the bound of a slope; the others have .7 where noise is large
_LESS_STEEP = Fraction(7, 10)
_HEAVIEST = 15.0


@dataclass(frozen=True)
class DescentPlan:
    """A loss over the features, the norm of a row, and at most how many passes."""

    subject: Subject
    price: Price
    loss: str
    norm: Fraction
    passes: int = PASSES
    rows: int | None = None  # the public number of rows, where it is one
    class_weight: tuple[float, ...] | None = None
    arithmetic = LATTICE

    def __post_init__(self) -> None:
        """Refuses what a pass or its noise would refuse, before anything is charged.

        No centre that can be released is longer, no slope steeper, and no share smaller.
        """
        amounts.count(self.passes, "passes", 1, MOST_PASSES)
        centre, line = np.zeros(self._width, dtype=np.int64), np.zeros(self._lines * self._width)
        require_sum(self.subject, "risk", self._centre_public(), self.price, CENTRE_SHARE)
        centre[[first for _, first, _ in self._spans()]] = 2 * UNIT
        public = self._public(line, centre, self._steepest)
        require_sum(self.subject, "risk", public, self.price, (1 - CENTRE_SHARE) / self.passes)

    @property
    def cost(self) -> Cost:
        """As `Plan.cost`."""
        return self.price.cost

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        deviation = self._deviation / sqrt(float(1 - CENTRE_SHARE))
        return (
            "the number of rows and the sum of each feature, with Gaussian noise",
            f"at most {self.passes} gradients over rows of norm {float(self.norm):.3g}, with Gaussian noise of "
            f"standard deviation {deviation:.3g}·√passes",
        )

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        rows, centre = self._centre(steps)
        course = self._course(rows)
        weights = speed = np.zeros(self._lines * len(centre))
        path: list[Floats] = []
        for number in range(course.passes):
            ahead = weights + course.momentum * speed
            share = (1 - CENTRE_SHARE) / course.passes
            public = self._public(ahead, centre, course.slope)
            gradient = -steps.sum(f"pass {number}", "risk", public, share) / (UNIT * SLOPE)
            speed = ahead + course.rate * gradient - weights
            weights = weights + speed
            path.append(weights)
        mean = np.mean(path[course.passes // 2 :], axis=0)
        return {"weights": _whole(mean), "centre": centre}

    def model(self, released: Released) -> "LinearModel":
        """As `Plan.model`."""
        described = self._encoding_public(released["centre"])
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

    def _course(self, rows: float) -> "_Course":
        """How many passes, how fast and how steep, from the noisy number of rows."""
        slope = self._steepest
        if self.loss != "huber" and self._level(rows, float(slope)) < _NOISY:
            slope *= _LESS_STEEP
        level = self._level(rows, float(slope))
        passes = int(np.clip(ceil(3.5 * sqrt(level)), 1, self.passes))
        momentum = max(0.0, min(1 - 0.75 * passes / level, 1 - 6 / passes))
        curvature = _CURVATURE[self.loss] * rows
        rate = min(1.0, level * (1 - momentum) / (0.75 * passes)) * min(1.0, (level - 1) / 3)
        return _Course(passes, momentum, rate / (curvature + curvature / max(level - 1, 1e-9)), slope)

    @property
    def _steepest(self) -> Fraction:
        """The bound of slopes where noise is small, which no pass exceeds."""
        return _bound(self.loss) * _STEEP.get(self.loss, Fraction(1))

    @property
    def _deviation(self) -> float:
        """The noise of one pass over √T, for a slope of 1 and the whole price."""
        return self._doubled * float(self.norm) / self.price.mu

    def _level(self, rows: float, slope: float) -> float:
        """κ: how far the risk's curvature lies above the λ at which signal and noise are level."""
        noise = self._deviation * slope / sqrt(float(1 - CENTRE_SHARE))
        spread = _SPREAD * _REACH[self.loss] / sqrt(len(self.subject.features))
        return 1 + _CURVATURE[self.loss] * rows * spread / noise

    @property
    def _doubled(self) -> float:
        """2 under replace-one, where a unit takes its own away and brings another's."""
        return 1.0 if str(self.subject.schema.relation) == "add-remove" else 2.0

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

    def _encoding_public(self, centre: Ints) -> dict[str, Any]:
        return {"features": self._features, "centre": centre, "norm": self.norm, "rows": self.subject.max_rows}

    def _public(self, weights: Floats, centre: Ints, slope: Fraction) -> dict[str, Any]:
        public = self._encoding_public(centre) | {
            "loss": self.loss,
            "target": self.subject.target.described_number(),
            "weights": _whole(weights),
            "slope": slope,
        }
        return public if self.class_weight is None else public | {"class_weight": list(self.class_weight)}


@dataclass(frozen=True)
class _Course:
    """Passes, momentum, rate, and the bound that slopes are clipped to."""

    passes: int
    momentum: float
    rate: float
    slope: Fraction


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Weights on centred and clipped rows, a line for each class, or one."""

    subject: Subject
    loss: str
    described: Mapping[str, Any]
    lines: Floats  # line × column

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`."""
        names = [feature.name for feature in self.subject.features]
        size = len(columns[names[0]])
        rows = UnitRows({name: columns[name] for name in names}, np.arange(size), size)
        design = Design.of(rows, Encoding.parse(self.described), names)
        raw = [design.lines(_whole(line)) * design.clipping / (UNIT * WEIGHT) for line in self.lines]
        if self.loss == "huber":
            low, high = float(self.subject.target.low), float(self.subject.target.high)
            return low + (np.stack(raw, axis=1) + 1) / 2 * (high - low)
        if self.loss == "softmax":
            return softmax(np.stack(raw, axis=1))
        return softmax(np.stack([0 * raw[0], raw[0]], axis=1))

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        return {"weights": self.lines.tolist(), "centre": (self.described["centre"] / UNIT).tolist()}


def default_norm(subject: Subject) -> Fraction:
    """C = .67·√(K + 1), in steps of a feature."""
    return Fraction(int(_NORM * sqrt(len(subject.features) + 1) * UNIT), UNIT)


def norm_of(value: Any, subject: Subject) -> Fraction:
    """The norm that a caller gave, or the default."""
    return default_norm(subject) if value is None else amounts.positive(value, "norm")


def _bound(loss: str) -> Fraction:
    """The largest slope; for softmax the largest norm of all slopes."""
    return Fraction(92681, 65536) if loss == "softmax" else Fraction(1)


def _whole(weights: Floats) -> Ints:
    return np.rint(np.clip(weights, -FURTHEST_WEIGHT, FURTHEST_WEIGHT) * WEIGHT).astype(np.int64)
