"""How long a command takes to start, and whether it imports the heavy libraries it does not need."""

import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Aim, Report, Table, verdict

RUNS = 7
HEAVY = ("dp_accounting", "scipy")

_PYTHON = [sys.executable]
_DISCREET = [sys.executable, str(Path(sys.executable).parent / "discreet")]


@dataclass(frozen=True)
class Start:
    """A command, and the CPU seconds it may take."""

    name: str
    command: list[str]
    aim: Aim | None


STARTS = (
    Start("python alone", [*_PYTHON, "-c", "pass"], None),
    Start("import discreet", [*_PYTHON, "-c", "import discreet"], Aim(most=0.15)),
    Start("discreet --help", [*_DISCREET, "--help"], Aim(most=0.5)),
    Start("discreet odds --eps 1 --prior 0.4", [*_DISCREET, "odds", "--eps", "1", "--prior", "0.4"], Aim(most=0.5)),
)


def report() -> Report:
    """CPU and wall seconds of each start, medians of runs that take turns."""
    times: dict[str, list[tuple[float, float]]] = {start.name: [] for start in STARTS}
    for _ in range(RUNS):
        for start in STARTS:
            times[start.name].append(cpu_and_wall(start.command))
    rows, figures = [], []
    for start in STARTS:
        cpu, wall = (statistics.median(each) for each in zip(*times[start.name], strict=True))
        heavy = [name for name in HEAVY if name in imported(start.command)]
        aim, met = ("", "") if start.aim is None else (start.aim.text(" s"), verdict(start.aim, cpu))
        rows.append((start.name, f"{cpu:.3f}", f"{wall:.3f}", aim, met, ", ".join(heavy) or "none"))
        figures.append(_figure(start, cpu, wall, heavy))
    meaning = (
        f"Medians of {RUNS} runs of the whole process, Python's own start included. The aim is for CPU time, "
        f"which other work on the machine disturbs least. The last column: which of {' and '.join(HEAVY)} it imported."
    )
    columns = ("command", "CPU s", "wall s", "aim", "met", "heavy imports")
    return Report((Table("Start", meaning, columns, tuple(rows)),), figures)


def _figure(start: Start, cpu: float, wall: float, heavy: list[str]) -> dict[str, Any]:
    met = None if start.aim is None else start.aim.met(cpu)
    return {"command": start.name, "cpu_seconds": cpu, "wall_seconds": wall, "met": met, "heavy_imports": heavy}


def cpu_and_wall(command: list[str]) -> tuple[float, float]:
    """CPU seconds (user and system) and wall seconds of a process that must end well."""
    before, start = _children(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
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
