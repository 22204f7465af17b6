"""What every test of faults shares: a small table behind its gate, what must hold, and children that may be killed."""

import contextlib
import functools
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from fnmatch import fnmatch
from fractions import Fraction
from pathlib import Path

import discreet as dp
from discreet.answer.compose import recalled_answer
from discreet.ask.keys import request_of
from discreet.errors import Closed
from discreet.ledger.ledger import Ledger
from discreet.metadata import load
from discreet.query.bound import draft_of

HERE = Path(__file__).parents[1]
CELL = "zqcell"  # begins every text of the table, so that a copy of a cell is found
LIMITS = dp.Limits(memory=2**28, seconds=30, prepare_seconds=60, threads=1)
EACH = Fraction(1, 10)
NOBODY = 65534
OWN = {"people.csv", "people.toml", "people.key", "people.ledger", "state", "seen"}
PREPARED = "people.*.prepared"
OWN |= {"people.ledger-wal", "people.ledger-shm"}
_TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 1
[columns.note]
type = "text"
[columns.code]
type = "integer"
bounds = [0, 1000000]
[budget]
epsilon = {epsilon}
"""


def driven(module, *arguments, folder, seconds=1800):
    """The one JSON object that a driver prints; `folder` is where its ledgers' heads lie and marks its processes."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        env=os.environ | {"PYTHONPATH": path, "XDG_STATE_HOME": str(folder / "state")},
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


# --- a table ---------------------------------------------------------------------------------------------------------


def laid(folder, *, epsilon, rows=50):
    """people.toml and people.csv of so many units with a row each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.toml").write_text(_TOML.format(epsilon=float(epsilon)))
    filled(folder / "people.csv", rows)
    return folder / "people.toml"


def filled(path, rows, *, code=1):
    """The table written in place, its change long enough ago to be trusted.

    Its last column is not declared: tables of equal rows in two folders are two tables, each with its own ledger.
    """
    ending = f",{hashlib.sha256(str(path.parent).encode()).hexdigest()[:8]}\n"
    path.write_text("".join(["person,note,code,place\n", *(f"{n},{CELL}{n:07},{code}{ending}" for n in range(rows))]))
    settled(path)


def settled(path, ago=60):
    """The file's time of change set back, each time to another moment."""
    moment = time.time_ns() - ago * 10**9
    os.utime(path, ns=(moment, moment))


def opened(folder, limits=LIMITS):
    return dp.open(folder / "people.toml", limits=limits)


def text(number):
    return f"SELECT COUNT(*) AS n FROM people WHERE code <> {number + 2}"


def key(dataset, number, analyst=None, epsilon=EACH):
    """The key of that question on the present snapshot."""
    plan = dataset.sql(text(number)).plan(epsilon=epsilon)
    return dataset.table.charge_request(request_of(plan, analyst), dataset.prepare()).key


def told(answer):
    """What an analyst sees, without what belongs to the handing out."""
    plain = replace(answer, remaining=None, receipt=None, replayed=False)
    return hashlib.sha256(plain.to_bytes()).hexdigest()


@functools.cache
def told_of(stored, schema):
    """What an analyst would see of these stored bytes."""
    answer = recalled_answer(stored, lambda question: draft_of(question, schema), schema=schema.hash)
    plan = {name: said for name, said in answer.plan.items() if name != "version"}  # only a recalled one states it
    return told(replace(answer, plan=plan))


def ask(folder, dataset, number, analyst=None):
    """The question asked and its answer shown: one line in a file, written at once."""
    answer = dataset.sql(text(number)).ask(epsilon=EACH, analyst=analyst)
    hand_out(folder, [key(dataset, number, analyst), told(answer), number, analyst])
    return answer


def insist(folder, dataset, number):
    """The question asked, and once more when the curator has opened what too many failures had closed."""
    try:
        return ask(folder, dataset, number)
    except Closed:
        dataset.table.ledger.reopen("the cause is known")
        return ask(folder, dataset, number)


def hand_out(folder, line):
    handle = os.open(folder / "seen", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, json.dumps(line).encode() + b"\n")
    os.close(handle)


