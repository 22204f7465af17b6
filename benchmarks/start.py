"""How long a command takes to start, and whether it imports the heavy libraries it does not need."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.report import Aim, Report, Table, verdict

RUNS = 7
HEAVY = ("dp_accounting", "scipy")

_PYTHON = [sys.executable]
_DISCREET = [sys.executable, str(Path(sys.executable).parent / "discreet")]


@dataclass(frozen=True)
class Start:
    """A command, and the seconds it may take: of CPU, or by the clock where it works in two processes side by side.

    `{run}` in it becomes the number of the run.
    """

    name: str
    command: list[str]
    aim: Aim | None
    clock: str = "CPU"

    def judged(self, cpu: float, wall: float) -> float:
        """The figure that the aim is for."""
        return wall if self.clock == "wall" else cpu

    def nth(self, run: int) -> list[str]:
        """The command of that run."""
        return [part.replace("{run}", str(run)) for part in self.command]


STARTS = (
    Start("python alone", [*_PYTHON, "-c", "pass"], None),
    Start("import discreet", [*_PYTHON, "-c", "import discreet"], Aim(at_most=0.15)),
    Start("discreet --help", [*_DISCREET, "--help"], Aim(at_most=0.5)),
    Start("discreet odds --eps 1 --prior 0.4", [*_DISCREET, "odds", "--eps", "1", "--prior", "0.4"], Aim(at_most=0.5)),
)
QUESTION = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def report() -> Report:
    """CPU and wall seconds of each start, medians of runs that take turns."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, XDG_STATE_HOME=folder),  # where ledgers keep their second record
    ):
        try:
            asked = demo_ask(Path(folder))
        except subprocess.CalledProcessError:
            return _reported(STARTS, ("Not measured: discreet ask; the demo table could not be prepared.",))
        return _reported([*STARTS, asked], ())


def demo_ask(folder: Path) -> Start:
    """A question about the demo's table, prepared before; each run at a price of its own, or it would be replayed."""
    written = "from discreet.demo import hospital; import sys; hospital.write(sys.argv[1])"
    toml = str(folder / "visits.toml")
    for command in ([*_PYTHON, "-c", written, str(folder)], [*_DISCREET, "prepare", toml]):
        subprocess.run(command, check=True, capture_output=True)
    command = [*_DISCREET, "ask", toml, QUESTION, "--eps", "0.01{run}"]
    return Start("discreet ask, on the demo", command, Aim(at_most=1.5), "wall")


def _reported(starts: Sequence[Start], notes: tuple[str, ...]) -> Report:
    times: dict[str, list[tuple[float, float]]] = {start.name: [] for start in starts}
    for run in range(1, RUNS + 1):
        for start in starts:
            times[start.name].append(cpu_and_wall(start.nth(run)))
    rows, figures = [], []
    for start in starts:
        cpu, wall = (statistics.median(each) for each in zip(*times[start.name], strict=True))
        heavy = [name for name in HEAVY if name in imported(start.nth(RUNS + 1))]
        aim, met = (
            ("", "") if start.aim is None else (start.aim.text(" s"), verdict(start.aim, start.judged(cpu, wall)))
        )
        aim = f"{aim} {start.clock}" if aim else aim
        rows.append((start.name, f"{cpu:.3f}", f"{wall:.3f}", aim, met, ", ".join(heavy) or "none"))
        figures.append(_figure(start, cpu, wall, heavy))
    meaning = (
        f"Medians of {RUNS} runs of the whole process, Python's own start included. The aim is for CPU time, "
        "which other work on the machine disturbs least, and for `ask`, which works in two processes, for the clock. "
        f"The last column: which of {' and '.join(HEAVY)} it imported."
    )
    columns = ("command", "CPU s", "wall s", "aim", "met", "heavy imports")
    return Report((Table("Start", meaning, columns, tuple(rows)),), figures, notes)


def _figure(start: Start, cpu: float, wall: float, heavy: list[str]) -> dict[str, Any]:
    met = None if start.aim is None else start.aim.met(start.judged(cpu, wall))
    return {"command": start.name, "cpu_seconds": cpu, "wall_seconds": wall, "met": met, "heavy_imports": heavy}


def cpu_and_wall(command: list[str]) -> tuple[float, float]:
    """CPU seconds (user and system) and wall seconds of a process that must end well."""
    before, start = _children(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _children() - before, time.perf_counter() - start


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def imported(command: list[str]) -> set[str]:
    """The top-level packages that a Python command imports, by the interpreter's own account."""
    python, *rest = command
    traced = subprocess.run([python, "-X", "importtime", *rest], check=True, capture_output=True, text=True)
    return packages(traced.stderr)


def packages(trace: str) -> set[str]:
    """The packages named in the third column of `-X importtime`."""
    lines = (line for line in trace.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
