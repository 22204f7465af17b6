"""Children that build a synthetic table and are killed at an edge, once or twice: a process of its own.

python -m synth.kill_engine FOLDER once|twice EVERY FIRST       → one JSON object
"""

import json
import sys
from functools import partial
from pathlib import Path

import discreet as dp
from discreet.engine.view import FileView
from discreet.ledger.ledger import Ledger
from discreet.mechanism.additive import Additive
from discreet.synth.build import Measuring
from faults.common import ended, forked
from rooms.run_driver import armed
from synth.folk import rows_of, written

EPSILON, STEPS, COUNT = 40, ("singles", "scores", "tables"), 60


def edges():
    """Name → (owner, function, which call, before or after it), in the order in which a build meets them."""
    edges = {"before the purse": (Ledger, "purse", 1, False), "purse": (Ledger, "purse", 1, True)}
    for number, name in enumerate((*STEPS, "done"), 1):
        edges[f"{name}: before the charge"] = (Ledger, "charge_part", number, False)
        edges[f"{name}: charged"] = (Ledger, "charge_part", number, True)
        if name == "singles":
            edges[f"{name}: read"] = (FileView, "_sum", 1, True)
        if name in STEPS:
            edges[f"{name}: drawn"] = (Additive, "__call__", number, True)
        edges[f"{name}: before the commit"] = (Ledger, "commit", number, False)
        edges[f"{name}: stored"] = (Ledger, "commit", number, True)
    return edges | {"before the end": (Ledger, "end", 1, False), "ended": (Ledger, "end", 1, True)}


def take(folder, edge=None, seen=None):
    """The table as CSV, its receipt and whether it was replayed; what each step released goes to the file `seen`."""
    if edge is not None:
        armed(*edge)
    real = Measuring._step

    def noted(self, name, *given):
        parts = real(self, name, *given)
        with open(seen, "a") as file:
            file.write(json.dumps([name, [part.values.tolist() for part in parts]]) + "\n")
        return parts

    Measuring._step = noted if seen is not None else real
    try:
        with dp.open(folder / "people.toml") as people:
            table = people.synthesize().build(epsilon=EPSILON)
            return table.to_pandas().to_csv(), table.build.receipt, table.build.is_replayed
    finally:
        Measuring._step = real


def wrongs(folder, name):
    """All that must hold once somebody has finished what a killed child began."""
    seen = folder / "seen"
    first, repeated = take(folder, seen=seen), take(folder)
    with dp.open(folder / "people.toml") as people:
        ledger = people.table.ledger
        kinds, spent = [entry["kind"] for entry in ledger.entries()], ledger.verify().spent.epsilon
        charges = people.budget.charges
    wrong = [] if first[:2] == repeated[:2] and repeated[2] else ["another table"]
    wrong += [] if (charges, spent, kinds.count("purse"), kinds.count("end")) == (1, EPSILON, 1, 1) else [f"{kinds}"]
    wrong += [] if kinds.count("part") <= len(STEPS) + 1 else [f"{kinds.count('part')} parts"]
    released = {}
    for line in seen.read_text().splitlines() if seen.exists() else ():
        step, numbers = json.loads(line)
        if released.setdefault(step, numbers) != numbers:
            wrong.append(f"step {step} was released twice, with other numbers")
    return [f"{name}: {what}" for what in wrong]


def main(place, how, every, first):
    wrong, outcomes = [], []
    for number, (name, edge) in enumerate(edges().items()):
        if number % int(every) != int(first):
            continue
        folder = Path(place) / f"{how}{number}"
        written(folder, rows_of(COUNT))
        child, times = partial(take, folder, edge, folder / "seen"), 2 if how == "twice" else 1
        outcomes += [ended(forked(child)) for _ in range(times)]
        try:
            wrong += wrongs(folder, name)
        except Exception as error:
            wrong.append(f"{name}: {error!r}")
    print(json.dumps({"wrong": wrong, "killed": sum(code != 0 for code in outcomes), "children": len(outcomes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
