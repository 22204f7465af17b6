"""Ctrl-C, SIGSTOP, full disks and rights, met by whoever asks: run as a process of its own, so that forking is safe.

python -m faults.trouble_driver interrupts|stops|full|unwritable FOLDER       → one JSON object
"""

import errno
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import discreet as dp
from discreet import durable
from discreet.ask.asking import Asking
from discreet.cli import main
from discreet.engine import engine
from discreet.errors import CannotWrite, DiscreetError, EngineFailed, LedgerUnavailable
from discreet.ledger import ledger as ledgers
from discreet.ledger.head import HeadFile
from discreet.ledger.ledger import Ledger
from discreet.table import Table
from faults import common
from faults.common import EACH, ask, forked, insist, laid, opened, wrongs
from faults.edges import at, edges_of_asking, expected, within
from faults.nursery import Nursery

MARK = os.environ["XDG_STATE_HOME"]
nursery = Nursery()
KNOWN = {nursery.pid, *common.marked(MARK)}


def afterwards(folder, number=1, *, charged):
    """What is wrong once all is over: with the ledger, the files, the processes, and with the question asked again."""
    with opened(folder) as dataset:
        once, twice = insist(folder, dataset, number), ask(folder, dataset, number)
    wrong, charges = wrongs(folder)
    same = common.told(once) == common.told(twice) and twice.replayed
    wrong += [] if same else ["another answer"]
    wrong += [] if len(charges) == charged else [f"{len(charges)} charges, not {charged}"]
    wrong += [f"process {pid} is left" for pid in common.orphans(MARK, KNOWN)]
    return wrong + common.leftovers(folder)


def begun(folder, epsilon=100):
    """A dataset whose question 0 was answered; the keys of the others."""
    laid(folder, epsilon=epsilon)
    with opened(folder) as dataset:
        ask(folder, dataset, 0)
        return [common.key(dataset, number) for number in range(60)]


def charged_and_stored(folder, key):
    charges = wrongs(folder)[1]
    return [key in charges, charges.get(key, {}).get("state") == "COMMITTED"]


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


COMMAND_EDGES = {  # around those of a question: what is charged and stored is that of the edge named
    "before anything": (at(main, "_reply", interrupt), "before the charge"),
    "while opening": (at(Asking, "terms", interrupt), "before the charge"),
    "while preparing": (at(engine.Engine, "_facts", interrupt), "before the charge"),
    "while closing": (at(Table, "close", interrupt), "after the hand-out"),
    "closed": (at(Table, "close", interrupt, after=True), "after the hand-out"),
    "while printing": (at(main, "show", interrupt), "after the hand-out"),
}


def interrupts(folder):
    """Ctrl-C at every edge of `discreet ask --json`: status, what was said, what was charged."""
    armed = {name: (arm, name) for name, arm in edges_of_asking(interrupt).items()} | COMMAND_EDGES
    place, wrong, outcomes = folder / "people", [], {}
    keys = begun(place)
    for number, (name, (arm, like)) in enumerate(armed.items(), 1):
        said = folder / str(number)
        status = common.ended(forked(lambda number=number, arm=arm, said=said: _command(place, number, arm, said)))
        rows = charged_and_stored(place, keys[number])
        wrong += [] if rows == expected(like) else [f"{name}: charged and stored are {rows}"]
        wrong += [f"{name}: {what}" for what in afterwards(place, number, charged=number + 1)]
        out, err = (said.with_suffix(stream).read_text() for stream in (".out", ".err"))
        told = json.loads(out) if out.count("\n") == 1 else {"code": out}
        outcomes[name] = [status, told["code"], told.get("exit"), err]
    return {"wrong": wrong, "outcomes": outcomes}


def _command(place, number, arm, said):
    for stream, name in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(said.with_suffix(name), os.O_WRONLY | os.O_CREAT, 0o600), stream)
    arm()
    status = 1
    try:
        main.run(["ask", str(place / "people.toml"), common.text(number), "--eps", str(float(EACH)), "--json"])
    except SystemExit as left:
        status = left.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


