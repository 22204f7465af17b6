"""Our own synthetic tables of a coded table, each at a price of its own: an equal build would be replayed.

Seconds are CPU time of all processes, from the task to a frame of rows, on a prepared table and in a process that has
built one before.  Noise is the system's own, so draws have numbers and no seeds.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import cpu
from benchmarks.synth_data import Coded, codes_of, write_dataset
from benchmarks.synth_error import Score, score
from benchmarks.synth_price import DELTA
from discreet.ndarrays import Ints

SECOND_LEDGER = "Each run of a benchmark has a ledger of its own; the rows are public or invented."
QUICK_CELLS = 10**5
OURS, QUICK, INDEPENDENT = "ours", "ours, quick", "ours, independent"
METHODS: dict[str, dict[str, Any]] = {
    OURS: {},
    QUICK: {"max_cells": QUICK_CELLS},
    INDEPENDENT: {"method": "independent"},
}
_STEP = Fraction(1, 10**9)  # that an equal ε differs by
_STEPS = count(1)


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Codes of a build, and the CPU seconds that it took."""

    method: str
    epsilon: float
    draw: int
    codes: Ints
    seconds: float


@contextmanager
def opened(rows: Coded) -> Iterator[Any]:
    """The rows as a prepared dataset, with a ledger and a folder of its own."""
    from discreet.dataset import open_dataset

    with (
        tempfile.TemporaryDirectory(prefix="synth-") as name,
        mock.patch.dict(os.environ, XDG_STATE_HOME=name),
        open_dataset(write_dataset(rows, Path(name)), second_ledger=SECOND_LEDGER) as dataset,
    ):
        dataset.prepare()
        yield dataset


def build(dataset: Any, epsilon: float, **options: Any) -> Any:
    """A synthetic table, at a price that no other build of this process has."""
    price = Fraction(str(epsilon)) + _STEP * next(_STEPS)
    return dataset.synthesize(**options).build(epsilon=price, delta=Fraction(str(DELTA)))


def own_tables(
    rows: Coded, epsilons: Sequence[float], draws: int, methods: Sequence[str] = tuple(METHODS)
) -> Iterator[OwnTable]:
    """Every method at every ε, so often; the first build of all loads what is needed and is not handed out."""
    clock = cpu.Family()
    with opened(rows) as dataset:
        build(dataset, 1.0, max_cells=1000).to_pandas()
        for method in methods:
            for epsilon in epsilons:
                for draw in range(draws):
                    started = clock()
                    frame = build(dataset, epsilon, **METHODS[method]).to_pandas()
                    seconds = clock() - started
                    yield OwnTable(method, epsilon, draw, codes_of(frame, rows), seconds)


def own_scores(
    rows: Coded, epsilons: Sequence[float], draws: int, methods: Sequence[str] = tuple(METHODS)
) -> list[Score]:
    """How far they are from the rows; each is told when it is there."""
    scores = []
    for table in own_tables(rows, epsilons, draws, methods):
        own = score(rows, table.method, table.epsilon, table.draw, table.codes, table.seconds)
        print(
            f"  {own.method} on {rows.name} at ε = {own.epsilon:g}, draw {own.draw}: {own.three_way:.3f} in "
            f"{own.seconds:.2f} s",
            file=sys.stderr,
            flush=True,
        )
        scores.append(own)
    return scores
