"""Estimators for scikit-learn's checks alone: they read bounds and classes off the rows, as no private fit may."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import learn


def informed_kind(kind: Any, **fixed: Any) -> Any:
    """The estimator, at a price that a check of accuracy can be passed with, and informed when it is fitted."""

    def fit(self: Any, X: Any, y: Any = None, units: Any = None) -> Any:
        with informed(self, X, y):
            return kind.fit(self, X, y, units)

    defaults = {"epsilon": 10**6, **fixed}
    body = {"__annotations__": dict.fromkeys(defaults, Any), "fit": fit, "__module__": __name__, **defaults}
    return dataclass(kw_only=True, eq=False, repr=False)(type(f"Informed{kind.__name__}", (kind,), body))


InformedNaiveBayes = informed_kind(learn.NaiveBayes, bins=32)
InformedGaussianNaiveBayes = informed_kind(learn.GaussianNaiveBayes)
InformedAdditiveClassifier = informed_kind(learn.AdditiveClassifier, delta="1e-5", bins=32)
InformedDecisionTree = informed_kind(learn.DecisionTree)
InformedRandomForest = informed_kind(learn.RandomForest)
InformedLogisticRegression = informed_kind(learn.LogisticRegression, delta="1e-5")
InformedLinearClassifier = informed_kind(learn.LinearClassifier, delta="1e-5")
InformedLinearRegression = informed_kind(learn.LinearRegression, delta="1e-5")
KINDS = [
    InformedNaiveBayes,
    InformedGaussianNaiveBayes,
    InformedAdditiveClassifier,
    InformedDecisionTree,
    InformedRandomForest,
    InformedLogisticRegression,
    InformedLinearClassifier,
    InformedLinearRegression,
]


@contextmanager
def informed(estimator: Any, X: Any, y: Any) -> Iterator[None]:
    """The estimator with facts of the rows, until its fit has ended."""
    facts = {"bounds": bounds_of(X)}
    facts |= {"classes": classes_of(y)} if hasattr(estimator, "classes") else {"target_bounds": target_bounds_of(y)}
    given = {name: getattr(estimator, name) for name in facts}
    vars(estimator).update(facts)
    try:
        yield
    finally:
        vars(estimator).update(given)


def bounds_of(X: Any) -> Any:
    finite = finite_numbers(X.to_numpy() if hasattr(X, "to_numpy") else X)
    if finite is None or finite.ndim != 2:
        return (0, 1)
    return (finite.min(axis=0) - 1).tolist(), (finite.max(axis=0) + 1).tolist()


def target_bounds_of(y: Any) -> Any:
    finite = finite_numbers(y)
    return (0, 1) if finite is None else (float(finite.min()) - 1, float(finite.max()) + 1)


def finite_numbers(cells: Any) -> Any:
    """The numbers with 0 for those that are not finite; None where there are none."""
    numbers = np.asarray(cells)
    if not numbers.size or numbers.dtype.kind == "c":
        return None
    try:
        numbers = numbers.astype(float)
    except (TypeError, ValueError):
        return None
    return np.where(np.isfinite(numbers), numbers, 0)


def classes_of(y: Any) -> Any:
    seen = [] if y is None else np.unique(np.asarray(y)).tolist()
    if len(seen) > 1:
        return seen
    return (
        [*seen, f"not {seen[0]}"]
        if seen and isinstance(seen[0], str)
        else [*seen, *(v for v in (0, 1) if v not in seen)]
    )
