"""Linear regression from noisy second moments: XᵀX and Xᵀy in one release, then a ridge that the noise chooses.

    λ = max(0, √(2d)·s − λ_min)        w = (XᵀX + λI)⁻¹Xᵀy

s is the noise of a diagonal moment and λ_min the least eigenvalue of the noisy XᵀX, which needs no release of its own.
One pass over the rows is enough.  It is least squares and nothing is clipped but the rows; at small ε or many columns
descent is better, since the standard deviation of the noise of d² moments grows with the square of the norm.

Wang (2018), with one Gaussian budget in place of three; proof page: docs/proofs/learn/risk/adassp.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import UNIT
from discreet.kernel.gram import DIAGONAL
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.risk.line_loss import LineLoss
from discreet.learn.risk.linear_model import LinearModel
from discreet.learn.risk.second_moments import balance_of, moments_of
from discreet.learn.risk.spec import RiskSpec, spec_of
from discreet.learn.steps import Steps, require_sum
from discreet.learn.subject import Subject
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Floats


def adassp_plan(subject: Subject, price: Price, norm: str | None = None, alpha: str | None = None) -> "AdaSSPPlan":
    """Least squares over rows of that norm, by default long enough for every row; `alpha` is the least ridge."""
    longest = Fraction(int(sqrt(len(subject.features) + 1) * UNIT) + 1, UNIT)
    spec = spec_of(subject, LineLoss("huber"), longest if norm is None else norm)
    least = Fraction(0) if alpha is None else amounts.positive(alpha, "alpha")
    plan = AdaSSPPlan(subject, price, spec, least)
    require_sum(subject, "gram", plan.public, price, Fraction(1))
    return plan


@dataclass(frozen=True, eq=False)
class AdaSSPPlan(PricedPlan):
    """The moments of rows and target, each with its noise."""

    spec: RiskSpec
    least: Fraction

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        moments = f"{self.spec.width} × {self.spec.width} second moments of rows and target"
        largest = amounts.text_up(Fraction(self.deviation), 3)
        return (f"{moments}, with {self.price.law} noise of standard deviation {largest} or less",)

    @property
    def deviation(self) -> float:
        """The noise of a diagonal moment."""
        return sqrt(self._mechanism.variance) / (DIAGONAL * UNIT**2)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        return {"moments": steps.sum("moments", "gram", self.public, Fraction(1))}

    def model(self, released: Released) -> LinearModel:
        """As `Plan.model`."""
        gram, answers = moments_of(released["moments"], self.spec.width, self.public["balance"])
        weights = least_squares(gram, answers, self.deviation, float(self.least))
        return LinearModel(self.subject, "huber", self.spec.description, weights.reshape(1, -1))

    @property
    def public(self) -> dict[str, Any]:
        """The parameters of the kernel."""
        own = {"target": dict(self.spec.target), "balance": balance_of(float(self.spec.norm))}
        return {key: value for key, value in self.spec.description.items() if key != "centre"} | own

    @property
    def _mechanism(self) -> Additive:
        return self.price.mechanism(kernel_of("gram").sensitivity(self.public, self.subject.limit), Fraction(1))


def least_squares(gram: Floats, answers: Floats, deviation: float, least: float = 0.0) -> Floats:
    """The weights, with a ridge that lifts the least eigenvalue to what the noise's operator norm usually is."""
    values, vectors = np.linalg.eigh(gram)
    ridge = max(least, sqrt(2 * len(gram)) * deviation - float(values[0]), 0.0)
    weights: Floats = vectors @ ((vectors.T @ answers) / (values + ridge))
    return weights
