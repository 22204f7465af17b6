"""How preparing and asking grow from 10⁵ to 10⁸ rows: CPU, wall and the most memory, each size in a process of its own.

`python -m benchmarks.scale ROWS` measures one size and prints one JSON object.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import cpu, crowd, curator, memory, people
from benchmarks.environment import ROOT
from benchmarks.report import Aim, Report, Table, verdict

ROWS = (10**5, 10**6, 10**7, 10**8)
MEMORY = Aim(at_most=8)
LINEAR = Aim(at_most=1.15)  # the power of rows by which CPU time grows
GIBIBYTE = 2**30
LIMIT = 6  # GiB for the engine, so that all processes stay below 8
PREPARE = "prepare"
QUESTIONS = curator.SQL | {
    "mean of some": "SELECT AVG(income) AS mean FROM people WHERE age BETWEEN 30 AND 60 AND region <> 'region 00'",
    "private keys": "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    "one region each": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1) region, COUNT(*) AS n "
    "FROM people GROUP BY region",
}
TOML = f"""\
{curator.TOML}\
[columns.town]
type = "text"
[limits]
memory_gib = {LIMIT}
seconds = 600
"""


@dataclass(frozen=True)
class Step:
    """What was done to a table of so many rows, in CPU and wall seconds, and the most memory of all its processes."""

    what: str
    rows: int
    cpu: float
    wall: float
    memory: int


def report(sizes: tuple[int, ...] = ROWS) -> Report:
    """The growth of each step over all sizes."""
    steps = [step for rows in sizes for step in _measured_apart(rows)]
    table = Table(
        "From few rows to many", _MEANING, _columns(sizes), tuple(_row(what, steps) for what in _names(steps))
    )
    figures = {
        "steps": [asdict(step) for step in steps],
        "power": {what: _power(what, steps) for what in _names(steps)},
    }
    return Report((table,), figures)


_MEANING = (
    "CPU seconds / wall seconds / most memory in GiB (the peaks of worker and asker added), each size in a process of "
    f"its own under [limits] memory_gib = {LIMIT}. Growth: the power of rows that CPU time follows over the last step; "
    "1 is linear. Asking is timed from text to stored answer, the second time in its process."
)


def _measured_apart(rows: int) -> list[Step]:
    print(f"  {rows:,} rows …", file=sys.stderr)
    crowd.made(rows)
    command = [sys.executable, "-m", "benchmarks.scale", str(rows)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return [Step(**step) for step in json.loads(told.stdout)]


def measured(rows: int, source: Path, folder: Path) -> list[Step]:
    """Prepared and asked, with a new worker in between so that each has its own peak."""
    from discreet.dataset import open_dataset

    toml = folder / "people.toml"
    toml.write_text(TOML.format(source=source))
    with open_dataset(toml) as preparing:
        steps = [_step(PREPARE, rows, preparing.prepare)]
    for name, text in QUESTIONS.items():
        with open_dataset(toml) as asked:
            asked.prepare()
            asked.sql(text).ask(epsilon=2)  # once for what is loaded, opened and made at the first question
            steps.append(_step(name, rows, lambda text=text, asked=asked: asked.sql(text).ask(epsilon=1)))  # type: ignore[misc]
    return steps


def _step(what: str, rows: int, work: Callable[[], object]) -> Step:
    clock = cpu.Family()
    start, began = clock(), time.perf_counter()
    work()
    passed, wall = clock() - start, time.perf_counter() - began
    return Step(what, rows, passed, wall, _peak())


def _peak() -> int:
    """Bytes: the peaks of this process and of its running descendants, added."""
    return sum(map(memory.peak, ("self", *cpu.descendants(os.getpid()))))


# --- the table -----------------------------------------------------------------------------------------------------


def _names(steps: list[Step]) -> list[str]:
    return list(dict.fromkeys(step.what for step in steps))


def _columns(sizes: tuple[int, ...]) -> tuple[str, ...]:
    return ("step", *(f"{rows:,} rows" for rows in sizes), "growth", f"memory {MEMORY.text(' GiB')}", "linear")


def _row(what: str, steps: list[Step]) -> tuple[str, ...]:
    own = [step for step in steps if step.what == what]
    cells = [f"{step.cpu:.3g} / {step.wall:.3g} / {step.memory / GIBIBYTE:.2f}" for step in own]
    memory = verdict(MEMORY, *(step.memory / GIBIBYTE for step in own))
    power = _power(what, steps)
    return (
        what,
        *cells,
        "" if power is None else f"{power:.2f}",
        memory,
        "" if power is None else verdict(LINEAR, power),
    )


def _power(what: str, steps: list[Step]) -> float | None:
    """log(CPU ratio) / log(row ratio) of the two largest sizes."""
    own = sorted((step for step in steps if step.what == what), key=lambda step: step.rows)[-2:]
    if len(own) < 2:
        return None
    return math.log(own[1].cpu / own[0].cpu) / math.log(own[1].rows / own[0].rows)


def main(rows: int) -> list[dict[str, Any]]:
    """One size, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="scale-", dir=people.home()) as folder:
        os.environ["XDG_STATE_HOME"] = folder  # where ledgers keep their second record
        return [asdict(step) for step in measured(rows, crowd.made(rows), Path(folder))]


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
