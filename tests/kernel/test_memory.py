"""A pass takes as much memory on ten times as many rows, which nobody may know the number of."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")


def peak(engine):
    """The most memory that the worker has held, in bytes."""
    ((child, _),) = engine.process._pair
    lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def peak_of_pass(engine):
    """Of a worker that did nothing else."""
    view = engine.view()
    engine.close()
    assert view.sum("risk", NAMES, PUBLIC).compute().any()
    return peak(engine)


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
