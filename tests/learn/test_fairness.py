"""Rates of groups are the plain ones without noise, hold within their intervals with it, and never show exact sizes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.errors import BadValue
from discreet.learn.heldout import group_rates
from discreet.learn.heldout.group_rates import RATES, gap_of, group_counts, group_of
from discreet.learn.heldout.interval import Estimate
from discreet.learn.heldout.trial import Scored

from .people import rows_of, write

FEATURES = ["age", "region"]
LEVEL = Fraction(95, 100)
RUNS = 600
LEAST = int(binom.ppf(1e-6, RUNS, 0.95))  # fewer hits of an interval that holds 95 of 100 have a chance below 1e-6


def plain_rates(target, predicted):
    own = target == "yes"
    return {
        "accuracy": float((target == predicted).mean()),
        "tpr": float((predicted[own] == "yes").mean()),
        "fpr": float((predicted[~own] == "yes").mean()),
    }


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    columns = rows_of(2500, 41)
    with dp.open(write(tmp_path_factory.mktemp("fair"), columns)) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=FEATURES).fit(epsilon=3)
        yield people, model, columns


def test_rates_are_the_plain_ones_without_noise(fitted):
    people, model, columns = fitted
    predicted = model.predict({name: columns[name] for name in FEATURES})
    result = people.fairness(model, by="sex", epsilon=10_000)
    plain = {}
    for group in result.groups:
        rows = columns["sex"] == group.name
        plain[group.name] = plain_rates(columns["sick"][rows], predicted[rows])
        assert group.persons.value == rows.sum()
        for name in RATES:
            rate = getattr(group, name)
            assert rate.value == pytest.approx(plain[group.name][name], abs=1e-12)
            assert rate.low < rate.value < rate.high
    for name in RATES:
        gap = abs(plain["f"][name] - plain["m"][name])
        assert result.gaps[name].value == pytest.approx(gap, abs=1e-12)
        assert result.gaps[name].low <= gap <= result.gaps[name].high


def test_results_are_words_json_and_pictures(fitted):
    people, model, _ = fitted
    result = people.fairness(model, by="sex", epsilon="0.5")
    assert "Of 100 units with yes" in str(result)  # the key is called id, which is no word for persons
    assert "trained on units of this table" in str(result)
    assert result.to_json()["groups"][0]["group"] == "f"
    assert len(result.plot().axes) == 1
    assert people.fairness(model, by="sex", epsilon="0.5", of="population").is_replayed


def test_sizes_of_groups_are_noisy(fitted):
    """Caught here: sizes that are counted beside the noise."""
    people, model, columns = fitted
    exact = {name: int((columns["sex"] == name).sum()) for name in ("f", "m")}
    seen = [people.fairness(model, by="sex", epsilon=Fraction(5 + n, 1000)) for n in range(4)]
    sizes = [group.persons.value for result in seen for group in result.groups]
    wanted = [exact[group.name] for result in seen for group in result.groups]
    assert sum(size == exactly for size, exactly in zip(sizes, wanted, strict=True)) <= 2  # chance of more: 1e-7
    cells = [result.to_json()["groups"] for result in seen]
    assert all("count" not in group for groups in cells for group in groups)


def test_exact_sizes_would_be_caught(fitted, monkeypatch):
    people, model, columns = fitted
    exact = {name: int((columns["sex"] == name).sum()) for name in ("f", "m")}
    real = group_rates.group_of

    def leaking(name, noisy, **law):
        size = float(exact[name])
        return replace(real(name, noisy, **law), persons=Estimate(size, size, size))

    monkeypatch.setattr("discreet.learn.heldout.fairness.group_of", leaking)
    with pytest.raises(AssertionError):
        test_sizes_of_groups_are_noisy((people, model, columns))


def test_a_person_counts_in_one_cell(tmp_path):
    with dp.open(write(tmp_path, rows_of(200, 42, rows=3), max_rows=3)) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=["age"]).fit(epsilon=10)
        result = people.fairness(model, by="sex", epsilon=10_000)
        assert sum(group.persons.value for group in result.groups) == 200
        assert "first row" in str(result)


def test_empty_groups_have_no_rates(tmp_path):
    with dp.open(write(tmp_path, rows_of(300, 43, groups=(1.0, 0.0)))) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=["age"]).fit(epsilon=10)
        result = people.fairness(model, by="sex", epsilon=10_000)  # no noise is drawn: the group is empty
        empty = result.groups[1]
        assert (empty.accuracy.value, empty.tpr.value, empty.fpr.value) == (None, None, None)
        assert "cannot be told" in str(result)
        assert result.gaps["tpr"].value is None
        assert result.plot()


@pytest.mark.parametrize("wrong", [{"by": "age"}, {"by": "no"}, {"of": "x"}, {"positive": 3}, {"level": 2}], ids=str)
def test_refusals_come_before_any_charge(fitted, wrong):
    people, model, _ = fitted
    entries = people.budget.entries
    with pytest.raises(BadValue):
        people.fairness(model, **({"by": "sex", "epsilon": 1} | wrong))
    assert people.budget.entries == entries


def test_three_classes_have_five_cells():
    target, predicted = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 0, 1, 2, 1, 0])
    scores = np.eye(3)[predicted]
    counts = group_counts(Scored(target, scores, np.array([0, 0, 0, 1, 1, 1, -1])), 2, 3, 0)
    assert counts.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 2, 1]
    group = group_of("a", counts[5:], scale=1e-6, level=LEVEL)
    assert group.accuracy.low <= 2 / 3 <= group.accuracy.high


@pytest.mark.parametrize(("size", "scale"), [(40, 2.0), (2000, 10.0)])
def test_intervals_of_rates_and_gaps_hold(size, scale):
    rng = np.random.default_rng(44)
    exact = [np.array([0.30, 0.15, 0.10, 0.45]), np.array([0.20, 0.20, 0.15, 0.45])]
    counts = [np.round(size * shares).astype(int) for shares in exact]
    true = [group_of("", own, scale=1e-9, level=LEVEL) for own in counts]
    truth = {name: [getattr(group, name).value for group in true] for name in RATES}
    hits = dict.fromkeys([*RATES, "gap"], 0)
    q = np.exp(-1 / scale)
    for noise in rng.geometric(1 - q, (RUNS, 2, 4)) - rng.geometric(1 - q, (RUNS, 2, 4)):
        noisy = [own + drawn for own, drawn in zip(counts, noise, strict=True)]
        group = group_of("", noisy[0], scale=scale, level=LEVEL)
        for name in RATES:
            rate = getattr(group, name)
            hits[name] += rate.low <= truth[name][0] <= rate.high
        both = [group_of("", own, scale=scale, level=1 - (1 - LEVEL) / 2).tpr for own in noisy]
        gap = gap_of(both)
        hits["gap"] += gap.low <= abs(truth["tpr"][0] - truth["tpr"][1]) <= gap.high
    assert min(hits.values()) >= LEAST
