"""The learning bench at a small size: its tables, splits, peers and verdicts; no timing is asserted."""

import numpy as np
import pytest
from benchmarks.learn_accuracy import Score
from benchmarks.learn_speed import Growth, Logistic

from benchmarks import learn, learn_accuracy, learn_crowd, learn_data, learn_linear, learn_peers, learn_speed


def test_columns_are_encoded_by_public_facts_alone():
    rows = learn_data.invented(300)
    few, many = rows[np.arange(10)], rows
    assert np.array_equal(few.matrix(), many.matrix()[:10])
    assert many.matrix().shape == (300, 1 + 1 + 3 + 5)
    assert 0 <= many.matrix().min() <= many.matrix().max() <= 1
    assert many.codes().shape == (300, 4)
    kinds = np.array(rows.values["kind"], dtype=object)
    assert np.array_equal(kinds[many.codes()[:, 2].astype(int)], rows.columns["kind"])


def test_splits_are_public_and_keep_persons_whole():
    rows = learn_data.invented(500)
    (train, test), (repeated, _) = (learn_data.random_split(rows, 3) for _ in range(2))
    assert (len(train), len(test)) == (400, 100)
    assert np.array_equal(train.columns["amount"], repeated.columns["amount"])
    persons = learn_data.Rows(**vars(rows) | {"units": np.arange(500) // 5})
    train, test = learn_data.random_split(persons, 3)
    assert not set(train.units) & set(test.units)
    assert len(set(test.units)) == 20


def test_every_model_that_is_there_is_scored_at_every_epsilon():
    splits = learn_accuracy.random_splits(learn_data.invented(2000))
    models = ("NaiveBayes", "NaiveBayes, δ = 0")
    scores = [
        *learn_accuracy.scores(splits, 2, models=models, epsilons=(1, 10)),
        *learn_accuracy.without_privacy(splits, 1),
    ]
    assert [(score.model, score.epsilon) for score in scores[:4]] == [(model, e) for model in models for e in (1, 10)]
    assert all(len(score.areas) == 2 and 0.3 < score.mean < 1 for score in scores[:4])
    assert all(score.mean > 0.7 for score in scores[4:])
    assert set(learn_accuracy.present()) | set(learn_accuracy.absent()) == set(learn_accuracy.MODELS)
    assert {"NaiveBayes", "AdditiveClassifier", "LogisticRegression"} <= set(learn_accuracy.present())


def test_aims_are_judged_by_means_and_the_best_of_ours_is_never_a_peer():
    def score(model, epsilon, *areas):
        return Score(model, epsilon, areas)

    ours = [score("NaiveBayes", e, 0.7 + place / 10, 0.7) for place, e in enumerate(learn_accuracy.EPSILONS)]
    peer = [score("peer", e, 0.99) for e in learn_accuracy.EPSILONS]
    table = learn._areas_table("t", "m", [*ours, *peer, score("plain", None, 0.995)], {learn.BEST: (0.69, None, 0.81)})
    best, *_, plain = table.rows
    assert best == (
        learn.BEST,
        "0.7000 ± 0.0000",
        "0.7500 ± 0.0707",
        "0.8000 ± 0.1414",
        "≥ 0.69 / – / ≥ 0.81",
        "yes, no",
        "",
    )
    assert plain[3] == "0.9950"
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_peer_that_cannot_be_set_up_is_told_of(monkeypatch):
    def missing(peer):
        raise learn_peers.PeerUnavailable(f"{peer} could not be set up: no network")

    monkeypatch.setattr(learn_peers, "python_of", missing)
    rows = learn_data.invented(50)
    assert learn_peers.classified((rows, rows), (1,), 1) == (
        [],
        [f"Not measured: {peer} could not be set up: no network." for peer in learn_peers.CLASSIFIERS],
    )


def test_linear_rows_have_the_stated_spread():
    table = learn_linear.made(4000, test=4000)
    assert np.abs(table.x).max() <= 1
    assert np.abs(table.y).max() <= 1
    assert table.y.std() == pytest.approx(0.28, abs=0.01)
    ours, plain = learn_linear.scores(table, 2, (10.0,))
    assert plain.mean == pytest.approx(0.8, abs=0.02)
    assert len(ours.areas) == 2
    shown = learn._linear_table([ours, ours, ours, plain])
    assert [len(row) for row in shown.rows] == [len(shown.columns)] * 2


def test_a_fit_is_timed_beside_what_it_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    bayes, additive = learn_speed.growth_here(2000, 1)
    assert (bayes.model, additive.model) == ("NaiveBayes", "AdditiveClassifier")
    assert all(step.cpu > 0 and step.baseline > 0 and 2**24 < step.memory < 2**33 for step in (bayes, additive))
    shown = learn._growth_table([bayes, additive])
    assert all(len(row) == len(shown.columns) for row in shown.rows)


def test_logistic_regression_is_timed_beside_scikit_learn():
    timings = learn_speed.logistic_here(1, learn_data.invented(500))
    assert [timing.epsilon for timing in timings] == [0.1, 1, 10]
    assert all(timing.solving > 0 and timing.encoding > 0 and timing.reading > 0 for timing in timings)


def test_times_are_judged():
    shown = learn._logistic_table([Logistic(1, 0.1, 0.3, 0.1, 0.2), Logistic(1, 0.1, 0.5, 0.1, 0.2)])
    assert [row[-1] for row in shown.rows] == ["yes", "no"]
    steps = [Growth("NaiveBayes", 10, 1.4, 1, 1, 1), Growth("AdditiveClassifier", 10, 1.4, 1, 1, 1)]
    assert [row[-2] for row in learn._growth_table(steps).rows] == ["yes", "no"]


def test_the_growing_table_is_as_its_metadata_say(tmp_path):
    import duckdb

    path = learn_crowd.made(3000, tmp_path)
    told = duckdb.sql(
        f"SELECT count(*), count(DISTINCT person), count(DISTINCT country), min(age), max(age) FROM '{path}'"
    )
    assert told.fetchall() == [(3000, 3000, 42, 17, 90)]
    ((high,),) = duckdb.sql(f"SELECT avg((income = 'high')::INT) FROM '{path}'").fetchall()
    assert 0.2 < high < 0.6
    ((gained,),) = duckdb.sql(f"SELECT avg((gain > 0)::INT) FROM '{path}'").fetchall()
    assert 0.05 < gained < 0.12
