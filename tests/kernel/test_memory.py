"""A pass takes as much memory on ten times as many rows, which nobody may know the number of."""

import subprocess
import threading
from pathlib import Path

import numpy as np
import pandas as pd

from discreet.engine import Engine, Limits, passes
from discreet.schema import Column, Schema, Unit

FEW, MANY = 10**5, 10**6
MEMORY = 2**26  # of the engine's own cache, which fills as the table is read
TOLERANCE = 2**26  # bytes; all rows at once would take some 400 MB
NAMES = [f"x{place}" for place in range(6)]
SCHEMA = Schema("people", [Column(name, "number", bounds=(-5, 5)) for name in NAMES], Unit("who", 4))
PUBLIC = {
    "loss": "huber",
    "features": [{"low": -5, "high": 5}] * 5,
    "target": {"low": -5, "high": 5},
    "weights": np.full(6, 2**17),
    "norm": 2,
    "rows": 4,
}


def peak_of_pass(engine):
    """The most memory that a worker which did nothing else has held, in bytes."""
    view = engine.view()
    engine.close()
    with Samples(engine) as samples:
        assert view.sum("risk", NAMES, PUBLIC).compute().any()
    return samples.peak


class Samples:
    """What the worker holds: its peak where /proc tells it, and elsewhere what `ps` says some 50 times a second."""

    def __init__(self, engine):
        self.engine, self.peak, self.over = engine, 0, threading.Event()
        self.thread = threading.Thread(target=self._sample)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self._read()
        self.over.set()
        self.thread.join()

    def _sample(self):
        while not self.over.wait(0.02):
            self._read()

    def _read(self):
        for child, _ in list(self.engine.process._pair):
            self.peak = max(self.peak, held(child.pid))


def held(pid):
    """Bytes."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM:" in line)
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True).stdout.split()
    return int(shown[0]) * 1024 if shown else 0


def test_ten_times_the_rows_take_no_more_memory(tmp_path, monkeypatch):
    numbers, peaks = np.random.default_rng(1), {}
    for size in (FEW, MANY):
        table = pd.DataFrame({name: numbers.normal(size=size) for name in NAMES} | {"who": np.arange(size) // 3})
        table.to_parquet(tmp_path / f"{size}.parquet")
        limits = Limits(memory=2**30, seconds=60, threads=1)
        with Engine(tmp_path, f"t{size}", SCHEMA, tmp_path / f"{size}.parquet", limits) as engine:
            engine.prepare()
        with Engine(tmp_path, f"t{size}", SCHEMA, tmp_path / f"{size}.parquet", _small()) as engine:
            peaks[size] = peak_of_pass(engine)
    assert peaks[MANY] - peaks[FEW] < TOLERANCE
    monkeypatch.setattr(passes, "CHUNK_ROWS", 2 * MANY)
    monkeypatch.setattr(passes, "CHUNK_CELLS", 2**40)
    with Engine(tmp_path, f"t{MANY}", SCHEMA, tmp_path / f"{MANY}.parquet", _small()) as engine:
        whole = peak_of_pass(engine)  # the mutant that reads all rows at once
    print({size: f"{peak >> 20} MiB" for size, peak in peaks.items()}, f"at once {whole >> 20} MiB")
    assert whole - peaks[FEW] > TOLERANCE


def _small():
    return Limits(memory=MEMORY, seconds=60, threads=1)
