"""Output perturbation: a risk with a ridge is minimised, and noise is added to its weights.

    J(w) = Σ over units of loss(w; unit) + (Λ/2)‖w‖²       loss convex and G-Lipschitz, G = slope · norm
    add-remove  ‖w − w'‖ ≤ G/Λ        replace-one  ‖w − w'‖ ≤ 2G/Λ        a gap ‖∇J‖ ≤ g adds 2g/Λ to either

The ridge is on the intercept too, and the intercept is inside the norm.  Λ is public: no number of rows divides the
sum.  With δ the noise is Gaussian and the whole is Gaussian(σ).  With δ = 0 it has a density ∝ e^(−(63ε/64)‖b‖Λ/G),
with 2G for G under replace-one, and a 64th of ε is spent on exact Laplace noise that covers the gap and the last digits
of b.

Chaudhuri, Monteleoni & Sarwate (2011); proof page: docs/proofs/learn/risk/output.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np

from discreet import amounts
from discreet.bounded import Bounded, RowLimit
from discreet.errors import bad
from discreet.kernel.rows import UnitRows
from discreet.learn.learner import REAL, PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.risk.last_step import lattice_step, on_lattice, rounded_sensitivity
from discreet.learn.risk.line_loss import LineLoss
from discreet.learn.risk.linear_model import LinearModel
from discreet.learn.risk.minimise import minimum
from discreet.learn.risk.spec import RiskSpec, least_ridge, parse_ridge
from discreet.learn.steps import Steps, table_of, tally_sensitivities
from discreet.learn.subject import Subject
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.noise.radial import Radial
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Pure
from discreet.query.bound import draft_of
from discreet.query.nodes import Caps, CountRows, Output, Question
from discreet.query.tally import Tally
from discreet.relation import Relation

GAP = Fraction(1, 2**22)  # g over G
LAST_SHARE = Fraction(1, 64)  # of ε, for what is not exact
COUNT_SHARE = Fraction(1, 50)  # of the price, where the number of units is not public
_DIVISORS = {"logistic": 20.0, "hinge": 20.0, "huber": 0.4}  # of G·n/μ in the square of the ridge
_MOST_COUNTED = 2**40  # more than a pass adds up, with noise
_BLUR = 0.1  # what noise may add to a predicted number, of half its range


def minimiser_sensitivity(steepness: Fraction, ridge: Fraction, relation: Relation) -> Fraction:
    """How far one unit moves the minimum: G/Λ, and 2G/Λ under replace-one."""
    return relation.changes * steepness / ridge


def lecture_sensitivity(steepness: Fraction, ridge: Fraction) -> Fraction:
    """4G/Λ, as a lecture has it (Λ = nλ): right and loose, four times add-remove's value; for teaching alone."""
    return 4 * steepness / ridge


@dataclass(frozen=True, eq=False)
class OutputPerturbation:
    """The minimum of a risk over rows, with noise; `noise` is what δ = 0 adds before the last step."""

    sensitivity: RowLimit
    cost: Cost
    spec: RiskSpec
    loss: LineLoss
    ridge: Fraction
    gap: Fraction
    step: Fraction
    noise: Radial | None
    last: Additive

    def __call__(self, exact: UnitRows, source: Source) -> Ints:
        """The noisy weights in steps."""
        weights = minimum(self.spec.problem(exact, self.loss, self.ridge), float(self.gap))
        if self.noise is not None:
            weights = weights + self.noise.draw(source)
        return self.last(on_lattice(weights, self.step), source)


def output_perturbation(
    spec: RiskSpec, loss: LineLoss, ridge: Fraction, limit: RowLimit, price: Price, share: Fraction = Fraction(1)
) -> OutputPerturbation:
    """The mechanism that this share of the price buys."""
    steepness = loss.steepest * spec.norm
    moved, gap = minimiser_sensitivity(steepness, ridge, limit.relation), steepness * GAP
    if price.sigma is not None:
        distance = moved + 2 * gap / ridge
        step = lattice_step(distance, spec.width)
        last = additive.gaussian_share(rounded_sensitivity(distance, step, spec.width), price.sigma, share)
        return OutputPerturbation(limit, last.cost, spec, loss, ridge, gap, step, None, last)
    epsilon = price.terms.epsilon * share
    noise = Radial(spec.width, moved / (epsilon * (1 - LAST_SHARE)))
    distance = 2 * (gap / ridge + noise.error)
    step = lattice_step(distance, spec.width)
    last = additive.laplace(rounded_sensitivity(distance, step, spec.width), epsilon * LAST_SHARE)
    return OutputPerturbation(limit, Pure(epsilon), spec, loss, ridge, gap, step, noise, last)


