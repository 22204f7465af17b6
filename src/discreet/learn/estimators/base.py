"""The face of a learner as scikit-learn knows it: parameters, `fit`, and what a fitted estimator has.

Every `fit` is a charge: to the ledger of `ledger`, or nowhere, which `privacy_` says.  So a search over a grid pays for
each of its fits, and the scores it compares are exact: they are not covered.  Nothing here draws noise or reads bounds
from rows, and no error of a fit depends on a cell.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from discreet.errors import bad_private
from discreet.learn.estimators.checks import aligned_columns, fitted_columns, target_cells, target_of
from discreet.learn.estimators.state import require_ledger, restored, stored_state
from discreet.learn.fit import Fit, fit_arrays
from discreet.learn.input.arrays import ArrayFacts, subject_of_arrays
from discreet.learn.learner import Learner
from discreet.learn.price import parse_price
from discreet.learn.saved import card, file
from discreet.ndarrays import Floats


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(ABC, BaseEstimator):  # type: ignore[misc]
    """Parameters and attributes that all estimators share.

    epsilon, delta, rho   what a fit may cost: ε, (ε, δ), or ρ in place of ε; on a dataset `Task.fit` takes them
    relation              "add-remove": a unit is there or not; "replace-one": it is one or another
    ledger                the dataset or ledger that a fit to arrays is charged to; without one it is charged nowhere
    bounds, values        public facts of the features: ends of numbers, (low, high) for all or by name, and values
    max_rows              how many rows of a unit count

    A fitted estimator has `privacy_`, the promise; `n_features_in_`; and `feature_names_in_` where features had names.
    Fields are parameters: scikit-learn reads their names from the `__init__` that a dataclass writes.
    """

    epsilon: Any = None
    delta: Any = None
    rho: Any = None
    relation: Any = "add-remove"
    ledger: Any = None
    bounds: Any = None
    values: Any = None
    max_rows: int = 1

    @abstractmethod
    def learner(self) -> Learner:
        """The method with the options of this estimator."""

    @abstractmethod
    def _facts(self) -> ArrayFacts:
        """The public facts among the parameters."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any], **more: Any) -> "Estimator":
        """An estimator whose learner has these options; it carries neither a price nor public facts."""
        names = cls._get_param_names()
        return cls(**{name: value for name, value in {**options, **more}.items() if name in names})

    def fit(self, X: Any, y: Any, units: Any = None) -> "Estimator":
        """Fit to arrays or a frame; `units` has the key of each row's privacy unit, without it each row is one."""
        require_ledger(self.ledger)
        price = parse_price(self.epsilon, self.delta, self.rho)
        columns = fitted_columns(self, X)
        subject, view = subject_of_arrays(columns, target_of(y), units, self._facts())
        return self._adopted(fit_arrays(self.learner(), subject, price, view, self.ledger))

    def explain(self) -> str:
        """What the fit measured, what it promises, and how a unit counted, in sentences."""
        fit = self._own_fit()
        return "\n".join([fit.privacy.words(), fit.plan.subject.words(), *fit.scale_words])

    def save(self, path: Any, *, replace: bool = False) -> Path:
        """Write the fitted model to a file that runs nothing when it is read: dp.learn.load gives it back."""
        return file.save(self._own_fit(), path, replace=replace)

    def card(self, format: str = "markdown") -> Any:
        """What the model is, what it promises and what it is not for: Markdown, or with "json" an object."""
        return card.card(self._own_fit(), format)

    def _adopted(self, fit: Fit) -> "Estimator":
        """This estimator with what a fit gave it; from a dataset or a file, also the names of its features."""
        names = [feature.name for feature in fit.plan.subject.features]
        if not fit.is_given or not hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(names)
            if not fit.is_given or names != [f"x{place}" for place in range(len(names))]:
                self.feature_names_in_ = np.array(names, dtype=object)
        self.fit_, self.privacy_ = fit, fit.privacy
        return self

    def _own_fit(self) -> Fit:
        if not hasattr(self, "fit_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        fit: Fit = self.fit_
        return fit

    def _scores(self, X: Any) -> Floats:
        fit = self._own_fit()
        return fit.scores(fit.plan.subject.encoded(aligned_columns(self, fit, X)))

    def _exact_score(self, X: Any, y: Any, sample_weight: Any, metric: Callable[..., float]) -> float:
        """The metric on the rows that have a target, exactly."""
        (target, has_target), predicted = target_cells(self._own_fit(), y), self.predict(X)
        weights = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight)
        if not len(target) == len(predicted) == len(weights):
            raise bad_private("X, y and sample_weight", "must have one length", "Hand over one target a row.")
        if not has_target.any():
            raise bad_private("y", "must hold a target", "Hand over classes or numbers that the model can predict.")
        return float(metric(target[has_target], predicted[has_target], sample_weight=weights[has_target]))

    # --- copies ------------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def __sklearn_clone__(self) -> Any:
        """An unfitted copy that charges the same ledger, the very object."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, ledger=None)
        cloned = super(Estimator, twin).__sklearn_clone__()
        cloned.ledger = self.ledger
        return cloned

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares the ledger and the fit, which never change."""
        shared = ("ledger", "fit_", "privacy_")
        twin = object.__new__(type(self))
        for name, value in self.__dict__.items():
            twin.__dict__[name] = value if name in shared else copy.deepcopy(value, memo)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return stored_state(dict(super().__getstate__()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored(state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """An estimator of classes; `classes` are the public ones, in the order of `classes_` and of `predict_proba`."""

    classes: Any = None

    def _facts(self) -> ArrayFacts:
        return ArrayFacts(self.bounds, self.values, self.classes, None, str(self.relation), self.max_rows)

    def _adopted(self, fit: Fit) -> "Classifier":
        super()._adopted(fit)
        self.classes_ = np.array(fit.plan.subject.classes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, a row for each row."""
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on rows of your own, exact and charged nowhere; rows without a class do not count."""
        from sklearn.metrics import accuracy_score

        return self._exact_score(X, y, sample_weight, accuracy_score)


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """An estimator of a number; `target_bounds` are its public ends, (low, high)."""

    target_bounds: Any = None

    def _facts(self) -> ArrayFacts:
        return ArrayFacts(self.bounds, self.values, None, self.target_bounds, str(self.relation), self.max_rows)

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row, within the bounds of the target."""
        scores: Floats = self._scores(X)[:, 0]
        return scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² on rows of your own, exact and charged nowhere; rows without a number do not count.

        Numbers beyond the bounds of the target count as the nearer end, as on a dataset.
        """
        from sklearn.metrics import r2_score

        return self._exact_score(X, y, sample_weight, r2_score)
