"""Pipelines in which nothing reads rows for nothing, and searches that pay for each fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

import discreet as dp
from discreet.errors import BadValue
from learn.folk import arrays, write_people

X, Y = arrays()
PUBLIC = {"bounds": (-3, 3), "classes": ["no", "yes"], "bins": 4}


def model(**more):
    return dp.learn.NaiveBayes(epsilon=5, **PUBLIC, **more)


def halved(matrix):
    return np.asarray(matrix) / 2


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(write_people(tmp_path)) as dataset:
        yield dataset


def test_functions_of_rows_go_before_an_estimator():
    pipeline = dp.learn.make_pipeline(FunctionTransformer(halved), "passthrough", model())
    assert pipeline.fit(X, Y).score(X, Y) > 0.8
    assert pipeline.privacy_.epsilon == 5
    assert clone(pipeline).fit(X, Y).predict(X).shape == Y.shape


FITTED = [
    StandardScaler(),
    MinMaxScaler(),
    OneHotEncoder(),
    ColumnTransformer([("scale", StandardScaler(), [0])]),
    make_pipeline(StandardScaler()),
    type("Mine", (FunctionTransformer,), {})(halved),
]


@pytest.mark.parametrize("step", FITTED, ids=lambda step: type(step).__name__)
def test_a_step_that_is_fitted_to_rows_is_refused(step):
    with pytest.raises(BadValue, match="give bounds"):
        dp.learn.make_pipeline(step, model())


def test_a_pipeline_ends_with_an_estimator_of_ours():
    for steps in ((), (FunctionTransformer(halved),), (model(), LogisticRegression())):
        with pytest.raises(BadValue, match="must end with an estimator"):
            dp.learn.make_pipeline(*steps)


def test_a_step_that_is_exchanged_later_is_refused_at_the_fit():
    pipeline = dp.learn.make_pipeline(FunctionTransformer(halved), model())
    pipeline.set_params(functiontransformer=StandardScaler())
    for fit in (pipeline.fit, pipeline.fit_predict, pipeline.fit_transform):
        with pytest.raises((BadValue, AttributeError)) as refused:
            fit(X, Y)
        assert "StandardScaler" in str(refused.value) or isinstance(refused.value, AttributeError)
    with pytest.raises(BadValue, match="StandardScaler"):
        pipeline.fit(X, Y)


def test_a_search_over_a_grid_pays_for_each_fit(people):
    units = np.arange(len(Y))
    estimator = dp.learn.NaiveBayes(epsilon="0.5", ledger=people, **PUBLIC)
    search = GridSearchCV(estimator, {"bins": [2, 4]}, cv=3)
    search.fit(X, Y, units=units)
    assert str(people.budget.spent.epsilon) == str((2 * 3 + 1) / 2).replace("3.5", "7/2")
    assert search.best_estimator_.privacy_.is_charged


def test_a_search_stops_where_the_budget_ends(people):
    search = GridSearchCV(
        dp.learn.NaiveBayes(epsilon=9, ledger=people, **PUBLIC), {"bins": [2, 4]}, error_score="raise"
    )
    with pytest.raises(dp.BudgetExceeded):
        search.fit(X, Y, units=np.arange(len(Y)))
    assert people.budget.spent.epsilon == 18


def test_no_estimator_takes_a_seed():
    for name in dp.learn.__all__:
        value = getattr(dp.learn, name)
        if isinstance(value, type):
            assert not {"random_state", "seed"} & set(value().get_params())
