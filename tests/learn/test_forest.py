"""Forests and trees: exact counts but for the noise, tests that no row chooses, and no person counted twice."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.bounded import RowLimit
from discreet.errors import BadValue
from discreet.kernel import leaves
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import Feature
from discreet.learn.counts.rates import rates_of
from discreet.learn.price import parse_price
from discreet.learn.saved import file
from discreet.learn.trees import forest
from discreet.learn.trees.forest import BINS, ForestLearner, ForestPlan
from discreet.learn.trees.greedy import greedy_tests
from discreet.learn.trees.leaf_rates import leaf_logs
from discreet.learn.trees.planted import planted_tests
from discreet.learn.trees.tree import TABLES_SHARE, TreeLearner, TreePlan
from discreet.relation import Relation
from learn.counted import (
    CLASSES,
    HUGE,
    PUBLIC,
    features,
    fit_of,
    moved_by,
    persons,
    replaced,
    subject_and_view,
    without,
)

SMALL = ForestLearner(trees=5, depth=3)


def counts_by_hand(plan, columns):
    """Rows by tree, class and leaf, from the tests in words of cells."""
    subject, public = plan.subject, plan.public
    encoded = subject.encoded(features(columns))
    codes = [feature.codes(encoded[feature.name], BINS).tolist() for feature in subject.features]
    total = np.zeros((len(public["tests"]), len(subject.classes), 2 ** public["tests"].shape[1]), dtype=int)
    for row, answer in enumerate(columns["sick"].tolist()):
        for tree, (tests, sides) in enumerate(zip(public["tests"], public["sides"], strict=True)):
            digits = [str(side[codes[test][row]]) for test, side in zip(tests, sides, strict=True)]
            total[tree, subject.classes.index(answer), int("".join(digits), 2)] += 1
    return total


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_without_noise_the_leaves_are_plain_counts(delta):
    columns = persons(200, rows=1)
    fit = fit_of(SMALL, columns, delta=delta, **HUGE)
    expected = counts_by_hand(fit.plan, columns)
    assert np.asarray(fit.released["leaves"]).reshape(expected.shape).tolist() == expected.tolist()


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("rows", [1, 2])
def test_no_person_moves_the_leaves_further_than_the_noise_is_made_for(relation, rows):
    covered, reached = _moved(relation, rows)
    assert covered
    assert reached == 1


def _moved(relation, rows):
    """Whether the stated bound covers all neighbours tried, and the largest share of l2² reached."""
    columns = persons(6)
    plan = SMALL.plan(subject_and_view(columns, max_rows=4, relation=str(relation))[0], parse_price(1))
    public = plan.public | {"rows": rows}
    stated = kernel_of("leaves").sensitivity(public, RowLimit(4, relation))
    same = {"age": 30, "sex": "f", "region": "n", "sick": "yes"}
    other = {"age": 80, "sex": "m", "region": "w", "sick": "no"}
    person = columns["id"][0]
    table = replaced(columns, person, same)
    if relation is Relation.ADD_REMOVE:
        pairs = [(table, without(table, person)) for person in np.unique(table["id"])]
    else:
        pairs = [(table, replaced(columns, person, other)), (table, columns)]
    norms = [moved_by("leaves", public, pair, relation) for pair in pairs]
    return all(map(stated.covers, norms)), max(norm.l2_squared for norm in norms) / stated.l2_squared


@pytest.mark.parametrize("relation", list(Relation))
def test_leaves_that_count_rows_and_not_persons_are_caught(monkeypatch, relation):
    monkeypatch.setattr(leaves, "_among_first", lambda chunk, rows: np.ones(chunk.size, dtype=bool))
    assert not _moved(relation, 1)[0]


class Told:
    """Steps that release what they are told to, and keep the parameters that were sent to the rows."""

    def __init__(self, view, released):
        self.view, self._released, self.sent = view, released, {}

    def tables(self, name, tallies, mechanisms):
        return {key: self._released[f"table {key}"] for key in tallies}

    def sum(self, name, kernel, public, share, *, columns=None):
        self.sent = {key: public[key].tolist() for key in ("tests", "sides")}
        return np.zeros(kernel_of(kernel).length(public), dtype=np.int64)


def sent_tests(learner, columns, released):
    """The tests that a fit asks of the rows, where the noisy tables came out as given."""
    subject, view = subject_and_view(columns)
    told = Told(view, released)
    learner.plan(subject, parse_price(100)).fit(told)
    return told.sent


@pytest.mark.parametrize("learner", [SMALL, TreeLearner(depth=3)])
def test_tests_depend_on_no_row_but_through_what_was_released(learner):
    columns = persons(60)
    released = fit_of(learner, columns, epsilon=100).released
    sent = [sent_tests(learner, table, released) for table in (columns, without(columns, columns["id"][0]), persons(9))]
    assert sent[0]["tests"][0]
    assert sent[0] == sent[1] == sent[2]


@pytest.mark.parametrize("kind", [ForestPlan, TreePlan])
def test_tests_that_rows_choose_are_caught(monkeypatch, kind):
    by_facts = kind.fit

    def by_rows(self, steps):
        ages = steps.view.rows([self.subject.features[0].column]).compute().columns
        cut = int(np.median(next(iter(ages.values())))) % 9
        module = forest if kind is ForestPlan else __import__("discreet.learn.trees.tree", fromlist=["leaves_public"])
        plain = module.leaves_public
        monkeypatch.setattr(module, "leaves_public", lambda s, b, t, x: plain(s, b, t, np.roll(x, cut, axis=2)))
        self.__dict__.pop("public", None)
        try:
            return by_facts(self, steps)
        finally:
            monkeypatch.setattr(module, "leaves_public", plain)

    monkeypatch.setattr(kind, "fit", by_rows)
    with pytest.raises(AssertionError):
        test_tests_depend_on_no_row_but_through_what_was_released(SMALL if kind is ForestPlan else TreeLearner(depth=3))


def test_equal_facts_plant_equal_trees_on_every_machine():
    described = [Feature.parse({"edges": [0, 1, 2, 3, 4]}), Feature.parse({"size": 5}), Feature.parse({"size": 1})]
    tests, sides = planted_tests("facts", 20, 5, described, [True, False, False])
    assert (planted_tests("facts", 20, 5, described, [True, False, False])[1] == sides).all()
    assert (planted_tests("others", 20, 5, described, [True, False, False])[1] != sides).any()
    digest = hashlib.sha256(tests.astype("<i8").tobytes() + sides.astype("<i8").tobytes()).hexdigest()
    assert digest[:16] == "980b546f0fe3e424"  # stored forests are rebuilt from it: it must never change


def test_every_feature_is_asked_about_equally_often():
    described, ordered = [Feature.parse({"size": 4})] * 13, [False] * 13
    tests, _ = planted_tests("facts", 100, 6, described, ordered)
    asked = np.bincount(tests.ravel(), minlength=13)
    assert asked.min() >= 0.6 * asked.mean()
    assert all(len(set(tree)) == 2 for tree in tests.tolist())
    lone_tests, _ = planted_tests("facts", 3, 9, described[:1], ordered[:1])
    assert lone_tests.shape == (3, 9)


def test_numbers_are_cut_once_and_values_are_divided():
    _, sides = planted_tests("facts", 50, 3, [Feature.parse({"edges": list(range(9))})], [True])
    cuts = sides[:, :, :8].argmax(axis=2)
    assert (np.sort(sides[:, :, :8], axis=2) == sides[:, :, :8]).all()
    assert (cuts >= 1).all()
    assert all(len(set(tree)) == 3 for tree in cuts.tolist())
    _, sides = planted_tests("facts", 50, 3, [Feature.parse({"size": 6})], [False])
    assert set(sides[:, :, :6].sum(axis=2).ravel().tolist()) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree"])
@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_zero_rows_give_an_ordinary_model(name, delta):
    model = getattr(dp.learn, name)(epsilon=1, delta=delta, **PUBLIC)
    columns = persons(5, rows=1)
    model.fit({key: column[:0] for key, column in features(columns).items()}, columns["sick"][:0])
    chances = model.predict_proba(features(columns))
    assert np.isfinite(chances).all()
    assert np.allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree"])
def test_unknown_and_empty_cells_are_scored(name):
    columns = persons(300, rows=1)
    model = getattr(dp.learn, name)(**HUGE, **PUBLIC).fit(features(columns), columns["sick"])
    odd = {"age": np.array([np.nan, 1e9, 40]), "sex": np.array(["x", None, "f"], object), "region": np.array(["?"] * 3)}
    assert np.isfinite(model.predict_proba(odd)).all()


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree"])
def test_rows_with_unknown_cells_are_counted_on_a_side(name):
    columns = persons(300, rows=1)
    columns["sex"] = np.where(np.arange(300) % 2, "x", columns["sex"])
    columns["sick"] = np.where(np.arange(300) < 30, "maybe", columns["sick"])
    model = getattr(dp.learn, name)(**HUGE, **PUBLIC, depth=3).fit(features(columns), columns["sick"])
    counted = np.asarray(model.fit_.released["leaves"]).reshape(-1, 2, 8).sum(axis=(1, 2))
    assert set(counted.tolist()) == {270}


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree"])
def test_three_classes_are_told_apart(name):
    columns = persons(600, rows=1)
    kinds = np.array(["young", "middle", "old"])[np.digitize(columns["age"], [40, 65])]
    model = getattr(dp.learn, name)(**HUGE, **PUBLIC | {"classes": ["young", "middle", "old"]})
    model.fit(features(columns), kinds)
    assert (model.predict(features(columns)) == kinds).mean() > 0.85
    assert np.allclose(model.predict_proba(features(columns)).sum(axis=1), 1)


def test_the_law_with_less_noise_is_taken_and_depth_follows_from_it():
    subject, _ = subject_and_view(persons())
    pure, normal = (ForestLearner().plan(subject, parse_price(1, delta)) for delta in (0, "1e-5"))
    assert (pure.price.is_pure, pure.trees) == (True, 30)
    assert (normal.price.is_pure, normal.trees, normal.depth) == (False, 100, 7)
    assert "Gaussian" in normal.mechanisms[0]
    few = ForestLearner(trees=1).plan(subject, parse_price(1, "1e-9"))
    assert few.price.is_pure  # of one tree Laplace noise is the smaller
    assert ForestLearner(trees=1).plan(subject, few.price) == few
    deviations = [ForestLearner().plan(subject, parse_price(epsilon, "1e-5")).depth for epsilon in (0.01, 0.1, 1, 10)]
    assert deviations == sorted(deviations)


def test_many_classes_have_shallower_trees_and_too_many_leaves_are_refused_before_the_charge():
    many = [f"c{number}" for number in range(100)]
    subject, _ = subject_and_view(persons(), classes=many)
    assert ForestLearner().plan(subject, parse_price(10, "1e-5")).depth == 4
    with pytest.raises(BadValue, match="numbers"):
        ForestLearner(trees=1000, depth=12).plan(subject, parse_price(1))
    with pytest.raises(BadValue, match="trees"):
        dp.learn.RandomForest(epsilon=1, trees=0, **PUBLIC).learner()
    with pytest.raises(BadValue, match="depth"):
        dp.learn.DecisionTree(epsilon=1, depth=13, **PUBLIC).learner()


def test_a_tree_asks_the_feature_that_tells_and_none_where_all_is_noise():
    told = np.array([[90.0, 80, 10, 20], [10, 20, 90, 80]])
    flat = np.full((2, 4), 50.0)
    tests, sides = greedy_tests(rates_of([flat, told], 1.0, [True, True]), [True, True], 1)
    assert tests.tolist() == [[1]]
    assert sides[0, 0, :4].tolist() == [0, 0, 1, 1]
    shuffled = told[:, [2, 0, 3, 1]]
    _, sides = greedy_tests(rates_of([flat, shuffled], 1.0, [True, False]), [True, False], 1)
    assert len(set(sides[0, 0, [0, 2]].tolist())) == len(set(sides[0, 0, [1, 3]].tolist())) == 1
    nothing, _ = greedy_tests(rates_of([flat, flat], 1.0, [True, True]), [True, True], 4)
    assert nothing.shape == (1, 0)


def test_the_steps_of_a_tree_share_its_price():
    columns = persons(80, rows=1)
    fit = fit_of(TreeLearner(), columns, epsilon=2)
    tables = fit.plan.tables
    spent = sum(mechanism.cost.epsilon for mechanism in tables.noise.values())
    assert spent == 2 * TABLES_SHARE
    leaf = fit.plan.price.mechanism(kernel_of("leaves").sensitivity(_bare(fit.plan), RowLimit(1)), 1 - TABLES_SHARE)
    assert spent + leaf.cost.epsilon == 2 == fit.plan.cost.epsilon
    assert Fraction(leaf.noise.scale) == 1 / (2 * (1 - TABLES_SHARE))


def _bare(plan):
    empty = np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0, 0), dtype=np.int64)
    return forest.leaves_public(plan.subject, plan.tables.bins, *empty)


@pytest.mark.parametrize("name", ["RandomForest", "DecisionTree"])
def test_a_saved_model_is_the_same_model(name):
    columns = persons(100, rows=1)
    model = getattr(dp.learn, name)(epsilon=3, delta="1e-6", **PUBLIC).fit(features(columns), columns["sick"])
    stored = file.to_bytes(model.fit_)
    read = file.from_bytes(stored)
    encoded = read.plan.subject.encoded(features(columns))
    assert (read.model.scores(encoded) == model.predict_proba(features(columns))).all()
    assert file.to_bytes(read) == stored
    assert read.model.parameters()["leaves"] == model.fit_.model.parameters()["leaves"]


def test_a_feature_may_be_called_like_a_part_of_the_tree():
    columns = persons(100, rows=1)
    renamed = {"leaves": columns["age"], "tests": columns["sex"]}
    facts = {"bounds": {"leaves": (18, 90)}, "values": {"tests": ["f", "m"]}, "classes": CLASSES}
    model = dp.learn.DecisionTree(epsilon=10, **facts).fit(renamed, columns["sick"])
    assert np.isfinite(model.predict_proba(renamed)).all()


def test_leaves_of_noise_alone_say_next_to_nothing():
    noise = np.random.default_rng(3).normal(scale=50.0, size=(40, 2, 16))
    told = noise + np.where(np.arange(16) < 8, [[1000.0], [100.0]], [[100.0], [1000.0]])
    quiet, loud = (np.abs(leaf_logs(counts, 50.0)[1]).mean() for counts in (noise, told))
    assert quiet < 0.15 < 0.7 < loud
