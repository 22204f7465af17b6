"""Adult by a net on binned inputs: the product's net of a table and its default training, exact noise.

Bins are cut from typed bounds and lists of values are public, as for the models of `learn`; the file's own split.
"""

import time

import numpy as np
import torch
from torch import Tensor

from benchmarks.deep_data import DELTA, Trial
from benchmarks.learn_accuracy import area
from benchmarks.learn_data import Rows, adult
from discreet import deep
from discreet.deep.table.cells import Cells, cells_of
from discreet.deep.table.net import TableNet
from discreet.deep.table.recipe import EPOCHS, SAMPLE, table_trainer
from discreet.schema import Column, Schema

EPSILONS = (0.1, 1.0, 10.0)


def trials(seeds: int) -> list[Trial]:
    """The area under the curve on test rows, seed by seed."""
    train, test = adult()
    cells = cells_of(_schema(train), "income", list(train.columns))
    codes, test_codes = _codes(cells, train), _codes(cells, test)
    classes = torch.from_numpy(train.positive.astype(np.int64))
    results = []
    for epsilon in EPSILONS:
        plan = deep.plan(rows=len(train), rate=SAMPLE, epochs=EPOCHS, epsilon=epsilon, delta=DELTA)
        for seed in range(seeds):
            trainer = table_trainer(TableNet(cells, seed=seed), plan)
            cpu, wall = time.process_time(), time.perf_counter()
            net = trainer.fit((codes, classes))
            spent = time.process_time() - cpu, time.perf_counter() - wall
            with torch.no_grad():
                shares = torch.softmax(net(test_codes).double(), 1)[:, 1].numpy()
            results.append(Trial(epsilon, seed, area(test, shares), *spent))
    return results


def _schema(rows: Rows) -> Schema:
    why = "listed in the public file"
    columns = [Column(name, "integer", bounds=ends) for name, ends in rows.bounds.items()]
    columns += [Column(name, "category", values=values, why_public=why) for name, values in rows.values.items()]
    return Schema("adult", [*columns, Column("income", "category", values=rows.classes, why_public=why)])


def _codes(cells: Cells, rows: Rows) -> Tensor:
    return cells.codes(
        {feature.name: feature.encoded(rows.columns[feature.name]) for feature in cells.subject.features}
    )
