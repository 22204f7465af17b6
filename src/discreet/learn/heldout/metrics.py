"""How well a model predicts, as few counts with noise: accuracy, AUC, log loss and R².

Each row adds amounts of 0 or more that sum up to a public number, and for R² to at most one, in steps:

    accuracy   1 to the right or the wrong ones
    auc        1 to a cell of class × bin of the predicted probability
    log loss   −ln p of its class, at most 7, to one number, and the rest up to 7 to another
    r2         (y − ŷ)² and the rest up to 1; y and 1 − y; (2y − 1)²; with y and ŷ clamped and scaled to 0 … 1

So one unit moves all of them by a public l1, whatever the model says.  Proof page: docs/proofs/learn/heldout/score.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.learn.heldout import auc
from discreet.learn.heldout.interval import Estimate, Law, count_estimate, share_estimate, share_moe
from discreet.learn.heldout.r_squared import STEPS, RSquared
from discreet.learn.heldout.trial import Scored, Trial, require_class
from discreet.ndarrays import Floats, Ints

LONGEST_LOSS = 7


class Metric(Protocol):
    """A metric as counts of rows, and as the estimate that noisy counts give."""

    @property
    def norm(self) -> int:
        """What the numbers that one row adds sum up to at most, in steps."""

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
        return auc.auc_estimate(noisy, law)

    def exact_scores(self, noisy: Ints, law: Law) -> Estimate:
        """The interval of the AUC of exact scores, whatever their order within a bin is."""
        return auc.auc_estimate(noisy, law, auc.most_pairs_within(noisy, law))

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return _persons(noisy, law, self.norm)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`: of two classes of one size whose scores all lie in the middle, where noise tells much."""
        middle = np.zeros(self.length, dtype=np.int64)
        middle[[self.bins // 2, self.bins + self.bins // 2]] = (size + 1) // 2, max(size // 2, 1)
        estimate = self.estimate(middle, law)
        return (estimate.high - estimate.low) / 2


@cache
def _loss_ends() -> Floats:
    """Probabilities at which −ln p lies half-way between two steps, growing: a row is compared with them, since the
    last digit of a library's logarithm may depend on where in an array a number lies."""
    halves: Floats = np.exp(-(np.arange(LONGEST_LOSS * STEPS, 0, -1) - 0.5) / STEPS)
    return halves


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
            return Auc(place, tuple(auc.edges_of(trial.model, place, count).tolist()))
        case _:
            return RSquared(float(trial.target.low), float(trial.target.high))
