"""Children that build two synthetic tables and are killed at an edge: a process of its own, so that forking is safe.

python -m synth.children.kill_driver FOLDER       → one JSON object
"""

import hashlib
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

import discreet.synth.children.table as joined
from discreet.ledger.ledger import Ledger
from discreet.run import Run
from discreet.synth.measuring import Measuring
from faults.common import ended, forked
from synth.children.clinic import opened, patients_of, spent, task, written

EDGES = {
    "purse of rows": (Ledger, "purse", True),
    "rows paid, not told": (Run, "done", True),
    "between both": (joined, "pay_rows", True),
    "both": (joined.JoinedTable, "_new_purse", True),
    "first step": (Measuring, "singles", True),
    "all steps": (Measuring, "tables", True),
    "before the result": (Ledger, "end", False),
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
    """A digest of both tables, and what each ledger has spent."""
    if edge is not None:
        armed(*edge)
    with opened(folder) as (persons, rows):
        table = task(persons, rows, columns=["sex", "age", "reason"]).build(epsilon=5)
        texts = table.to_pandas().to_csv() + table.children["visits"].to_pandas().to_csv()
        return hashlib.sha256(texts.encode()).hexdigest(), [int(epsilon) for epsilon in spent(persons, rows)]


def wrongs(name, folder):
    """All that must hold once somebody has finished what a killed child began."""
    first, repeated = take(folder), take(folder)
    wrong = [] if first == repeated else [f"{name}: {first} and {repeated}"]
    wrong += [] if first[1] == [5, 5] else [f"{name}: spent {first[1]}"]
    with opened(folder) as both:
        for dataset in both:
            dataset.table.ledger.verify()
            purses = [entry for entry in dataset.table.ledger.entries() if entry["kind"] == "purse"]
            wrong += [] if len(purses) == 1 else [f"{name}: {len(purses)} purses"]
            wrong += [] if not dataset.table.ledger.open_runs() else [f"{name}: a run is open"]
    return wrong


def main(place):
    wrong, codes = [], []
    for number, (name, edge) in enumerate(EDGES.items()):
        folder = Path(place) / f"killed{number}"
        written(folder, patients_of(120))
        codes.append(ended(forked(partial(take, folder, edge)), seconds=120))
        wrong += wrongs(name, folder)
    print(json.dumps({"wrong": wrong, "killed": sum(code == -signal.SIGKILL for code in codes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
