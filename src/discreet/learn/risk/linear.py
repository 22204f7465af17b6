"""Linear models: which solver a loss and a price get, from public facts alone.

solver="auto"   δ > 0                          descent; least squares for a number, where the noise is small
                δ > 0 and a ridge `alpha`      least squares from moments for a number, objective perturbation for two
                                               classes: descent has no ridge but where it stops
                δ = 0, two classes             objective perturbation
                δ = 0, a number                output perturbation
                δ = 0, more classes            refused: naive Bayes needs no δ
"descent"       noisy gradients                any loss, δ > 0
"objective"     objective perturbation         logistic and hinge, two classes
"output"        output perturbation            logistic, hinge and huber, two classes or a number
"adassp"        least squares from moments     huber, whose loss is then squared; δ > 0 is better
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.learn.learner import Facts, Plan, Released
from discreet.learn.price import Price
from discreet.learn.risk.adassp import adassp_plan
from discreet.learn.risk.descent import PASSES, DescentPlan
from discreet.learn.risk.line_loss import LineLoss, line_loss
from discreet.learn.risk.objective import objective_plan
from discreet.learn.risk.output import output_plan
from discreet.learn.risk.spec import RiskSpec, spec_of
from discreet.learn.steps import require_rows
from discreet.learn.subject import Subject, require_classes, require_number

LOSSES = ("logistic", "hinge", "huber")
HEAVIEST_CLASS = 10**6
_SLOPES = {"logistic": Fraction(7, 10), "hinge": Fraction(7, 10), "huber": Fraction(4, 10)}  # at most, of minimisers


@dataclass(frozen=True)
class LinearLearner:
    """A loss over a linear model, and how it is minimised.

    `norm` clips rows, `rows` is a public number of units, `alpha` the ridge of solvers that have one, and `passes`
    is the most passes of descent.
    """

    loss: str = "logistic"
    solver: str = "auto"
    norm: str | None = None
    rows: int | None = None
    alpha: str | None = None
    passes: int = PASSES
    class_weight: tuple[tuple[Any, float], ...] | None = None  # of each class, 1 where it is not named
    name = "linear"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {
            "loss": self.loss,
            "solver": self.solver,
            "norm": self.norm,
            "rows": self.rows,
            "alpha": self.alpha,
            "passes": self.passes,
            "class_weight": None if self.class_weight is None else [list(pair) for pair in self.class_weight],
        }

    def plan(self, subject: Subject, price: Price) -> Plan:
        """As `Learner.plan`."""
        if self.loss not in LOSSES:
            raise bad("loss", f"must be one of {', '.join(LOSSES)}", self.loss, "Give one of them.")
        if self.solver not in ("auto", *_PLANS):
            raise bad("solver", f"must be one of auto, {', '.join(_PLANS)}", self.solver, "Leave it out for 'auto'.")
        if self.loss == "huber":
            require_number(subject)
        else:
            self._require_fitting_classes(subject)
        solver = _auto_solver(self.options(), len(subject.classes), price) if self.solver == "auto" else self.solver
        return _PLANS[solver](self, subject, price)

    def _require_fitting_classes(self, subject: Subject) -> None:
        """Refuses a solver that is for numbers, and more classes than the loss has."""
        if self.solver == "adassp":
            rule = f"must be another for a {self.loss} model: adassp is least squares, for a target that is a number"
            raise bad("solver", rule, self.solver, "Leave out the solver.")
        if len(require_classes(subject)) > 2 and self.loss == "hinge":
            fix = "Only binary classification is supported: use logistic regression for more classes."
            raise bad("loss", "must be logistic for more than two classes", self.loss, fix)


def _auto_solver(options: Mapping[str, Any], classes: int, price: Price) -> str:
    """The solver of "auto"."""
    has_ridge, is_regression = options["alpha"] is not None, options["loss"] == "huber"
    if not price.is_pure and (not has_ridge or classes > 2):
        return "descent"
    if classes > 2:
        fix = "Give a delta, or use naive Bayes, which needs none."
        raise bad("delta", "must be above 0 for a linear model of more than two classes", 0, fix)
    if is_regression:
        return "output" if price.is_pure else "adassp"
    return "objective"


def solver_words(facts: Facts, plan: Plan, released: Released) -> str | None:
    """Which solver made a linear model and why, in a sentence; None for other models."""
    if facts.learner != LinearLearner.name:
        return None
    given = facts.options["solver"]
    solver = _auto_solver(facts.options, len(plan.subject.classes), plan.price) if given == "auto" else given
    name, case = _SOLVERS[solver]
    passes = np.ravel(released.get("passes", ()))
    if solver == "descent" and len(passes) == 1:  # older fits do not tell
        taken = f"{name} in {passes[0]} pass{'es' * bool(passes[0] > 1)}"
        name, case = (taken, case) if passes[0] else _SOLVED
    return f"Solver: {name}, {f'which auto takes {case}' if given == 'auto' else 'as asked for'}."


def _weights(learner: LinearLearner, subject: Subject) -> tuple[float, ...] | None:
    """The weight of each class in the order of the classes, the largest being 1."""
    if learner.class_weight is None:
        return None
    named = dict(learner.class_weight)
    unknown = [name for name in named if name not in subject.classes]
    if unknown or subject.target.is_number:
        shown = ", ".join(map(str, subject.classes)) or "none: the target is a number"
        raise bad("class_weight", f"must name classes, which are {shown}", unknown, "Leave out the others.")
    weights = [class_weight_of(named.get(name, 1.0)) for name in subject.classes]
    return tuple(weight / max(weights) for weight in weights)


def class_weight_of(weight: Any) -> float:
    """The weight of one class, within a public range: beyond it a class would count for all or for nothing."""
    parsed = amounts.positive(weight, "class_weight")
    if not Fraction(1, HEAVIEST_CLASS) <= parsed <= HEAVIEST_CLASS:
        rule = f"must be between 1/{HEAVIEST_CLASS:,} and {HEAVIEST_CLASS:,}"
        raise bad("class_weight", rule, weight, "Scale all weights, or leave out a class that should not count.")
    return float(parsed)


def _descent(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    if price.is_pure:
        raise bad("delta", "must be above 0 for descent", 0, "Give a delta, or leave the solver to auto.")
    if learner.alpha is not None:
        is_auto = learner.solver == "auto"
        fix = "Leave it out." if is_auto else "Leave it out; for two classes or a number, leave out the solver."
        raise bad("alpha", "must be left out for descent, whose ridge is where it stops", learner.alpha, fix)
    loss = "softmax" if learner.loss == "logistic" and len(subject.classes) > 2 else learner.loss
    norm = None if learner.norm is None else amounts.positive(learner.norm, "norm")
    may_solve = learner.solver == "auto" and loss == "huber"
    weights = _weights(learner, subject)
    return DescentPlan(subject, price, loss, norm, learner.passes, learner.rows, weights, may_solve)


def _objective(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    return objective_plan(subject, price, *_risk(learner, subject), learner.alpha)


def _output(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    return output_plan(subject, price, *_risk(learner, subject), learner.alpha, learner.rows)


def _risk(learner: LinearLearner, subject: Subject) -> tuple[RiskSpec, LineLoss]:
    """What is minimised, and its loss with clipped slopes: that is less noise, and probabilities of rare classes that
    are somewhat too small."""
    require_rows(subject)
    loss = line_loss(learner.loss, _SLOPES[learner.loss])
    return spec_of(subject, loss, learner.norm, _weights(learner, subject)), loss


def _adassp(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    return adassp_plan(subject, price, learner.norm, learner.alpha)


_SOLVERS = {  # by name: in words, and when "auto" takes it
    "descent": ("descent", "where δ is above 0 and no ridge is given"),
    "objective": ("objective perturbation", "for two classes where δ is 0 or a ridge is given"),
    "output": ("output perturbation", "for a number where δ is 0"),
    "adassp": ("least squares from second moments", "for a number where δ is above 0 and a ridge is given"),
}
_SOLVED = "least squares from second moments", "for a number where δ is above 0 and noise is small"
_PLANS: dict[str, Callable[[LinearLearner, Subject, Price], Plan]] = {
    "descent": _descent,
    "objective": _objective,
    "output": _output,
    "adassp": _adassp,
}
