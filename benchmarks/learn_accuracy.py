"""How well the product's defaults predict held-out rows, from arrays, beside models without privacy."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import learn_data
from benchmarks.learn_data import Rows
from discreet import learn
from discreet.ndarrays import Floats

DELTA = 1e-5
EPSILONS = (0.1, 1.0, 10.0)
MODELS: Mapping[str, tuple[str, Any]] = {
    "NaiveBayes": ("NaiveBayes", DELTA),
    "NaiveBayes, δ = 0": ("NaiveBayes", 0),
    "AdditiveClassifier": ("AdditiveClassifier", DELTA),
    "LogisticRegression": ("LogisticRegression", DELTA),
    "LogisticRegression, δ = 0": ("LogisticRegression", 0),
    "LinearClassifier": ("LinearClassifier", DELTA),
    "GaussianNaiveBayes": ("GaussianNaiveBayes", DELTA),
    "RandomForest": ("RandomForest", DELTA),
    "DecisionTree": ("DecisionTree", DELTA),
}
Split = tuple[Rows, Rows]


@dataclass(frozen=True)
class Score:
    """The area under the curve on test rows at one ε, draw by draw, and CPU seconds of a fit and of a prediction."""

    model: str
    epsilon: float | None
    areas: tuple[float, ...]
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    @property
    def mean(self) -> float:
        """Over all draws."""
        return statistics.fmean(self.areas)

    @property
    def deviation(self) -> float:
        """Of single draws."""
        return statistics.stdev(self.areas) if len(self.areas) > 1 else 0.0


def present() -> tuple[str, ...]:
    """The models whose estimator is there."""
    return tuple(model for model, (name, _) in MODELS.items() if name in learn.__all__)


def absent() -> tuple[str, ...]:
    """The models whose estimator is not."""
    return tuple(model for model in MODELS if model not in present())


def estimator(model: str, epsilon: float, rows: Rows, **more: Any) -> Any:
    """The product's estimator with its defaults, told the public facts and the price."""
    name, delta = MODELS[model]
    return getattr(learn, name)(epsilon=epsilon, delta=delta, **rows.facts, **more)


def scores(
    splits: Callable[[int], Split],
    draws: int,
    *,
    models: Sequence[str] | None = None,
    epsilons: Sequence[float] = EPSILONS,
) -> list[Score]:
    """Each model at each ε, on the split of each draw."""
    named = present() if models is None else models
    each: dict[tuple[str, float], list[tuple[float, float, float]]] = {}
    for draw in range(draws):
        train, test = splits(draw)
        for model in named:
            for epsilon in epsilons:
                each.setdefault((model, epsilon), []).append(_one(model, epsilon, train, test))
    return [_score(model, epsilon, runs) for (model, epsilon), runs in each.items()]


def _one(model: str, epsilon: float, train: Rows, test: Rows) -> tuple[float, float, float]:
    model_of_draw = estimator(model, epsilon, train)
    started = time.process_time()
    model_of_draw.fit(dict(train.columns), train.target, units=train.units)
    fitted = time.process_time()
    shares = model_of_draw.predict_proba(dict(test.columns))[:, -1]
    return area(test, shares), fitted - started, time.process_time() - fitted


def _score(model: str, epsilon: float | None, runs: Sequence[tuple[float, float, float]]) -> Score:
    areas, fits, predictions = zip(*runs, strict=True)
    return Score(model, epsilon, areas, statistics.median(fits), statistics.median(predictions))


def area(test: Rows, shares: Floats) -> float:
    """The area under the curve of the last class."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(test.positive, shares))


def without_privacy(splits: Callable[[int], Split], draws: int) -> list[Score]:
    """scikit-learn's logistic regression and boosted trees on the same rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    each: dict[str, list[tuple[float, float, float]]] = {}
    for draw in range(draws):
        train, test = splits(draw)
        if train.units is not None:
            train = train[_one_row_each(train.units, draw)]
        is_value = [name in train.values for name in train.columns]
        for name, model, tables in (
            ("scikit-learn logistic", LogisticRegression(max_iter=2000), (train.matrix(), test.matrix())),
            (
                "scikit-learn boosted trees",
                HistGradientBoostingClassifier(categorical_features=is_value, random_state=draw),
                (train.codes(), test.codes()),
            ),
        ):
            with threadpool_limits(1):  # threads that wait for each other count as CPU time
                started = time.process_time()
                model.fit(tables[0], train.positive)
                fitted = time.process_time()
                auc = area(test, model.predict_proba(tables[1])[:, 1])
            each.setdefault(name, []).append((auc, fitted - started, time.process_time() - fitted))
    return [_score(name, None, runs) for name, runs in each.items()]


def _one_row_each(units: Any, seed: int) -> Any:
    """One random row of each person, as the product takes one."""
    order = np.random.default_rng(seed).permutation(len(units))
    _, first = np.unique(units[order], return_index=True)
    return order[first]


def adult_split() -> Callable[[int], Split]:
    """The file's own split, for every draw."""
    split = learn_data.adult()
    return lambda _draw: split


def random_splits(rows: Rows) -> Callable[[int], Split]:
    """A split of its own for every draw, by the draw's number."""
    return lambda draw: learn_data.random_split(rows, draw)


def best(scores: Sequence[Score]) -> dict[float, Score]:
    """The model with the highest mean at each ε."""
    epsilons = dict.fromkeys(score.epsilon for score in scores if score.epsilon is not None)
    return {
        epsilon: max((score for score in scores if score.epsilon == epsilon), key=lambda score: score.mean)
        for epsilon in epsilons
    }
