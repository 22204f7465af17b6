"""Passes of kernels: CPU seconds of twenty warm ones, and the worker's memory over a hundred times as many rows."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.memory import peak
from benchmarks.report import Aim, Report, Table, verdict
from discreet.engine import Engine, Limits
from discreet.schema import Column, Schema, Unit

PASSES, ROWS = 20, 127_000
FEW, MANY = 10**5, 10**7
FEATURES = 8
NAMES = [f"x{place}" for place in range(FEATURES)]
SCHEMA = Schema(
    "people",
    [*(Column(name, "number", bounds=(-5, 5)) for name in NAMES), Column("y", "boolean")],
    Unit("who", 4),
)
LINEAR = {"model": "linear", "weights": [0.1] * FEATURES, "clip": 1, "step": "0.0001"}
LOGISTIC = LINEAR | {"model": "logistic"}
MOMENTS = {"features": FEATURES, "clip": 4, "step": "0.0001"}
PASS_AIM, MEMORY_AIM = Aim(at_most=1), Aim(at_most=128)
_TICK = os.sysconf("SC_CLK_TCK")


def report() -> Report:
    """Twenty passes of each kernel, and peaks of a worker that did one pass."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        passes = _passes(folder)
        peaks = {size: _peak(folder, size) for size in (FEW, MANY)}
    rows = [
        (what, f"{cpu:.3f}", f"{wall:.3f}", PASS_AIM.text(" s"), verdict(PASS_AIM, cpu))
        for what, (cpu, wall) in passes.items()
    ]
    meaning = f"{PASSES} warm passes over {ROWS:,} rows, parent and worker together; the engine has one thread."
    timed = Table("Passes", meaning, ("kernel", "CPU s", "wall s", "aim", "met"), tuple(rows))
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
        for what, kernel, public in (
            ("gradient, linear", "gradient", LINEAR),
            ("gradient, logistic", "gradient", LOGISTIC),
            ("gradient, logistic, stochastic rounding", "gradient", LOGISTIC | {"rounding": "stochastic"}),
            ("moments", "moments", MOMENTS),
        ):
            columns = NAMES if kernel == "moments" else [*NAMES, "y"]
            view.sum(kernel, columns, public).compute()
            cpu, wall = _cpu(engine), time.perf_counter()
            for _ in range(PASSES):
                view.sum(kernel, columns, public).compute()
            figures[what] = _cpu(engine) - cpu, time.perf_counter() - wall
    return figures


def _peak(folder: Path, size: int) -> tuple[int, float]:
    with _engine(folder, size, 2**32) as engine:
        engine.prepare()
    with _engine(folder, size, 2**26) as engine:
        view = engine.view()
        engine.close()  # the next worker does the pass and nothing else
        began = time.perf_counter()
        view.sum("gradient", [*NAMES, "y"], LOGISTIC).compute()
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
