"""Mistakes of callers that are refused in words of our own, before a charge, and without a word of any row."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from deep.folk import HEAD, opened, trainer_of, write
from deep.nets import CROSS_ENTROPY, net, rows, sgd, small_plan
from discreet import deep
from discreet.deep.table.cells import cells
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue, DiscreetError, IntegrityError
from discreet.learn.saved import file as models

SECRET = "Alice Smith"


def trainer(module: Any = None, **options: Any) -> Trainer:
    module = module or net()
    loss = options.pop("loss", CROSS_ENTROPY)
    return Trainer(module, loss, sgd(module), **{"plan": small_plan(), "clip": 0.5, **options})


HELD = [
    pd.Series([SECRET, "Bob"]),
    pd.DataFrame({"name": [SECRET]}),
    np.array([SECRET]),
    np.array(SECRET),
    (np.array([SECRET]), 1),
    {"name": np.array([SECRET])},
    next(pd.DataFrame({"name": [SECRET]}).itertuples()),
]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("name", ["rows", "batch_size", "epochs", "epsilon", "delta"])
def test_rows_in_the_place_of_a_number_are_not_quoted(held, name):
    options = {"rows": 200, "batch_size": 20, "epochs": 1, "epsilon": 3, "delta": "1e-5"}
    with pytest.raises(DiscreetError) as caught:
        deep.plan(**{**options, name: held})
    assert SECRET not in str(caught.value)
    assert type(held).__name__ in str(caught.value)


@pytest.mark.parametrize("name", ["clip", "at_once", "average", "max_rows", "patience"])
def test_rows_in_the_place_of_an_option_are_not_quoted(name):
    inputs, targets = rows()
    with pytest.raises(DiscreetError) as caught:
        trainer(**{name: inputs}).fit((inputs, targets))
    assert f"{float(inputs[0, 0]):.3f}" not in str(caught.value)


@pytest.mark.parametrize(
    "owners", [torch.arange(3), torch.arange(300), torch.rand(60), [0] * 60, torch.zeros(60, 1).long(), ["ann"] * 60]
)
def test_owners_name_one_person_for_each_row(owners):
    inputs, targets = rows(60)
    with pytest.raises(BadValue, match="owners must be a tensor of whole numbers"):
        deep.clipped_sum(net(), CROSS_ENTROPY, inputs, targets, owners)


def test_the_last_code_and_the_last_class_are_tried_before_the_charge(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write(tmp_path, head=HEAD.replace('["no", "yes"]', '["no", "yes", "unknown"]'))
    with opened(tmp_path) as people:
        codes = cells(people, "sick")

        class Few(nn.Module):
            """Takes the codes 0 and 1 of each feature, or gives one class."""

            def __init__(self, heights: int, outputs: int) -> None:
                super().__init__()
                self.codes = nn.Embedding(heights, 3)
                self.head = nn.Linear(3 * len(codes.sizes), outputs)

            def forward(self, given: Any) -> Any:
                return self.head(self.codes(given).flatten(1))

        for heights, outputs in ((2, 3), (max(codes.sizes), 2)):
            with pytest.raises(BadValue, match="does not take all codes and classes"):
                people.train(trainer_of(people, net=Few(heights, outputs)), target="sick")
        assert people.budget is None or people.budget.spent.epsilon == 0


def test_accuracy_is_refused_where_numbers_are_predicted():
    plan = deep.plan(rows=60, batch_size=20, steps=2, sigma=1, delta="1e-5", scores=1)
    module = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0))
    with pytest.raises(BadValue, match="score must be given where numbers are predicted"):
        trainer(module, loss=nn.MSELoss(reduction="none"), plan=plan).fit((torch.rand(60, 3), torch.rand(60)))


def test_a_score_that_is_no_function_is_refused():
    plan = deep.plan(rows=60, batch_size=20, steps=2, sigma=1, delta="1e-5", scores=1)
    with pytest.raises(BadValue, match="score must be a function"):
        trainer(plan=plan, score="accuracy").fit(rows(60))


def test_lazy_layers_are_called_by_their_name():
    module = nn.Sequential(nn.LazyLinear(2))
    with pytest.raises(BadValue, match="lazy layers"):
        Trainer(module, CROSS_ENTROPY, torch.optim.SGD(module.parameters(), lr=1), plan=small_plan())


def test_a_schedule_that_raises_is_refused():
    with pytest.raises(BadValue, match="schedule must give a number"):
        trainer(schedule=lambda progress: 1 / progress)


def test_a_loss_that_is_left_out_of_a_check_is_asked_for():
    inputs, targets = rows(60)
    with pytest.raises(BadValue, match="loss must be a function"):
        deep.check(net(), inputs, targets)


def test_a_loss_with_columns_is_told_how_to_lose_them():
    inputs = torch.rand(60, 5)
    with pytest.raises(BadValue, match=r"flatten\(1\)"):
        trainer(nn.Linear(5, 1), loss=nn.MSELoss(reduction="none")).fit((inputs, torch.rand(60, 1)))


def test_verbs_of_models_name_those_of_nets(tmp_path: Path):
    place = tmp_path / "net.dp"
    own = trainer()
    own.fit(rows())
    own.save(place)
    with pytest.raises(IntegrityError, match="discreet train card"):
        models.read(place)


def test_a_file_of_something_else_is_no_net(tmp_path: Path):
    place = tmp_path / "people.toml"
    place.write_text("[dataset]")
    with pytest.raises(IntegrityError, match="no whole file of a net"):
        deep.load(place, net())
