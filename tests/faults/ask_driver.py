"""Children that ask through the whole path and are killed: run as a process of its own, so that forking is safe.

python -m faults.ask_driver kills|workers FOLDER COUNT SEED | edges|preparing|making FOLDER       → one JSON object
"""

import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from discreet import durable
from discreet.engine import engine, secret
from discreet.errors import BudgetExceeded, Closed, Conflict, EngineFailed
from discreet.ledger import store
from discreet.ledger.head import HeadFile
from faults import common
from faults.common import EACH, ask, forked, insist, laid, opened, replayed, seen, wrongs
from faults.edges import at, die, edges_of_asking, expected, in_statement, within
from faults.nursery import Nursery

MARK = os.environ["XDG_STATE_HOME"]
nursery = Nursery()
KNOWN = {nursery.pid, *common.marked(MARK)}


def orphans():
    return [f"process {pid} is left" for pid in common.orphans(MARK, KNOWN)]


class Tally:
    """What went wrong in all, and the slowest opening with a replay, with warm workers and with new ones."""

    def __init__(self):
        self.wrong, self.slowest, self.warm, self.runs = [], 0.0, 0.0, 0

    def check(self, folder):
        """All that must hold after a fault; every eighth time with a worker that starts from nothing."""
        self.wrong += orphans()
        problems, charges = wrongs(folder)
        new = self.runs % 8 == 0
        if new:
            nursery.leave()
        seconds, differ = replayed(folder)
        nursery.use()
        self.runs += 1
        self.wrong += problems + differ
        self.slowest, self.warm = max(self.slowest, seconds if new else 0), max(self.warm, seconds)
        return charges

    def json(self, **more):
        return {"wrong": self.wrong, "slowest": max(self.slowest, self.warm), "restarts": self.runs, **more}


# --- kills at random times -------------------------------------------------------------------------------------------

FITS = 40  # questions that a budget pays for before it is used up


def asking_on(folder, start, ready):
    """Ask on and on, first what earlier children may have left unanswered, and from the start when all is spent."""
    with opened(folder) as dataset:
        dataset.prepare()
        os.write(ready, b"!")
        number = start
        while True:
            try:
                ask(folder, dataset, number)
            except Conflict:
                pass
            except Closed:
                return
            except BudgetExceeded:
                number = -1
            number += 1


def kills(folder, count, seed):
    """Kill -9 of whoever asks; a new dataset after every fifty, a new table before every fifth kill."""
    chance, tally, charged, shown = random.Random(seed), Tally(), 0, 0
    for run in range(count):
        if run % 50 == 0:
            place = folder / str(run)
            opening, each = begun(place, FITS)
            charges = tally.check(place)
        if run % 5 == 4:
            common.filled(place / "people.csv", 50 + run)
        before = len(charges)
        killed(place, max(0, before - 4), chance, tally, opening=opening, each=each)
        charges = tally.check(place)
        charged += len(charges) - before
        shown += len({line[0] for line in seen(place)}) if run % 50 == 49 or run == count - 1 else 0
    return tally.json(kills=count, charged=charged, shown=shown)


def begun(place, fits):
    """A dataset with three answers of so many that it can pay for; how long it takes here to open it, and to ask."""
    laid(place, epsilon=fits * EACH)
    with opened(place) as dataset:
        ask(place, dataset, 0)
    began = time.monotonic()
    with opened(place) as dataset:
        dataset.prepare()
        middle = time.monotonic()
        for number in (1, 2):
            ask(place, dataset, number)
    return middle - began, (time.monotonic() - middle) / 2


def killed(place, start, chance, tally, *, opening, each):
    """One kill: three of four while asking, else while opening."""
    listen, ready = os.pipe()
    child = forked(lambda: asking_on(place, start, ready))
    if chance.random() < 0.75:
        os.read(listen, 1)
        time.sleep(chance.random() * each * 5)
    else:
        time.sleep(chance.random() * opening * 2)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    status = common.ended(child)
    if status not in (-signal.SIGKILL, 0):
        tally.wrong.append(f"the child ended with {status}")
    os.close(listen)
    os.close(ready)


