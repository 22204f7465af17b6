"""Fits that take long: replicates are made side by side and are the same, and who waits is told how far they are."""

import numpy as np
import pytest

import discreet as dp
from discreet.synth.answers import replicate
from discreet.synth.answers.replicate import each_replicate, replicate_build
from synth.answers.built import built
from synth.folk import rows_of, written


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return built(tmp_path_factory.mktemp("warm"))


def test_replicates_side_by_side_are_those_made_one_by_one(table, monkeypatch):
    monkeypatch.setattr(replicate, "_workers", lambda build: 4)
    several = list(each_replicate(table, 5))
    for index, copy in enumerate(several):
        alone = replicate_build(table.build, index)
        assert all(np.array_equal(a, b) for a, b in zip(alone.codes.columns, copy.build.codes.columns, strict=True))


def test_a_large_fit_is_made_alone(table, monkeypatch):
    monkeypatch.setattr(replicate.os, "cpu_count", lambda: 64)
    assert replicate._workers(table.build) == replicate.MOST_WORKERS
    monkeypatch.setattr(replicate, "_MOST_CELLS_AT_ONCE", 1)
    assert replicate._workers(table.build) == 1


def test_a_failure_in_one_replicate_is_told(tmp_path, monkeypatch):
    table = built(tmp_path, count=50)

    def fails(build, index):
        raise ArithmeticError

    monkeypatch.setattr(replicate, "replicate_build", fails)
    with pytest.raises(ArithmeticError):
        table.replicates(3)


def test_answers_and_replicates_tell_how_far_they_are(tmp_path):
    told = []
    table = built(tmp_path, count=100)
    table.answer("SELECT AVG(pay) AS n FROM people", progress=lambda step, share: told.append((step, share)))
    assert [step for step, _ in told if step == "fitting the model"]
    assert [share for step, share in told if step == "drawing noise again"] == pytest.approx(np.arange(1, 21) / 20)
    table.replicates(21, progress=lambda step, share: told.append((step, share)))
    assert told[-1] == ("drawing noise again", 1.0)


def test_a_watched_build_has_fitted_and_drawn_and_equals_one_that_was_not(tmp_path):
    told = []
    with dp.open(written(tmp_path, rows_of(100))) as people:
        task = people.synthesize()
        watched = task.build(epsilon=2, progress=lambda step, share: told.append(step))
        assert {"fitting the model", "drawing rows"} <= set(told)
        assert {"synthesis", "codes"} <= set(watched.build.__dict__)
        alone = task.build(epsilon=2)
        assert "synthesis" not in alone.build.__dict__
        assert alone.save(tmp_path / "a.parquet").read_bytes() == watched.save(tmp_path / "b.parquet").read_bytes()