# --- SIGSTOP ---------------------------------------------------------------------------------------------------------


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def stops(folder):
    """Whoever asks stands still at an edge; meanwhile others ask, and afterwards it goes on."""
    ledgers.WAIT = Ledger.open.__func__.__kwdefaults__["wait"] = 0.3  # seconds, for those who wait
    Ledger.create.__func__.__kwdefaults__["wait"] = 0.3
    Ledger.charge.__kwdefaults__["patience"] = 0.3
    begun(folder)
    twins = ("head written beside", "head in place")  # the ledger is held there as at their neighbours
    armed = {name: arm for name, arm in edges_of_asking(stop).items() if not name.endswith(twins)}
    armed["preparing"] = at(durable, "put_in_place", stop)
    wrong, slowest, outcomes = [], 0.0, {}
    for number, (name, arm) in enumerate(armed.items()):
        if name == "preparing":
            common.filled(folder / "people.csv", 70)
        same, other = 2 * number + 1, 2 * number + 2
        child = forked(lambda arm=arm, same=same: _stopping(folder, same, arm))
        seconds, *outcomes[name] = _meanwhile(folder, child, same, other)
        slowest = max(slowest, seconds)
        wrong += [f"{name}: {what}" for what in afterwards(folder, same, charged=other + 1)]
    return {"wrong": wrong, "slowest": slowest, "outcomes": outcomes}


def _stopping(place, number, arm):
    Ledger.open.__func__.__kwdefaults__["wait"] = 30
    with opened(place) as dataset:
        arm()
        ask(place, dataset, number)


def _meanwhile(place, child, same, other):
    """The longest wait of others while the child stands still, what they were told, and what afterwards."""
    _, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        raise RuntimeError("the child did not stop")
    told, slowest = [], 0.0
    for number in (same, other):
        began = time.monotonic()
        told.append(_outcome(place, number))
        slowest = max(slowest, time.monotonic() - began)
    os.kill(child, signal.SIGCONT)
    if common.ended(child) != 0:
        told.append("the child failed")
    return slowest, *told, _outcome(place, other)


def _outcome(place, number):
    try:
        with opened(place, dp.Limits(memory=2**28, seconds=30, prepare_seconds=1, threads=1)) as dataset:
            ask(place, dataset, number)
        return "answered"
    except DiscreetError as error:
        return error.code


# --- full disks ------------------------------------------------------------------------------------------------------


def no_space():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


INJECTED = {  # what arms it, and whether the question is charged then
    "head cannot be read": (at(HeadFile, "read", no_space), False),
    "head, at the charge": (within(Ledger, "charge", at(os, "write", no_space)), False),
    "head not durable, at the charge": (within(Ledger, "charge", at(os, "fsync", no_space)), False),
    "head not in place, at the charge": (within(Ledger, "charge", at(os, "replace", no_space)), True),
    "head, at the commit": (within(Ledger, "commit", at(os, "write", no_space)), True),
    "head, at the commit and at the failure": (within(Ledger, "commit", at(os, "write", no_space, times=2)), True),
    "head not in place, at the commit": (within(Ledger, "commit", at(os, "replace", no_space)), True),
}
PREPARING = {
    "key": at(durable, "write", no_space),
    "prepared file not durable": at(durable, "sync", no_space),
    "prepared file not in place": within(durable, "put_in_place", at(os, "replace", no_space)),
}


def full(folder):
    """No space at each write of a question: refused, and answered by the same process once there is some again."""
    wrong, place = [], folder / "people"
    keys = begun(place)
    for number, (name, (arm, charged)) in enumerate(INJECTED.items(), 1):
        with opened(place) as dataset:
            ask(place, dataset, 0)
            arm()
            wrong += [f"{name}: {what}" for what in _refused(place, dataset, number, LedgerUnavailable)]
            if charged != charged_and_stored(place, keys[number])[0]:
                wrong.append(f"{name}: the charge")
            ask(place, dataset, number)
        wrong += [f"{name}: {what}" for what in afterwards(place, number, charged=number + 1)]
    for number, (name, arm) in enumerate(PREPARING.items()):
        wrong += [f"{name}: {what}" for what in _cannot_prepare(folder / f"preparing {number}", arm)]
    return {"wrong": wrong, "small files": _small_files(folder / "small"), "small table": _small_table(folder / "big")}


def _cannot_prepare(place, arm):
    laid(place, epsilon=1)
    with opened(place) as dataset:
        arm()
        wrong = _refused(place, dataset, 1, CannotWrite) + common.leftovers(place)
        wrong += ["a ledger was made" for _ in place.glob("*.ledger")]
        ask(place, dataset, 1)
    return wrong + afterwards(place, charged=1)


def _refused(place, dataset, number, error):
    try:
        ask(place, dataset, number)
    except DiscreetError as refused:
        return [] if type(refused) is error and refused.exit == 7 else [f"{type(refused).__name__} {refused}"]
    return ["answered"]


