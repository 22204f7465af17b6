"""Linear estimators: logistic regression, other losses over classes, and linear regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.learn.estimators.base import Classifier, Estimator, Regressor
from discreet.learn.input.column import ModelColumn
from discreet.learn.risk.descent import PASSES
from discreet.learn.risk.linear import LinearLearner, class_weight_of
from discreet.ndarrays import Floats


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearEstimator(Estimator):
    """`norm` clips rows, `rows` is a public number of rows, `passes` the most passes over them."""

    norm: Any = None
    rows: int | None = None
    solver: str = "auto"
    alpha: Any = None
    passes: int = PASSES

    @property
    def coef_(self) -> Any:
        """The weights of the columns that `coef_names_` names, a row for each line, without the intercept."""
        return self._lines()[:, 1:]

    @property
    def coef_names_(self) -> Any:
        """The columns of the design as OneHotEncoder names them: a number by its feature, a value as feature_value."""
        names = [name for feature in self._own_fit().plan.subject.features for name in _column_names(feature)]
        return np.array(names, dtype=object)

    @property
    def intercept_(self) -> Any:
        """The weight of the first column, of each line."""
        return self._lines()[:, 0]

    def _lines(self) -> Floats:
        return np.array(self._own_fit().model.parameters()["weights"])

    def _learner(self, loss: str, class_weight: tuple[tuple[Any, float], ...] | None = None) -> LinearLearner:
        norm = None if self.norm is None else amounts.exact_text(amounts.positive(self.norm, "norm"))
        alpha = None if self.alpha is None else amounts.exact_text(amounts.positive(self.alpha, "alpha"))
        rows = None if self.rows is None else amounts.count(self.rows, "rows", 1, 2**32)
        passes = amounts.count(self.passes, "passes", 1, 1000)
        return LinearLearner(loss, self.solver, norm, rows, alpha, passes, class_weight)


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearClassifier(Classifier, _LinearEstimator):
    """A linear estimator of classes, which may have weights."""

    class_weight: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(_LinearClassifier):
    """Logistic regression; `norm` clips rows, `rows` is a public number of rows, `passes` the most passes over them."""

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        return self._learner("logistic", _class_weight(self.class_weight))


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(_LinearClassifier):
    """A linear classifier by another loss: "hinge" is that of a support-vector machine, smoothed."""

    loss: str = "hinge"

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        if self.loss not in ("logistic", "hinge"):
            raise bad("loss", "must be 'logistic' or 'hinge'", self.loss, "Use LinearRegression for a number.")
        return self._learner(self.loss, _class_weight(self.class_weight))


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(Regressor, _LinearEstimator):
    """Linear regression of a number within `target_bounds`."""

    def learner(self) -> LinearLearner:
        """As `Estimator.learner`."""
        return self._learner("huber")


def _column_names(feature: ModelColumn) -> list[str]:
    return [feature.name] if feature.values is None else [f"{feature.name}_{value}" for value in feature.values]


def _class_weight(weights: Any) -> tuple[tuple[Any, float], ...] | None:
    """Public weights by class; those from the rows, as "balanced" would take them, are refused."""
    if weights is None:
        return None
    if not isinstance(weights, dict) or not weights:
        rule = "must be {class: weight}; weights that follow from the rows would not be public"
        raise bad("class_weight", rule, weights, 'Give, for example, {"yes": 2}.')
    return tuple((name, class_weight_of(weight)) for name, weight in weights.items())
