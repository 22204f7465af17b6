"""How well a model predicts, as few counts with noise: accuracy, AUC, log loss and R².

Each row adds amounts of 0 or more that sum up to a public number, in steps:

    accuracy   1 to the right or the wrong ones
    auc        1 to a cell of class × bin of the predicted probability
    log loss   −ln p of its class, at most 7, to one number, and the rest up to 7 to another
    r2         (y − ŷ)² and the rest up to 1; y and 1 − y; (2y − 1)²; with y and ŷ clamped and scaled to 0 … 1

So one unit moves all of them by a public l1, whatever the model says.  Proof page: docs/proofs/learn/heldout/score.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Protocol

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.learn.heldout import auc
from discreet.learn.heldout.interval import Estimate, Law, count_estimate, share_estimate, share_moe, width_factor
from discreet.learn.heldout.trial import Scored, Trial, require_class
from discreet.ndarrays import Floats, Ints

STEPS = 2**14  # of a loss of 1, and of a square of 1
LONGEST_LOSS = 7
_HALVINGS, _LARGEST = 40, 10**12  # of a spread that is looked for, and the most persons


class Metric(Protocol):
    """A metric as counts of rows, and as the estimate that noisy counts give."""

    @property
    def norm(self) -> int:
        """What the numbers that one row adds sum up to, in steps."""

    @property
    def length(self) -> int:
        """How many numbers there are."""

    @property
    def caveat(self) -> str:
        """What the number leaves out, in a sentence."""

    def counts(self, scored: Scored) -> Ints:
        """The exact numbers, in steps."""

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """The metric and its interval."""

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """How many rows counted."""

    def moe(self, size: int, law: Law) -> float | None:
        """About the ± of the metric where so many rows count; None where that depends on more."""


@dataclass(frozen=True)
class Accuracy:
    """The share of rows whose class is the predicted one."""

    norm, length, caveat = 1, 2, ""

    def counts(self, scored: Scored) -> Ints:
        """As `Metric.counts`."""
        right = int((scored.predicted == scored.target).sum())
        return np.array([right, len(scored.target) - right])

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.estimate`."""
        return _share(noisy, law, self.norm)

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return _persons(noisy, law, self.norm)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`."""
        return _share_moe(size, law, self.norm)


@dataclass(frozen=True)
class LogLoss:
    """The mean of −ln p, for the probability p that the model gave the class of a row."""

    norm, length = LONGEST_LOSS * STEPS, 2
    caveat = f"A loss above {LONGEST_LOSS}, which is a probability below 0.001, counts as {LONGEST_LOSS}."

    def counts(self, scored: Scored) -> Ints:
        """As `Metric.counts`."""
        own = scored.scores[np.arange(len(scored.target)), scored.target]
        steps = np.where(np.isnan(own), self.norm, self.norm - np.searchsorted(_loss_ends(), own, side="right"))
        return np.array([steps.sum(), (self.norm - steps).sum()])

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.estimate`."""
        share, half = _share(noisy, law, self.norm), 0.5 / self.norm  # each row was rounded by half a step at most
        widened = Estimate(share.value, max(share.low - half, 0.0), min(share.high + half, 1.0))
        return widened.scaled(LONGEST_LOSS)

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return _persons(noisy, law, self.norm)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`: of a loss of at most 1; a coin has one of 0.69."""
        return _share_moe(size, law, self.norm, 1 / LONGEST_LOSS) * LONGEST_LOSS


