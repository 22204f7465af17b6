"""Children that use a ledger and are killed: run as a process of its own, so that forking is safe.

python -m faults.ledger_driver kills FOLDER COUNT SEED | edges FOLDER [1] | crowd FOLDER PROCESSES EACH FITS |
    same FOLDER PROCESSES KILLED → JSON
"""

import json
import os
import random
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

from discreet.errors import BudgetExceeded, Conflict, LedgerUnavailable
from discreet.ledger import ledger as ledgers
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.privacy.cost import Pure
from faults.common import charged_twice, forked
from faults.edges import die

EACH = Pure("0.1")


def places(folder):
    return folder / "people.ledger", folder / "state" / "head"


def created(folder, epsilon):
    folder.mkdir(parents=True)
    path, head = places(folder)
    Ledger.create(
        path, Opening("people", "person", "add-remove", Rules(budget(epsilon), failures=10**6)), head=head
    ).close()


def opened(folder):
    path, head = places(folder)
    return Ledger.open(path, head=head)


def hand_out(folder, key, answer):
    """What an analyst sees: one line in a file, written at once."""
    handle = os.open(folder / "seen", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, json.dumps([key, answer.decode()]).encode() + b"\n")
    os.close(handle)


def ask(folder, ledger, key):
    """The gate's protocol: charge, compute, store, hand out."""
    receipt = ledger.charge(ChargeRequest(key, memo="a question"), EACH)
    if not receipt.stored:
        ledger.commit(receipt, f"{key} answered by {os.getpid()} at attempt {receipt.attempt}".encode())
    hand_out(folder, key, ledger.stored(key))


def same(folder, processes, killed):
    """One question asked by many at once; the first so many who get to compute it are killed while they do."""
    created(folder, 1)
    gate = folder / "go"

    def work():
        ledger = opened(folder)
        while not gate.exists():
            time.sleep(0.005)
        receipt = ledger.charge(ChargeRequest("key", memo="a question"), EACH)
        if not receipt.stored:
            hand_out(folder, "computing", b"")
            time.sleep(0.2)
            if receipt.attempt <= killed:
                die()
            ledger.commit(receipt, b"the answer")
        hand_out(folder, "key", ledger.stored("key"))

    children = [forked(work) for _ in range(processes)]
    gate.touch()
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    told = [json.loads(line) for line in (folder / "seen").read_text().splitlines()]
    with opened(folder) as ledger:
        standing = ledger.verify()
    return {
        "statuses": sorted(statuses),
        "computed": sum(key == "computing" for key, _ in told),
        "answers": [answer for key, answer in told if key == "key"],
        "charges": standing.charges,
        "failures": standing.failures,
    }


def questions(folder, start, ready):
    """Ask on and on, beginning with what earlier children may have left unanswered."""
    ledger = opened(folder)
    os.write(ready, b"!")
    for n in range(start, start + 10**6):
        try:
            ask(folder, ledger, f"key {n}")
        except Conflict:
            continue
        except BudgetExceeded:
            return


def checked(folder):
    """What must hold after any crash: seconds to reopen, and all that went wrong."""
    began = time.monotonic()
    ledger = opened(folder)
    standing = ledger.verify()
    seconds, wrong = time.monotonic() - began, []
    charged = [e for e in ledger.entries() if e["kind"] == "charge"]
    if standing.spent.epsilon > standing.rules.budget.epsilon:
        wrong.append("overspent")
    if standing.spent.epsilon != sum((Fraction(e["epsilon"]) for e in charged), Fraction(0)):
        wrong.append("the sum is not that of the entries")
    if charged_twice(charged):
        wrong.append("a key was charged twice")
    keys, seen = {e["key"]: e["state"] for e in charged}, {}
    log = folder / "seen"
    for line in log.read_text().splitlines() if log.exists() else []:
        key, answer = json.loads(line)
        if keys.get(key) != "COMMITTED" or ledger.stored(key) != answer.encode():
            wrong.append(f"{key} was answered but not charged and stored")
        if seen.setdefault(key, answer) != answer:
            wrong.append(f"{key} was answered twice, differently")
    ledger.close()
    return seconds, wrong, len(charged), len(seen)


def kills(folder, count, seed):
    """Kill -9 at random times; a new ledger after every fifty, so that checking stays quick."""
    chance, total = random.Random(seed), {"runs": 0, "wrong": [], "slowest": 0.0, "charged": 0, "seen": 0}
    while total["runs"] < count:
        place = folder / str(total["runs"])
        runs = min(50, count - total["runs"])
        slowest, wrong, charged, seen = killed(place, runs, chance)
        total["slowest"] = max(total["slowest"], slowest)
        for name, value in (("runs", runs), ("wrong", wrong), ("charged", charged), ("seen", seen)):
            total[name] += value
    return total


