"""Naive Bayes from noisy counts: one table class × cell for each feature, all in one release.

    score of class c = ln π_c + Σ_k ln(P(c | x_k)/π_c)

One person adds one row to each of K tables, so all of them move by l1 = K and l2 = √K (add-remove): Laplace noise of
scale K/ε, or Gaussian noise of σ·√K, whichever has the smaller variance.  The class totals follow from the tables: each
counts all rows but those with an empty cell, so π needs no release of its own.  How tables become rates: `rates`.

McSherry & Mironov (2009) for models from noisy counts; proof page: docs/proofs/learn/counts.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learn.counts.shape_model import ShapeModel
from discreet.learn.counts.tables import Tables, deviation_of, tables_of
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject, require_classes


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

    def model(self, released: Released) -> ShapeModel:
        """As `Plan.model`."""
        rates = self.tables.rates(released)
        return ShapeModel(self.subject, self.tables.bins, np.log(rates.prior), rates.logs, rates.masses)
