"""Naive Bayes from noisy counts: one table class × cell for each feature, all in one release.

    score of class c = ln π_c + Σ_k ln(P(c | x_k)/π_c)

One person adds one row to each of K tables, so all of them move by l1 = K and l2 = √K (add-remove): Laplace noise of
scale K/ε, or Gaussian noise of σ·√K, whichever has the smaller variance.  The class totals follow from the tables: each
counts all rows but those with an empty cell, so π needs no release of its own.  How tables become rates: `rates`.

McSherry & Mironov (2009) for models from noisy counts; proof page: docs/proofs/learn/counts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learn.counts.tables import Tables, deviation_of, tables_of
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject, require_classes
from discreet.ndarrays import Floats, Ints
from discreet.noise.powers import exp_minus


@dataclass(frozen=True)
class NaiveBayesLearner:
    """Naive Bayes over `bins` bins of each number; without them a public rule decides."""

    bins: int | None = None
    name = "naive bayes"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {"bins": self.bins}

    def plan(self, subject: Subject, price: Price) -> "NaiveBayesPlan":
        """As `Learner.plan`: the law of the noise is that with the smaller variance."""
        require_classes(subject)
        law = min(price.laws(), key=lambda law: deviation_of(subject, law))
        return NaiveBayesPlan(subject, law, tables_of(subject, law, bins=self.bins))


@dataclass(frozen=True)
class NaiveBayesPlan(PricedPlan):
    """The tables, each with its noise."""

    tables: Tables

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        return (self.tables.words,)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        return self.tables.measure(steps)

    def model(self, released: Released) -> "ShapeModel":
        """As `Plan.model`."""
        rates = self.tables.rates(released)
        return ShapeModel(self.subject, self.tables.bins, np.log(rates.prior), rates.logs, rates.masses)


@dataclass(frozen=True, eq=False)
class ShapeModel:
    """Σ over features of a table's entry: for each class a score, whose softmax are the probabilities."""

    subject: Subject
    bins: int
    log_prior: Floats
    shapes: tuple[Floats, ...]  # class × cell
    masses: tuple[Floats, ...] | None = None  # the share of the rows in each cell, where it was released

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; a feature without a cell says nothing."""
        lines: Floats = np.zeros((1, len(self.log_prior))) + self.log_prior
        for feature, shape in zip(self.subject.features, self.shapes, strict=True):
            codes = feature.codes(columns[feature.name], self.bins)
            lines = lines + np.append(shape, np.zeros((len(shape), 1)), axis=1)[:, codes].T
        return softmax(lines)

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        pairs = zip(self.subject.features, self.shapes, strict=True)
        return {
            "prior": np.exp(self.log_prior).tolist(),
            "shapes": {feature.name: shape.tolist() for feature, shape in pairs},
        }

    def importances(self) -> Floats:
        """The variance of a feature's shape over the rows, averaged over classes, as a share of all features'.

        A cell counts by the noisy number of its rows where that was released, as in naive Bayes; otherwise cells count
        alike.
        """
        masses = self.masses or [np.ones(shape.shape[1]) / shape.shape[1] for shape in self.shapes]
        pairs = zip(self.shapes, masses, strict=True)
        return normalised(np.array([_variances(shape, mass).mean() for shape, mass in pairs]))


def _variances(shape: Floats, mass: Floats) -> Floats:
    """The variance of each line over cells of that mass."""
    variances: Floats = (shape - (shape @ mass)[:, None]) ** 2 @ mass
    return variances


def normalised(amounts: Floats) -> Floats:
    """Amounts divided by their sum; 0 where all of them are."""
    return amounts / (amounts.sum() or 1.0)


def softmax(lines: Floats) -> Floats:
    """e^line over their sum, row by row.

    By operations that are rounded one element at a time: what a row gets must not depend on the rows beside it, for
    scores of held-out persons are counted.
    """
    top = lines.max(axis=1, keepdims=True)
    powers = exp_minus(top - lines)
    total = np.zeros(len(lines))
    for power in powers.T:
        total += power
    return powers / total[:, None]
