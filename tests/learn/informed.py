"""Estimators for scikit-learn's checks alone: they read bounds and classes off the rows, as no private fit may."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learn.estimators.counts import NaiveBayes


@dataclass(kw_only=True, eq=False, repr=False)
class InformedNaiveBayes(NaiveBayes):
    """Naive Bayes at a price that a check of accuracy can be passed with."""

    epsilon: Any = 100
    bins: int | None = 32

    def fit(self, X, y=None, units=None):
        with informed(self, X, y):
            return super().fit(X, y, units)


@contextmanager
def informed(estimator: Any, X: Any, y: Any) -> Iterator[None]:
    """The estimator with facts of the rows, until its fit has ended."""
    given = estimator.bounds, estimator.classes
    estimator.bounds, estimator.classes = bounds_of(X), classes_of(y)
    try:
        yield
    finally:
        estimator.bounds, estimator.classes = given


def bounds_of(X: Any) -> Any:
    matrix = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind == "c":
        return (0, 1)
    try:
        numbers = matrix.astype(float)
    except (TypeError, ValueError):
        return (0, 1)
    finite = np.where(np.isfinite(numbers), numbers, 0)
    return (finite.min(axis=0) - 1).tolist(), (finite.max(axis=0) + 1).tolist()


def classes_of(y: Any) -> Any:
    seen = [] if y is None else np.unique(np.asarray(y)).tolist()
    if len(seen) > 1:
        return seen
    return (
        [*seen, f"not {seen[0]}"]
        if seen and isinstance(seen[0], str)
        else [*seen, *(v for v in (0, 1) if v not in seen)]
    )
