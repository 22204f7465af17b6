"""Train on synthetic rows, test on real ones: how well a classifier learnt from a coded table ranks held-out rows.

The classifier is scikit-learn's and the same for every table: boosted trees, or logistic regression on one-hots.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.synth_data import Coded
from discreet.ndarrays import Ints

TARGET = "income"


def areas(synthetic: Ints, test: Coded, target: str = TARGET) -> dict[str, float]:
    """The area under the curve on the test rows of each classifier, learnt from codes with the columns of the test."""
    return {name: area(synthetic, test, target, classifier) for name, classifier in CLASSIFIERS.items()}


def area(synthetic: Ints, test: Coded, target: str, classifier: Callable[[Coded, Ints, Ints], Any]) -> float:
    """The area of one classifier; ½ if the synthetic rows are all of one class.  Rows without a class are left out."""
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    place = test.names.index(target)
    synthetic = synthetic[synthetic[:, place] < test.sizes[place]]
    features, classes = np.delete(synthetic, place, axis=1), synthetic[:, place]
    if len(np.unique(classes)) < 2:
        return 0.5
    with threadpool_limits(1):  # threads that wait for each other count as CPU time
        predict = classifier(_without(test, place), features, classes)
        scores = predict(np.delete(test.codes, place, axis=1))
    return float(roc_auc_score(test.codes[:, place], scores))


def _without(rows: Coded, place: int) -> Coded:
    """The rows without one column."""
    kept = [other for other in range(len(rows.names)) if other != place]
    names, sizes = tuple(rows.names[other] for other in kept), tuple(rows.sizes[other] for other in kept)
    return Coded(rows.name, names, sizes, tuple(rows.ordered[other] for other in kept), rows.codes[:, kept])


def _trees(test: Coded, features: Ints, classes: Ints) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    unordered = [not ordered for ordered in test.ordered]
    model = HistGradientBoostingClassifier(categorical_features=unordered, random_state=0, early_stopping=False)
    model.fit(features, classes)
    return lambda rows: model.predict_proba(rows)[:, 1]


def _logistic(test: Coded, features: Ints, classes: Ints) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.1, max_iter=300)
    model.fit(_one_hots(features, test.cells), classes)
    return lambda rows: model.predict_proba(_one_hots(rows, test.cells))[:, 1]


def _one_hots(codes: Ints, sizes: Sequence[int]) -> Any:
    from scipy.sparse import csr_matrix

    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    columns = (codes + starts).ravel()
    ends = np.arange(len(codes) + 1) * codes.shape[1]
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(codes), sum(sizes)))


CLASSIFIERS: Mapping[str, Callable[[Coded, Ints, Ints], Any]] = {"boosted trees": _trees, "logistic": _logistic}
