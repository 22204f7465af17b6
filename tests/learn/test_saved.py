"""Every estimator, saved and loaded, predicts as before: a stored price gives its plan again."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue
from learn.folk import arrays

X, Y = arrays()
NUMBERS = np.clip(X[:, 0] / 3, -1, 1)
CLASSES = {"bounds": (-3, 3), "classes": ["no", "yes"]}
ESTIMATORS = {
    "NaiveBayes": CLASSES,
    "AdditiveClassifier": CLASSES,
    "LogisticRegression": CLASSES,
    "GaussianNaiveBayes": CLASSES,
    "RandomForest": CLASSES,
    "DecisionTree": CLASSES,
    "LinearRegression": {"bounds": (-3, 3), "target_bounds": (-1, 1)},
}


@pytest.mark.parametrize("delta", [0, "1e-6", "1e-60"])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 300, 10_000])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_saved_model_predicts_as_before(tmp_path, name, epsilon, delta):
    """Caught here: a forest whose number of trees followed from the δ that was typed, and not from the stored price."""
    estimator = getattr(dp.learn, name)(epsilon=epsilon, delta=delta, **ESTIMATORS[name])
    if name == "AdditiveClassifier" and not Fraction(delta):
        with pytest.raises(BadValue, match="delta"):
            estimator.fit(X, Y)
        return
    model = estimator.fit(X, NUMBERS if name == "LinearRegression" else Y)
    loaded = dp.learn.load(model.save(tmp_path / "model.dp"))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    if name != "LinearRegression":
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.privacy_ == model.privacy_
