"""diffprivlib's models, pure ε with a known number of rows, told the same bounds, values and classes."""

import sys
from typing import Any

import numpy as np
from diffprivlib.models import GaussianNB, LinearRegression, LogisticRegression, RandomForestClassifier

from benchmarks.learn_serve import Fit, Table, serve


def _shares(model: Any, table: Table, form: str) -> Any:
    model.fit(table[f"train_{form}"], table["train_target"])
    return lambda part: model.predict_proba(table[f"{part}_{form}"])[:, -1]


def _logistic(table: Table, epsilon: float) -> Any:
    norm = float(np.sqrt(len(table["ends"])))  # at most 1 a column
    return _shares(LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000), table, "matrix")


def _bayes(table: Table, epsilon: float) -> Any:
    return _shares(GaussianNB(epsilon=epsilon, bounds=(0, 1)), table, "matrix")


def _bayes_of_codes(table: Table, epsilon: float) -> Any:
    """Fewer columns share ε: places among values as numbers."""
    low, high = table["ends"].T
    return _shares(GaussianNB(epsilon=epsilon, bounds=(low, high)), table, "codes")


def _forest(table: Table, epsilon: float) -> Any:
    low, high = table["ends"].T
    return _shares(RandomForestClassifier(epsilon=epsilon, bounds=(low, high), classes=[0, 1]), table, "codes")


def _linear(table: Table, epsilon: float) -> Any:
    low, high = table["ends"].T
    model = LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=(-1, 1))
    model.fit(table["train_codes"], table["train_target"])
    return lambda part: model.predict(table[f"{part}_codes"])


MODELS: dict[str, Fit] = {
    "diffprivlib LogisticRegression": _logistic,
    "diffprivlib GaussianNB": _bayes,
    "diffprivlib GaussianNB on codes": _bayes_of_codes,
    "diffprivlib RandomForest": _forest,
    "diffprivlib LinearRegression": _linear,
}

if __name__ == "__main__":
    serve(MODELS, sys.argv[1:])