def seen(folder):
    log = folder / "seen"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


# --- what must hold --------------------------------------------------------------------------------------------------


def charged_twice(charges):
    """Whether a key was charged again although an earlier charge was answered, or could still be tried."""
    last = {e["key"]: e["n"] for e in charges}
    return any(e["n"] != last[e["key"]] and (e["state"] == "COMMITTED" or e["attempt"] < 2) for e in charges)


def wrongs(folder):
    """All that is wrong with a ledger and what was seen of it, and its charges by key."""
    wrong, shown, schema = [], {}, load(folder / "people.toml").schema
    with Ledger.open(folder / "people.ledger") as ledger:
        standing = ledger.verify()
        entries = [e for e in ledger.entries() if e["kind"] == "charge"]
        charges = {e["key"]: e for e in entries}  # the last one under each key
        if charged_twice(entries):
            wrong.append("a key was charged twice")
        if standing.spent.epsilon > standing.rules.budget.epsilon:
            wrong.append("overspent")
        if standing.spent.epsilon != sum((Fraction(e["epsilon"]) for e in entries), Fraction(0)):
            wrong.append("the sum is not that of the entries")
        for key, digest, *_ in seen(folder):
            stored = ledger.stored(key)
            if charges.get(key, {}).get("state") != "COMMITTED" or stored is None:
                wrong.append("answered but not charged and stored")
            elif told_of(stored, schema) != digest:
                wrong.append("what was seen is not what is stored")
            if shown.setdefault(key, digest) != digest:
                wrong.append("one key, two answers")
        if standing.closed:
            ledger.reopen("the cause is known")
    return wrong, charges


def replayed(folder):
    """Seconds to open the dataset again and replay what was seen last, and what is wrong with it."""
    began = time.monotonic()
    with opened(folder) as dataset:
        snapshot, wrong = dataset.prepare(), []
        for key_told, digest, number, analyst in reversed(seen(folder)):
            if key_told == key(dataset, number, analyst):
                answer = dataset.sql(text(number)).ask(epsilon=EACH, analyst=analyst)
                if not answer.replayed or told(answer) != digest:
                    wrong.append("the replay differs")
                break
        seconds = time.monotonic() - began
        if snapshot != dataset.prepare():
            wrong.append("the snapshot moved by itself")
    return seconds, wrong + leftovers(folder)


def leftovers(folder):
    """What a prepared dataset must not leave beside itself: scratch files, and cells outside of the two tables."""
    wrong = [f"left: {name}" for name in sorted({path.name for path in folder.iterdir()} - OWN)
             if not fnmatch(name, PREPARED)]  # fmt: skip
    others = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != "people.csv" and not fnmatch(path.name, PREPARED)
    ]
    return wrong + [f"cells in {path.name}" for path in others if CELL.encode() in path.read_bytes()]


# --- children --------------------------------------------------------------------------------------------------------


def forked(work):
    """A child that does `work` and ends, whatever happens."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def ended(child, seconds=60):
    """How a child of ours ended: its status, or minus the signal; one that does not end in time is killed and wrong."""
    handle = os.pidfd_open(child)
    try:
        if not select.select([handle], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError("a child did not end")
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def orphans(mark, known, seconds=5):
    """Processes with our mark in their environment beyond the known ones, once the others had time to leave."""
    until = time.monotonic() + seconds
    while True:
        orphans = [pid for pid in marked(mark) if pid not in known]
        if not orphans or time.monotonic() > until:
            return orphans
        time.sleep(0.005)


def marked(mark):
    """The living processes that were started with that mark."""
    wanted = f"XDG_STATE_HOME={mark}".encode()
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            with contextlib.suppress(OSError):
                running = (place / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
                if running and wanted in (place / "environ").read_bytes().split(b"\0"):
                    yield int(place.name)


# --- rights ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def nobody():
    """Without root's right to write anywhere."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if before == 0:
            os.seteuid(before)


@contextlib.contextmanager
def nobodys_folder():
    """A folder that `nobody` owns, outside of those that only root can enter."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(place, NOBODY, NOBODY)
        yield place
        for path in (place, *place.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
