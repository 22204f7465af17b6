"""What synthetic tables of the engine answer on the universe of a small database, with the same public knowledge.

One row is replaced, the number of rows is public, and so is that no value is missing, which the engine is told by its
zeros.  δ is that of the Gaussian answers it stands beside.
"""

import csv
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from discreet.ndarrays import Bools, Floats, Ints

SECOND_LEDGER = "Each run of a benchmark has a ledger of its own; the rows are invented."
_HEAD = '[dataset]\nname = "cells"\nsource = "cells.csv"\nneighbours = "replace-one"\n'
_BUDGET = "[budget]\nepsilon = 100_000\ndelta = 1e-3\nmax_delta = 1e-2\n"
_MOST_BITS = 10


def engine_shares(histogram: Ints, runs: int, *, epsilon: Any, delta: Any) -> Floats:
    """The shares of all cells in so many synthetic tables, one a row; each is built at that price.

    The cells are numbers in binary, and each digit is a column that is true or false.
    """
    from discreet.dataset import open_dataset

    bits = (len(histogram) - 1).bit_length()
    if len(histogram) != 2**bits or not 1 <= bits <= _MOST_BITS:
        raise ValueError("only for a power of two of cells")
    names = [f"digit{place}" for place in range(bits)]
    with (
        tempfile.TemporaryDirectory(prefix="small-") as home,
        mock.patch.dict(os.environ, XDG_STATE_HOME=home),
        open_dataset(_write_dataset(Path(home), histogram, names), second_ledger=SECOND_LEDGER) as dataset,
    ):
        task = dataset.synthesize(rows=int(histogram.sum()), zeros=[{name: None} for name in names])
        built = (task.build(epsilon=epsilon, delta=delta, analyst=f"run {run}") for run in range(runs))
        return np.array([_shares(table.to_pandas(), names) for table in built])


def engine_errors(truths: Bools, histogram: Ints, shares: Floats) -> Floats:
    """The worst error over all queries (queries × cells) of each table."""
    true = histogram / histogram.sum()
    errors: Floats = np.abs((shares - true) @ truths.T).max(axis=1)
    return errors


def _shares(frame: Any, names: list[str]) -> Floats:
    digits = frame[names].astype(np.int64).to_numpy()  # a missing value would be refused
    places = 1 << np.arange(len(names))[::-1]
    counts = np.bincount(digits @ places, minlength=2 ** len(names))
    shares: Floats = counts / counts.sum()
    return shares


def _write_dataset(home: Path, histogram: Ints, names: list[str]) -> Path:
    cells = np.repeat(np.arange(len(histogram)), histogram)
    digits = cells[:, None] >> np.arange(len(names))[::-1] & 1
    with open(home / "cells.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows(digits.tolist())
    path = home / "cells.toml"
    path.write_text(_HEAD + "".join(f'[columns.{name}]\ntype = "boolean"\n' for name in names) + _BUDGET)
    return path
