"""An additive classifier in three stages: tables, one weight for each feature, then the cells themselves.

    1 tables    K tables class × cell; log-odds ℓ_k of each cell, centred, clipped to ± 2.5   share .6
    2 weights   w_k from 0.7 by noisy gradients of the logistic risk of Σ w_k ℓ_k(x_k) + b     share .15, 4 passes
    3 cells     θ_k from w_k·ℓ_k by noisy gradients for every cell, each pulled back to it     share .25, 4 passes

A row's (1, ℓ_1(x_1) … ℓ_K(x_K)) is clipped to the norm 3, so a person moves a pass of stage 2 by at most 3; in stage 3
a row adds its residual to one cell of each feature, and a person moves a pass by at most √K.  Under replace-one both
are doubled.  All noise is Gaussian and shares one μ², so that the whole costs Gaussian(σ).  Steps are those of a
diagonal Newton method with the curvature that the noisy tables give; the ridge of a weight or cell is
(noise²/(passes·curvature) + 1)/τ².  In stage 3 the gradient g of a feature's cells, without what the constant takes, is
multiplied by

    max(0, 1 − 1/χ)        χ = Σ g²·p / (noise²·Σ p)        p = 1/(curvature + ridge)

which is the factor of James & Stein (1961): a gradient of noise alone moves a cell little or not at all.  Naive Bayes
counts what correlated features say twice; stages 2 and 3 take part of that back.  With more than two classes stage 2 is
left out, stage 3 has a gradient for each class, and √(2K) is in the place of √K.

Proof page: docs/proofs/learn/counts.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.kernel.encode import UNIT, root_up
from discreet.kernel.risk import SLOPE, WEIGHT, whole_weights
from discreet.learn.counts.rates import Rates
from discreet.learn.counts.shape_model import ShapeModel
from discreet.learn.counts.tables import Tables, tables_of
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps, require_sum
from discreet.learn.subject import Subject, require_classes
from discreet.ndarrays import Floats, Ints

SHARES = (Fraction(60, 100), Fraction(15, 100), Fraction(25, 100))
PASSES = 4
_START, _CLIP, _NORM = 0.7, 2.5, 3
_WEIGHT_SPREAD, _CELL_SPREAD = 0.5, 0.3  # τ of weights and of cells
_WEIGHT_RATE, _CELL_RATE, _INTERCEPT_RATE = 0.5, 0.3, 0.7
_CURVATURE = 0.7  # of the risk, as a share of that at the prior


@dataclass(frozen=True)
class AdditiveLearner:
    """The three stages over `bins` bins of each number; without them a public rule decides."""

    bins: int | None = None
    name = "additive"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {"bins": self.bins}

    def plan(self, subject: Subject, price: Price) -> "AdditivePlan":
        """As `Learner.plan`: gradients need Gaussian noise, so δ must be above 0."""
        require_classes(subject)
        if price.is_pure:
            fix = "Give a delta, or use naive Bayes, which needs none."
            raise bad("delta", "must be above 0 for an additive classifier", 0, fix)
        is_binary = len(subject.classes) == 2
        shares = SHARES if is_binary else (SHARES[0], Fraction(0), SHARES[1] + SHARES[2])
        return AdditivePlan(subject, price, tables_of(subject, price, shares[0], self.bins), shares)


@dataclass(frozen=True, eq=False)
class AdditivePlan(PricedPlan):
    """The tables with their noise, and the shares of the three stages."""

    tables: Tables
    shares: tuple[Fraction, Fraction, Fraction]

    def __post_init__(self) -> None:
        """Refuses what a pass or its noise would refuse, before anything is charged."""
        cells = [feature.cells(self.tables.bins) for feature in self.subject.features]
        lines = 1 if self.is_binary else len(self.subject.classes)
        public = self._public(np.zeros(lines * sum(cells)), norm=None, offset=np.zeros(lines))
        require_sum(self.subject, "risk", public, self.price, self.shares[2] / PASSES)
        if self.is_binary:
            public = self._public(
                np.zeros(1 + len(cells)), norm=_NORM, tables=[np.full(size, 2 * _CLIP) for size in cells]
            )
            require_sum(self.subject, "risk", public, self.price, self.shares[1] / PASSES)

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes, and so one line."""
        return len(self.subject.classes) == 2

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        weights = (f"{PASSES} gradients of one weight for each feature, with Gaussian noise",) if self.is_binary else ()
        return (self.tables.words, *weights, f"{PASSES} gradients of every cell, with Gaussian noise")

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`: each stage starts from what the one before released."""
        rates = self.tables.rates(self.tables.measure(steps))
        start = _Start.of(rates)
        weights, intercept = self._weights(steps, start) if self.is_binary else (None, start.intercept)
        cells, constants = self._cells(steps, start, weights, intercept)
        return {"cells": cells, "constants": constants}

    def model(self, released: Released) -> ShapeModel:
        """As `Plan.model`: one line is that of the second class, the first has 0."""
        lines = len(released["constants"])
        cells = (released["cells"] / WEIGHT).reshape(lines, -1)
        ends = np.cumsum([feature.cells(self.tables.bins) for feature in self.subject.features])[:-1]
        shapes, prior = np.split(cells, ends, axis=1), released["constants"] / WEIGHT
        if self.is_binary:
            shapes, prior = [np.vstack([0 * shape, shape]) for shape in shapes], np.append(0.0, prior)
        return ShapeModel(self.subject, self.tables.bins, prior, tuple(shapes))

    # --- stage 2 -----------------------------------------------------------------------------------------------------

    def _weights(self, steps: Steps, start: "_Start") -> tuple[Floats, Floats]:
        """One weight for each feature, and the intercept."""
        count, share = len(start.shapes), self.shares[1] / PASSES
        noise = self._deviation(_NORM, share)
        curvature = start.curvature * np.array(
            [(mass * shape[0] ** 2).sum() for mass, shape in zip(start.masses, start.shapes, strict=True)]
        )
        curvature = np.append(start.curvature, curvature + 1e-9)
        ridge = noise**2 / (PASSES * curvature) + 1
        ridge[1:] /= _WEIGHT_SPREAD**2
        home = np.append(start.intercept, np.full(count, _START))
        weights, path = home, []
        for number in range(PASSES):
            public = self._public(weights, norm=_NORM, tables=[shape[0] for shape in start.shapes])
            gradient = -steps.sum(f"weights {number}", "risk", public, share) / (UNIT * SLOPE)
            weights = weights + _WEIGHT_RATE * (gradient - ridge * (weights - home)) / (curvature + ridge)
            path.append(weights)
        last = np.mean(path[PASSES // 2 :], axis=0)
        return np.maximum(last[1:], 0.0), last[:1]

    # --- stage 3 -----------------------------------------------------------------------------------------------------

    def _cells(self, steps: Steps, start: "_Start", weights: Floats | None, intercept: Floats) -> tuple[Ints, Ints]:
        """The entry of every cell of every line, and the constant of each line."""
        factors = np.ones(len(start.shapes)) if weights is None else weights
        home = [factor * shape for factor, shape in zip(factors, start.shapes, strict=True)]
        share, lines = self.shares[2] / PASSES, len(intercept)
        noise = self._deviation(sqrt(len(home) * (1 if lines == 1 else 2)), share)
        shapes, constants, path = home, intercept, []
        for number in range(PASSES):
            flat = np.concatenate(shapes, axis=1)
            public = self._public(flat.ravel(), norm=None, offset=constants)
            sums = -steps.sum(f"cells {number}", "risk", public, share) / (UNIT * SLOPE)
            gradients = np.split(sums.reshape(lines, -1), np.cumsum([shape.shape[1] for shape in home])[:-1], axis=1)
            shapes, constants = start.after(shapes, constants, home, gradients, noise)
            path.append((shapes, constants))
        late = path[PASSES // 2 :]
        means = [np.mean([shapes[place] for shapes, _ in late], axis=0) for place in range(len(home))]
        cells = whole_weights(np.concatenate(means, axis=1).ravel())
        return cells, whole_weights(np.mean([constants for _, constants in late], axis=0))

    def _deviation(self, norm: float, share: Fraction) -> float:
        """The standard deviation of each number of a pass, in units of a residual's 1; ridges follow from it.

        Under replace-one it is doubled: a unit takes its own away and brings another's.
        """
        return self.subject.schema.relation.changes * norm / (self.price.mu * sqrt(float(share)))

    def _public(
        self, weights: Floats, *, norm: int | None, tables: list[Floats] | None = None, offset: Floats | None = None
    ) -> dict[str, Any]:
        """The parameters of a pass: cells as columns, or as the entries of their tables."""
        features = [feature.described_cells(self.tables.bins) for feature in self.subject.features]
        if tables is not None:
            features = [cells | {"table": table} for cells, table in zip(features, tables, strict=True)]
        public: dict[str, Any] = {
            "loss": "logistic" if self.is_binary else "softmax",
            "features": features,
            "target": self.subject.target.described_cells(0),
            "weights": whole_weights(weights),
            "rows": self.subject.max_rows,
            "norm": Fraction(norm) if norm is not None else root_up(len(features)),
        }
        return public if offset is None else public | {"intercept": 0, "offset": whole_weights(offset)}


@dataclass(frozen=True, eq=False)
class _Start:
    """What the tables give the later stages: log-odds line by line, the mass of each cell, curvature and intercept."""

    shapes: list[Floats]  # line × cell
    masses: tuple[Floats, ...]
    curvature: float
    least: float
    intercept: Floats

    @classmethod
    def of(cls, rates: Rates) -> "_Start":
        """From the rates of the noisy tables."""
        masses = rates.masses
        is_binary = len(rates.prior) == 2
        lines = [log[1:] - log[:1] for log in rates.logs] if is_binary else list(rates.logs)
        shapes = []
        for line, mass in zip(lines, masses, strict=True):
            clipped = np.clip(_centred(line, mass), -_CLIP, _CLIP)
            shapes.append(_centred(clipped, mass))
        least = _CURVATURE * float((rates.prior * (1 - rates.prior)).mean())
        logs = np.log(rates.prior)
        intercept = logs[1:] - logs[:1] if is_binary else logs
        return cls(shapes, masses, least * rates.rows, least, intercept)

    def after(
        self, shapes: list[Floats], constants: Floats, home: list[Floats], gradients: list[Floats], noise: float
    ) -> tuple[list[Floats], Floats]:
        """The shapes and constants after one noisy gradient of stage 3."""
        moved = []
        for shape, goal, mass, gradient in zip(shapes, home, self.masses, gradients, strict=True):
            curvature = np.maximum(mass * self.curvature, self.least)
            ridge = (noise**2 / (PASSES * curvature) + 1) / _CELL_SPREAD**2
            precision = 1 / (curvature + ridge)
            own = gradient - mass * gradient.sum(axis=1, keepdims=True)  # what all cells share is the constant's
            chi = (own**2 * precision).sum(axis=1, keepdims=True) / (noise**2 * precision.sum())
            own = own * np.maximum(0.0, 1 - 1 / np.maximum(chi, 1e-9))
            moved.append(shape + _CELL_RATE * precision * (own - ridge * (shape - goal)))
        weights = np.array([1 / shape.shape[1] for shape in home])
        totals = np.stack([gradient.sum(axis=1) for gradient in gradients], axis=1) @ weights / weights.sum()
        spread = noise**2 / weights.sum() / PASSES
        return moved, constants + _INTERCEPT_RATE * totals / (self.curvature + spread / self.curvature)


def _centred(lines: Floats, mass: Floats) -> Floats:
    centred: Floats = lines - (lines * mass).sum(axis=1, keepdims=True)
    return centred
