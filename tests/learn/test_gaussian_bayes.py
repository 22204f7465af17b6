"""Gaussian naive Bayes: plain moments but for the noise, one vector a row, and models of nothing and of the unknown."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import discreet as dp
from discreet.bounded import RowLimit
from discreet.kernel import class_moments
from discreet.kernel.class_moments import ClassMoments
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import UNIT
from discreet.learn.counts.gaussian_bayes import GaussianBayesLearner
from discreet.learn.price import parse_price
from discreet.learn.saved import file
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

LEARNER = GaussianBayesLearner()


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_without_noise_the_moments_are_plain_sums(delta):
    columns = persons(300, rows=1)
    fit = fit_of(LEARNER, columns, delta=delta, **HUGE)
    blocks = np.asarray(fit.released["moments"]).reshape(2, -1) / UNIT
    for block, kind in zip(blocks, CLASSES, strict=True):
        own = {name: column[columns["sick"] == kind] for name, column in columns.items()}
        x = (own["age"] - 18) / 36 - 1
        expected = [len(x), x.sum(), (2 * x * x - 1).sum()]
        expected += [(own["sex"] == value).sum() for value in ("f", "m")]
        expected += [(own["region"] == value).sum() for value in ("n", "s", "w")]
        assert np.abs(block - expected).max() < 0.5  # a step of 2⁻¹¹ for each of 300 rows, and next to no noise


def test_without_noise_it_is_the_model_of_scikit_learn():
    columns = persons(3000, rows=1)
    pay = np.round(columns["pay"])
    x = np.stack([columns["age"], pay], axis=1)
    model = dp.learn.GaussianNaiveBayes(**HUGE, bounds=([18, 0], [90, 500]), classes=CLASSES).fit(x, columns["sick"])
    other = GaussianNB().fit(x, columns["sick"])
    assert np.abs(model.predict_proba(x) - other.predict_proba(x)).max() < 0.02


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("rows", [1, 2])
def test_no_person_moves_the_moments_further_than_the_noise_is_made_for(relation, rows):
    covered, reached = _moved(relation, rows)
    assert covered
    assert reached > (0.99 if relation is Relation.ADD_REMOVE else 0.7)


def _moved(relation, rows):
    """Whether the stated bound covers all neighbours tried, and the largest share of l2² reached."""
    columns = persons(5)
    plan = LEARNER.plan(subject_and_view(columns, max_rows=4, relation=str(relation))[0], parse_price(1))
    public = plan.public | {"rows": rows}
    stated = kernel_of("class_moments").sensitivity(public, RowLimit(4, relation))
    person, ends = columns["id"][0], {"age": 90, "sex": "f", "region": "n", "sick": "yes"}
    table = replaced(columns, person, ends)
    if relation is Relation.ADD_REMOVE:
        pairs = [(table, without(table, person)) for person in np.unique(table["id"])]
    else:
        others = [ends | change for change in ({"sick": "no"}, {"age": 18, "sex": "m"}, {"age": 49, "region": "w"})]
        pairs = [(table, replaced(columns, person, other)) for other in others]
    norms = [moved_by("class_moments", public, pair, relation) for pair in pairs]
    return all(map(stated.covers, norms)), max(float(norm.l2_squared / stated.l2_squared) for norm in norms)


@pytest.mark.parametrize("relation", list(Relation))
def test_numbers_beyond_their_bounds_are_caught(monkeypatch, relation):
    plain = class_moments.scaled_steps
    monkeypatch.setattr(class_moments, "scaled_steps", lambda feature, column: 2 * plain(feature, column))
    assert not _moved(relation, 1)[0]


def test_a_bound_of_replace_one_without_numbers_of_one_class_is_caught():
    """Of many numbers two rows of one class can lie further apart than two rows of different classes."""
    public = {"features": [{"low": -1, "high": 1}] * 6, "target": {"size": 2}}
    stated = kernel_of("class_moments").sensitivity(public, RowLimit(1, Relation.REPLACE_ONE))
    apart = UNIT**2 * 6 * 5.1
    assert stated.l2_squared >= apart > 2 * 13 * UNIT**2


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_zero_rows_give_an_ordinary_model(delta):
    columns = persons(5, rows=1)
    model = dp.learn.GaussianNaiveBayes(epsilon=1, delta=delta, **PUBLIC)
    model.fit({name: column[:0] for name, column in features(columns).items()}, columns["sick"][:0])
    chances = model.predict_proba(features(columns))
    assert np.isfinite(chances).all()
    assert np.allclose(chances.sum(axis=1), 1)


def test_unknown_categories_say_nothing_and_empty_numbers_are_the_middle():
    columns = persons(300, rows=1)
    model = dp.learn.GaussianNaiveBayes(**HUGE, **PUBLIC).fit(features(columns), columns["sick"])

    def chances(age, sex, region):
        return model.predict_proba(
            {"age": np.array([age]), "sex": np.array([sex], object), "region": np.array([region], object)}
        )

    assert (chances(np.nan, "f", "n") == chances(54.0, "f", "n")).all()
    assert (chances(40.0, "?", None) == chances(40.0, None, "x")).all()
    assert (chances(1e9, "f", "n") == chances(90.0, "f", "n")).all()


def test_three_classes_are_told_apart():
    columns = persons(900, rows=1)
    kinds = np.array(["young", "middle", "old"])[np.digitize(columns["age"], [40, 65])]
    model = dp.learn.GaussianNaiveBayes(**HUGE, **PUBLIC | {"classes": ["young", "middle", "old"]})
    assert (model.fit(features(columns), kinds).predict(features(columns)) == kinds).mean() > 0.9


def test_long_ranges_are_scaled_by_their_logarithm():
    amounts = np.repeat([0.0, 10.0, 1000.0, 99_999.0], 50)
    kinds = np.where(amounts > 100, "yes", "no")
    model = dp.learn.GaussianNaiveBayes(**HUGE, bounds=(0, 99_999), classes=CLASSES).fit(amounts[:, None], kinds)
    no, yes = model.fit_.model.parameters()["shapes"]["x0"]["mean"]
    assert -1 < no < yes < 1
    assert (model.predict(amounts[:, None]) == kinds).all()


def test_the_law_with_less_noise_is_taken():
    subject, _ = subject_and_view(persons())
    pure, normal = LEARNER.plan(subject, parse_price(1)), LEARNER.plan(subject, parse_price(1, "1e-3"))
    assert pure.price.is_pure
    assert "Laplace" in pure.mechanisms[0]
    assert normal.deviation <= pure.deviation
    own = ClassMoments().sensitivity(pure.public, subject.limit)
    assert own.l2_squared == 5 * UNIT**2  # 1, x, 2x² − 1 and a cell of each of two categories


def test_a_saved_model_is_the_same_model():
    columns = persons(100, rows=1)
    model = dp.learn.GaussianNaiveBayes(epsilon=3, delta="1e-6", **PUBLIC).fit(features(columns), columns["sick"])
    read = file.from_bytes(file.to_bytes(model.fit_))
    encoded = read.plan.subject.encoded(features(columns))
    assert (read.model.scores(encoded) == model.predict_proba(features(columns))).all()
    assert read.model.parameters() == model.fit_.model.parameters()
