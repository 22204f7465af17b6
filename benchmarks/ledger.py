"""How long a ledger takes to open, to charge and to show, at the sizes of years of use."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.report import Aim, Report, Table, verdict
from discreet.dataset import open_dataset
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.privacy.cost import Pure, Together, Zcdp

MANY, SHOWN, CHARGED, PARTS = 100_000, 20_000, 10_000, 200
RUNS, BATCH, ANSWER = 3, 32, b"an answer"
OPENING = Opening("people", "person", "add-remove", Rules(budget(10**4, "1e-6")))
TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person_id"
max_rows = 2
[columns.age]
type = "integer"
bounds = [0, 110]
[budget]
epsilon = 10000
delta = 1e-6
"""


def report() -> Report:
    """CPU seconds, each the least of several runs but for what is done once."""
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, XDG_STATE_HOME=name):
        folder = Path(name)
        measured = {**_opened(folder), **_purse(folder), **_shown(folder)}
    aims = {f"opening at {MANY:,} entries": Aim(at_most=0.02), f"discreet ledger at {SHOWN:,} entries": Aim(at_most=2)}
    rows = []
    for what, seconds in measured.items():
        aim = aims.get(what)
        rows.append((what, f"{seconds:.4f}", aim.text(" s") if aim else "", verdict(aim, seconds) if aim else ""))
    meaning = "Seconds of CPU. A charge is two durable entries, the charge and its answer, each with its own commit."
    return Report((Table("Ledger", meaning, ("what", "CPU s", "aim", "met"), tuple(rows)),), measured, ())


def _opened(folder: Path) -> dict[str, float]:
    with _filled(folder / "some.ledger", CHARGED) as ledger:
        charging = _least(lambda: _asked(ledger, f"{time.perf_counter_ns()}"))
    with _filled(folder / "more.ledger", MANY) as ledger:
        entries = ledger.standing().entries
    opening = _least(partial(_reopened, folder / "more.ledger"))
    first = _least(lambda: _looked(folder / "more.ledger"))
    return {
        f"a charge at {CHARGED:,} entries": charging,
        f"opening at {MANY:,} entries": opening,
        f"opening, standing and replay at {entries:,} entries": first,
    }


def _reopened(path: Path) -> None:
    Ledger.open(path).close()


def _looked(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.standing()
        if ledger.stored("7") is None:
            raise RuntimeError("an answer is missing")


def _filled(path: Path, entries: int, opening: Opening = OPENING) -> Ledger:
    """A ledger of about that many entries, half of them answers, written as its first two were but many at a time."""
    ledger = Ledger.create(path, opening)
    _asked(ledger, "0")
    charge, answer = (row.entry for row in ledger._store.rows(1))
    for start in range(1, entries // 2, BATCH):
        with ledger._writing() as (pen, _):
            for number in range(start, min(start + BATCH, entries // 2)):
                row = pen.append({**charge, "key": str(number)})
                pen.append({**answer, "charge": row.number}, (row.number, ANSWER))
    ledger.close()
    return Ledger.open(path)


def _asked(ledger: Ledger, key: str) -> None:
    memo = {"question": "0" * 64, "text": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"}
    ledger.commit(ledger.charge(ChargeRequest(key, memo=memo, analyst="ana"), Pure("0.1")), ANSWER)


def _purse(folder: Path) -> dict[str, float]:
    """As many small charges, each with a cost of its own, from one purse: a sum, or a slot for each."""
    costs = [Pure(f"0.001{number:03}") for number in range(PARTS)]
    figures = {}
    for kind, reserved in (("zCDP", Zcdp("0.1")), ("slots", Together(tuple(costs)))):
        path = folder / f"{kind}.ledger"
        with Ledger.create(path, OPENING) as ledger:
            purse = ledger.purse(ChargeRequest("run", memo="a run", epsilon=5, delta="1e-8"), reserved)
            began = _cpu()
            for number, cost in enumerate(costs):
                purse.commit(purse.charge(ChargeRequest(f"step {number}", memo="a step"), cost), ANSWER)
            figures[f"{PARTS} charges from one purse, {kind}"] = _cpu() - began
        figures[f"opening after that, {kind}"] = _least(partial(_reopened, path))
    return figures


def _shown(folder: Path) -> dict[str, float]:
    """The whole command, Python's own start included."""
    toml = folder / "people.toml"
    toml.write_text(TOML)
    (folder / "people.csv").write_text("person_id,age\n1,30\n2,40\n")
    with open_dataset(toml) as dataset:
        _filled(dataset.table.ledger_path, SHOWN, dataset.table.opening).close()
    last = ["--last", "20"]
    return {
        f"discreet ledger at {SHOWN:,} entries": _least(lambda: _command("ledger", str(toml))),
        f"discreet ledger --json at {SHOWN:,} entries": _least(lambda: _command("ledger", str(toml), "--json")),
        f"discreet ledger --last 20 at {SHOWN:,} entries": _least(lambda: _command("ledger", str(toml), *last)),
        f"discreet ledger --verify at {SHOWN:,} entries": _least(lambda: _command("ledger", str(toml), "--verify")),
    }


def _least(act: Callable[[], Any]) -> float:
    """The least CPU seconds, of this process and of those it starts: other work on the machine disturbs them least."""
    times = []
    for _ in range(RUNS):
        began = _cpu()
        act()
        times.append(_cpu() - began)
    return min(times)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def _command(*words: str) -> None:
    command = [sys.executable, str(Path(sys.executable).parent / "discreet"), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
