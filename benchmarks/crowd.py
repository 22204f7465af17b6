"""The table of `make bench scale`: any number of rows, made by the engine in bounded memory, each from its own number.

A person's rows are ∝ 1/√(number of the person): of 10⁸ rows the first person has some 30,000 and most have a few.
Ten rows a person on average.
"""

import os
from pathlib import Path

from benchmarks import people

FORMAT = 1
ROWS_PER_UNIT = 10
TOWNS = 20_000  # private keys: in the file, in no metadata


def path(rows: int, folder: Path | None = None) -> Path:
    """Where the table with that many rows lies, or will lie."""
    return (folder or people.home()) / f"crowd-{FORMAT}-{rows}.parquet"


def made(rows: int, folder: Path | None = None) -> Path:
    """The Parquet file with that many rows, written at the first call."""
    import duckdb

    target = path(rows, folder)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        with duckdb.connect(config={"memory_limit": "2GiB", "preserve_insertion_order": "false"}) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"COPY ({_rows(rows)}) TO '{partial}' (FORMAT parquet)")
        partial.rename(target)  # a broken run leaves no half table under the name
    return target


def _rows(rows: int) -> str:
    persons = max(rows // ROWS_PER_UNIT, 1)
    region = f"list_value({', '.join(map(repr, people.REGIONS))})[1 + CAST(floor(50 * u2 * u2) AS INTEGER)]"
    return f"""
        SELECT CAST(floor({persons} * u1 * u1) AS BIGINT) AS person_id, {region} AS region,
               CAST(floor(111 * u3) AS INTEGER) AS age, round(exp(10.3 + 0.7 * 3.46 * (u4 + u3 - 1)), 2) AS income,
               't' || CAST(floor({TOWNS} * u4 * u4 * u4) AS INTEGER) AS town
        FROM (SELECT {", ".join(f"{_uniform(place)} AS u{place}" for place in (1, 2, 3, 4))} FROM range({rows}) AS t(i))
    """


def _uniform(place: int) -> str:
    """A number in [0, 1) that the row's own number decides."""
    return f"(hash(i, {place}) >> 11) / 9007199254740992.0"
