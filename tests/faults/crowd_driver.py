"""Many who ask at once, and one question asked many times: run as a process of its own, so that forking is safe.

python -m faults.crowd_driver crowd FOLDER PROCESSES ANALYSTS SENT FITS | command FOLDER | retries FOLDER COUNT KEYS N
"""

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from discreet.errors import DiscreetError, LedgerUnavailable
from faults import common
from faults.common import EACH, ask, forked, laid, opened, seen, told, wrongs
from faults.edges import die, edges_of_asking
from faults.nursery import Nursery

MARK = os.environ["XDG_STATE_HOME"]
nursery = Nursery()
KNOWN = {nursery.pid, *common.marked(MARK)}


def crowd(folder, processes, analysts, sent, fits):
    """So many analysts in each of so many processes; nobody has prepared the table or made the ledger before."""
    laid(folder, epsilon=fits * EACH)
    (folder / "outcomes").mkdir()
    children = [
        forked(lambda part=part: _together(folder, part, processes, analysts, sent)) for part in range(processes)
    ]
    (folder / "go").touch()
    statuses = [common.ended(child, 600) for child in children]
    counted = collections.Counter()
    for path in (folder / "outcomes").iterdir():
        counted.update(json.loads(path.read_text()))
        path.unlink()
    (folder / "outcomes").rmdir()
    (folder / "go").unlink()
    wrong, charges = wrongs(folder)
    stored = sum(charge["state"] == "COMMITTED" for charge in charges.values())
    wrong += common.leftovers(folder) + [f"process {pid} is left" for pid in common.orphans(MARK, KNOWN)]
    wrong += [f"a process ended with {status}" for status in statuses if status]
    facts = {"charged": len(charges), "stored": stored, "analysts": len({e["analyst"] for e in charges.values()})}
    return {"wrong": wrong, "outcomes": dict(counted), "replays": _replays(folder), **facts}


def _together(folder, part, processes, analysts, sent):
    """The analysts of one process as threads: every other with a dataset of its own, the rest share one."""
    with opened(folder) as shared:
        threads = []
        for who in range(analysts):
            numbers = range(part * analysts + who, sent, processes * analysts)
            threads.append(threading.Thread(target=_analyst, args=[folder, shared, part, who, numbers]))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _analyst(folder, shared, part, who, numbers):
    outcomes = collections.Counter()
    with contextlib.ExitStack() as stack:
        dataset = stack.enter_context(opened(folder)) if who % 2 else shared
        while not (folder / "go").exists():
            time.sleep(0.005)
        for number in numbers:
            try:
                ask(folder, dataset, number, f"analyst {who}")
                outcomes["answered"] += 1
            except DiscreetError as error:
                outcomes[f"{error.code} {error.exit}"] += 1
            except BaseException as error:
                outcomes[type(error).__name__] += 1
    (folder / "outcomes" / f"{part} {who}").write_text(json.dumps(outcomes))


def _replays(folder):
    """How many of the answers seen are given again, free and the same, to whoever saw them."""
    same = 0
    with opened(folder) as dataset:
        for _, digest, number, analyst in seen(folder):
            answer = dataset.sql(common.text(number)).ask(epsilon=EACH, analyst=analyst)
            same += answer.replayed and told(answer) == digest
    return same


def command(folder):
    """Four command lines at once on a budget for two, with workers that start from nothing."""
    toml = laid(folder, epsilon=2 * EACH)
    start = [sys.executable, "-c", "from discreet.cli.main import run; run()", "ask", str(toml)]
    lines = [[*start, common.text(number), "--eps", str(float(EACH)), "--json"] for number in range(4)]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(line, **quiet) for line in lines]
    said = [(json.loads(child.communicate(timeout=120)[0]), child.returncode) for child in running]
    outcomes = collections.Counter(f"{reply.get('code', 'answered')} {status}" for reply, status in said)
    wrong, charges = wrongs(folder)
    return {"wrong": wrong + common.leftovers(folder), "outcomes": dict(outcomes), "charged": len(charges)}


def same(folder):
    """One question in ten command lines at once."""
    toml = laid(folder, epsilon=2 * EACH)
    start = [sys.executable, "-c", "from discreet.cli.main import run; run()", "ask", str(toml)]
    line = [*start, common.text(0), "--eps", str(float(EACH)), "--json"]
    running = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(10)]
    said = [(json.loads(child.communicate(timeout=240)[0]), child.returncode) for child in running]
    wrong, charges = wrongs(folder)
    return {
        "wrong": wrong + common.leftovers(folder),
        "exits": [status for _, status in said],
        "receipts": len({reply.get("receipt") for reply, _ in said}),
        "charged": len(charges),
    }


# --- one question, many times ----------------------------------------------------------------------------------------


def retries(folder, count, keys, seed):
    """Each key first killed at an edge, then asked by several at once, by some who are killed and some who are not."""
    chance, kinds = random.Random(seed), list(edges_of_asking(die))
    laid(folder, epsilon=10**4)
    with opened(folder) as dataset:
        dataset.prepare()
    for number in range(keys):
        _ended([_child(folder, number, edge=kinds[number % len(kinds)])])
        _ended([_child(folder, number, times=2) for _ in range(3)])  # at once
        _settled(folder, number)
        while _tried(folder) < (number + 1) * count // keys:
            child = _child(folder, number, times=20)
            if chance.random() < 0.4:
                time.sleep(chance.random() * 0.2)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            _ended([child])
    tried = _tried(folder)
    (folder / "tried").unlink()
    wrong, charges = wrongs(folder)
    wrong += common.leftovers(folder) + [f"process {pid} is left" for pid in common.orphans(MARK, KNOWN)]
    answers = {(key, digest) for key, digest, *_ in seen(folder)}
    return {
        "wrong": wrong,
        "tried": tried,
        "charges": len(charges),
        "answers": len(answers),
        "shown": len(seen(folder)),
    }


def _child(folder, number, *, times=1, edge=None):
    def work():
        with opened(folder) as dataset:
            dataset.prepare()
            if edge is not None:
                edges_of_asking(die)[edge]()
            for _ in range(times):
                _try(folder)
                with contextlib.suppress(LedgerUnavailable):  # somebody else is computing it
                    ask(folder, dataset, number)

    return forked(work)


def _settled(folder, number):
    """The key has its answer, whatever happened; the curator opens what the kills have closed."""
    wrongs(folder)
    with opened(folder) as dataset:
        _try(folder)
        ask(folder, dataset, number)


def _ended(children):
    for child in children:
        if common.ended(child) not in (0, -signal.SIGKILL):
            raise RuntimeError("a child failed")


def _try(folder):
    handle = os.open(folder / "tried", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, b".")
    os.close(handle)


def _tried(folder):
    return (folder / "tried").stat().st_size


VERBS = {verb.__name__: verb for verb in (crowd, command, same, retries)}

if __name__ == "__main__":
    mode, where, *numbers = sys.argv[1:]
    nursery.use()
    try:
        print(json.dumps(VERBS[mode](Path(where), *map(int, numbers))))
    finally:
        nursery.close()
