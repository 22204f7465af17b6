"""A small invented dataset for trainings: persons of up to two rows, whose age and region tell an illness."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import discreet as dp
from discreet.dataset import Dataset
from discreet.deep.accounting.plan import plan
from discreet.deep.table.net import table_net
from discreet.deep.training.trainer import Trainer

HEAD = """[dataset]
name = "people"
source = "people.csv"
[unit]
key = "id"
max_rows = 2
[budget]
epsilon = 100
delta = 1e-3
max_delta = 1e-2
[columns.age]
type = "integer"
bounds = [18, 90]
[columns.region]
type = "category"
values = ["n", "s"]
[columns.seen]
type = "date"
bounds = [2020-01-01, 2020-12-31]
[columns.sick]
type = "category"
values = ["no", "yes"]
[columns.pay]
type = "number"
bounds = [0, 500]
[columns.note]
type = "text"
"""


def write(folder: Path, persons: int = 300, *, head: str = HEAD) -> Path:
    """people.toml beside people.csv; a person in ten has no target in one row, one in 17 an age that is empty."""
    draw = np.random.default_rng(3)
    lines = ["id,age,region,seen,sick,pay,note"]
    for person in range(persons):
        for row in range(1 + person % 2):
            age, region = int(draw.integers(18, 91)), "ns"[int(draw.integers(2))]
            sick = "" if person % 10 == 0 and row == 0 else "yes" if age > 55 else "no"
            shown = "" if person % 17 == 0 else age
            lines.append(f"{person},{shown},{region},2020-0{1 + person % 9}-11,{sick},{3 * age},words")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    toml = folder / "people.toml"
    toml.write_text(head)
    return toml


def opened(folder: Path, **options: Any) -> Dataset:
    """The dataset in that folder, written anew where it is not there."""
    toml = folder / "people.toml"
    return dp.open(toml if toml.exists() else write(folder), **options)


def trainer_of(people: Any, target: str = "sick", *, epsilon: Any = 5, steps: int = 20, **options: Any) -> Trainer:
    """A trainer of a small table net, the same whenever it is made."""
    net = options.pop("net", None) or table_net(people, target, ["age", "region"], hidden=(4,), bins=8)
    chosen = plan(rows=300, rate="0.25", steps=steps, epsilon=epsilon, delta="1e-5")
    loss = nn.MSELoss(reduction="none") if target == "pay" else nn.CrossEntropyLoss(reduction="none")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    return Trainer(net, options.pop("loss", loss), optimizer, plan=chosen, clip=1, average=None, **options)
