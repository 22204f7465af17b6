"""MST and AIM as published, in NumPy on one graphical-model engine: the twins that synthetic data are measured beside.

Their noise is that of floats and seeded, so they are for public tables only.  Adding or removing one row is what is
protected, as in the papers.  AIM has all triples of columns as its workload and 8 MiB for its model.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.synth_aim import aim
from benchmarks.synth_data import Coded, adult
from benchmarks.synth_error import Score, score
from benchmarks.synth_mst import mst
from discreet.ndarrays import Ints

Synthesizer = Callable[[Ints, tuple[int, ...], float, Any], Ints]  # codes, sizes, ε and a generator; then rows
TWINS: Mapping[str, Synthesizer] = {"MST": mst, "AIM": aim}
SEEDS: Sequence[int] = (0,)
EPSILONS: Sequence[float] = (0.1, 1.0, 10.0)


def twin_scores(
    seeds: Sequence[int] = SEEDS,
    epsilons: Sequence[float] = EPSILONS,
    rows: Coded | None = None,
    methods: Sequence[str] = tuple(TWINS),
) -> list[Score]:
    """The figures of every method, ε and seed, on Adult if no rows are given; each is told when it is there."""
    table = adult() if rows is None else rows
    figures = []
    for method in methods:
        for epsilon in epsilons:
            for seed in seeds:
                row = _score(method, epsilon, seed, table)
                figures.append(row)
                print(
                    f"  {method} on {table.name} at ε = {epsilon:g}, seed {seed}: {row.three_way:.3f} in "
                    f"{row.seconds:.1f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return figures


def _score(method: str, epsilon: float, seed: int, rows: Coded) -> Score:
    started = time.process_time()
    codes = TWINS[method](rows.codes, rows.sizes, epsilon, np.random.default_rng(seed))
    seconds = time.process_time() - started
    return score(rows, f"{method} as published", epsilon, seed, codes, seconds)
