"""Minimisers behind the gate of a dataset: charged once, replayed for nothing, whole units of several rows."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.task import learning
from discreet.privacy.cost import Approx, Gaussian, Pure
from learn.folk import FEATURES, write_people

CASES = [
    (LinearLearner("logistic", "output"), "income", 1, "0.0000001", Gaussian),
    (LinearLearner("logistic", "output"), "income", 2, 0, Pure),
    (LinearLearner("logistic", "objective"), "income", 1, "0.0000001", Approx),
    (LinearLearner("logistic", "objective"), "income", 2, 0, Pure),
    (LinearLearner("huber", "output"), "age", 2, "0.0000001", Gaussian),
    (LinearLearner("huber", "adassp"), "age", 2, "0.0000001", Gaussian),
]


@pytest.mark.parametrize(("learner", "target", "rows", "delta", "kind"), CASES)
def test_a_fit_is_charged_once_and_replayed(tmp_path, learner, target, rows, delta, kind):
    people = dp.open(write_people(tmp_path))
    features = [feature for feature in FEATURES if feature != target]
    task = learning(people.table, learner, target, features, max_rows=rows)
    before = Fraction(people.table.remaining(None)["epsilon"])
    first, second = (task.fit(epsilon=1, delta=delta) for _ in range(2))
    assert isinstance(first.privacy.cost, kind)
    assert not first.is_replayed
    assert second.is_replayed
    assert all((first.released[name] == second.released[name]).all() for name in first.released)
    assert before - Fraction(people.table.remaining(None)["epsilon"]) == pytest.approx(1, abs=0.01)
