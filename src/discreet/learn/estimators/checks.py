"""What estimators check of X and y, as scikit-learn expects it: from arguments, shapes, names and dtypes alone.

A missing or infinite number and an unknown class are no errors, for then an error would tell something of one person.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d, validate_data

from discreet.errors import bad
from discreet.learn.arrays import columns_of
from discreet.learn.fit import Fit


def fitted_columns(estimator: Any, X: Any) -> dict[str, Any]:
    """The columns to fit to; the estimator notes their number and, of a frame, their names."""
    X = _plain(X)
    columns = _columns(X)
    if isinstance(X, Mapping):
        estimator.n_features_in_, estimator.feature_names_in_ = len(columns), np.array(list(columns), dtype=object)
    else:
        validate_data(estimator, X, skip_check_array=True)
    return columns


def aligned_columns(estimator: Any, fit: Fit, X: Any) -> dict[str, Any]:
    """The columns of X under the names of the features.

    An estimator that was fitted to X takes the same columns in the same order, as scikit-learn has it.  One that was
    fitted to a dataset takes a frame with these columns, in any order and among others.
    """
    names = [feature.name for feature in fit.plan.subject.features]
    X = _plain(X)
    columns = _columns(X)
    if _is_named(X) and (not fit.is_given or isinstance(X, Mapping)):
        missing = [name for name in names if name not in columns]
        if missing:
            raise bad("X", f"must have the columns {', '.join(names)}", ", ".join(columns), f"Add {missing[0]}.")
        return {name: columns[name] for name in names}
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return dict(zip(names, columns.values(), strict=True))


def _is_named(X: Any) -> bool:
    return isinstance(X, Mapping) or hasattr(X, "columns")


def _plain(X: Any) -> Any:
    """A matrix as an array; frames, mappings and sparse tables as they are."""
    return X if _is_named(X) or hasattr(X, "tocsr") else np.asarray(X)


def target_of(y: Any) -> Any:
    """The target as one column."""
    if y is None:
        what = "must be given: this estimator requires y to be passed, but the target y is None"
        raise bad("y", what, None, "Hand over the target of each row.")
    column = column_or_1d(np.asarray(y), warn=True)
    _require_real(column, "y")
    return column


def _columns(X: Any) -> dict[str, Any]:
    if hasattr(X, "tocsr"):
        raise bad("X", "must be dense", "a sparse table", "Write X.toarray().")
    if hasattr(X, "columns") and len(set(map(str, X.columns))) < len(X.columns):
        raise bad("X", "must name each column once", list(map(str, X.columns)), "Rename one of them.")
    if not _is_named(X) and np.asarray(X).ndim == 1:
        fix = "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        raise bad("X", "must have two axes, rows and columns", 1, fix)
    columns = columns_of(X)
    for column in columns.values():
        _require_real(column, "X")
    if not columns:
        raise bad("X", "must have columns: 0 feature(s) are there while a minimum of 1 is required", 0, "Add one.")
    return columns


def _require_real(column: Any, name: str) -> None:
    if np.asarray(column).dtype.kind == "c":
        raise bad(name, "must be real: Complex data not supported", "complex numbers", "Split them into two columns.")
