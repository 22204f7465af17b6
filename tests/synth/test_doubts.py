"""Declared impossible combinations that the measured counts contradict are told of, true ones are not."""

import numpy as np
import pandas

import discreet as dp
from discreet.synth.doubts import doubts_of

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
