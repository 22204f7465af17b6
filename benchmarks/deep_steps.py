"""Steps of training in units of plain PyTorch's on the same net and batch: ours, and Opacus's in its own environment.

CPU seconds of one thread, medians of rounds in which all kinds of a process take turns.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.deep_nets import CASES
from benchmarks.environment import ROOT, PeerUnavailable, python_of
from benchmarks.report import Aim, Table, verdict

ROUNDS, PEER_ROUNDS, PEER = 5, 2, "opacus"
OWN, OPACUS = "benchmarks.deep_own", "benchmarks.peers.opacus.worker"
MODES = ("hooks", "functorch", "ew", "ghost")
AIMS = {
    "CNN": Aim(at_most=1.15),
    "MLP": Aim(at_most=1.6),
    "MLP, large batch": Aim(at_most=1.2),
    "transformer": Aim(at_most=1.4),
    "LSTM": Aim(at_most=2),
}
MEMORY = Aim(at_most=1.3)
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Net:
    """Milliseconds of a step by kind, and bytes: the peak of a process, and how much of it is due to the steps."""

    name: str
    own: dict[str, float]
    opacus: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    memory: dict[str, dict[str, int]] = field(default_factory=dict)

    def ratio(self, form: str) -> float:
        """In units of plain steps; an LSTM of ours in units of its unrolled cell."""
        return self.own[form] / self.own["unrolled" if self.name == "LSTM" else "plain"]

    def peer_ratio(self, mode: str) -> float | None:
        """In units of plain steps of its own process."""
        return self.opacus[mode] / self.opacus["plain"] if mode in self.opacus else None

    def fastest_peer(self) -> float | None:
        """The ratio of Opacus's best mode."""
        return min((self.peer_ratio(mode) or 0 for mode in MODES if mode in self.opacus), default=None)

    def growth(self, part: str) -> float:
        """Memory with float noise in units of that of plain steps."""
        return self.memory["float"][part] / self.memory["plain"][part]


def nets(names: Sequence[str] = tuple(CASES)) -> tuple[list[Net], list[str]]:
    """Each net by every system, and a sentence for what could not be measured."""
    notes: list[str] = []
    try:
        peer: Path | None = python_of(PEER)
    except PeerUnavailable as error:
        peer = None
        notes.append(f"Not measured: {error}.")
    results = []
    for name in names:
        count = CASES[name].steps
        ours = _told(Path(sys.executable), OWN, name, str(ROUNDS), str(count))
        if ours["failures"]:
            raise RuntimeError(f"{name} was not trained: {ours['failures']}")
        memory = {form: _told(Path(sys.executable), OWN, name, form, "memory") for form in ("plain", "float", "exact")}
        told: dict[str, Any] = {"milliseconds": {}, "failures": {}}
        if peer is not None:
            told = _told(peer, OPACUS, name, str(PEER_ROUNDS), str(max(2, count // 4)))
        notes += [f"Opacus does not train {name} in mode {mode}: {why}" for mode, why in told["failures"].items()]
        results.append(Net(name, ours["milliseconds"], told["milliseconds"], told["failures"], memory))
    return results, notes


def _told(python: Path, module: str, *arguments: str) -> Any:
    command = [str(python), "-m", module, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=_one_thread())
    return json.loads(done.stdout.splitlines()[-1])


def _one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def table(measured: Sequence[Net]) -> Table:
    """Time: ours with float and exact noise, and each mode of Opacus."""
    columns = (
        "net",
        "batch",
        "plain ms",
        "ours",
        "aim",
        "met",
        "plain, channels last",
        "exact noise",
        *(f"Opacus {m}" for m in MODES),
        "first",
    )
    meaning = (
        "Steps in units of plain PyTorch's in the same process, of an LSTM of ours in units of its unrolled cell. "
        "Ours: a Trainer's steps, with every person in each step, with float noise, as Opacus has it, and with exact "
        "noise. Plain steps have pictures as they are usually written; ours puts channels last by itself, where plain "
        "steps are quicker too, and Opacus has the order that is quicker for the mode."
    )
    return Table("Time: a step of training", meaning, columns, tuple(map(_row, measured)))


def _row(net: Net) -> tuple[str, ...]:
    aim, ours, best = AIMS[net.name], net.ratio("float"), net.fastest_peer()
    peers = ("–" if ratio is None else f"{ratio:.2f}" for ratio in map(net.peer_ratio, MODES))
    ordered = f"{net.own['ordered'] / net.own['plain']:.2f}"
    judged = (f"{ours:.2f}", aim.text(), verdict(aim, ours), ordered, f"{net.ratio('exact'):.2f}")
    is_first = net.own["float"] / net.own["plain"] < best if best is not None else None
    first = "" if is_first is None else "yes" if is_first else "no"
    return (net.name, str(CASES[net.name].batch), f"{net.own['plain']:.1f}", *judged, *peers, first)


def memory_table(measured: Sequence[Net]) -> Table:
    """The most memory of a process that takes a few steps."""
    rows = []
    for net in measured:
        sizes = (f"{net.memory[form]['peak'] / MEBIBYTE:.0f}" for form in ("plain", "float", "exact"))
        ratio = net.growth("peak")
        judged = (f"{ratio:.2f}", verdict(MEMORY, ratio), f"{net.growth('growth'):.2f}")
        rows.append((net.name, *sizes, *judged))
    meaning = (
        "MiB that a process held at most while it took four steps, PyTorch itself included; the last column is the "
        "ratio of what the steps alone add, code and first weights left out."
    )
    columns = ("net", "plain", "ours, float", "ours, exact", f"ratio {MEMORY.text()}", "met", "ratio of steps alone")
    return Table("Memory", meaning, columns, tuple(rows))
