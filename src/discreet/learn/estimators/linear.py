"""Linear estimators: logistic regression, other losses over classes, and linear regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.learn.estimators.base import Classifier, Estimator, Regressor
from discreet.learn.input.column import ModelColumn
from discreet.learn.learner import Learner
from discreet.learn.learners import learner_of
from discreet.learn.risk.descent import PASSES
from discreet.learn.risk.linear import LinearLearner, solver_words
from discreet.ndarrays import Floats


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearEstimator(Estimator):
    """What linear estimators share; `LogisticRegression` has the list of parameters."""

    norm: Any = None
    rows: int | None = None
    solver: str = "auto"
    alpha: Any = None
    passes: int = PASSES

    def explain(self) -> str:
        """As `Estimator.explain`, and which solver ran and why."""
        fit = self._own_fit()
        return f"{super().explain()}\n{solver_words(fit.facts, fit.plan, fit.released)}"

    @property
    def coef_(self) -> Any:
        """The weights of the columns that `coef_names_` names, without the intercept: one row, or one for each class
        where there are more than two.

        They belong to rows as `intercept_` describes them, so predict by `predict` and not by X·coef_ + intercept_.
        """
        return self._lines()[:, 1:]

    @property
    def coef_names_(self) -> Any:
        """The columns of the design as OneHotEncoder names them: a number by its feature, a value as feature_value."""
        names = [name for feature in self._own_fit().plan.subject.features for name in _column_names(feature)]
        return np.array(names, dtype=object)

    @property
    def intercept_(self) -> Any:
        """The weight of the column of ones, for each row of `coef_`.

        Numbers are scaled by their bounds to −1 … 1, in a classifier those of a long range to 0 … 1 by their logarithm,
        and a category has a column for each value.  Descent takes a released mean off them.  Rows longer than a norm
        are shortened, this column with them.
        """
        return self._lines()[:, 0]

    def _lines(self) -> Floats:
        return np.array(self._own_fit().model.parameters()["weights"])

    def _learner(self, loss: str, class_weight: tuple[tuple[Any, Any], ...] | None = None) -> Learner:
        own = {name: getattr(self, name) for name in ("solver", "norm", "rows", "alpha", "passes")}
        return learner_of(LinearLearner.name, {"loss": loss, **own, "class_weight": class_weight})


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearClassifier(Classifier, _LinearEstimator):
    """A linear estimator of classes, which may have weights."""

    class_weight: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(_LinearClassifier):
    """Logistic regression: by noisy descent with a δ, by objective perturbation without one.

    Descent has exact noise on whole numbers; objective and output perturbation are proven for real numbers.  More than
    two classes need a δ.

    solver         "auto" or, by name, "descent", "objective" or "output"
    norm           the length that longer rows are shortened to
    rows           the number of persons, where it is public, or of rows where each is protected
    alpha          the ridge of solvers that have one; descent has none
    passes         how many passes descent takes at most
    class_weight   public weights such as {"yes": 2}; a class that is not named has 1
    classes        the public classes; `Estimator` has the parameters and attributes that all share

    A fitted model has `coef_`, `coef_names_` and `intercept_`.

    >>> logistic = LogisticRegression(epsilon=1, delta="1e-6", bounds={"age": (0, 100)}, classes=["no", "yes"])
    >>> logistic.fit({"age": [20, 80]}, ["no", "yes"]).coef_names_.tolist()
    ['age']
    """

    def learner(self) -> Learner:
        """As `Estimator.learner`."""
        return self._learner("logistic", _class_weight(self.class_weight))


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(_LinearClassifier):
    """A linear classifier by another loss: "hinge" is that of a support-vector machine, smoothed, for two classes.

    By noisy descent with a δ, by objective perturbation without one.  `loss` is "hinge" or "logistic"; the other
    parameters and the attributes are those of `LogisticRegression`.

    >>> hinge = LinearClassifier(epsilon=1, bounds=(0, 100), classes=["no", "yes"])
    >>> hinge.fit([[20], [80]], ["no", "yes"]).coef_.shape
    (1, 1)
    """

    loss: str = "hinge"

    def learner(self) -> Learner:
        """As `Estimator.learner`."""
        if self.loss not in ("logistic", "hinge"):
            raise bad("loss", "must be 'logistic' or 'hinge'", self.loss, "Use LinearRegression for a number.")
        return self._learner(self.loss, _class_weight(self.class_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss == "logistic"
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(Regressor, _LinearEstimator):
    """Linear regression of a number within `target_bounds`, which are public.

    With a δ by noisy descent, whose loss is straight far from 0 (Huber's); with solver="auto", little noise and at most
    256 columns of the design, the intercept among them, by least squares from second moments.  Without a δ by output
    perturbation.  The other parameters and the attributes are those of `LogisticRegression`, but for `classes` and
    `class_weight`; `solver` may be "descent", "output" or "adassp".

    >>> linear = LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 100), target_bounds=(0, 10))
    >>> bool(0 <= linear.fit([[20], [80]], [2, 8]).predict([[50]])[0] <= 10)
    True
    """

    def learner(self) -> Learner:
        """As `Estimator.learner`."""
        return self._learner("huber")


def _column_names(feature: ModelColumn) -> list[str]:
    return [feature.name] if feature.values is None else [f"{feature.name}_{value}" for value in feature.values]


def _class_weight(weights: Any) -> tuple[tuple[Any, Any], ...] | None:
    """Public weights by class; those from the rows, as "balanced" would take them, are refused."""
    if weights is None:
        return None
    if not isinstance(weights, dict) or not weights:
        rule = "must be {class: weight}; weights that follow from the rows would not be public"
        raise bad("class_weight", rule, weights, 'Give, for example, {"yes": 2}.')
    return tuple(weights.items())
