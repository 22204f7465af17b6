"""Linear regression on a table with a known answer: R² on fresh rows, beside least squares and diffprivlib."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import learn_peers
from benchmarks.learn_accuracy import DELTA, Score, _score
from discreet import learn
from discreet.ndarrays import Floats

ROWS, FEATURES, TEST = 20_000, 10, 20_000
EPSILONS = (0.1, 1.0, 10.0)
DRAWS = 20
_SIGNAL, _NOISE = 0.25, 0.125  # standard deviations: 0.28 in all, R² of 0.8


@dataclass(frozen=True, eq=False)
class Linear:
    """Train and test rows, x within ± 1 and y clipped to ± 1."""

    x: Floats
    y: Floats
    test_x: Floats
    test_y: Floats


def made(rows: int = ROWS, features: int = FEATURES, test: int = TEST, seed: int = 1) -> Linear:
    """x uniform, weights of random signs and sizes scaled to the signal, Gaussian errors; public, from the seed."""
    draw = np.random.default_rng(seed)
    weights = draw.standard_normal(features)
    weights *= _SIGNAL / np.sqrt((weights**2).sum() / 3)
    x = draw.uniform(-1, 1, (rows + test, features))
    y = np.clip(x @ weights + _NOISE * draw.standard_normal(rows + test), -1, 1)
    return Linear(x[:rows], y[:rows], x[rows:], y[rows:])


def scores(table: Linear, draws: int = DRAWS, epsilons: tuple[float, ...] = EPSILONS) -> list[Score]:
    """The product's defaults, and least squares without privacy."""
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import r2_score

    results = []
    for epsilon in epsilons:
        runs = []
        for _ in range(draws):
            model = learn.LinearRegression(epsilon=epsilon, delta=DELTA, bounds=(-1, 1), target_bounds=(-1, 1))
            runs.append(_run(model, table, r2_score))
        results.append(_score("LinearRegression", epsilon, runs))
    return [*results, _score("scikit-learn least squares", None, [_run(LinearRegression(), table, r2_score)])]


def _run(model: Any, table: Linear, measure: Any) -> tuple[float, float, float]:
    started = time.process_time()
    model.fit(table.x, table.y)
    fitted = time.process_time()
    score = float(measure(table.test_y, model.predict(table.test_x)))
    return score, fitted - started, time.process_time() - fitted


def peers(table: Linear, draws: int = DRAWS, epsilons: tuple[float, ...] = EPSILONS) -> tuple[list[Score], list[str]]:
    """diffprivlib's, pure ε, told the same bounds."""
    tables = {
        "train_codes": table.x,
        "test_codes": table.test_x,
        "train_target": table.y,
        "test_target": table.test_y,
        "ends": np.array([(-1.0, 1.0)] * table.x.shape[1]),
        "is_regression": np.array(True),
    }
    return learn_peers.scores(("diffprivlib",), tables, epsilons, draws)
