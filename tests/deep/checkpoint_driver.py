"""Children that train under a checkpoint and are killed: a process of its own, so that forking is safe.

python -m deep.checkpoint_driver FOLDER       → one JSON object
"""

import json
import os
import signal
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import torch

from deep.nets import CROSS_ENTROPY, net, sgd, small_plan, weights
from deep.nets import rows as small_rows
from discreet.deep.training.block import Block, Gradient
from discreet.deep.training.trainer import Trainer
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules
from faults.common import ended, forked

STEPS = 4  # and as many blocks
RULES = Rules(budget(40, "1e-3", ceiling=Fraction(1, 100)), failures=100)


def edges(how):
    """Name → (owner, function, which call, after it or before): where a child is killed."""
    blocks = {
        f"{name} {n}": (owner, function, n, after)
        for n in ((1, STEPS) if how == "alone" else (2,))
        for name, owner, function, after in [
            ("charged", Ledger, "charge_part", True),
            ("in the middle of step", Gradient, "take", False),
            ("block drawn", Block, "__call__", True),
            ("stored", Ledger, "commit", True),
        ]
    }
    return {
        "before the purse": (Ledger, "purse", 1, False),
        "purse": (Ledger, "purse", 1, True),
        **blocks,
        "before the result": (Ledger, "charge_part", STEPS + 1, False),
        "result": (Ledger, "commit", STEPS + 1, True),
        "ended": (Ledger, "end", 1, True),
    }


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


def train(folder, how, edge=None):
    """A fit under the checkpoint; every draw of a block and the weights it ended with go to the file `seen`."""
    real = Block.__call__

    def noted(self, exact, source):
        noting(folder, ["drawn", self.first])
        return real(self, exact, source)

    Block.__call__ = noted
    if edge is not None:
        armed(*edge)
    module = net(seed=os.getpid())
    options = {"plan": small_plan(STEPS), "clip": 0.5, "checkpoint": folder / "net.training"}
    if how == "ledger":
        opening = Opening("people", "row", "add-remove", RULES)
        with Ledger.open_or_create(folder / "people.ledger", opening) as ledger:
            teacher = Trainer(module, CROSS_ENTROPY, sgd(module), ledger=ledger, **options)
            teacher.fit(small_rows())
    else:
        teacher = Trainer(module, CROSS_ENTROPY, sgd(module), **options)
        teacher.fit(small_rows())
    noting(folder, ["weights", weights(module).tolist(), str(teacher.privacy_.epsilon), teacher.privacy_.receipt])


def noting(folder, line):
    with open(folder / "seen", "a") as file:
        file.write(json.dumps(line) + "\n")


def wrongs(folder, how):
    """All that must hold once somebody has finished the training, twice."""
    lines = [json.loads(line) for line in (folder / "seen").read_text().splitlines()]
    results = [line[1:] for line in lines if line[0] == "weights"]
    drawn = [line[1] for line in lines if line[0] == "drawn"]
    with Ledger.open(folder / ("people.ledger" if how == "ledger" else "net.training")) as ledger:
        entries, spent = ledger.entries(), ledger.verify().spent.epsilon
    kinds = [entry["kind"] for entry in entries]
    wrong = [] if all(result == results[0] for result in results) else ["two results of one training"]
    wrong += [] if results[0][1] == str(small_plan(STEPS).epsilon) else [f"epsilon {results[0][1]}"]
    wrong += [] if spent == small_plan(STEPS).epsilon else [f"spent {spent}"]
    wrong += [] if kinds.count("purse") == kinds.count("end") == 1 else [f"entries {kinds}"]
    wrong += [] if kinds.count("part") == STEPS + 1 else [f"{kinds.count('part')} parts"]
    wrong += [] if len(drawn) <= kinds.count("part") - 1 + kinds.count("retry") else ["a block without its charge"]
    wrong += [] if len(drawn) <= STEPS + 1 else [f"blocks drawn anew after they were stored: {drawn}"]
    return wrong


def main(place):
    torch.set_num_threads(1)
    sgd(net()), small_plan(STEPS)  # imports and prices that every child would repeat
    wrong, killed, tried = [], 0, 0
    for how in ("alone", "ledger"):
        for number, (name, edge) in enumerate(edges(how).items()):
            folder = Path(place) / f"{how}{number}"
            folder.mkdir(parents=True)
            killed += ended(forked(partial(train, folder, how, edge))) == -signal.SIGKILL
            statuses = [ended(forked(partial(train, folder, how))) for _ in range(2)]  # taken up, and replayed
            own = wrongs(folder, how) if statuses == [0, 0] else [str(statuses)]
            wrong += [f"{how}, {name}: {what}" for what in own]
            tried += 1
    print(json.dumps({"wrong": wrong, "killed": killed, "edges": tried}))


if __name__ == "__main__":
    main(*sys.argv[1:])
