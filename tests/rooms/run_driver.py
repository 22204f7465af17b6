"""Children that take a run and are killed at an edge, once or twice: a process of its own, so that forking is safe.

python -m rooms.run_driver FOLDER once|twice|changed EVERY FIRST       → one JSON object
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
from discreet.mechanism.additive import Additive
from faults.common import ended, forked
from rooms import toy

ROWS = 300
TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "who"
max_rows = 2
[columns.region]
type = "category"
values = ["n", "s"]
[columns.age]
type = "integer"
bounds = [0, 9]
[budget]
epsilon = 20000
delta = 1e-6
"""
REGIONS = [200, 100]  # their noise is 0 but for a chance below 10⁻¹⁰⁰
AGES = sum(round(((n % 10) / 9 * 2 - 1) * 1024) for n in range(ROWS) if n % 3)  # those of n, in steps of 2⁻¹⁰
SPREAD = 10 * toy.SIGMA  # a false alarm in 10²²
STEPS = 4


def edges():
    """Name → (owner, function, which call, before or after it), in the order in which a run meets them."""
    edges = {"before the purse": (Ledger, "purse", 1, False), "purse": (Ledger, "purse", 1, True)}
    for n in range(1, STEPS + 2):  # the result is a part too
        edges[f"part {n}: before"] = (Ledger, "charge_part", n, False)
        edges[f"part {n}: charged"] = (Ledger, "charge_part", n, True)
        if n == 1:
            edges[f"part {n}: read"] = (Engine, "run", 1, True)
        if n <= 2:
            edges[f"part {n}: drawn"] = (Additive, "__call__", n, True)
        elif n <= STEPS:
            edges[f"part {n}: drawn"] = (toy.Block, "__call__", n - 2, True)
        edges[f"part {n}: before the commit"] = (Ledger, "commit", n, False)
        edges[f"part {n}: stored"] = (Ledger, "commit", n, True)
    return edges | {"before the end": (Ledger, "end", 1, False), "ended": (Ledger, "end", 1, True)}


def armed(owner, name, which, after):
    """Die at the n-th call of that function, before or after it."""
    real, calls = getattr(owner, name), []

    def wrapped(*given, **named):
        calls.append(1)
        if len(calls) == which and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*given, **named)
        if len(calls) == which:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, wrapped)


def filled(folder, region):
    """The table; its last column, which is not declared, makes it another one in every folder."""
    rows = "".join(f"{n},{region(n)},{n % 10},{folder.name}\n" for n in range(ROWS))
    (folder / "people.csv").write_text(f"who,region,age,folder\n{rows}")


def take(folder, edge=None, seen=None):
    """The run, taken up and, without an edge, finished; what each step released goes to the file `seen`."""
    if edge is not None:
        armed(*edge)
    real = toy.stepped

    def noted(run, name, *given):
        told = real(run, name, *given)
        with open(seen, "a") as file:
            file.write(json.dumps([name, told]) + "\n")
        return told

    toy.stepped = noted if seen is not None else real
    with dp.open(folder / "people.toml") as people:
        return toy.toy(people.table)


def wrongs(folder, seen, *, finished):
    """All that must hold once somebody has finished the run."""
    with dp.open(folder / "people.toml") as people:
        result, _ = finished
        ledger = people.table.ledger
        kinds = [entry["kind"] for entry in ledger.entries()]
        spent = ledger.verify().spent.epsilon
    told = json.loads(result)
    right = told["regions"] == REGIONS and told["best"] == "n" and abs(told["moments"][1] - AGES) < SPREAD
    wrong = [] if right else [f"result {result!r}"]
    wrong += [] if kinds.count("purse") == 1 and kinds.count("end") == 1 else [f"entries {kinds}"]
    wrong += [] if spent == toy.EPSILON else [f"spent {spent}"]
    released = {}
    for line in seen.read_text().splitlines() if seen.exists() else ():
        name, numbers = json.loads(line)
        if released.setdefault(name, numbers) != numbers:
            wrong.append(f"step {name} was released twice, as {released[name]} and {numbers}")
    return wrong


def main(place, how, every, first):
    wrong, outcomes = [], []
    for number, (name, edge) in enumerate(edges().items()):
        if number % int(every) != int(first):
            continue
        folder = Path(place) / f"{how}{number}"
        folder.mkdir(parents=True)
        (folder / "people.toml").write_text(TOML)
        filled(folder, lambda n: "s" if n % 3 == 0 else "n")
        seen = folder / "seen"
        for _ in range(2 if how == "twice" else 1):
            child = forked(partial(take, folder, edge, seen))
            outcomes.append(ended(child))
        if how == "changed" and name not in ("before the purse", "ended"):
            filled(folder, lambda n: "s")
        try:
            wrong += [f"{how}, {name}: {what}" for what in wrongs(folder, seen, finished=take(folder, seen=seen))]
        except Exception as error:
            wrong.append(f"{how}, {name}: {error!r}")
    print(json.dumps({"wrong": wrong, "killed": sum(code != 0 for code in outcomes), "children": len(outcomes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
