"""Linear models: which solver a loss and a price get, from public facts alone.

solver="auto"   δ > 0                          descent; least squares for a number, where the noise is small
                δ = 0, two classes             objective perturbation
                δ = 0, a number                output perturbation
                δ = 0, more classes            refused: naive Bayes needs no δ
"descent"       noisy gradients                any loss, δ > 0
"objective"     objective perturbation         logistic and hinge, two classes
"output"        output perturbation            logistic, hinge and huber, two classes or a number
"adassp"        least squares from moments     huber, whose loss is then squared; δ > 0 is better
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.learn.learner import Plan
from discreet.learn.price import Price
from discreet.learn.risk.adassp import AdaSSPLearner
from discreet.learn.risk.descent import PASSES, DescentPlan
from discreet.learn.risk.objective import ObjectiveLearner
from discreet.learn.risk.output import OutputLearner
from discreet.learn.subject import Subject, require_classes, require_number

LOSSES = ("logistic", "hinge", "huber")
HEAVIEST_CLASS = 10**6


@dataclass(frozen=True)
class LinearLearner:
    """A loss over a linear model, and how it is minimised.

    `norm` clips rows, `rows` is a public number of rows, `alpha` the ridge of solvers that have one, and `passes`
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
            require_classes(subject)
        if self.alpha is not None and (self.solver == "descent" or (self.solver == "auto" and not price.is_pure)):
            fix = 'Leave it out, or give solver="objective", "output" or "adassp".'
            raise bad("alpha", "must be left out for descent, whose ridge is where it stops", self.alpha, fix)
        solver = _chosen(self.loss, len(subject.classes), price) if self.solver == "auto" else self.solver
        return _PLANS[solver](self, subject, price)


def _chosen(loss: str, classes: int, price: Price) -> str:
    """The solver of "auto"."""
    if not price.is_pure:
        return "descent"
    if classes > 2:
        fix = "Give a delta, or use NaiveBayes, which needs none."
        raise bad("delta", "must be above 0 for a linear model of more than two classes", 0, fix)
    return "output" if loss == "huber" else "objective"


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
        raise bad("delta", "must be above 0 for descent", 0, 'Give a delta, or solver="auto".')
    if learner.loss == "hinge" and len(subject.classes) > 2:
        raise bad("loss", "must be logistic for more than two classes", learner.loss, "Use LogisticRegression.")
    loss = "softmax" if learner.loss == "logistic" and len(subject.classes) > 2 else learner.loss
    norm = None if learner.norm is None else amounts.positive(learner.norm, "norm")
    may_solve = learner.solver == "auto" and loss == "huber"
    weights = _weights(learner, subject)
    return DescentPlan(subject, price, loss, norm, learner.passes, learner.rows, weights, may_solve)


def _objective(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    own = ObjectiveLearner(learner.loss, learner.norm, learner.alpha, learner.rows, None, _weights(learner, subject))
    return own.plan(subject, price)


def _output(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    own = OutputLearner(learner.loss, learner.norm, learner.alpha, learner.rows, None, _weights(learner, subject))
    return own.plan(subject, price)


def _adassp(learner: LinearLearner, subject: Subject, price: Price) -> Plan:
    require_number(subject)
    return AdaSSPLearner(learner.norm, learner.alpha).plan(subject, price)


_PLANS: dict[str, Callable[[LinearLearner, Subject, Price], Plan]] = {
    "descent": _descent,
    "objective": _objective,
    "output": _output,
    "adassp": _adassp,
}
