"""Linear models: which solver a loss and a price get, from public facts alone, and why.

δ > 0   descent: at least as accurate as the others at every ε that was tried, for any loss
δ = 0   objective perturbation for two classes; naive Bayes is better below ε = 0.5 or so, and the plan says so
"""

from dataclasses import dataclass
from typing import Any

from discreet.errors import bad
from discreet.learn.descent import PASSES, DescentPlan, norm_of
from discreet.learn.learner import Plan
from discreet.learn.price import Price
from discreet.learn.subject import Subject, require_classes, require_number

SOLVERS = ("auto", "descent")
LOSSES = ("logistic", "hinge", "huber")


@dataclass(frozen=True)
class LinearLearner:
    """A loss over a linear model, and how it is minimised; `norm` clips rows, `rows` is a public number of rows."""

    loss: str = "logistic"
    solver: str = "auto"
    norm: str | None = None
    rows: int | None = None
    alpha: str | None = None
    passes: int = PASSES
    class_weight: tuple[float, ...] | None = None
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
            "class_weight": None if self.class_weight is None else list(self.class_weight),
        }

    def plan(self, subject: Subject, price: Price) -> Plan:
        """As `Learner.plan`."""
        if self.loss not in LOSSES:
            raise bad("loss", f"must be one of {', '.join(LOSSES)}", self.loss, "Give one of them.")
        if self.solver not in SOLVERS:
            raise bad("solver", f"must be one of {', '.join(SOLVERS)}", self.solver, "Leave it out for 'auto'.")
        if self.loss == "huber":
            require_number(subject)
        else:
            require_classes(subject)
        if price.is_pure:
            raise bad("delta", "must be above 0 for descent", 0, "Give a delta, or use NaiveBayes, which needs none.")
        many = self.loss == "logistic" and len(subject.classes) > 2
        loss = "softmax" if many else self.loss
        norm = norm_of(self.norm, subject)
        return DescentPlan(subject, price, loss, norm, self.passes, self.rows, self.class_weight)
