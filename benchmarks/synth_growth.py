"""How time and memory of a synthesis grow with rows and with columns, and where the time goes.

    counting   the worker's CPU: every pass over the rows, the first of which reads the prepared file
    choosing   the rest of a build in our own process: noise, gate, ledger, groups, and which pairs to measure
    fitting    the distribution that the released numbers make
    drawing    rows as codes, then as a frame of values

The table that grows in rows has 13 columns of Adult's kinds, one row a person (`learn_crowd`); the one that grows in
columns has 100,000 rows of 2 to 20 codes.  `python -m benchmarks.synth_growth rows ROWS` and `… columns COLUMNS`
measure in this process and print JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import cpu, learn_crowd, memory, synth_data, synth_own
from benchmarks.environment import ROOT
from benchmarks.learn_peers import ONE_THREAD

ROWS, COLUMNS = (10**5, 10**6, 10**7), (5, 10, 20, 50, 100)
ROWS_OF_COLUMNS = 10**5
LIMIT = 1800  # seconds by the clock on the wall
EPSILON = 1.0


@dataclass(frozen=True)
class Growth:
    """CPU seconds of one build by where they went, wall seconds, and the most memory of our process and the worker."""

    rows: int
    columns: int
    pairs: int
    counting: float
    choosing: float
    fitting: float
    drawing: float
    wall: float
    own_memory: int
    worker_memory: int

    @property
    def seconds(self) -> float:
        """CPU time of all of it."""
        return self.counting + self.choosing + self.fitting + self.drawing


def growth() -> tuple[list[Growth], list[str]]:
    """Each size in a process of its own, and a sentence for each that took too long or failed."""
    sizes = [("rows", rows) for rows in ROWS] + [("columns", columns) for columns in COLUMNS]
    figures, notes = list[Growth](), list[str]()
    for what, size in sizes:
        print(f"  growth: {size:,} {what} …", file=sys.stderr)
        command = [sys.executable, "-m", "benchmarks.synth_growth", what, str(size)]
        try:
            told = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ONE_THREAD,
                timeout=LIMIT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            notes.append(f"Not measured: {size:,} {what} took more than {LIMIT} s.")
        except subprocess.CalledProcessError as error:
            notes.append(f"Not measured: {size:,} {what} failed with exit code {error.returncode}.")
        else:
            figures.append(Growth(**json.loads(told.stdout)))
    return figures, notes


def growth_of_rows(rows: int) -> Growth:
    """One build of 13 columns."""
    with _folder() as folder:
        toml = folder / "crowd.toml"
        toml.write_text(learn_crowd.metadata(learn_crowd.made(rows, folder)))
        with _opened(toml) as dataset:
            return _grown(dataset, rows)


def growth_of_columns(columns: int, rows: int = ROWS_OF_COLUMNS) -> Growth:
    """One build of so many columns of which neighbours depend on each other."""
    with _folder() as folder:
        toml = synth_data.write_dataset(synth_data.invented(rows, columns=columns), folder)
        with _opened(toml) as dataset:
            return _grown(dataset, rows)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="synth-") as name, mock.patch.dict(os.environ, XDG_STATE_HOME=name):
        yield Path(name)


def _opened(toml: Path) -> Any:
    from discreet.dataset import open_dataset

    return open_dataset(toml, second_ledger=synth_own.SECOND_LEDGER)


def _grown(dataset: Any, rows: int) -> Growth:
    """The second build: the first loads what is needed, at a small size of the tree."""
    dataset.prepare()
    synth_own.build(dataset, EPSILON, method="independent", rows=1000).to_pandas()
    clock, began = cpu.Family(), time.perf_counter()
    own, everybody = time.process_time(), clock()
    table = synth_own.build(dataset, EPSILON)
    choosing = time.process_time() - own
    counting = clock() - everybody - choosing
    synthesis, fitting = _timed(lambda: table.build.synthesis)
    _, drawing = _timed(table.to_pandas)
    wall = time.perf_counter() - began
    workers = max(map(memory.peak, cpu.descendants(os.getpid())), default=0)
    columns, pairs = len(table.columns), len(synthesis.pairs)
    return Growth(rows, columns, pairs, counting, choosing, fitting, drawing, wall, memory.peak(), workers)


def _timed(work: Any) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


if __name__ == "__main__":
    _what, _size = sys.argv[1:]
    _work = growth_of_rows if _what == "rows" else growth_of_columns
    print(json.dumps(asdict(_work(int(_size)))))
