"""Objective perturbation: a noisy line b·w is added to a risk with a ridge, and the sum is minimised.

    w = argmin Σ over units of loss(x·w, y) + (Λ/2)‖w‖² + b·w       ‖x‖ ≤ R, slopes within ± ρ, G = ρR, β = curvature·R²

With b ~ N(0, σ²I) and a slope of one sign (logistic, smoothed hinge), δ at ε is the Gaussian curve at ε − s, μ = G/σ:

    s = k·ln(1 + β/kΛ)       any Λ; k rows of a unit may count, more than one only with δ = 0
    s = ρ(1 − ρ)R²/Λ         logistic under add-remove, one row a unit, Λ ≥ G²/ε: nothing at all at ρ = 1
    replace-one              δ = curve(ε − s; 2G/σ) + 2·curve(ε − s; G/σ), s = ln(1 + β/Λ)

With δ = 0, b has a density ∝ e^(−(ε − s)‖b‖/G), and its norm is divided by 2G under replace-one.  The minimum is found
to a gap, and b is drawn to a last digit; a 64th of ε and δ is spent on exact noise on a lattice that covers both, so ε
and δ above stand for 63/64 of the price.
It is charged as Approx(ε, δ) or Pure(ε): these curves are proven at this ε and above, and for nothing else.

Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta (2012); Redberg, Koskela & Wang (2023).  Proof page:
docs/proofs/learn/risk/objective.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit
from discreet.errors import bad
from discreet.kernel.rows import UnitRows
from discreet.learn.learner import REAL, PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.risk.last_step import lattice_step, on_lattice, rounded_sensitivity
from discreet.learn.risk.line_loss import LineLoss
from discreet.learn.risk.linear_model import LinearModel
from discreet.learn.risk.minimise import minimum
from discreet.learn.risk.output import GAP, LAST_SHARE
from discreet.learn.risk.spec import RiskSpec, least_ridge, parse_ridge
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive, root_up
from discreet.ndarrays import Floats, Ints
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.radial import Radial
from discreet.noise.source import Source
from discreet.privacy import analytic, calibrate
from discreet.privacy.certify import up
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.real import ball
from discreet.relation import Relation

_SPREAD = 1.29  # of a weight, times √K
_SPENT = 0.2  # of ε, on the shift at most
_COARSER, _FINEST = 2**10, Fraction(1, 2**24)  # b is rounded to a quarter of the gap, and to 2³⁷ steps of σ at most


@dataclass(frozen=True)
class GaussianTilt:
    """b ~ N(0, σ²I), each number drawn exactly and rounded to a multiple of `step`."""

    dimension: int
    sigma: Fraction
    step: Fraction

    @property
    def error(self) -> Fraction:
        """How far a drawn b lies from the real one: √d·step/2."""
        return root_up(Fraction(self.dimension)) * self.step / 2

    def draw(self, source: Source) -> Floats:
        """One vector."""
        whole = RoundedGaussian(self.sigma / self.step).draw(self.dimension, source)
        return whole.astype(np.float64) * float(self.step)


def shift(loss: LineLoss, norm: Fraction, ridge: Fraction, epsilon: Fraction, limit: RowLimit, rows: int) -> Fraction:
    """s: what the curvature of one unit costs of ε, rounded up; `rows` of a unit may count."""
    bound = loss.curvature * norm**2 / ridge
    general = up(lambda: rows * (1 + ball(bound / rows)).log())
    is_gentle = loss.name == "logistic" and rows == 1 and limit.relation is Relation.ADD_REMOVE
    if is_gentle and ridge * epsilon >= (loss.steepest * norm) ** 2:
        return min(general, loss.steepest * (1 - loss.steepest) * norm**2 / ridge)
    return general


def tilt_sigma(epsilon: Fraction, delta: Fraction, relation: Relation) -> Fraction:
    """The least σ per unit of G at ε − s, for a slope of one sign; 12 digits, rounded up.

    >>> float(tilt_sigma(Fraction(1), Fraction(1, 10**5), Relation.ADD_REMOVE))
    3.73063163482
    """

    def is_enough(sigma: Fraction) -> bool:
        own = analytic.delta_of_square(1 / sigma**2, epsilon)
        if relation is Relation.ADD_REMOVE:
            return own <= delta
        return 2 * own + analytic.delta_of_square(4 / sigma**2, epsilon) <= delta

    start = analytic.rough_sigma(float(epsilon), float(delta)) * relation.changes
    return Fraction(amounts.rounded_up(analytic.least(is_enough, start), 12))


@dataclass(frozen=True, eq=False)
class ObjectivePerturbation:
    """The minimum of a tilted risk over rows, with a last step of exact noise."""

    sensitivity: RowLimit
    cost: Cost
    spec: RiskSpec
    loss: LineLoss
    ridge: Fraction
    gap: Fraction
    step: Fraction
    tilt: GaussianTilt | Radial
    last: Additive

    def __call__(self, exact: UnitRows, source: Source) -> Ints:
        """The noisy weights in steps."""
        problem = self.spec.problem(exact, self.loss, self.ridge, self.tilt.draw(source))
        return self.last(on_lattice(minimum(problem, float(self.gap)), self.step), source)


def objective_perturbation(
    spec: RiskSpec, loss: LineLoss, ridge: Fraction, limit: RowLimit, price: Price
) -> ObjectivePerturbation:
    """The mechanism that the whole price buys; refused where its ε is below the shift."""
    if not loss.is_one_signed:
        fix = "Leave the solver out: descent takes every loss."
        raise bad("loss", "must be logistic or hinge for objective perturbation", loss.name, fix)
    if spec.rows > 1 and not price.is_pure:
        fix = "Count one row of each unit, give no delta, or leave out solver and alpha: descent takes several rows."
        raise bad("max_rows", "must be 1 for objective perturbation: its proof is for rows", spec.rows, fix)
    terms, kept = price.terms, 1 - LAST_SHARE
    left = terms.epsilon * kept - shift(loss, spec.norm, ridge, terms.epsilon * kept, limit, spec.rows)
    if left <= 0:
        fix = "Leave it out: the rule chooses one that costs a fifth of ε at most."
        raise bad("alpha", "must be larger: the ridge alone would cost ε", float(ridge), fix)
    steepness = loss.steepest * spec.norm
    gap, tilt = steepness * GAP, _tilt(spec.width, steepness, left, terms.delta * kept, limit.relation)
    distance = 2 * (gap + tilt.error) / ridge
    step = lattice_step(distance, spec.width)
    moved = rounded_sensitivity(distance, step, spec.width)
    if price.is_pure:
        last, cost = additive.laplace(moved, terms.epsilon * LAST_SHARE), Pure(terms.epsilon)
        return ObjectivePerturbation(limit, cost, spec, loss, ridge, gap, step, tilt, last)
    sigma = calibrate.gaussian_sigma(terms.epsilon * LAST_SHARE, terms.delta * LAST_SHARE)
    last = additive.gaussian_share(moved, sigma, Fraction(1))
    return ObjectivePerturbation(limit, Approx(terms.epsilon, terms.delta), spec, loss, ridge, gap, step, tilt, last)


def _tilt(width: int, steepness: Fraction, epsilon: Fraction, delta: Fraction, relation: Relation) -> Any:
    """The law of b for what is left of ε and δ."""
    if delta == 0:
        return Radial(width, relation.changes * steepness / epsilon)
    sigma = steepness * tilt_sigma(epsilon, delta, relation)
    step = max(lattice_step(_COARSER * steepness * GAP, width), lattice_step(sigma * _FINEST, 1))
    return GaussianTilt(width, sigma, step)


def objective_plan(
    subject: Subject, price: Price, spec: RiskSpec, loss: LineLoss, alpha: str | None = None
) -> "ObjectivePlan":
    """The plan for a risk and its ridge Λ (`alpha`); None means the rule.

    The rule is Λ = the noise of b over 1.29/√K, and at least what keeps the shift below a fifth of ε.
    """
    ridge = _ridge(spec, loss, subject, price) if alpha is None else parse_ridge(alpha, spec, loss)
    return ObjectivePlan(subject, price, objective_perturbation(spec, loss, ridge, subject.limit, price))


def _ridge(spec: RiskSpec, loss: LineLoss, subject: Subject, price: Price) -> Fraction:
    """The least ridge that noise and shift ask for."""
    epsilon, spread = float(price.terms.epsilon), _SPREAD / sqrt(len(subject.features))
    noise = sqrt(spec.width) / epsilon if price.is_pure else 1 / price.mu
    steepness, bend = float(loss.steepest * spec.norm), float(loss.curvature * spec.norm**2)
    least = max(bend / (spec.rows * expm1(min(_SPENT * epsilon / spec.rows, 100.0))), float(least_ridge(spec, loss)))
    return Fraction(
        amounts.rounded_up(Fraction(max(subject.schema.relation.changes * steepness * noise / spread, least)), 3)
    )


@dataclass(frozen=True, eq=False)
class ObjectivePlan(PricedPlan):
    """One mechanism over the rows."""

    mechanism: ObjectivePerturbation
    arithmetic = REAL

    @property
    def cost(self) -> Cost:
        """As `Plan.cost`: it is proven at this ε and δ alone."""
        return self.mechanism.cost

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        own = self.mechanism
        risk = f"the weights that minimise a {own.loss.name} risk over rows of norm {float(own.spec.norm):.3g}"
        law = "a noisy line of uniform direction" if self.price.is_pure else "a Gaussian line"
        return (f"{risk}, with a ridge of {float(own.ridge):.3g} and {law} added to the risk (objective perturbation)",)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        rows = steps.view.rows(self.subject.columns, where=self.subject.where)
        return {"weights": steps.measure("weights", self.mechanism, rows)}

    def model(self, released: Released) -> LinearModel:
        """As `Plan.model`."""
        own = self.mechanism
        lines = released["weights"].astype(np.float64).reshape(1, -1) * float(own.step)
        return LinearModel(self.subject, own.loss.name, own.spec.description, lines)
