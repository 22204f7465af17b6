"""The side of a peer that learns: a table comes as a NumPy file, areas under the curve or R² go out as JSON.

NumPy and scikit-learn only, for any environment.  The file has for train and test rows `matrix` (numbers scaled to
0 … 1 and a column for each value), `codes` (numbers, and places among values) and the target, and `ends`, the bounds of
the columns of `codes`, of which `is_value` tells those with values.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

Table = Mapping[str, Any]
Fit = Callable[[Table, float], Callable[[str], Any]]  # a table and ε; then what is predicted for train or test


def serve(models: Mapping[str, Fit], arguments: list[str]) -> None:
    """`FILE EPSILONS DRAWS` as JSON words: every model at every ε, so often."""
    import numpy as np

    warnings.simplefilter("ignore")
    path, epsilons, draws = arguments[0], json.loads(arguments[1]), json.loads(arguments[2])
    with np.load(path) as file:
        table = dict(file)
    results = []
    for name, fit in models.items():
        if name.endswith("LinearRegression") != ("is_regression" in table):
            continue
        for epsilon in epsilons:
            scores, seconds = [], []
            for _ in range(draws):
                started = time.process_time()
                predict = fit(table, epsilon)
                seconds.append(time.process_time() - started)
                scores.append(_score(table, predict("test")))
            results.append(
                {"model": name, "epsilon": epsilon, "scores": scores, "seconds": sorted(seconds)[draws // 2]}
            )
            print(f"  {name} at ε = {epsilon:g}", file=sys.stderr, flush=True)
    print(json.dumps(results))


def _score(table: Table, predicted: Any) -> float:
    from sklearn.metrics import r2_score, roc_auc_score

    measure = r2_score if "is_regression" in table else roc_auc_score
    return float(measure(table["test_target"], predicted))
