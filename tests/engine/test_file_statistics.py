"""What a file says of its own columns never decides how a cell is read: a Parquet file's extremes leave NaN out."""

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine import Engine, Limits
from discreet.schema import Column, Schema, Unit

LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
COLUMNS = [
    Column("x0", "number", bounds=(0, 10), step=1),
    Column("x1", "number"),
    Column("x2", "integer", bounds=(0, 10)),
    Column("x3", "text"),
    Column("x4", "boolean"),
    Column("x5", "date"),
]
EMPTY = "SELECT count(*) AS p0, " + ", ".join(f"count(*) - count(c{i}) AS p{i + 1}" for i in range(len(COLUMNS)))


@pytest.mark.parametrize("others", [[0.0] * 5, [0.0] * 5 + [7.0], [0.0, 0.5]], ids=str)
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
def test_a_nan_is_empty_whatever_the_other_rows_hold(others: list[float], kind: Any, tmp_path: Path) -> None:
    """Else one person's row decides what other people's cells count as, and a sum moves by more than one row can."""
    values = pa.array([*others, math.nan, math.nan], type=kind)
    table: Any = pa.table({"who": range(len(values)), **{column.name: values for column in COLUMNS}})
    pq.write_table(table, tmp_path / "people.parquet")
    table = tmp_path / "people.parquet"
    with Engine(tmp_path, "people", Schema("people", COLUMNS, Unit("who", 1)), table, LIMITS) as engine:
        engine.prepare()
        (columns,) = engine.run([f"{EMPTY} FROM prepared"])
    rows, *empty = (int(columns[f"p{i}"][0]) for i in range(len(COLUMNS) + 1))
    assert rows == len(values)
    flags = sum(value not in (0.0, 1.0) for value in others)  # what is no boolean and no date is empty too
    assert empty == [2, 2, 2, 2, 2 + flags, len(values)]
