"""Children that fit a model and are killed at an edge: a process of its own, so that forking is safe.

python -m rooms.fit_driver FOLDER once|changed EVERY FIRST       → one JSON object
"""

import json
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import discreet as dp
from discreet.kernel.encode import UNIT
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.steps import Steps
from discreet.learn.task import learning
from discreet.ledger.ledger import Ledger
from discreet.mechanism.additive import Additive
from faults.common import ended, forked
from rooms.run_driver import TOML, armed, filled

EPSILON, PASSES = Fraction(20), 2
STEPS = 1 + PASSES  # the centre comes first


def edges():
    """Name → (owner, function, which call, before or after it), in the order in which a fit meets them."""
    places = {"before the purse": (Ledger, "purse", 1, False), "purse": (Ledger, "purse", 1, True)}
    for n in range(1, STEPS + 2):  # the result is a part too
        places[f"part {n}: before"] = (Ledger, "charge_part", n, False)
        places[f"part {n}: charged"] = (Ledger, "charge_part", n, True)
        if n <= STEPS:
            places[f"part {n}: drawn"] = (Additive, "__call__", n, True)
        places[f"part {n}: before the commit"] = (Ledger, "commit", n, False)
        places[f"part {n}: stored"] = (Ledger, "commit", n, True)
    return places | {"before the end": (Ledger, "end", 1, False), "ended": (Ledger, "end", 1, True)}


def take(folder, edge=None, seen=None):
    """The fit, taken up and, without an edge, finished; what each step released goes to the file `seen`."""
    if edge is not None:
        armed(*edge)
    real = Steps.measure

    def noted(self, name, *given, **named):
        released = real(self, name, *given, **named)
        with open(seen, "a") as file:
            file.write(json.dumps([name, released.tolist()]) + "\n")
        return released

    Steps.measure = noted if seen is not None else real
    try:
        with dp.open(folder / "people.toml") as people:
            learner = LinearLearner("huber", passes=PASSES)
            return learning(people.table, learner, "age", ["region"]).fit(epsilon=EPSILON)
    finally:
        Steps.measure = real


def wrongs(folder, seen, fit):
    """All that must hold once somebody has finished the fit."""
    with dp.open(folder / "people.toml") as people:
        kinds = [entry["kind"] for entry in people.table.ledger.entries()]
        spent = people.table.ledger.verify().spent.epsilon
    north = fit.released["centre"][1] / UNIT  # two thirds in the rows that it began with, none in the changed ones
    wrong = [] if north > 0.5 else [f"the centre is that of other rows: {north}"]
    wrong += [] if kinds.count("purse") == 1 and kinds.count("end") == 1 else [f"entries {kinds}"]
    wrong += [] if spent == EPSILON else [f"spent {spent}"]
    released = {}
    for line in seen.read_text().splitlines() if seen.exists() else ():
        name, numbers = json.loads(line)
        if released.setdefault(name, numbers) != numbers:
            wrong.append(f"step {name} was released twice, as {released[name]} and {numbers}")
    return wrong


def unequal(fit, repeated):
    """Whether a fit that is asked for once more is another, or was not replayed."""
    same = all((fit.released[name] == repeated.released[name]).all() for name in fit.released)
    return [] if same and repeated.is_replayed else ["an equal fit is another"]


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
        outcomes.append(ended(forked(partial(take, folder, edge, seen))))
        is_changed = how == "changed" and name not in ("before the purse", "ended")
        if is_changed:
            filled(folder, lambda n: "s")
        try:
            fit = take(folder, seen=seen)
            wrong += [f"{how}, {name}: {what}" for what in wrongs(folder, seen, fit)]
            wrong += [] if is_changed else [f"{how}, {name}: {what}" for what in unequal(fit, take(folder))]
        except Exception as error:
            wrong.append(f"{how}, {name}: {error!r}")
    print(json.dumps({"wrong": wrong, "killed": sum(code != 0 for code in outcomes), "children": len(outcomes)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
