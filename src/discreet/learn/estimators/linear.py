"""Linear estimators: logistic regression, other losses over classes, and linear regression."""

from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.learn.estimators.base import Classifier, Regressor
from discreet.learn.risk.descent import PASSES
from discreet.learn.risk.linear import LinearLearner
from discreet.ndarrays import Floats


class _LinearClassifier(Classifier):
    """What a fitted linear classifier has."""

    @property
    def coef_(self) -> Any:
        """The weights of the columns of the design, a row for each line, without the intercept."""
        return self._lines()[:, 1:]

    @property
    def intercept_(self) -> Any:
        """The weight of the first column, of each line."""
        return self._lines()[:, 0]

    def _lines(self) -> Floats:
        return np.array(self._own_fit().model.parameters()["weights"])


class LogisticRegression(_LinearClassifier):
    """Logistic regression; `norm` clips rows, `rows` is a public number of rows, `passes` the most passes over them."""

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        relation: Any = "add-remove",
        ledger: Any = None,
        bounds: Any = None,
        values: Any = None,
        classes: Any = None,
        norm: Any = None,
        rows: int | None = None,
        max_rows: int = 1,
        class_weight: Any = None,
        solver: str = "auto",
        alpha: Any = None,
        passes: int = PASSES,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.norm, self.rows = bounds, values, classes, norm, rows
        self.max_rows, self.class_weight, self.solver, self.alpha = max_rows, class_weight, solver, alpha
        self.passes = passes

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        return _learner(self, "logistic", _class_weight(self.class_weight))


class LinearClassifier(_LinearClassifier):
    """A linear classifier by another loss: "hinge" is that of a support-vector machine, smoothed."""

    def __init__(
        self,
        loss: str = "hinge",
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        relation: Any = "add-remove",
        ledger: Any = None,
        bounds: Any = None,
        values: Any = None,
        classes: Any = None,
        norm: Any = None,
        rows: int | None = None,
        max_rows: int = 1,
        class_weight: Any = None,
        solver: str = "auto",
        alpha: Any = None,
        passes: int = PASSES,
    ) -> None:
        self.loss = loss
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.norm, self.rows = bounds, values, classes, norm, rows
        self.max_rows, self.class_weight, self.solver, self.alpha = max_rows, class_weight, solver, alpha
        self.passes = passes

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        if self.loss not in ("logistic", "hinge"):
            raise bad("loss", "must be 'logistic' or 'hinge'", self.loss, "Use LinearRegression for a number.")
        return _learner(self, self.loss, _class_weight(self.class_weight))


class LinearRegression(Regressor):
    """Linear regression of a number within `target_bounds`."""

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        relation: Any = "add-remove",
        ledger: Any = None,
        bounds: Any = None,
        values: Any = None,
        target_bounds: Any = None,
        norm: Any = None,
        rows: int | None = None,
        max_rows: int = 1,
        solver: str = "auto",
        alpha: Any = None,
        passes: int = PASSES,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.target_bounds, self.norm, self.rows = bounds, values, target_bounds, norm, rows
        self.max_rows, self.solver, self.alpha, self.passes = max_rows, solver, alpha, passes

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        return _learner(self, "huber", None)


def _learner(estimator: Any, loss: str, weight: tuple[tuple[Any, float], ...] | None) -> LinearLearner:
    norm = None if estimator.norm is None else amounts.exact_text(amounts.positive(estimator.norm, "norm"))
    alpha = None if estimator.alpha is None else amounts.exact_text(amounts.positive(estimator.alpha, "alpha"))
    rows = None if estimator.rows is None else amounts.count(estimator.rows, "rows", 1, 2**32)
    passes = amounts.count(estimator.passes, "passes", 1, 1000)
    return LinearLearner(loss, estimator.solver, norm, rows, alpha, passes, weight)


def _class_weight(weights: Any) -> tuple[tuple[Any, float], ...] | None:
    """Public weights by class; those from the rows, as "balanced" would take them, are refused."""
    if weights is None:
        return None
    if not isinstance(weights, dict) or not weights:
        rule = "must be {class: weight}; weights that follow from the rows would not be public"
        raise bad("class_weight", rule, weights, 'Give, for example, {"yes": 2}.')
    return tuple((name, float(amounts.positive(weight, "class_weight"))) for name, weight in weights.items())
