"""The face of a learner as scikit-learn knows it: parameters, `fit`, and what a fitted estimator has.

Every `fit` is a charge: to the ledger of `ledger`, or nowhere, which `privacy_` says.  So a search over a grid pays for
each of its fits.  Nothing here draws noise or reads bounds from rows.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from discreet.errors import bad
from discreet.learn.arrays import Facts, columns_of, subject_of_arrays
from discreet.learn.fit import Fit, fit_arrays
from discreet.learn.learner import Learner
from discreet.learn.price import parse_price
from discreet.ndarrays import Floats


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Parameters that all estimators share: the budget, the relation, the ledger and the public facts."""

    def learner(self) -> Learner:
        """The method with the options of this estimator."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, units: Any = None) -> "Estimator":
        """Fit to arrays or a frame; `units` has the key of each row's privacy unit, without it each row is one."""
        columns = columns_of(X)
        subject, view = subject_of_arrays(columns, y, units, self._facts())
        price = parse_price(self.epsilon, self.delta, self.rho)
        return self._adopted(fit_arrays(self.learner(), subject, price, view, self.ledger), X)

    def explain(self) -> str:
        """What the fit measured, what it promises, and how a unit counted, in sentences."""
        fit = self._fitted()
        return "\n".join([fit.privacy.words(), fit.plan.subject.words()])

    def _facts(self) -> Facts:
        raise NotImplementedError

    def _adopted(self, fit: Fit, X: Any = None) -> "Estimator":
        """This estimator with what a fit gave it."""
        features = fit.plan.subject.features
        self.fit_, self.privacy_, self.n_features_in_ = fit, fit.privacy, len(features)
        if X is None or hasattr(X, "columns"):
            self.feature_names_in_ = np.array([feature.name for feature in features], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _fitted(self) -> Fit:
        if not hasattr(self, "fit_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        fit: Fit = self.fit_
        return fit

    def _scores(self, X: Any) -> Floats:
        fit = self._fitted()
        names = [feature.name for feature in fit.plan.subject.features]
        columns = columns_of(X, names if len(names) == _width(X) else None)
        missing = [name for name in names if name not in columns]
        if missing:
            raise bad("X", f"must have the columns {', '.join(names)}", ", ".join(map(str, columns)), "Add them.")
        return fit.model.scores(fit.plan.subject.encoded(columns))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")


def _width(X: Any) -> int:
    shape = np.shape(X)
    return int(shape[1]) if len(shape) == 2 else -1


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """An estimator of classes."""

    def _facts(self) -> Facts:
        return Facts(self.bounds, self.values, self.classes, None, str(self.relation), self.max_rows)

    def _adopted(self, fit: Fit, X: Any = None) -> "Classifier":
        super()._adopted(fit, X)
        self.classes_ = np.array(fit.plan.subject.classes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, a row for each row."""
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        return self.classes_[np.argmax(self._scores(X), axis=1)]


class Regressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """An estimator of a number."""

    def _facts(self) -> Facts:
        return Facts(self.bounds, self.values, None, self.target_bounds, str(self.relation), self.max_rows)

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row."""
        scores: Floats = self._scores(X)[:, 0]
        return scores
