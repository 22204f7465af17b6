"""What other systems reach on the same rows, each in an environment of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import ROOT, PeerUnavailable, python_of
from benchmarks.learn_accuracy import Score
from benchmarks.learn_data import Rows

CLASSIFIERS = ("diffprivlib", "interpret")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def classified(
    split: tuple[Rows, Rows], epsilons: Sequence[float], draws: int, peers: Sequence[str] = CLASSIFIERS
) -> tuple[list[Score], list[str]]:
    """Every peer's models on a split, and a sentence for each peer that is not there."""
    return scores(peers, _tables(*split), epsilons, draws)


def scores(
    peers: Sequence[str], tables: Mapping[str, Any], epsilons: Sequence[float], draws: int
) -> tuple[list[Score], list[str]]:
    """Areas under the curve, or R² where the tables are those of a regression."""
    scores: list[Score] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        np.savez(path, **tables)
        for peer in peers:
            try:
                python = python_of(peer)
            except PeerUnavailable as error:
                notes.append(f"Not measured: {error}.")
                continue
            command = [python, "-m", f"benchmarks.peers.{peer}.learn", path, json.dumps(list(epsilons)), str(draws)]
            done = subprocess.run(
                list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ONE_THREAD
            )
            if done.returncode:
                notes.append(f"Not measured: {peer} failed with exit code {done.returncode}.")
                continue
            scores += [
                Score(row["model"], row["epsilon"], tuple(row["scores"]), row["seconds"])
                for row in json.loads(done.stdout)
            ]
    for note in notes:
        print(note, file=sys.stderr)
    return scores, notes


def _tables(train: Rows, test: Rows) -> dict[str, Any]:
    ends = [(0, len(train.values[name]) - 1) if name in train.values else (0, 1) for name in train.columns]
    return {
        "train_matrix": train.matrix(),
        "test_matrix": test.matrix(),
        "train_codes": train.codes(),
        "test_codes": test.codes(),
        "train_target": train.positive.astype(np.int64),
        "test_target": test.positive.astype(np.int64),
        "ends": np.array(ends, dtype=np.float64),
        "is_value": np.array([name in train.values for name in train.columns]),
    }
