"""Naive Bayes from noisy counts: one table class × cell for each feature, all in one release.

    log P(c | x) = log π_c + Σ_k log P(x_k | c) + const

One person adds one row to each of K tables, so all of them move by l1 = K and l2 = √K (add-remove): Laplace noise of
scale K/ε, or Gaussian noise of σ·√K, whichever has the smaller variance.  The class totals follow from the tables: each
of them counts every row, so their average is one more estimate with less noise, and π needs no release of its own.
Pseudo-counts grow with the noise: a cell that noise could have made says little.

McSherry & Mironov (2009) for models from noisy counts; proof page: docs/proofs/learn/counts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.learn.learner import LATTICE, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps, tables_tallies, tally_sensitivities
from discreet.learn.subject import Subject, require_classes
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Floats, Ints
from discreet.privacy.cost import Cost
from discreet.query.tally import Tally

BINS = 16


@dataclass(frozen=True)
class NaiveBayesLearner:
    """Naive Bayes over `bins` bins of each number."""

    bins: int = BINS
    name = "naive bayes"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {"bins": self.bins}

    def plan(self, subject: Subject, price: Price) -> "CountPlan":
        """As `Learner.plan`: the law of the noise is that with the smaller variance."""
        require_classes(subject)
        tallies = tables_tallies(subject, self.bins)
        candidates = [price] if price.is_pure else [price, price.pure()]
        plans = [_count_plan(subject, candidate, tallies, self.bins) for candidate in candidates]
        return min(plans, key=lambda plan: plan.variance)


def _count_plan(subject: Subject, price: Price, tallies: Mapping[str, Tally], bins: int) -> "CountPlan":
    share = Fraction(1, len(tallies))
    own = tally_sensitivities(tallies)
    return CountPlan(subject, price, tallies, {name: price.mechanism(own[name], share) for name in tallies}, bins)


@dataclass(frozen=True)
class CountPlan:
    """The tables, each with its noise."""

    subject: Subject
    price: Price
    tallies: Mapping[str, Tally]
    noise: Mapping[str, Additive]
    bins: int
    arithmetic = LATTICE

    @property
    def cost(self) -> Cost:
        """As `Plan.cost`."""
        return self.price.cost

    @property
    def variance(self) -> float:
        """Of the noise of one count."""
        return max(mechanism.variance for mechanism in self.noise.values())

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        law = "Laplace" if self.price.is_pure else "Gaussian"
        count, deviation = len(self.tallies), self.variance**0.5
        return (f"{count} tables of counts by class, with {law} noise of standard deviation {deviation:.3g} each",)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        return steps.tables("tables", self.tallies, self.noise)

    def model(self, released: Released) -> "AdditiveModel":
        """As `Plan.model`."""
        classes = len(self.subject.classes)
        tables = [released[feature.name].reshape(classes, -1) for feature in self.subject.features]
        prior, logs = log_odds(tables, self.variance**0.5)
        return AdditiveModel(self.subject, self.bins, prior, tuple(logs))


def log_odds(tables: list[Any], deviation: float) -> tuple[Floats, list[Floats]]:
    """log π and, for each table, log P(cell | class), smoothed in proportion to the noise."""
    totals = np.mean([table.sum(axis=1) for table in tables], axis=0)
    spread = deviation * np.sqrt(np.mean([table.shape[1] for table in tables]) / len(tables))
    totals = np.maximum(totals, spread + 1.0)
    prior = totals / totals.sum()
    logs = []
    for table in tables:
        cells = table.shape[1]
        consistent = table + ((totals - table.sum(axis=1)) / cells)[:, None]
        marginal = np.maximum(consistent.sum(axis=0), 0.0) + deviation + 1.0
        pseudo = (0.75 * deviation + 0.5) * prior[:, None]
        smoothed = np.maximum(consistent, 0.0) + pseudo
        logs.append(np.log(smoothed / marginal) - np.log(prior)[:, None])
    return np.log(prior), logs


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """Σ over features of a table's entry: for each class a score, whose softmax are the probabilities."""

    subject: Subject
    bins: int
    prior: Floats
    tables: tuple[Floats, ...]

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; a feature without a cell says nothing."""
        lines: Floats | None = None
        for feature, table in zip(self.subject.features, self.tables, strict=True):
            codes = feature.codes(columns[feature.name], self.bins)
            part = np.append(table, np.zeros((len(table), 1)), axis=1)[:, codes].T
            lines = part if lines is None else lines + part
        return softmax(self.prior + (0.0 if lines is None else lines))

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        shapes = {
            feature.name: table.tolist() for feature, table in zip(self.subject.features, self.tables, strict=True)
        }
        return {"prior": np.exp(self.prior).tolist(), "shapes": shapes}


def softmax(lines: Floats) -> Floats:
    """e^line over their sum, row by row."""
    powers = np.exp(lines - lines.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares
