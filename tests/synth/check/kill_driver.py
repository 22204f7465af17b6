"""Children that check a synthetic table and are killed at an edge: a process of its own, so that forking is safe.

python -m synth.check.kill_driver FOLDER [EDGE …]      → one JSON object
"""

import json
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

import discreet as dp
from discreet.ledger.purse import Purse
from discreet.mechanism.vectors import Vectors
from discreet.run import Run
from faults.common import ended, forked
from synth.folk import written

# the owner of a function, its name, at which call it dies, and whether behind it
EDGES = {
    "before the count": (Run, "step", 1, False),
    "count drawn": (Vectors, "__call__", 1, True),
    "count stored": (Run, "step", 1, True),
    "comparison charged": (Purse, "charge", 2, True),
    "comparison drawn": (Vectors, "__call__", 2, True),
    "before the comparison is stored": (Purse, "commit", 2, False),
    "comparison stored": (Run, "step", 2, True),
    "before the result": (Run, "done", 1, False),
    "result stored": (Run, "done", 1, True),
}


def armed(owner, name, call, after):
    """Die at that call of the function, before or after it."""
    real, calls = getattr(owner, name), []

    def wrapped(*given, **named):
        calls.append(name)
        if after:
            result = real(*given, **named)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result if after else real(*given, **named)

    setattr(owner, name, wrapped)


def take(people, edge=None):
    """The check: its rows, its receipt and whether it was replayed."""
    table = people.synthesize().build(epsilon=2)
    if edge is not None:
        armed(*edge)
    told = table.check(epsilon=1)
    return told.rows(), told.receipt, told.is_replayed


def die(folder, edge):
    """Build and check, up to the edge."""
    with dp.open(folder / "people.toml") as people:
        take(people, edge)


def wrongs(name, folder):
    """All that must hold once somebody has finished what a killed child began."""
    with dp.open(folder / "people.toml") as people:
        first, repeated = take(people), take(people)
        spent = people.budget.spent.epsilon
        people.table.ledger.verify()
    wrong = [] if first[:2] == repeated[:2] and repeated[2] else [f"{name}: {first[1:]} and {repeated[1:]}"]
    wrong += [] if spent <= 3 else [f"{name}: spent {spent}"]
    return wrong + ([] if first[2] == (name == "result stored") else [f"{name}: replayed {first[2]}"])


def main(place, *names):
    wrong, codes = [], []
    for number, name in enumerate(names or EDGES):
        folder = Path(place) / f"killed{number}"
        written(folder)
        codes.append(ended(forked(partial(die, folder, EDGES[name]))))
        wrong += wrongs(name, folder)
        shutil.rmtree(folder)
    print(json.dumps({"wrong": wrong, "killed": sum(code != 0 for code in codes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