def workers(folder, count, seed):
    """Kill -9 of the worker: one that is computing for certain, then at random times; whoever asks lives on."""
    chance, tally, problems = (
        random.Random(seed),
        Tally(),
        dict.fromkeys(("answered", "failed", "given up", "reopened"), 0),
    )
    _, each = begun(folder, count + 10)
    replies = set()
    with opened(folder) as dataset:
        nursery.hold = str(folder / "computing")
        held = threading.Thread(target=_kill_computing, args=[dataset, folder / "computing"])
        held.start()
        replies.add(_reply(folder, dataset, 3, problems))
        held.join()
        for number in range(4, 4 + count):
            ask(folder, dataset, 0)
            timer = threading.Timer(chance.random() * each, _kill_worker, [dataset])
            timer.start()
            replies.add(_reply(folder, dataset, number, problems))
            timer.join()
    tally.check(folder)
    return tally.json(kills=count + 1, replies=sorted(replies - {None}), **problems)


def _reply(folder, dataset, number, problems):
    try:
        ask(folder, dataset, number)
        problems["answered"] += 1
    except EngineFailed as error:
        problems["failed"] += 1
        return str(error)
    except Conflict:
        problems["given up"] += 1
    except Closed:
        problems["reopened"] += 1
        dataset.table.ledger.reopen("workers are being killed")


def _kill_computing(dataset, sign):
    appeared(sign)
    nursery.hold = ""
    _kill_worker(dataset)
    sign.unlink()


def _kill_worker(dataset):
    with contextlib.suppress(IndexError):
        dataset.table.engine.process._pair[0][0].kill()


# --- kills at every edge ---------------------------------------------------------------------------------------------


def statement_edges(act):
    """Inside SQLite, where only a kill can be placed."""
    return {
        f"{verb}: before {start}": (in_statement(verb, start, act), [verb == "commit", False])
        for verb, starts in (
            ("charge", ("BEGIN IMMEDIATE", "INSERT INTO entries", "COMMIT")),
            ("commit", ("BEGIN IMMEDIATE", "INSERT INTO entries", "INSERT INTO answers", "COMMIT")),
        )
        for start in starts
    }


def edges(folder):
    """Kill at each edge of a question; then ask the same again."""
    armed = {name: (arm, expected(name)) for name, arm in edges_of_asking(die).items()} | statement_edges(die)
    armed["worker computing"] = (None, [True, False])
    laid(folder, epsilon=len(armed) * EACH + EACH)
    with opened(folder) as dataset:
        ask(folder, dataset, 0)
        keys = [common.key(dataset, number) for number in range(len(armed) + 1)]
    tally, outcomes = Tally(), {}
    for number, (name, (arm, wanted)) in enumerate(armed.items(), 1):
        charges = edge(folder, number, arm, tally)
        state = charges.get(keys[number], {}).get("state")
        outcomes[name] = [keys[number] in charges, state == "COMMITTED"] == wanted
        tally.wrong += asked_again(folder, number, charged=number + 1)
    return tally.json(edges=outcomes)


def edge(place, number, arm, tally):
    """The charges after one kill while that question was asked."""
    nursery.hold = "" if arm else str(place / "computing")

    def work():
        with opened(place) as dataset:
            dataset.prepare()
            if arm:
                arm()
            ask(place, dataset, number)

    child = forked(work)
    nursery.hold = ""
    if not arm:
        appeared(place / "computing")
        os.kill(child, signal.SIGKILL)
        (place / "computing").unlink()
    if common.ended(child) != -signal.SIGKILL:
        tally.wrong.append("the child was not killed")
    return tally.check(place)


