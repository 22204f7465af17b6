"""What a step of a fit would refuse is refused by the plan, before the charge; and ridges fit the noise."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.kernel.encode import UNIT
from discreet.kernel.risk import SLOPE
from discreet.learn import AdditiveClassifier, LinearRegression, LogisticRegression
from discreet.learn.counts.additive import PASSES, SHARES, AdditiveLearner
from discreet.learn.input.arrays import ArrayFacts, subject_of_arrays
from discreet.learn.learners import learner_of
from discreet.learn.price import parse_price
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.subject import subject_of
from discreet.query.nodes import Col, In, Literal
from learn.watched import watched

DELTA = "1e-8"


def write_table(folder, *, max_rows, categories=0, size=0, numbers=0):
    """Five persons with categories of that size and numbers, a number y and a class k."""
    lists = [f"[columns.c{place}]\ntype='integer'\nvalues={list(range(size))}\n" for place in range(categories)]
    ranges = [f"[columns.n{place}]\ntype='integer'\nbounds=[0, 9]\n" for place in range(numbers)]
    path = folder / "p.toml"
    path.write_text(
        f"[dataset]\nname='p'\nsource='p.csv'\n[unit]\nkey='id'\nmax_rows={max_rows}\n{''.join(lists + ranges)}"
        "[columns.y]\ntype='integer'\nbounds=[0, 10]\n[columns.k]\ntype='integer'\nvalues=[0, 1]\n"
        "[budget]\nepsilon=100\ndelta=1e-6\n"
    )
    names = [f"c{place}" for place in range(categories)] + [f"n{place}" for place in range(numbers)]
    rows = [[row, *[row] * len(names), row, row % 2] for row in range(5)]
    lines = [["id", *names, "y", "k"], *rows]
    (folder / "p.csv").write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path, names


MANY_CELLS = {"max_rows": 200, "categories": 10, "size": 100, "numbers": 1}
MANY_MOMENTS = {"max_rows": 50, "categories": 15, "size": 100}
MANY_ROWS = {"max_rows": 10**6, "numbers": 60}
MANY_NUMBERS = {"max_rows": 1, "numbers": 60}
REFUSED = [
    (LinearRegression(solver="adassp"), "y", MANY_CELLS, "1", "max_rows"),
    (LinearRegression(solver="adassp"), "y", MANY_MOMENTS, "1", "fewer columns"),
    (LogisticRegression(solver="objective"), "k", MANY_ROWS, "1", "max_rows"),
    (LogisticRegression(solver="output"), "k", MANY_ROWS, "1", "max_rows"),
    (LinearRegression(), "y", MANY_NUMBERS, "0.001", "epsilon must be larger"),
    (LogisticRegression(), "k", MANY_NUMBERS, "0.001", "epsilon must be larger"),
    (AdditiveClassifier(), "k", MANY_NUMBERS, "0.001", "epsilon must be larger"),
]


@pytest.mark.parametrize(("estimator", "target", "table", "epsilon", "said"), REFUSED)
def test_what_a_step_would_refuse_costs_nothing(tmp_path, monkeypatch, estimator, target, table, epsilon, said):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path, names = write_table(tmp_path, **table)
    with dp.open(path) as dataset:
        with pytest.raises(BadValue, match=said):
            dataset.learn(estimator, target=target, features=names).fit(epsilon=epsilon, delta=DELTA)
        assert Fraction(dataset.table.remaining()["epsilon"]) == 100


def subject_with(numbers, relation="add-remove"):
    columns = {f"x{place}": np.array([0.0, 1.0, 1.0]) for place in range(numbers)}
    return subject_of_arrays(
        columns, np.array([0, 1, 1]), None, ArrayFacts(bounds=(0, 1), classes=[0, 1], relation=relation)
    )[0]


def test_the_smallest_share_of_each_kind_of_step_is_tried():
    """At ε = 0.02 noise is narrow enough for the centre and for 30 passes, and too wide for each of 10,000."""
    subject, price = subject_with(60), parse_price("0.02", DELTA)
    plan = LinearLearner().plan(subject, price)
    course = plan.rule.course(1e12, np.zeros(61, dtype=np.int64), plan.limits)
    assert (course.passes, course.norm) == (30, plan.rule.first_norm)
    with pytest.raises(BadValue, match="epsilon must be larger"):
        LinearLearner(passes=10_000).plan(subject, price)


def test_a_price_typed_as_rho_is_named_so():
    with pytest.raises(BadValue, match="rho must be larger"):
        AdditiveLearner().plan(subject_with(60), parse_price(None, DELTA, rho="1e-10"))


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_ridges_of_an_additive_classifier_know_its_noise(relation):
    X, y = {f"x{place}": np.array([0.0, 1.0, 1.0]) for place in range(4)}, np.array([0, 1, 1])
    facts = ArrayFacts(bounds=(0, 1), classes=[0, 1], relation=relation)
    plan, steps, _ = watched(AdditiveLearner(), (X, y, None), facts, parse_price(2, "1e-3"))
    drawn = [sqrt(step.mechanism.variance) / (UNIT * SLOPE) for step in steps[1:]]
    weights, cells = plan._deviation(3, SHARES[1] / PASSES), plan._deviation(2, SHARES[2] / PASSES)
    assert drawn == pytest.approx([weights] * PASSES + [cells] * PASSES, rel=1e-3)


WEIGHTS = [1e-320, 1e-7, 0, -1, float("inf"), float("nan"), 1e308, 10**400, "2e6", True, None]


@pytest.mark.parametrize("solver", ["descent", "objective", "output"])
@pytest.mark.parametrize("weight", WEIGHTS, ids=lambda weight: str(weight)[:8])
def test_weights_of_classes_lie_in_a_public_range(tmp_path, monkeypatch, weight, solver):
    """Caught here: 1e-320, by which a class counts for nothing, and 10^400, which no double holds."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path, names = write_table(tmp_path, max_rows=1, numbers=2)
    with dp.open(path) as dataset:
        estimator = LogisticRegression(solver=solver, class_weight={1: weight})
        with pytest.raises(BadValue, match="class_weight"):
            dataset.learn(estimator, target="k", features=names).fit(epsilon=1, delta=DELTA)
        assert Fraction(dataset.table.remaining()["epsilon"]) == 100


