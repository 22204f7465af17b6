"""Tables with and without a target person, each behind its gate in a folder of its own."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

REGIONS = ("north", "south", "east", "west")
TARGET = 10**9  # the target's key
TOML = f"""\
[dataset]
name = "people"
source = "people.{{ending}}"
[unit]
key = "person_id"
max_rows = {{cap}}
[columns.region]
type = "category"
values = {list(REGIONS)}
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.note]
type = "text"
[budget]
epsilon = 1000000
delta = 1e-7
share_answers = {{shared}}
"""


def table(rows: int, target: tuple[str, ...] = ()) -> Any:
    """Two rows a person, and a row of the target for each of its notes."""
    import numpy as np
    import pyarrow as pa

    drawn = np.random.default_rng(7)
    regions = [REGIONS[i] for i in drawn.integers(0, len(REGIONS), rows).tolist()] + ["north"] * len(target)
    people = [*(np.arange(rows) // 2).tolist(), *[TARGET] * len(target)]
    ages = [*drawn.integers(0, 111, rows).tolist(), *[50] * len(target)]
    notes = [*(f"note {i % 100}" for i in range(rows)), *target]
    return pa.table({"person_id": people, "region": regions, "age": ages, "note": notes})


def metadata(*, ending: str = "parquet", cap: int = 10, shared: bool = False) -> str:
    """The public facts."""
    return TOML.format(ending=ending, cap=cap, shared=str(shared).lower())


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is gone afterwards, the ledger's second record in it too."""
    with tempfile.TemporaryDirectory() as home, mock.patch.dict(os.environ, XDG_STATE_HOME=home):
        yield Path(home)


@contextmanager
def opened(rows: int, target: tuple[str, ...] = (), *, cap: int = 10, shared: bool = False) -> Iterator[Any]:
    """The dataset over such a Parquet file, prepared."""
    import pyarrow.parquet as pq

    from discreet.dataset import open_dataset

    with folder() as home:
        pq.write_table(table(rows, target), home / "people.parquet")
        before = time.time() - 60  # as of a file that nobody is writing
        os.utime(home / "people.parquet", (before, before))
        toml = home / "people.toml"
        toml.write_text(metadata(cap=cap, shared=shared))
        with open_dataset(toml) as dataset:
            dataset.prepare()
            yield dataset


def limits(memory: int) -> Any:
    """One thread and that much memory."""
    from discreet import Limits

    return Limits(memory=memory, threads=1)


def compiled(dataset: Any, sql: str) -> list[str]:
    """The statements that the question sends to the engine."""
    from discreet.query.compile.statements import statements

    plan = dataset.sql(sql).plan(epsilon=1)
    draft, parts = plan.draft, [measured.part for measured in plan.measured]
    return [
        statement.sql for statement in statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
    ]


def worker_pid(dataset: Any) -> int:
    """The number of the process that meets the rows."""
    return int(dataset.table.engine.process._pair[0][0].pid)
