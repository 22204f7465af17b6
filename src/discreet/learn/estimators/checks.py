"""What estimators check of X and y, as scikit-learn expects it: from arguments, shapes, names and dtypes alone.

A missing or infinite number and an unknown class are no errors, for then an error would tell something of one person.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d, validate_data

from discreet.errors import bad
from discreet.learn.fit import Fit
from discreet.learn.input.arrays import columns_of
from discreet.ndarrays import Bools


def fitted_columns(estimator: Any, X: Any) -> dict[str, Any]:
    """The columns to fit to; the estimator notes their number and, of a frame, their names."""
    X = _as_array(X)
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
    X = _as_array(X)
    columns = _columns(X)
    if _is_named(X) and (not fit.is_given or isinstance(X, Mapping)):
        missing = [name for name in names if name not in columns]
        if missing:
            raise bad("X", f"must have the columns {', '.join(names)}", ", ".join(columns), f"Add {missing[0]}.")
        return {name: columns[name] for name in names}
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return dict(zip(names, columns.values(), strict=True))


def _is_named(X: Any) -> bool:
    return isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")


def _as_array(X: Any) -> Any:
    """Another kind of matrix as an array; frames, mappings, lists of rows and sparse tables as they are."""
    is_kept = _is_named(X) or hasattr(X, "tocsr") or isinstance(X, (list, tuple, np.ma.MaskedArray))
    return X if is_kept else np.asarray(X)


def target_of(y: Any) -> Any:
    """The target as one column."""
    if y is None:
        what = "must be given: this estimator requires y to be passed, but the target y is None"
        raise bad("y", what, None, "Hand over the target of each row.")
    if isinstance(y, (list, tuple, np.ma.MaskedArray)) or hasattr(y, "to_pylist"):
        return y
    if getattr(y, "ndim", None) == 1:
        return y
    return column_or_1d(np.asarray(y), warn=True)


def target_cells(fit: Fit, y: Any) -> tuple[Any, Bools]:
    """The class or the number of each row, as a table has it, and whether it has one; unknown classes are none."""
    target = fit.plan.subject.target
    encoded = target.encoded(target_of(y))
    if target.is_number:
        return encoded, ~np.isnan(encoded)
    codes = target.codes(encoded, 2)
    return np.array(fit.plan.subject.classes)[codes], codes >= 0


def _columns(X: Any) -> dict[str, Any]:
    if hasattr(X, "tocsr"):
        raise bad("X", "must be dense", "a sparse table", "Write X.toarray().")
    if hasattr(X, "columns") and not hasattr(X, "column_names") and len(set(map(str, X.columns))) < len(X.columns):
        raise bad("X", "must name each column once", list(map(str, X.columns)), "Rename one of them.")
    if not _is_named(X) and _is_flat(X):
        fix = "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        raise bad("X", "must have two axes, rows and columns", 1, fix)
    columns = columns_of(X)
    if not columns:
        raise bad("X", "must have columns: 0 feature(s) are there while a minimum of 1 is required", 0, "Add one.")
    return columns


def _is_flat(X: Any) -> bool:
    """Whether X has one axis; a list is told by its first row alone."""
    return bool(X) and np.ndim(X[0]) == 0 if isinstance(X, (list, tuple)) else np.ndim(X) == 1