def _limited(size):
    """No file of this process may grow beyond that: the system's own refusal, without a small disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _small_files(place):
    """The ledger's file may not grow: all refusals, and the end."""
    begun(place, epsilon=100)
    wal, told, number = place / "people.ledger-wal", {}, 1
    with opened(place) as dataset:
        ask(place, dataset, 0)
        for room in range(0, 60_000, 3_000):
            _limited(resource.RLIM_INFINITY)
            if dataset.budget.closed:
                dataset.table.ledger.reopen("there was no space")
            _limited(wal.stat().st_size + room)
            for _ in range(3):
                number += 1
                outcome = "answered"
                try:
                    dataset.sql(common.text(number)).ask(epsilon=EACH)
                except DiscreetError as error:
                    outcome = f"{error.code} {error.exit}"
                told[outcome] = told.get(outcome, 0) + 1
        _limited(resource.RLIM_INFINITY)
        for attempt in range(2, number + 1):
            insist(place, dataset, attempt)
    return {"told": told, "wrong": afterwards(place, charged=number + 1)}


def _small_table(place):
    """The prepared file may not grow, in a worker that starts from nothing."""
    laid(place, epsilon=1, rows=20_000)
    nursery.leave()
    with opened(place) as dataset:
        _limited(100_000)
        wrong = _refused(place, dataset, 1, CannotWrite)
        _limited(resource.RLIM_INFINITY)
        wrong += common.leftovers(place) + [f"a ledger was made: {path.name}" for path in place.glob("*.ledger")]
        ask(place, dataset, 1)
    nursery.use()
    return wrong + afterwards(place, charged=1)


# --- rights ----------------------------------------------------------------------------------------------------------


def unwritable(folder):
    """A dataset's folder, or that of its head, may be read only: refused with 7 until it may be written."""
    begun(folder / "warm")  # all is loaded that is loaded late
    with common.nobodys_folder() as place:
        (place / "out").touch(0o666)
        (place / "out").chmod(0o666)
        if common.ended(forked(lambda: (place / "out").write_text(json.dumps(_as_nobody(place))))) != 0:
            raise RuntimeError("the child failed")
        return json.loads((place / "out").read_text())


def _as_nobody(place):
    if os.geteuid() == 0:
        os.setuid(common.NOBODY)
        nursery.uid = common.NOBODY
    os.environ["XDG_STATE_HOME"] = str(place / "state")
    replies, data = {}, place / "data"
    (place / "state").mkdir()
    laid(data, epsilon=1)
    for name, closed in (("new table", data), ("new head", place / "state")):
        closed.chmod(0o555)
        replies[name] = _outcome(data, 0)
        closed.chmod(0o755)
    replies["first answer"] = _outcome(data, 0)
    for name, closed in (("table", data), ("head", place / "state" / "discreet" / "heads")):
        closed.chmod(0o555)
        replies[name] = _outcome(data, 1)
        replies[f"{name}, known question"] = _outcome(data, 0)
        closed.chmod(0o755)
    return replies | {"wrong": afterwards(data, charged=2)}


def stopped_worker(folder):
    """A worker that stands still: no answer in time, charged, counted, and the next question has another."""
    engine._SETTLED = 0  # the stamps of a new file are believed, so that only the question meets the worker
    keys = begun(folder)
    with opened(folder, dp.Limits(memory=2**28, seconds=0.5, prepare_seconds=60, threads=1)) as dataset:
        ask(folder, dataset, 0)
        dataset.prepare()
        worker = dataset.table.engine.process._pair[0][0]
        os.kill(worker.pid, signal.SIGSTOP)
        began = time.monotonic()
        wrong = _refused(folder, dataset, 1, EngineFailed)
        seconds, failures = time.monotonic() - began, dataset.budget.failures
        wrong += [] if charged_and_stored(folder, keys[1]) == [True, False] else ["not charged"]
        wrong += [] if worker.wait() is not None else ["the worker is left"]
    return {"wrong": wrong + afterwards(folder, charged=2), "seconds": seconds, "failures": failures}


VERBS = {verb.__name__: verb for verb in (interrupts, stops, full, unwritable, stopped_worker)}

if __name__ == "__main__":
    mode, where = sys.argv[1:]
    nursery.use()
    try:
        print(json.dumps(VERBS[mode](Path(where))))
    finally:
        nursery.close()
