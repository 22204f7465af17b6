"""The growth bench at a small size: its table, its steps, its verdicts."""

import duckdb
import pytest
from benchmarks.scale import GIBIBYTE, PREPARE, QUESTIONS, Step

from benchmarks import crowd, scale


def test_the_table_has_its_rows_and_is_the_same_every_time(tmp_path):
    first, other = (crowd.made(2000, tmp_path / name) for name in ("one", "other"))
    told = [
        duckdb.sql(f"SELECT count(*), count(DISTINCT person_id), sum(hash(t)) FROM '{path}' t")
        for path in (first, other)
    ]
    (rows, persons, digest), repeated = (each.fetchall()[0] for each in told)
    assert rows == 2000
    assert 100 < persons <= 200
    assert repeated == (rows, persons, digest)


def test_every_step_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    steps = scale.measured(2000, crowd.made(2000, tmp_path), tmp_path)
    assert [step.what for step in steps] == [PREPARE, *QUESTIONS]
    assert all(step.cpu > 0 and step.wall > 0 and 2**24 < step.memory < 2**33 for step in steps)


def test_growth_and_memory_are_judged():
    def steps(last, memory):
        return [Step("x", 10, 1.0, 1.0, GIBIBYTE), Step("x", 100, last, 1.0, memory)]

    assert scale._power("x", steps(10.0, GIBIBYTE)) == pytest.approx(1)
    assert scale._row("x", steps(10.0, GIBIBYTE))[-2:] == ("yes", "yes")
    assert scale._row("x", steps(100.0, 9 * GIBIBYTE))[-2:] == ("no", "no")
    assert scale._power("x", steps(1.0, 1)[:1]) is None
