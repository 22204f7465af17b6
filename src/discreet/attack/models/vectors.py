"""Support vectors: a kernel machine keeps rows of its table in its file, digit by digit.

    f(x) = Σ αᵢ yᵢ K(xᵢ, x) + b        over the support vectors, the rows with αᵢ > 0

To say f(x) the file must hold the xᵢ, and the sign of each αᵢyᵢ is the row's class.  The attack reads all numbers of a
model and looks for rows among them.  Cortes & Vapnik (1995).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from discreet.attack.ceiling import chance_of
from discreet.attack.given import numbers
from discreet.attack.interval import share_interval
from discreet.attack.packages import require
from discreet.attack.result import Result
from discreet.errors import bad
from discreet.ndarrays import Bools, Floats
from discreet.noise.public import generator

CLOSE = 1e-6  # the largest error of a number in a row that was found
_ROWS, _FEATURES, _TABLES = 200, 6, 20
_GRID = 2**10
_DEEPEST = 6  # parts of parts of a model that are looked into
_MEASURE = "share of a model's rows that stand in its file, to all digits"


def vectors(model: Any, rows: Any) -> Result:
    """How many rows of a table stand among the numbers of a model.

    model   an estimator, or arrays, lists and dicts of numbers, as a file holds them
    rows    of the table, as the model saw them: scaled if they were scaled before

    >>> vectors({"support": [[0.25, 0.5], [1.0, 0.0]], "dual": [0.1]}, [[0.25, 0.5], [0.5, 0.5]]).raw
    0.5
    """
    table = numbers(rows, "rows", dimensions=2)
    arrays = list(arrays_of(model))
    if not arrays:
        fix = "Give a fitted estimator, or the arrays of its file."
        raise bad("model", "must hold numbers", type(model).__name__, fix)
    stands = rows_in(arrays, table)
    return Result(
        name="vectors", metric="rows found", measure=_MEASURE, raw=float(stands.mean()), private={}, baseline=0.0,
        ceiling={}, units="one row", trials=len(table), of_real_data=True, without="in this model",
        details={"rows": np.flatnonzero(stands).tolist()},
    )  # fmt: skip


def arrays_of(part: Any, depth: int = 0) -> Iterator[Floats]:
    """All arrays of numbers within an object: in lists, dicts and attributes."""
    if depth > _DEEPEST or part is None or isinstance(part, (str, bytes)):
        return
    if isinstance(part, Mapping):
        for inner in part.values():
            yield from arrays_of(inner, depth + 1)
        return
    array = _numbers_in(part)
    if array is not None:
        yield array
    elif isinstance(part, (list, tuple)):
        for inner in part:
            yield from arrays_of(inner, depth + 1)
    else:
        yield from arrays_of(getattr(part, "__dict__", None), depth + 1)


def _numbers_in(part: Any) -> Floats | None:
    """The part as an array of finite numbers; None if it is none."""
    if not hasattr(part, "__array__") and not isinstance(part, (list, tuple, int, float)):
        return None
    try:
        array = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.size and np.isfinite(array).all() else None


def windows_in(arrays: list[Floats], width: int) -> int:
    """How many places for a row of that width `rows_in` looks at."""
    return sum(len(line) - width + 1 for array in arrays for line in _lines(array) if len(line) >= width)


def _lines(array: Floats) -> list[Floats]:
    """The numbers of an array after one another, and below one another."""
    return [array.ravel()] if array.ndim < 2 else [array.ravel(), array.reshape(len(array), -1).T.ravel()]


def rows_in(arrays: list[Floats], rows: Floats) -> Bools:
    """Which rows stand in one of the arrays, as so many numbers after one another or below one another."""
    from scipy.spatial import cKDTree

    width, stands = rows.shape[1], np.zeros(len(rows), dtype=np.bool_)
    for array in arrays:
        for line in _lines(array):
            if len(line) < width:
                continue
            windows = np.lib.stride_tricks.sliding_window_view(line, width)
            nearest, _ = cKDTree(windows).query(rows, p=np.inf, distance_upper_bound=2 * CLOSE)
            stands |= nearest <= CLOSE
    return stands


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """Support-vector machines with a kernel on 20 invented tables, and the product's linear one at each ε."""
    chance = generator(seed)
    shares: dict[str, list[float]] = {key: [] for key in ("raw", *epsilons)}
    told, windows = [], dict.fromkeys(epsilons, 0)
    for _ in range(_TABLES):
        rows = chance.integers(-_GRID, _GRID + 1, size=(_ROWS, _FEATURES)) / _GRID
        classes = (rows[:, 0] + rows[:, 1] ** 2 + chance.normal(size=_ROWS) / 2 > 1 / 3).astype(np.int64)
        plain = _plain(rows, classes)
        shares["raw"].append(float(rows_in(list(arrays_of(plain)), rows).mean()))
        told.append(_classes_told(plain, classes))
        for epsilon in epsilons:
            arrays = list(arrays_of(_private(rows, classes, epsilon)))
            windows[epsilon] = max(windows[epsilon], windows_in(arrays, _FEATURES))
            shares[epsilon].append(float(rows_in(arrays, rows).mean()))
    blind = float(2 * _GRID + 1) ** -_FEATURES  # a window fits a row with that chance at most if it is not the row's
    return Result(
        name="vectors",
        metric="rows found",
        measure=_MEASURE,
        raw=float(np.mean(shares["raw"])),
        private={epsilon: float(np.mean(shares[epsilon])) for epsilon in epsilons},
        baseline=blind,
        ceiling={
            epsilon: chance_of(float(epsilon), 0.0, without=min(1.0, windows[epsilon] * blind)) for epsilon in epsilons
        },
        units="one row, by add-remove, in any of the windows of numbers in the file",
        trials=_TABLES * _ROWS,
        intervals={key: share_interval(round(sum(values) * _ROWS), _TABLES * _ROWS) for key, values in shares.items()},
        notes=(
            f"{_TABLES} invented tables of {_ROWS} rows with {_FEATURES} multiples of 1/{_GRID} in [−1, 1].",
            f"The signs of the dual weights tell the class of {np.mean(told):.0%} of the rows that are found.",
        ),
        details={"classes_told": float(np.mean(told)), "windows": windows},
    )


def _plain(rows: Floats, classes: Any) -> Any:
    """A machine with a Gaussian kernel, as scikit-learn fits it."""
    require("sklearn")
    from sklearn.svm import SVC

    return SVC(C=1.0, gamma="scale").fit(rows, classes)


def _classes_told(machine: Any, classes: Any) -> float:
    """How many support vectors have the class that the sign of their dual weight says."""
    return float(((machine.dual_coef_[0] > 0) == (classes[machine.support_] == 1)).mean())


def _private(rows: Floats, classes: Any, epsilon: str) -> Any:
    """All that the product's file of a linear machine holds, and the weights that follow from it."""
    from discreet.learn import LinearClassifier

    machine = LinearClassifier(epsilon=epsilon, bounds=(-1, 1), classes=[0, 1], rows=len(rows)).fit(rows, classes)
    fit = machine.fit_
    return {"released": dict(fit.released), "weights": [machine.coef_.tolist(), fit.model.parameters()]}