def asked_again(place, number, *, charged):
    """What is wrong with the same question asked twice more, by somebody new."""
    with opened(place) as dataset:
        once, twice = insist(place, dataset, number), ask(place, dataset, number)
    wrong, charges = wrongs(place)
    if common.told(once) != common.told(twice) or not twice.replayed:
        wrong.append("another answer")
    return wrong + ([] if len(charges) == charged else ["another charge"]) + orphans()


def appeared(path, seconds=30):
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise TimeoutError(path.name)
        time.sleep(0.002)


# --- kills while preparing and while the ledger is made --------------------------------------------------------------


class Telling:
    """Arms: `act` when preparing tells of that step."""

    def __init__(self, step, share=None):
        self.step, self.share = step, share

    def __call__(self, step, share):
        if step == self.step and self.share in (None, share):
            die()


PREPARING = {
    "key not in place": at(os, "link", die),
    "key in place": at(os, "link", die, after=True),
    "key made": at(secret, "_make", die, after=True),
    "locked": at(engine.Engine, "_facts", die),
    "rows being ranked": Telling("ranking"),
    "rows being written": Telling("writing"),
    "made, not in place": at(durable, "put_in_place", die),
    "name not durable": within(durable, "put_in_place", at(os, "replace", die, after=True)),
    "in place": at(durable, "put_in_place", die, after=True),
    "all told": Telling("writing", 1.0),
}


def preparing(folder):
    """Kill at each step of preparing, the first time and again when the table changed; then ask."""
    tally = Tally()
    for number, (name, arm) in enumerate(PREPARING.items()):
        for repeated in (False, True):
            place = folder / f"{number} {repeated}"
            laid(place, epsilon=1)
            if repeated:
                if "key" in name:
                    continue
                with opened(place) as dataset:
                    ask(place, dataset, 0)
                common.filled(place / "people.csv", 70)
            _killed_preparing(place, arm, tally)
            for left in place.glob(".people.key.*"):  # a key of 64 digits that nobody uses, or the one in use
                left.unlink()
            tally.wrong += orphans() + asked_again(place, 0, charged=2 if repeated else 1)
            tally.check(place)
    return tally.json()


def _killed_preparing(place, arm, tally):
    def work():
        with opened(place) as dataset:
            if not isinstance(arm, Telling):
                arm()
            dataset.prepare(arm if isinstance(arm, Telling) else None)

    if common.ended(forked(work)) != -signal.SIGKILL:
        tally.wrong.append("the child was not killed while preparing")


MAKING = {
    "no file": at(store, "make_file", die),
    "empty file": at(store, "make_file", die, after=True),
    "connected": at(store.SqliteStore, "_open_connection", die, after=True),
    "head not written": at(HeadFile, "prepare", die),
    "head written beside": at(HeadFile, "prepare", die, after=True),
    "made, no head": at(HeadFile, "publish", die),
    "made": at(HeadFile, "publish", die, after=True),
}


def making(folder):
    """Kill at each step of making a ledger; the next question makes it or goes on with it."""
    tally = Tally()
    for number, (name, arm) in enumerate(MAKING.items()):
        place = folder / str(number)
        laid(place, epsilon=1)
        with opened(place) as dataset:
            dataset.prepare()

        def work(place=place, arm=arm):
            with opened(place) as dataset:
                dataset.prepare()
                arm()
                ask(place, dataset, 0)

        if common.ended(forked(work)) != -signal.SIGKILL:
            tally.wrong.append(f"{name}: the child was not killed")
        tally.wrong += asked_again(place, 0, charged=1)
        tally.check(place)
    return tally.json()


VERBS = {verb.__name__: verb for verb in (kills, workers, edges, preparing, making)}

if __name__ == "__main__":
    mode, where, *numbers = sys.argv[1:]
    nursery.use()
    try:
        print(json.dumps(VERBS[mode](Path(where), *map(int, numbers))))
    finally:
        nursery.close()
