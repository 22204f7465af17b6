"""Children that choose a small database and are killed at an edge: a process of its own, so that forking is safe.

python -m synth.small.kill_driver FOLDER       → one JSON object
"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

import discreet as dp
from discreet.engine.engine import Engine
from discreet.ledger.ledger import Ledger
from discreet.synth.small.build import build
from discreet.synth.small.choice import SmallDatabaseChoice
from discreet.synth.small.plan import small_plan
from faults.common import ended, forked
from synth.small.town import QUERIES, ROWS, written

EDGES = {
    "before the charge": (Ledger, "charge", False),
    "charged": (Ledger, "charge", True),
    "read": (Engine, "run", True),
    "drawn": (SmallDatabaseChoice, "__call__", True),
    "before the commit": (Ledger, "commit", False),
    "stored": (Ledger, "commit", True),
}


def armed(owner, name, after):
    """Die at the first call of that function, before or after it."""
    real = getattr(owner, name)

    def wrapped(*given, **named):
        if after:
            real(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, wrapped)


def take(folder, edge=None):
    """The small database: its stored counts, its receipt and whether it was replayed."""
    if edge is not None:
        armed(*edge)
    with dp.open(folder / "people.toml") as people:
        result = build(small_plan(people, QUERIES, epsilon=1, public_rows=ROWS, size=9))
        return result.counts.tolist(), result.receipt, result.is_replayed


def wrongs(name, folder):
    """All that must hold once somebody has finished what a killed child began."""
    first, repeated = take(folder), take(folder)
    with dp.open(folder / "people.toml") as people:
        spent, kinds = people.budget.spent.epsilon, [entry["kind"] for entry in people.table.ledger.entries()]
        people.table.ledger.verify()
    wrong = [] if first[:2] == repeated[:2] and repeated[2] else [f"{name}: {first} and {repeated}"]
    wrong += [] if spent == 1 else [f"{name}: spent {spent}"]
    wrong += [] if first[2] == (name == "stored") else [f"{name}: replayed {first[2]}"]
    return wrong + ([] if kinds.count("answer") <= 1 else [f"{name}: entries {kinds}"])


def main(place):
    wrong, codes = [], []
    for number, (name, edge) in enumerate(EDGES.items()):
        folder = Path(place) / f"killed{number}"
        written(folder)
        codes.append(ended(forked(partial(take, folder, edge))))
        wrong += wrongs(name, folder)
    print(json.dumps({"wrong": wrong, "killed": sum(code != 0 for code in codes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
