"""Passes of kernels: CPU seconds of twenty warm ones, and the worker's memory over a hundred times as many rows."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import peak
from benchmarks.report import Aim, Report, Table, verdict
from discreet.engine import Engine, Limits
from discreet.schema import Column, Schema, Unit

PASSES, ROWS = 20, 127_000
FEW, MANY = 10**5, 10**7
FEATURES = 8
NAMES = [f"x{place}" for place in range(FEATURES)]
COLUMNS = [*NAMES, "y"]
SCHEMA = Schema(
    "people",
    [*(Column(name, "number", bounds=(-5, 5)) for name in NAMES), Column("y", "boolean")],
    Unit("who", 4),
)
SCALED = [{"low": -5, "high": 5}] * FEATURES
BINNED = [{"edges": np.linspace(-5, 5, 33).tolist()}] * FEATURES
CLASS = {"values": [0, 1]}
LOGISTIC = {
    "loss": "logistic",
    "features": SCALED,
    "target": CLASS,
    "weights": np.full(1 + FEATURES, 10**5),
    "norm": 2,
    "rows": 4,
}
CELLS = LOGISTIC | {"features": BINNED, "weights": np.full(1 + 32 * FEATURES, 10**5)}
TESTS = np.arange(100 * 6).reshape(100, 6) % FEATURES
SIDES = np.broadcast_to(np.arange(33) > 15, (100, 6, 33)).astype(np.int64)
LEAVES = {"features": BINNED, "target": CLASS, "tests": TESTS, "sides": SIDES, "rows": 4}
KERNELS: dict[str, tuple[str, dict[str, Any], int]] = {  # with the passes that are timed: a forest takes one
    "risk, 8 numbers": ("risk", LOGISTIC, PASSES),
    "risk, 8 × 32 cells": ("risk", CELLS, PASSES),
    "gram, 8 numbers": ("gram", {"features": SCALED, "target": SCALED[0], "norm": 2, "balance": 5, "rows": 4}, PASSES),
    "class_moments, 8 numbers": ("class_moments", {"features": SCALED, "target": CLASS, "rows": 4}, PASSES),
    "leaves, 1 tree": ("leaves", LEAVES | {"tests": TESTS[:1], "sides": SIDES[:1]}, PASSES),
    "leaves, 100 trees": ("leaves", LEAVES, 1),
}
PASS_AIM, MEMORY_AIM = Aim(at_most=1), Aim(at_most=128)
_TICK = os.sysconf("SC_CLK_TCK")


def report() -> Report:
    """Twenty passes of each kernel, and peaks of a worker that did one pass."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        passes = _passes(folder)
        peaks = {size: _peak(folder, size) for size in (FEW, MANY)}
    rows = [
        (what, str(KERNELS[what][2]), f"{cpu:.3f}", f"{wall:.3f}", PASS_AIM.text(" s"), verdict(PASS_AIM, cpu))
        for what, (cpu, wall) in passes.items()
    ]
    meaning = f"Warm passes over {ROWS:,} rows, parent and worker together; the engine has one thread."
    timed = Table("Passes", meaning, ("kernel", "passes", "CPU s", "wall s", "aim", "met"), tuple(rows))
    grown = (peaks[MANY][0] - peaks[FEW][0]) / 2**20
    shown = [(f"{size:,}", f"{held / 2**20:.0f}", f"{seconds:.2f}") for size, (held, seconds) in peaks.items()]
    aim = f"Growth {grown:.0f} MiB, aim {MEMORY_AIM.text(' MiB')}: {verdict(MEMORY_AIM, grown)}."
    held = Table("Memory", f"Peak of a worker that did one pass. {aim}", ("rows", "MiB", "wall s"), tuple(shown))
    figures: dict[str, Any] = {
        "passes": {what: {"cpu": cpu, "wall": wall} for what, (cpu, wall) in passes.items()},
        "peaks": {str(size): {"bytes": held, "wall": seconds} for size, (held, seconds) in peaks.items()},
    }
    return Report((timed, held), figures, ())


def _passes(folder: Path) -> dict[str, tuple[float, float]]:
    figures = {}
    with _engine(folder, ROWS, 2**30) as engine:
        view = engine.view()
        for what, (kernel, public, passes) in KERNELS.items():
            view.sum(kernel, COLUMNS, public).compute()
            cpu, wall = _cpu(engine), time.perf_counter()
            for _ in range(passes):
                view.sum(kernel, COLUMNS, public).compute()
            figures[what] = _cpu(engine) - cpu, time.perf_counter() - wall
    return figures


def _peak(folder: Path, size: int) -> tuple[int, float]:
    with _engine(folder, size, 2**32) as engine:
        engine.prepare()
    with _engine(folder, size, 2**26) as engine:
        view = engine.view()
        engine.close()  # the next worker does the pass and nothing else
        began = time.perf_counter()
        view.sum("risk", COLUMNS, LOGISTIC).compute()
        return peak(_worker(engine)), time.perf_counter() - began


def _engine(folder: Path, size: int, memory: int) -> Engine:
    source = folder / f"{size}.parquet"
    if not source.exists():
        _write(source, size)
    return Engine(folder, f"t{size}", SCHEMA, source, Limits(memory=memory, seconds=600, threads=1))


def _write(source: Path, size: int) -> None:
    """Three rows a unit, written by the database, so that this process never holds them."""
    import duckdb

    numbers = ", ".join(f"random() * 12 - 6 AS {name}" for name in NAMES)
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        rows = f"SELECT range // 3 AS who, {numbers}, random() < 0.3 AS y FROM range({size})"
        connection.execute(f"COPY ({rows}) TO '{source}' (FORMAT parquet)")


def _worker(engine: Engine) -> int:
    ((child, _),) = engine.process._pair
    return int(child.pid)


def _cpu(engine: Engine) -> float:
    """CPU seconds of this process and of the worker."""
    own = time.process_time()
    stat = Path(f"/proc/{_worker(engine)}/stat").read_text().rpartition(")")[2].split()
    return own + (int(stat[11]) + int(stat[12])) / _TICK
