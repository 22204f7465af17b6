"""Gaussian naive Bayes: for each class a count, sums and sums of squares of numbers, and tables of categories, in one
release.

    log P(c | x) = log π_c + Σ over numbers of log N(x; mean_c, variance_c) + Σ over categories of log P(x | c) + const

Every row is one vector (`kernel.class_moments`): 1, then x and 2x² − 1 for a number scaled to −1 … 1, then 1 in the
cell of a category; with N numbers and q categories its l2 is at most √(1 + 2N + q).  Means and squares of a class are
pulled to those of all rows by as many pseudo-rows as the noise of one count, and no variance is below what noise would
leave.

Proof page: docs/proofs/learn/trees.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.engine.passes import kernel_pass
from discreet.kernel.class_moments import scaled_steps
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import UNIT, Feature
from discreet.learn.counts.rates import rates_of
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.probabilities import softmax
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject, require_classes
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Floats, Ints

_LEAST_VARIANCE = 2.0**-10  # of a number scaled to −1 … 1


@dataclass(frozen=True)
class GaussianBayesLearner:
    """Gaussian naive Bayes; it has no options."""

    name = "gaussian naive bayes"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {}

    def plan(self, subject: Subject, price: Price) -> "GaussianBayesPlan":
        """As `Learner.plan`: the law of the noise is that with the smaller variance."""
        require_classes(subject)
        candidates = price.laws()
        plan = min((GaussianBayesPlan(subject, candidate) for candidate in candidates), key=lambda plan: plan.deviation)
        kernel_pass(subject.schema, "class_moments", subject.columns, plan.public)  # refused before the charge
        return plan


@dataclass(frozen=True)
class GaussianBayesPlan(PricedPlan):
    """The moments by class and their noise."""

    @cached_property
    def public(self) -> dict[str, Any]:
        """The parameters of the kernel."""
        described = [feature.described_feature() for feature in self.subject.features]
        return {"features": described, "target": self.subject.target.described_cells(0), "rows": self.subject.max_rows}

    @cached_property
    def noise(self) -> Additive:
        """The noise of the whole release, in steps."""
        own = kernel_of("class_moments").sensitivity(self.public, self.subject.limit)
        return self.price.mechanism(own, Fraction(1))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of one count."""
        return sqrt(self.noise.variance) / UNIT

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        measured = "a count, sums and sums of squares of numbers, and counts of categories for each class"
        return (f"{measured}, with {self.price.law} noise of standard deviation {self.deviation:.3g} rows",)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        return {"moments": steps.sum("moments", "class_moments", self.public, Fraction(1))}

    def model(self, released: Released) -> "GaussianBayesModel":
        """As `Plan.model`."""
        features = tuple(map(Feature.parse, self.public["features"]))
        widths = [1, *(2 if feature.is_number else feature.cells for feature in features)]
        rows = np.asarray(released["moments"], dtype=np.float64).reshape(len(self.subject.classes), -1) / UNIT
        count, *parts = np.split(rows, np.cumsum(widths)[:-1], axis=1)
        tables = [part for part, feature in zip(parts, features, strict=True) if not feature.is_number]
        rates = rates_of([count, *tables], self.deviation, [False] * (1 + len(tables)))
        logs, totals = iter(rates.logs[1:]), np.maximum(rates.tables[0][:, 0], self.deviation + 1)
        shapes = tuple(
            _normal(part, totals, self.deviation) if feature.is_number else next(logs)
            for part, feature in zip(parts, features, strict=True)
        )
        return GaussianBayesModel(self.subject, features, rates.prior, shapes)


def _normal(sums: Floats, totals: Floats, deviation: float) -> Floats:
    """Mean and variance of a number in each class, from Σx and Σ(2x² − 1)."""
    whole, rows = totals.sum(), totals + deviation
    pooled = np.clip(sums.sum(axis=0) / whole, -1.0, 1.0)
    mean, bent = ((sums + deviation * pooled) / rows[:, None]).T
    mean = np.clip(mean, -1.0, 1.0)
    variance = (np.clip(bent, -1.0, 1.0) + 1) / 2 - mean**2
    return np.stack([mean, np.maximum(variance, _LEAST_VARIANCE + deviation / rows)], axis=1)


@dataclass(frozen=True, eq=False)
class GaussianBayesModel:
    """For each class its prior, and for each feature mean and variance, or the table ln(P(class | cell)/π)."""

    subject: Subject
    features: tuple[Feature, ...]
    prior: Floats
    shapes: tuple[Floats, ...]  # class × 2, or class × cell

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; an empty category says nothing, and an empty number is the middle, as in the fit."""
        names = [feature.name for feature in self.subject.features]
        lines = np.zeros((len(columns[names[0]]), len(self.prior))) + np.log(self.prior)
        for feature, name, shape in zip(self.features, names, self.shapes, strict=True):
            column = np.asarray(columns[name])
            if feature.is_number:
                mean, variance = shape.T
                x = scaled_steps(feature, column)[:, None] / UNIT
                lines += -0.5 * ((x - mean) ** 2 / variance + np.log(variance))
            else:
                lines += np.append(shape, np.zeros((len(shape), 1)), axis=1)[:, feature.codes(column)].T
        return softmax(lines)

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`; means and variances are of numbers scaled to −1 … 1."""
        shown: dict[str, Any] = {}
        for feature, column, shape in zip(self.features, self.subject.features, self.shapes, strict=True):
            if feature.is_number:
                shown[column.name] = dict(zip(("mean", "variance"), shape.T.tolist(), strict=True))
            else:
                shown[column.name] = {"table": shape.tolist()}
        return {"prior": self.prior.tolist(), "shapes": shown}
