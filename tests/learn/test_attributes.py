"""What fitted estimators tell of their features, as users of scikit-learn expect it: free, from released numbers."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import discreet as dp
from discreet.errors import BadValue

from .people import CLASSES, rows_of

FEATURES = ("age", "sex", "region")
PUBLIC = {"bounds": {"age": (18, 90)}, "values": {"sex": ["f", "m"], "region": ["n", "s", "w"]}}
HUGE = {"epsilon": 1000, "delta": "1e-6"}
WEIGHED = ("NaiveBayes", "AdditiveClassifier", "RandomForest", "DecisionTree")


@pytest.fixture(scope="module")
def columns():
    return rows_of(3000, 5)


def fitted(name, columns, **more):
    estimator = getattr(dp.learn, name)(**HUGE, **PUBLIC, **({"classes": CLASSES} | more))
    return estimator.fit({feature: columns[feature] for feature in FEATURES}, columns["sick"])


def test_a_listing_of_the_room_names_the_estimators():
    assert [name for name in dir(dp.learn) if not name.startswith("__")] == dp.learn.__all__


@pytest.mark.parametrize("name", WEIGHED)
def test_importances_are_shares_and_the_strongest_feature_has_the_largest(name, columns):
    importances = fitted(name, columns).feature_importances_
    assert importances.shape == (3,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)
    assert importances[0] == importances.max()  # the target follows from the age most of all


@pytest.mark.parametrize("name", WEIGHED)
def test_a_feature_of_noise_alone_has_hardly_any_importance(name, columns):
    changed = columns | {"sex": np.random.default_rng(1).choice(["f", "m"], len(columns["sex"]))}
    assert fitted(name, changed).feature_importances_[1] < 0.05


def test_a_rare_cell_that_decides_the_class_does_not_make_its_feature_important():
    """Ten rows of the value w are all sick; what tells most rows apart is the age."""
    columns = rows_of(4000, 7)
    region = np.where(columns["region"] == "w", "n", columns["region"])
    region[:10], columns["sick"][:10] = "w", "yes"
    model = fitted("NaiveBayes", columns | {"region": region}).fit_.model
    spread = model.shapes[2].var(axis=1).mean()
    assert spread > 0.3 * model.shapes[0].var(axis=1).mean()  # cells counted alike
    assert model.importances()[2] < 0.02


def test_importances_of_naive_bayes_are_variances_over_the_rows(columns):
    estimator = fitted("NaiveBayes", columns)
    model, subject = estimator.fit_.model, estimator.fit_.plan.subject
    cells = subject.encoded({feature: columns[feature] for feature in FEATURES})
    over_rows = [
        shape[:, feature.codes(cells[feature.name], model.bins)].var(axis=1).mean()
        for feature, shape in zip(subject.features, model.shapes, strict=True)
    ]
    assert estimator.feature_importances_ == pytest.approx(over_rows / np.sum(over_rows), abs=0.005)


def test_leaves_that_say_nothing_give_no_importance(columns):
    model = fitted("RandomForest", columns).fit_.model
    model.logs[:] = 0
    assert model.importances().tolist() == [0, 0, 0]


def test_importances_of_one_tree_by_hand(columns):
    model = fitted("DecisionTree", columns, depth=2).fit_.model
    first, second = model.trees.tests[0].tolist()
    logs = model.logs[0]  # class × leaf, the first test being the leading digit
    moved = np.zeros(3)
    moved[first] += np.mean((logs[:, 2:] - logs[:, :2]).mean(axis=1) ** 2 / 4)
    moved[second] += np.mean((logs[:, 1::2] - logs[:, ::2]).mean(axis=1) ** 2 / 4)
    assert model.importances() == pytest.approx(moved / moved.sum())


def test_importances_need_a_fit():
    assert not hasattr(dp.learn.RandomForest(), "feature_importances_")
    with pytest.raises(NotFittedError):
        dp.learn.LogisticRegression().coef_  # noqa: B018


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearClassifier"])
def test_weights_have_the_names_of_their_columns(name, columns):
    estimator = fitted(name, columns)
    names = ["age", "sex_f", "sex_m", "region_n", "region_s", "region_w"]
    assert estimator.coef_names_.tolist() == names
    weights = dict(zip(names, estimator.coef_[0], strict=True))
    assert weights["age"] == max(weights.values())
    assert weights["sex_m"] > weights["sex_f"]
    assert weights["region_w"] > weights["region_n"]
    assert estimator.intercept_.shape == (1,)


def test_a_regression_has_weights_and_their_names(columns):
    facts = {"bounds": {"age": (18, 90)}, "values": {"sex": ["f", "m"]}, "target_bounds": (0, 500)}
    rows = {"age": columns["age"], "sex": columns["sex"]}
    estimator = dp.learn.LinearRegression(**HUGE, **facts).fit(rows, columns["pay"])
    assert estimator.coef_.shape == (1, 3)
    assert estimator.coef_names_[np.argmax(estimator.coef_[0])] == "age"


@pytest.mark.parametrize("flags", [np.array([True, False, True]), np.array([True, None, False], dtype=object)])
def test_booleans_without_facts_are_refused_alike_whether_or_not_a_cell_is_empty(flags):
    """An empty cell makes a column of booleans one of objects: taking the first kind alone would tell of that cell."""
    with pytest.raises(BadValue, match=r"values=.'flag': .False, True.. for a boolean"):
        dp.learn.NaiveBayes(epsilon=1, classes=[0, 1]).fit({"flag": flags}, [0, 1, 0])
    facts = {"values": {"flag": [False, True]}, "classes": [0, 1]}
    assert dp.learn.NaiveBayes(epsilon=1, **facts).fit({"flag": flags}, [0, 1, 0]).n_features_in_ == 1