@pytest.mark.parametrize("weight", [1e-320, 1e7, float("inf"), float("nan"), -1.0])
def test_a_learner_of_a_file_has_the_same_range_of_weights(weight):
    with pytest.raises(BadValue, match="class_weight"):
        learner_of("linear", {"class_weight": [[0, weight], [1, 1.0]]})


@pytest.mark.parametrize("weight", ["1e-6", 1e6, 2])
def test_the_ends_of_the_range_of_weights_are_fitted(weight):
    matrix, classes = np.array([[0.0], [1.0], [1.0]]), np.array([0, 1, 1])
    estimator = LogisticRegression(epsilon=1, delta=DELTA, bounds=(0, 1), classes=[0, 1], class_weight={1: weight})
    assert np.isfinite(estimator.fit(matrix, classes).predict_proba(matrix)).all()


def test_many_trees_over_many_values_are_refused_before_the_charge(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path, names = write_table(tmp_path, max_rows=1, categories=1, size=20_000)
    with dp.open(path) as dataset:
        with pytest.raises(BadValue, match="trees, tests of a tree and values"):
            dataset.learn(dp.learn.RandomForest(trees=1000), target="k", features=names).fit(epsilon=1, delta=DELTA)
        assert Fraction(dataset.table.remaining()["epsilon"]) == 100


def test_a_condition_that_is_too_long_for_a_model_is_refused():
    subject = subject_with(1)
    where = In(Col("x0"), tuple(Literal(Fraction(number)) for number in range(1000)))
    with pytest.raises(BadValue, match="where must be at most 16,384 characters"):
        subject_of(subject.schema, "y", ["x0"], where=where)
