"""No room makes the gate compare a value with itself: noise made for half of what a unit can do is refused in each."""

from dataclasses import replace

import pytest

import discreet as dp
from discreet.bounded import Sensitivity
from discreet.errors import BadValue
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.task import learning
from discreet.mechanism import additive
from release import census
from rooms import toy
from rooms.run_driver import TOML, filled

ROOMS = {
    "ask": lambda people: people.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region").ask(epsilon=1),
    "ask sums": lambda people: people.sql("SELECT SUM(age) AS s FROM people").ask(epsilon=1),
    "run": lambda people: toy.toy(people.table),
    "learn tables": lambda people: learning(people.table, NaiveBayesLearner(), "region", ["age"]).fit(epsilon=1),
    "learn gradients": lambda people: learning(people.table, LinearLearner("huber"), "age", ["region"]).fit(epsilon=1),
}


def halved(sensitivity):
    norms = {name: getattr(sensitivity, name) / 2 for name in ("l0", "l1", "l2_squared", "linf")}
    return replace(sensitivity, **norms)


@pytest.fixture
def narrow(monkeypatch):
    """Every additive mechanism is made for half of the sensitivity that it is asked for."""
    for name in ("laplace", "gaussian"):
        real = getattr(additive, name)

        def made(sensitivity, *given, _real=real, **named):
            assert isinstance(sensitivity, Sensitivity)
            return _real(halved(sensitivity), *given, **named)

        monkeypatch.setattr(additive, name, made)


@pytest.mark.parametrize("room", ROOMS)
def test_narrow_noise_is_refused_before_anything_is_released(tmp_path, narrow, room):
    (tmp_path / "people.toml").write_text(TOML)
    filled(tmp_path, lambda n: "n")
    with dp.open(tmp_path / "people.toml") as people:
        with pytest.raises(BadValue, match="must cover"):
            ROOMS[room](people)
        kinds = [] if people.budget is None else [entry["kind"] for entry in people.table.ledger.entries()]
    assert "answer" not in kinds
    assert "part" not in kinds


def test_narrow_noise_of_a_release_is_refused_before_the_charge(tmp_path, narrow):
    with dp.open(census.written(tmp_path, rows=[census.one(n, n) for n in range(20)])) as people:
        with pytest.raises(BadValue, match="must cover"):
            people.release().build(epsilon=1)
        assert people.budget.charges == 0
