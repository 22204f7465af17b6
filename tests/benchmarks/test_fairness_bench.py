"""The topic on groups: what it says without data, its formula, and an attack near its limit and not beyond."""

from math import exp

import pytest

from benchmarks import fairness
from discreet.bounded import scalar
from discreet.mechanism.additive import laplace
from discreet.privacy import odds
from discreet.privacy.cost import Pure


def test_without_data_the_topic_says_what_is_not_measured(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    report = fairness.report()
    assert report.tables == ()
    assert "DISCREET_DATA" in report.notes[0]


def test_the_advantage_is_that_of_the_formula():
    assert fairness.advantage_limit(1) == pytest.approx((exp(1) - 1) / (exp(1) + 1))
    assert fairness.advantage_limit(1, "0.001") == pytest.approx((exp(1) - 1 + 0.002) / (exp(1) + 1))


def test_the_attack_on_one_value_is_better_than_a_coin_and_within_the_limit():
    share = fairness._right_guesses(laplace(scalar(1), 1), 40_000)
    assert 0.7 < share < float(odds.guess(Pure(1), units=2))
