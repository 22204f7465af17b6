"""Predictions and exact scores for rows in the caller's hands: bounds of the target hold, rows without one are left."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

import discreet as dp
from discreet.errors import BadValue
from discreet.operation import model as operation
from discreet.operation.model import ModelCall

from .people import rows_of, write

RNG = np.random.default_rng(9)
AGE = RNG.integers(18, 90, 900)
SICK = np.where(AGE + 9 * RNG.normal(size=900) > 55, "yes", "no")
PAY = 10.0 * AGE


@pytest.fixture(scope="module")
def classifier():
    model = dp.learn.NaiveBayes(epsilon=20, bounds={"age": (18, 90)}, classes=["no", "yes"])
    return model.fit({"age": AGE}, SICK)


@pytest.fixture(scope="module")
def regressor():
    """A line that leaves the bounds of its target at both ends."""
    model = dp.learn.LinearRegression(epsilon=1000, bounds={"age": (18, 90)}, target_bounds=(400, 600))
    return model.fit({"age": AGE}, PAY)


@pytest.mark.parametrize("empty", [None, float("nan"), "", "perhaps"], ids=str)
def test_rows_without_a_class_do_not_count(classifier, empty):
    """Caught here: a TypeError of scikit-learn for None among texts."""
    target = [empty if place % 3 == 0 else cell for place, cell in enumerate(SICK.tolist())]
    rows = np.arange(900) % 3 > 0
    expected = accuracy_score(SICK[rows], classifier.predict({"age": AGE[rows]}))
    assert classifier.score({"age": AGE}, target) == expected
    weights = RNG.random(900)
    expected = accuracy_score(SICK[rows], classifier.predict({"age": AGE[rows]}), sample_weight=weights[rows])
    assert classifier.score({"age": AGE}, target, sample_weight=weights) == expected


@pytest.mark.parametrize("empty", [None, float("nan"), "much"], ids=str)
def test_rows_without_a_number_do_not_count(regressor, empty):
    target = [empty if place % 3 == 0 else cell for place, cell in enumerate(PAY.tolist())]
    rows = np.arange(900) % 3 > 0
    expected = r2_score(np.clip(PAY[rows], 400, 600), regressor.predict({"age": AGE[rows]}))
    assert regressor.score({"age": AGE}, target) == pytest.approx(expected, abs=1e-9)


def test_a_score_without_any_target_and_of_other_lengths_is_refused(classifier, regressor):
    with pytest.raises(BadValue, match="must hold a target"):
        classifier.score({"age": AGE}, [None] * 900)
    with pytest.raises(BadValue, match="must hold a target"):
        regressor.score({"age": AGE}, np.full(900, np.nan))
    with pytest.raises(BadValue, match="one length"):
        classifier.score({"age": AGE}, SICK[:5])
    with pytest.raises(BadValue, match="one length"):
        classifier.score({"age": AGE}, SICK, sample_weight=[1.0])


def test_predicted_numbers_lie_within_the_bounds_of_the_target(regressor, tmp_path):
    predicted = regressor.predict({"age": [18, 54, 90]})
    line = regressor.fit_.model.scores(regressor.fit_.plan.subject.encoded({"age": [18, 54, 90]}))[:, 0]
    assert line[0] < 400 < line[1] < 600 < line[2]
    assert predicted.tolist() == [400.0, line[1], 600.0]
    regressor.save(tmp_path / "pay.dp")
    (tmp_path / "rows.csv").write_text("age\n18\n54\n90\n")
    reply = operation.predict(ModelCall(tmp_path / "pay.dp", tmp_path / "rows.csv"))
    assert [row["prediction"] for row in reply.data["rows"]] == predicted.tolist()


@pytest.mark.parametrize("target", ["sick", "pay"])
def test_a_score_of_ones_own_rows_is_that_of_a_dataset_without_noise(tmp_path, target):
    columns = rows_of(800, 26)
    columns["pay"] = np.round(columns["pay"] * 2 - 200, 1)  # some lie beyond the bounds
    estimator = dp.learn.LinearRegression() if target == "pay" else dp.learn.LogisticRegression()
    with dp.open(write(tmp_path, columns)) as people:
        model = people.learn(estimator, target=target, features=["age"]).fit(epsilon=100)
        metric = "r2" if target == "pay" else "accuracy"
        score = people.score(model, metric=metric, epsilon=100_000)
    assert model.score({"age": columns["age"]}, columns[target]) == pytest.approx(score.value, abs=1e-3)