@dataclass(frozen=True)
class Auc:
    """The area under the ROC curve of one class against the rest."""

    positive: int
    edges: tuple[float, ...]  # of the probability
    norm = 1

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) + 1

    @property
    def length(self) -> int:
        """As `Metric.length`."""
        return 2 * self.bins

    @property
    def caveat(self) -> str:
        """As `Metric.caveat`."""
        order = "within a bin scores count as equal, and the interval holds this AUC"
        return f"It is the AUC of probabilities by {self.bins} bins that were cut from the model alone: {order}."

    def counts(self, scored: Scored) -> Ints:
        """As `Metric.counts`."""
        return auc.histogram(scored.target == self.positive, scored.scores[:, self.positive], np.array(self.edges))

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.estimate`."""
        return self._estimate(noisy, law)

    def exact_scores(self, noisy: Ints, law: Law) -> Estimate:
        """The interval of the AUC of exact scores, whatever their order within a bin is."""
        return self._estimate(noisy, law, of_exact_scores=True)

    def _estimate(self, noisy: Ints, law: Law, *, of_exact_scores: bool = False) -> Estimate:
        return auc.auc_estimate(
            noisy,
            variance=law.variance,
            level=law.level,
            is_population=law.is_population,
            rows=law.rows,
            of_exact_scores=of_exact_scores,
        )

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return _persons(noisy, law, self.norm)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`: of two classes of one size whose scores all lie in the middle, where noise tells much."""
        middle = np.zeros(self.length, dtype=np.int64)
        middle[[self.bins // 2, self.bins + self.bins // 2]] = (size + 1) // 2, max(size // 2, 1)
        estimate = self._estimate(middle, law)
        return (estimate.high - estimate.low) / 2


@dataclass(frozen=True)
class RSquared:
    """1 − Σ(y − ŷ)²/Σ(y − ȳ)², for numbers clamped to the bounds of the target."""

    low: float
    high: float
    norm, length = 3 * STEPS, 5
    caveat = "The target and what is predicted are clamped to the bounds of the target."

    def counts(self, scored: Scored) -> Ints:
        """As `Metric.counts`."""
        number, predicted = self._scaled(scored.target), self._scaled(scored.scores[:, 0])
        centred = _both((2 * number - 1) ** 2, STEPS)[:1]
        return np.concatenate([_both((number - predicted) ** 2, STEPS), _both(number, STEPS), centred])

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.estimate`: from an interval of each number that hold all at once.

        There is no value where its interval has no lower end, or does not hold it.
        """
        error, right, above, below, square = (float(number) for number in noisy)
        rows = (error + right + above + below) / 2
        radius, double = _r_squared_radii(rows, law)
        value = _r_squared(max(error, 0.0), square, above - below, rows)
        errors = max(error - radius, 0.0), max(error + radius, 0.0)
        squares = max(square - radius, 0.0), max(square + radius, 0.0)
        middle = max(abs(above - below) - double, 0.0), abs(above - below) + double
        least, largest = rows - double, rows + double
        if least <= 0 or value is None:
            return Estimate(None, float("-inf"), 1.0)
        low = _r_squared(errors[1], squares[0], middle[1], least)
        high = _r_squared(errors[0], squares[1], middle[0], largest)
        upper = 1.0 if high is None else min(high, 1.0)
        if low is None:
            return Estimate(None, float("-inf"), upper)
        return Estimate(value if error >= -radius and low <= value <= upper else None, low, upper)

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return _persons(noisy[:2], law, STEPS)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`: it depends on how far the target spreads."""
        return None

    def is_told(self, size: int, law: Law, spread: float, mean: float) -> bool:
        """Whether R² gets a value even where all noise is as far off as its interval allows.

        The standard deviation of the target is `spread` of the width of its bounds, and its mean lies at −1 … 1 of
        them.
        """
        radius, double = (noise / STEPS for noise in _r_squared_radii(size * STEPS, law))
        rows, square = size - 2 * double, size * (4 * spread**2 + mean**2) - 2 * radius
        return rows > 0 and _r_squared(0.0, square, size * abs(mean) + 2 * double, rows) is not None

    def told_spread(self, size: int, law: Law, mean: float) -> float | None:
        """The least spread of a target with that mean whose R² is told where so many count; None where none is."""
        largest = sqrt(1 - mean**2) / 2
        if not self.is_told(size, law, largest, mean):
            return None
        untold, told = 0.0, largest
        for _ in range(_HALVINGS):
            middle = (untold + told) / 2
            untold, told = (untold, middle) if self.is_told(size, law, middle, mean) else (middle, told)
        return told

    def told_size(self, law: Law, spread: float, mean: float) -> int:
        """About how many must count for the R² of a target with that spread and mean to be told."""
        size = 1
        while size < _LARGEST and not self.is_told(size, law, spread, mean):
            size = max(size + 1, size * 17 // 16)
        return size

    def _scaled(self, numbers: Floats) -> Floats:
        scaled: Floats = np.clip(np.nan_to_num((numbers - self.low) / (self.high - self.low), nan=0.5), 0.0, 1.0)
        return scaled


def _r_squared_radii(rows: float, law: Law) -> tuple[float, float]:
    """How far one noisy number, and the sum or difference of two, may lie off, in steps; `rows` are in steps too."""
    level = 1 - (1 - law.level) / 4  # of the four numbers that the interval is made of
    rounding = max(rows, 0.0) / STEPS / 2  # of each row, by half a step at most
    radius, double = (width_factor(level) * sqrt(2 * k) * law.scale + k * (0.5 + rounding) for k in (1, 2))
    return radius, double


def _r_squared(error: float, square: float, middle: float, rows: float) -> float | None:
    """1 − error/spread; the spread is ¼(Σ(2y − 1)² − (Σ(2y − 1))²/n)."""
    spread = (square - middle**2 / rows) / 4 if rows > 0 else 0.0
    return 1 - error / spread if spread > 0 else None


@cache
def _loss_ends() -> Floats:
    """Probabilities at which −ln p lies half-way between two steps, growing: a row is compared with them, since the
    last digit of a library's logarithm may depend on where in an array a number lies."""
    halves: Floats = np.exp(-(np.arange(LONGEST_LOSS * STEPS, 0, -1) - 0.5) / STEPS)
    return halves


def _both(shares: Floats, norm: int) -> Ints:
    """Σ of shares within 0 … 1 and Σ of what is left of 1, in steps; each row is rounded by itself."""
    steps = np.floor(np.clip(shares, 0.0, 1.0) * norm + 0.5).astype(np.int64)
    return np.array([steps.sum(), (norm - steps).sum()])


def _share(noisy: Ints, law: Law, norm: int) -> Estimate:
    return share_estimate(int(noisy[0]), int(noisy[1]), scale=law.scale, level=law.level, drawn=_drawn_steps(law, norm))


def _share_moe(size: int, law: Law, norm: int, highest: float = 1.0) -> float:
    drawn = _drawn_steps(law, norm)
    return share_moe(size * norm, scale=law.scale, level=law.level, drawn=drawn, highest=highest)


def _drawn_steps(law: Law, norm: int) -> float:
    """What `share_estimate` takes as `drawn`."""
    return float(norm * law.rows) if law.is_population else 0.0


def _persons(noisy: Ints, law: Law, norm: int) -> Estimate:
    total, numbers = int(noisy.sum()), len(noisy)
    return count_estimate(total, scale=law.scale, numbers=numbers, level=law.level, step=norm)


NAMES: Mapping[str, str] = {"accuracy": "accuracy", "auc": "AUC", "log_loss": "log loss", "r2": "R²"}


def metric_of(name: object, trial: Trial, positive: object = None, bins: object = auc.BINS) -> Metric:
    """The metric of that name for that trial; refused where the model does not fit it."""
    if name not in tuple(NAMES):
        raise bad("metric", f"must be one of {', '.join(NAMES)}", name, "Name one of these.")
    if not trial.classes and name != "r2":
        raise bad("metric", "must be r2 for a model that predicts a number", name, "Name r2.")
    if trial.classes and name == "r2":
        rule = "must be accuracy, auc or log_loss for a model that predicts classes"
        raise bad("metric", rule, name, "Name one of these.")
    match name:
        case "accuracy":
            return Accuracy()
        case "log_loss":
            return LogLoss()
        case "auc":
            place, count = require_class(trial, positive), amounts.count(bins, "bins", 4, 1024)
            return Auc(place, tuple(auc.edges_of(trial.fit, place, count).tolist()))
        case _:
            return RSquared(float(trial.target.low), float(trial.target.high))
