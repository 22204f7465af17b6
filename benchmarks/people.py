"""The table that questions are timed on: many rows per person, very unevenly; public, made from a fixed seed.

Only the standard library is imported here, since workers of peers ask for its path; making it needs NumPy and PyArrow.
"""

import os
from pathlib import Path
from typing import Any

FORMAT = 1  # part of the file's name: other rows, another name
SEED = 2026
ROWS_PER_UNIT = 10
REGIONS = tuple(f"region {i:02}" for i in range(50))
AGES = (0, 110)
INCOMES = (0, 200_000)  # the public bounds; about one income in three hundred lies above
CAP = 10  # rows of one person that count, in every system alike
_SPREAD = 1.66  # σ of log rows per person: the largest of 10⁵ persons then has some thousands
_AT_HOME = 0.8  # the share of a person's rows that lie in the person's own region


def home() -> Path:
    """The cache folder of the benchmarks, outside the project."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "discreet-benchmarks"


def path(rows: int, folder: Path | None = None) -> Path:
    """Where the table with that many rows lies, or will lie."""
    return (folder or home()) / f"people-{FORMAT}-{SEED}-{rows}.parquet"


def made(rows: int, folder: Path | None = None) -> Path:
    """The Parquet file with that many rows, written at the first call."""
    import pyarrow.parquet as parquet

    target = path(rows, folder)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        parquet.write_table(table(rows), partial, row_group_size=122_880)
        partial.rename(target)  # a broken run leaves no half table under the name
    return target


def table(rows: int) -> Any:
    """An Arrow table of the columns person_id, region, age, income, in random order of rows."""
    import numpy as np
    import pyarrow as arrow

    draw = np.random.default_rng([SEED, FORMAT, rows])
    unit = draw.permutation(np.repeat(np.arange(len(sizes := _sizes(rows))), sizes))
    region = _regions(unit, len(sizes))
    age = np.clip(draw.normal(42, 21, len(sizes)).round(), *AGES).astype(np.int32)[unit]
    income = np.round(draw.lognormal(10.3, 0.7, rows), 2)
    names = arrow.DictionaryArray.from_arrays(region.astype(np.int8), arrow.array(REGIONS))
    return arrow.table({"person_id": unit, "region": names.cast(arrow.string()), "age": age, "income": income})


def kept(rows: int) -> float:
    """The share of the table's rows that a cap of `CAP` rows per person keeps."""
    return float(_sizes(rows).clip(max=CAP).sum() / rows)


def _sizes(rows: int) -> Any:
    """Rows of each person, adding up to `rows`: at least 1, log-normal above, ten on average."""
    import numpy as np

    draw = np.random.default_rng([SEED, FORMAT, rows, 1])
    above = draw.lognormal(np.log(ROWS_PER_UNIT - 0.5) - _SPREAD**2 / 2, _SPREAD, rows // 4 + 10)
    sizes = 1 + np.floor(above).astype(np.int64)
    last = int(np.searchsorted(np.cumsum(sizes), rows))
    sizes = sizes[: last + 1]
    sizes[last] -= sizes.sum() - rows
    return sizes


def _regions(unit: Any, persons: int) -> Any:
    """A region of each row: mostly the person's own; the first regions have more people than the last."""
    import numpy as np

    draw = np.random.default_rng([SEED, FORMAT, len(unit), 2])
    share = 1 / np.sqrt(np.arange(1, len(REGIONS) + 1))
    own = draw.choice(len(REGIONS), persons, p=share / share.sum())
    anywhere = draw.integers(0, len(REGIONS), len(unit))
    return np.where(draw.random(len(unit)) < _AT_HOME, own[unit], anywhere)
