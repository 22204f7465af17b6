"""Declared impossible combinations that the measured counts contradict are told of, true ones are not."""

from math import exp, sqrt

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.synth import doubts
from discreet.synth.doubts import doubts_of, laplace_multiple
from discreet.synth.measured.noisy import NoisyTable

TOML = """\
[dataset]
name = "trips"
[columns.colour]
type = "category"
values = ["green", "yellow"]
[columns.payment]
type = "category"
values = ["card", "cash"]
[budget]
epsilon = 100
delta = 1e-6
"""


def trips(tmp_path):
    """500 trips: green ones are paid by card, one in five yellow ones has no payment."""
    draw = np.random.default_rng(3)
    colour = draw.choice(["green", "yellow"], 500)
    payment = np.where(colour == "green", "card", draw.choice(["card", "cash"], 500)).astype(object)
    payment[(colour == "yellow") & (draw.random(500) < 0.2)] = None
    (tmp_path / "trips.toml").write_text(TOML)
    frame = pandas.DataFrame({"colour": colour, "payment": payment, "mark": str(tmp_path)})
    return dp.open(tmp_path / "trips.toml", table=frame)


def test_a_contradicted_combination_is_told_of_and_a_true_one_is_not(tmp_path):
    with trips(tmp_path) as dataset:
        true = dataset.synthesize(zeros=[{"colour": "green", "payment": "cash"}]).build(epsilon=5)
        assert doubts_of(true.build) == []
        pair = dataset.synthesize(zeros=[{"colour": "yellow", "payment": "cash"}]).build(epsilon=5)
        (sentence,) = doubts_of(pair.build)
        assert "colour and payment" in sentence
        assert sentence in pair.card()
        single = dataset.synthesize(zeros=[{"payment": None}]).build(epsilon=5)
        (sentence,) = doubts_of(single.build)
        assert "combination of payment that" in sentence


def test_laplace_noise_needs_more_deviations_for_the_same_doubt():
    """The chance that the noise of one cell exceeds so many deviations is 10⁻⁹, and of many cells at most that."""
    assert exp(-laplace_multiple(1) * sqrt(2)) / 2 == pytest.approx(1e-9)
    multiples = [laplace_multiple(cells) for cells in (1, 2, 5, 30, 10_000)]
    assert multiples == sorted(multiples, reverse=True)
    assert 6 < multiples[-1] < 6.5
    of_two = multiples[1] * sqrt(2 * 2)
    assert (2 + of_two) * exp(-of_two) / 4 < 1e-9  # the exact tail of the sum of two


@pytest.mark.parametrize("is_pure", [False, True], ids=["gaussian", "laplace"])
def test_a_true_combination_is_doubted_only_beyond_what_its_noise_explains(tmp_path, monkeypatch, is_pure):
    with trips(tmp_path) as dataset:
        price = {"epsilon": 5, "delta": 0} if is_pure else {"epsilon": 5}
        build = dataset.synthesize(zeros=[{"payment": None}], method="independent").build(**price).build
    features = build.plan.subject.zero_masks()[0][0]
    table, groups = doubts._tables(build)[features]
    limit = laplace_multiple(1) if is_pure else 6.0
    for multiple, expected in ((limit - 0.1, 0), (limit + 0.1, 1)):
        counts = np.full(table.counts.shape, multiple * table.deviation)
        changed = {features: (NoisyTable(features, counts, table.deviation), groups)}
        monkeypatch.setattr(doubts, "_tables", lambda _, changed=changed: changed)
        assert len(doubts_of(build)) == expected
