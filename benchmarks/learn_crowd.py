"""The table that fits grow on: any number of rows, one a person, 12 columns of Adult's kinds."""

import os
from pathlib import Path

TARGET = "income"
NUMBERS = {"age": (17, 90), "grade": (1, 16), "gain": (0, 99_999), "loss": (0, 4_356), "hours": (1, 99)}
VALUES = {"work": 9, "marital": 7, "job": 15, "family": 6, "race": 5, "sex": 2, "country": 42}  # how many each has
CLASSES = ("low", "high")
_RARE = ("gain", "loss")  # 0 for most persons


def made(rows: int, folder: Path) -> Path:
    """The Parquet file with that many rows, each made from its own number."""
    import duckdb

    target = folder / f"learn-{rows}.parquet"
    partial = target.with_suffix(f".{os.getpid()}")
    with duckdb.connect(config={"memory_limit": "2GiB", "preserve_insertion_order": "false"}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({_rows(rows)}) TO '{partial}' (FORMAT parquet)")
    partial.rename(target)
    return target


def metadata(source: Path) -> str:
    """What is declared of it, as TOML."""
    lines = [
        f'[dataset]\nname = "crowd"\nsource = "{source}"\n[unit]\nkey = "person"\nmax_rows = 1',
        '[budget]\nepsilon = 1000000\ndelta = "1e-3"\nmax_delta = "1e-3"',
        "[limits]\nmemory_gib = 4\nseconds = 900",
        *(f'[columns.{name}]\ntype = "integer"\nbounds = [{low}, {high}]' for name, (low, high) in NUMBERS.items()),
        *(f'[columns.{name}]\ntype = "category"\nvalues = {_values(name, count)}' for name, count in VALUES.items()),
        f'[columns.{TARGET}]\ntype = "category"\nvalues = {list(CLASSES)}',
    ]
    return "\n".join(lines).replace("'", '"') + "\n"


def _values(name: str, count: int) -> list[str]:
    return [f"{name} {place}" for place in range(count)]


def _rows(rows: int) -> str:
    places = {name: place for place, name in enumerate((*NUMBERS, *VALUES))}
    numbers = [f"{_number(name, places[name])} AS {name}" for name in NUMBERS]
    values = [
        f"'{name} ' || CAST(floor({count} * u{places[name]}) AS INTEGER) AS {name}" for name, count in VALUES.items()
    ]
    line = f"4 * u{places['age']} + 3 * u{places['grade']} + 2 * u{places['marital']} - u{places['sex']} - 6"
    chosen = (
        f"CASE WHEN u{len(places)} * (1 + exp(-({line}))) < 1 THEN '{CLASSES[1]}' ELSE '{CLASSES[0]}' END AS {TARGET}"
    )
    uniform = ", ".join(
        f"(hash(i, {place}) >> 11) / 9007199254740992.0 AS u{place}" for place in range(len(places) + 1)
    )
    columns = ", ".join([*numbers, *values, chosen])
    return f"SELECT i AS person, {columns} FROM (SELECT i, {uniform} FROM range({rows}) AS t(i))"


def _number(name: str, place: int) -> str:
    low, high = NUMBERS[name]
    if name in _RARE:
        return f"CAST(CASE WHEN u{place} < 0.9 THEN 0 ELSE floor({high + 1} * (10 * u{place} - 9) ** 4) END AS INTEGER)"
    return f"CAST(floor({low} + {high - low + 1} * u{place}) AS INTEGER)"
