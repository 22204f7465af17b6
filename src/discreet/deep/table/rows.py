"""Rows of a table as rows to train on: whole persons, each with her rows that have a target.

A row without a target is left out, and so is a person without other rows: either adds a gradient of zero.  Both follow
from that person's rows alone, so two tables that differ by a person still do.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import torch

from discreet.bounded import Bounded, RowLimit
from discreet.deep.sampling import Persons
from discreet.deep.table.cells import Cells
from discreet.deep.training.data import Rows, Tree
from discreet.engine.protocol import View
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints

PROOF = "deep/training.md"


def bounded_rows(view: View, cells: Cells) -> Bounded[Rows]:
    """The rows of a view for the gate, read once; a step takes at most `max_rows` rows of a person."""
    subject = cells.subject
    held = view.rows(subject.columns, where=subject.where)
    rows = held.then(lambda rows: rows_of_units(rows, cells), RowLimit(subject.max_rows), proof=PROOF)
    return replace(rows, compute=cache(rows.compute))


def rows_of_units(held: UnitRows, cells: Cells) -> Rows:
    """The codes and targets of the rows that have a target, and whose they are."""
    subject = cells.subject
    targets, has_target = cells.targets(held.columns[subject.target.column])
    codes = cells.codes({feature.name: held.columns[feature.column] for feature in subject.features})
    chosen = torch.from_numpy(np.flatnonzero(has_target))
    codes, targets = codes[chosen], targets[chosen]

    def pick(indices: Ints) -> tuple[Tree, Tree]:
        places = torch.from_numpy(indices)
        return codes[places], targets[places]

    sizes = np.bincount(held.unit_of_row[has_target], minlength=held.units)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[sizes > 0], dtype=np.int64)])
    order = np.arange(len(codes), dtype=np.int64)
    persons = Persons(order, starts, has_units=subject.schema.unit is not None)
    return Rows(persons, pick, (codes[:0], targets[:0]))


def no_rows(cells: Cells) -> Rows:
    """Rows of nobody, of the shapes and types of the table's: what is tried on invented rows needs no more."""
    columns = {column: np.zeros(0) for column in cells.subject.columns}
    return rows_of_units(UnitRows(columns, np.zeros(0, dtype=np.int64), 0), cells)