def killed(folder, runs, chance):
    """So many kills on one ledger: the slowest reopening, what went wrong, charges and answers seen."""
    created(folder, 10**4)
    slowest, wrong, charged, seen = 0.0, [], 0, 0
    listen, ready = os.pipe()
    ledger, began = opened(folder), time.monotonic()
    for n in range(5):
        ask(folder, ledger, f"warm {n}")
    longest = max(0.03, 2 * (time.monotonic() - began))  # ten questions' time on this machine
    ledger.close()
    for _ in range(runs):
        start = max(0, charged - 7)
        child = forked(lambda start=start: questions(folder, start, ready))
        if chance.random() < 0.8:
            os.read(listen, 1)  # opened; otherwise the kill may come before that
        time.sleep(chance.random() * longest)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seconds, problems, charged, seen = checked(folder)
        slowest, wrong = max(slowest, seconds), wrong + problems
    os.close(listen)
    os.close(ready)
    return slowest, wrong, charged, seen


# --- the edges of the protocol ----------------------------------------------------------------------


def at_statement(start, times=1):
    """Die when SQLite is about to run a statement that begins so, for the first or for so manieth time."""

    def arm(ledger):
        calls = iter(range(1, 10**9))
        ledger._store._open_connection().set_trace_callback(
            lambda sql: die() if sql.startswith(start) and next(calls) == times else None
        )

    return arm


def at_call(name, *, after):
    """Die before or after the system does something."""

    def arm(ledger):
        real = getattr(os, name)

        def fatal(*args):
            if not after:
                die()
            real(*args)
            die()

        setattr(os, name, fatal)

    return arm


EDGES = {
    "before the transaction": at_statement("BEGIN IMMEDIATE"),
    "before the entry": at_statement("INSERT INTO entries"),
    "before the answer": at_statement("INSERT INTO answers"),
    "before the head is written": at_call("write", after=False),
    "before the head is durable": at_call("fsync", after=False),
    "before the commit": at_statement("COMMIT"),
    "after the commit": at_call("replace", after=False),
    "after the head is in place": at_call("replace", after=True),
}


def edges(folder, checkpoints=0):
    """Kill at each edge of charge, of commit, and of handing out; then ask the same again.

    With `checkpoints`, every entry is followed by one, and the place between the two is an edge too.
    """
    outcomes, slowest, places_ = {}, 0.0, dict(EDGES)
    if checkpoints:
        ledgers.checkpoint_is_due = lambda _: True
        places_["before the checkpoint"] = at_statement("INSERT INTO entries", 2)
    for verb in ("charge", "commit"):
        for n, (name, arm) in enumerate(places_.items()):
            place = folder / f"{verb} {n}"
            created(place, 1)

            def work(place=place, arm=arm, verb=verb):
                ledger = opened(place)
                ask(place, ledger, "earlier")
                if verb == "charge":
                    arm(ledger)
                receipt = ledger.charge(ChargeRequest("key", memo="a question"), EACH)
                arm(ledger)
                ledger.commit(receipt, b"answer")
                die()

            child = forked(work)
            killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
            seconds, wrong, charged, _ = checked(place)
            ledger = opened(place)
            ask(place, ledger, "key")
            ledger.close()
            more, more_problems, after, seen = checked(place)
            slowest = max(slowest, seconds, more)
            wrong += (
                more_problems
                + ([] if killed else ["the child was not killed"])
                + ([] if after == seen == 2 else ["not 2"])
            )
            outcomes[f"{verb}, {name}"] = {"charged": charged - 1, "wrong": wrong}
    return {"edges": outcomes, "slowest": slowest}


# --- a crowd ----------------------------------------------------------------------


def crowd(folder, processes, each, fits):
    """Many processes at once, a budget for exactly `fits` of all their questions."""
    created(folder, Fraction(fits, 10))
    gate = folder / "go"

    def work(who):
        ledger = opened(folder)
        while not gate.exists():
            time.sleep(0.005)
        for n in range(each):
            try:
                ask(folder, ledger, f"analyst {who} question {n}")
            except BudgetExceeded:
                continue
            except LedgerUnavailable:
                hand_out(folder, "unavailable", b"")

    children = [forked(lambda who=who: work(who)) for who in range(processes)]
    gate.touch()
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    seconds, wrong, charged, seen = checked(folder)
    return {"statuses": statuses, "wrong": wrong, "charged": charged, "seen": seen, "slowest": seconds}


if __name__ == "__main__":
    mode, folder, *rest = sys.argv[1:]
    print(
        json.dumps({"kills": kills, "edges": edges, "crowd": crowd, "same": same}[mode](Path(folder), *map(int, rest)))
    )