def output_plan(
    subject: Subject, price: Price, spec: RiskSpec, loss: LineLoss, alpha: str | None = None, rows: int | None = None
) -> "OutputPlan":
    """The plan for a risk, its ridge Λ (`alpha`) and a public number n of units; None means the rule.

    The rule is Λ = √(G·n/20μ), with 4√d/ε for 1/μ where δ is 0.  Noise costs numbers more than ranks: for huber it is
    √(G·n/.4μ), and at least so large that the standard deviation of what noise adds to a predicted number is about a
    tenth of half its range at most.  Under replace-one G is doubled.  Without Λ and n, a 50th of the price counts the
    rows.
    """
    ridge = None if alpha is None else parse_ridge(alpha, spec, loss)
    count = None if rows is None else amounts.count(rows, "rows", 1)
    if ridge is None and count is None and subject.schema.relation is not Relation.ADD_REMOVE:
        fix = "Give the number of units, which is public where one replaces another."
        raise bad("rows", "must be given under replace-one", None, fix)
    plan = OutputPlan(subject, price, spec, loss, ridge, count)
    plan.require_mechanisms()
    return plan


@dataclass(frozen=True, eq=False)
class OutputPlan(PricedPlan):
    """A risk to be minimised; the ridge is None where it follows from the number of units."""

    spec: RiskSpec
    loss: LineLoss
    ridge: Fraction | None
    rows: int | None
    arithmetic = REAL

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        law = "noise of uniform direction" if self.price.is_pure else "Gaussian noise"
        risk = f"the weights that minimise a {self.loss.name} risk over rows of norm {float(self.spec.norm):.3g}"
        counted = () if self._share == 1 else ("the number of units, to choose the ridge",)
        return (*counted, f"{risk}, with a ridge and {law} (output perturbation)")

    def require_mechanisms(self) -> None:
        """Refuses, before the charge, what a step would refuse: with the fewest rows that can be counted and the most.

        The lattice of the weights is as fine as the ridge asks for, and the ridge lies between those two.
        """
        if self._share < 1:
            _ = self._count
        for rows in (1, _MOST_COUNTED):
            self.mechanism({"rows": np.array([rows])})

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        released: dict[str, Ints] = {}
        if self._share < 1:
            tally, mechanism = self._count
            released["rows"] = steps.measure("rows", mechanism, table_of(steps.view, tally))
        rows: Bounded[UnitRows] = steps.view.rows(self.subject.columns, where=self.subject.where)
        released["weights"] = steps.measure("weights", self.mechanism(released), rows)
        return released

    def mechanism(self, released: Released) -> OutputPerturbation:
        """The mechanism of the last step, from what was released before it."""
        limit = self.subject.limit
        return output_perturbation(self.spec, self.loss, self._ridge(released), limit, self.price, self._share)

    def model(self, released: Released) -> LinearModel:
        """As `Plan.model`."""
        lines = released["weights"].astype(np.float64).reshape(1, -1) * float(self.mechanism(released).step)
        return LinearModel(self.subject, self.loss.name, self.spec.description, lines)

    @property
    def _share(self) -> Fraction:
        is_counted = self.ridge is None and self.rows is None
        return 1 - COUNT_SHARE if is_counted else Fraction(1)

    @cached_property
    def _count(self) -> tuple[Tally, Additive]:
        """The number of units, each of which has the weight 1, and its noise."""
        subject, outputs = self.subject, (Output("n", CountRows()),)
        question = Question(subject.schema.name, outputs, (), subject.where, Caps(rows=1))
        tally = draft_of(question, subject.schema).tally
        return tally, self.price.mechanism(tally_sensitivities({"rows": tally})["rows"], COUNT_SHARE)

    def _ridge(self, released: Released) -> Fraction:
        if self.ridge is not None:
            return self.ridge
        rows = min(max(self.rows if self.rows is not None else int(released["rows"][0]), 1), _MOST_COUNTED)
        steepness = float(minimiser_sensitivity(self.loss.steepest * self.spec.norm, Fraction(1), self._relation))
        noise = sqrt(self.spec.width) / float(self._epsilon) if self.price.is_pure else 1 / self.price.mu
        ridge = sqrt(steepness * rows * noise * (4 if self.price.is_pure else 1) / _DIVISORS[self.loss.name])
        if self.loss.name == "huber":
            ridge = max(ridge, steepness * noise * float(self.spec.norm) / _BLUR)
        ridge = max(ridge, float(least_ridge(self.spec, self.loss)))
        return Fraction(amounts.rounded_up(Fraction(ridge), 3))

    @property
    def _epsilon(self) -> Fraction:
        return self.price.terms.epsilon

    @property
    def _relation(self) -> Relation:
        return self.subject.schema.relation
