"""Every learner at every kind of price: an equal fit is replayed, and its file verifies against the ledger."""

import numpy as np
import pytest

import discreet as dp
from discreet.learn import verify
from discreet.learn.learners import LEARNERS
from learn.people import rows_of, write

FEATURES = ["age", "sex", "region"]
X = {"age": [20, 88], "sex": ["f", "m"], "region": ["n", "w"]}
PRICES = {
    "epsilon": {"epsilon": 1, "delta": 0},
    "epsilon and delta": {"epsilon": 1, "delta": "1e-9"},
    "large epsilon and delta": {"epsilon": 40, "delta": "1e-9"},  # where Laplace noise may be the narrower
    "tiny delta": {"epsilon": 1, "delta": "1e-60"},
    "rho": {"rho": "0.05", "delta": "1e-9"},
}
TASKS = {
    "NaiveBayes": {},
    "AdditiveClassifier": {},
    "GaussianNaiveBayes": {},
    "RandomForest": {},
    "DecisionTree": {},
    "LogisticRegression": {},
    "LogisticRegression objective": {"solver": "objective"},
    "LogisticRegression output": {"solver": "output"},
    "LinearClassifier": {},
    "LinearRegression": {},
    "LinearRegression adassp": {"solver": "adassp"},
}
WITHOUT = {("AdditiveClassifier", "epsilon")}  # gradients need a δ


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    toml = write(tmp_path_factory.mktemp("replayed"), rows_of(120, 3))
    toml.write_text(toml.read_text().replace("[budget]\n", "[budget]\ndelta = 1e-6\n"))
    with dp.open(toml) as people:
        yield people


def test_every_learner_is_replayed_here():
    learners = {getattr(dp.learn, name.split()[0])().learner().name for name in TASKS}
    assert learners == set(LEARNERS)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", TASKS)
def test_a_fit_is_replayed_and_its_file_verifies(dataset, tmp_path, name, price):
    kind, target = getattr(dp.learn, name.split()[0]), "pay" if "Regression" in name and "Linear" in name else "sick"
    if (name, price) in WITHOUT:
        return
    task = dataset.learn(kind(**TASKS[name]), target=target, features=FEATURES)
    first = task.fit(**PRICES[price])
    spent = dataset.budget.spent
    replayed = task.fit(**PRICES[price])
    assert replayed.fit_.is_replayed
    assert not first.fit_.is_replayed
    assert dataset.budget.spent == spent
    assert replayed.privacy_ == first.privacy_
    assert np.array_equal(replayed.predict(X), first.predict(X))
    saved = replayed.save(tmp_path / "model.dp")
    loaded = dp.learn.load(saved)
    assert np.array_equal(loaded.predict(X), first.predict(X))
    assert loaded.privacy_ == first.privacy_
    assert verify(saved, dataset).checks[-1] == "The ledger released the same numbers."


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree", "GaussianNaiveBayes", "NaiveBayes"])
def test_some_of_these_fits_have_laplace_noise_for_a_price_with_delta(dataset, name):
    """So what is replayed above is also a plan that does not spend the δ that was typed."""
    task = dataset.learn(getattr(dp.learn, name)(), target="sick", features=FEATURES)
    laws = {price: task.learning.plan(**PRICES[price]).price.is_pure for price in PRICES}
    assert laws["tiny delta"]
    assert laws["epsilon"]
    assert not laws["rho"]
