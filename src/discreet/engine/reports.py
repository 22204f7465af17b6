"""Read and write Parquet files of randomised reports: a BLOB column for each question, and a text column of groups.

All questions are counted in one statement, by GROUPING SETS over their columns.  What a file holds is randomised, so
whoever has it may see all of it; a file is still opened with a connection that reads nothing else.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine import connect
from discreet.errors import SourceUnavailable
from discreet.inert import visible
from discreet.ndarrays import Ints
from discreet.query.meaning.names import text_in_sql

Reports = Sequence[bytes | None]
_MEMORY = 4 * 2**30
_THREADS = 2
_LARGEST_SET = 48  # columns that one statement tells apart by the bits of a whole number


@dataclass(frozen=True)
class Counted:
    """Distinct reports to one question, None for a cell without one, and how often each occurs, in each group."""

    reports: Reports
    times: Ints
    groups: Sequence[str | None]


def write_reports(
    path: Path,
    questions: Mapping[str, NDArray[np.uint8]],
    groups: Mapping[str, Sequence[str]],
    facts: Mapping[str, str],
) -> None:
    """Write a row for each person; `groups` has at most one column, `facts` go into the file's metadata.

    An OSError where the file cannot be written.
    """
    import duckdb

    _require_single(path)
    columns = {name: _blobs(rows) for name, rows in questions.items()}
    columns |= {name: np.array(texts, dtype=object) for name, texts in groups.items()}
    kinds = ["BLOB"] * len(questions) + ["VARCHAR"] * len(groups)
    casts = ", ".join(
        f"CAST({_name(name)} AS {kind}) AS {_name(name)}" for name, kind in zip(columns, kinds, strict=True)
    )
    stored = ", ".join(f"{_name(name)}: {text_in_sql(text)}" for name, text in facts.items())
    with connect.preparing(":memory:", [str(path)], memory=_MEMORY, threads=_THREADS, spill="") as connection:
        connection.register("people", columns)
        options = f"FORMAT parquet, USE_TMP_FILE false, KV_METADATA {{{stored}}}"
        try:
            connection.execute(f"COPY (SELECT {casts} FROM people) TO {text_in_sql(str(path))} ({options})")
        except duckdb.Error:
            raise OSError(f"{path.name} was not written") from None


def read_facts(path: Path) -> dict[str, str]:
    """The texts in a file's metadata; other bytes are left out."""
    with _open(path) as connection:
        rows = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({text_in_sql(str(path))})").fetchall()
    facts = {}
    for key, value in rows:
        with contextlib.suppress(UnicodeDecodeError):
            facts[bytes(key).decode()] = bytes(value).decode()
    return facts


def read_names(path: Path) -> list[str]:
    """The names of a file's columns."""
    with _open(path) as connection:
        return [str(name) for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {_rows(path)}").fetchall()]


def count_rows(path: Path) -> int:
    """How many rows a file has."""
    with _open(path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {_rows(path)}").fetchone()[0])


def read_counts(
    path: Path, questions: Sequence[str], group: str | None = None, chosen: Sequence[str] = ()
) -> dict[str, Counted]:
    """Count the distinct reports to every question, in each group of a column, in one statement.

    With `chosen`, only rows count in which the report to exactly one of these questions begins with the byte 1.
    """
    if len(questions) > _LARGEST_SET:
        halves = questions[:_LARGEST_SET], questions[_LARGEST_SET:]
        return {name: counted for half in halves for name, counted in read_counts(path, half, group, chosen).items()}
    shared = "NULL" if group is None else _name(group)
    names = [_name(name) for name in questions]
    sets = ", ".join(f"({name})" if group is None else f"({shared}, {name})" for name in names)
    listed = ", ".join(names)
    query = (
        f"SELECT GROUPING({listed}) AS bits, {shared} AS place, {listed}, count(*) AS times "
        f"FROM {_rows(path)}{_where_one_is_chosen(chosen)} GROUP BY GROUPING SETS ({sets})"
    )
    with _open(path) as connection:
        _require_columns(connection, path, [*questions, *chosen], group)
        table = connection.execute(query).fetchall()
    sets_of_rows: dict[int, list[tuple[Any, ...]]] = {}
    for row in table:
        sets_of_rows.setdefault(row[0], []).append(row)
    counted = {}
    every = 2 ** len(questions) - 1
    for index, name in enumerate(questions):
        own = every - 2 ** (len(questions) - 1 - index)  # a bit is 0 where its column is grouped by; the last is lowest
        rows = sets_of_rows.get(own, [])
        times = np.array([row[-1] for row in rows], dtype=np.int64)
        counted[name] = Counted([row[2 + index] for row in rows], times, [row[1] for row in rows])
    return counted


def read_columns(path: Path, questions: Sequence[str]) -> dict[str, Reports]:
    """Every report to these questions; one row of all of them is one person's."""
    listed = ", ".join(map(_name, questions))
    with _open(path) as connection:
        _require_columns(connection, path, questions, None)
        table = connection.execute(f"SELECT {listed} FROM {_rows(path)}").fetchall()
    return {name: [row[index] for row in table] for index, name in enumerate(questions)}


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Any]:
    """A connection that reads this file alone; what DuckDB says about the file becomes a refusal."""
    import duckdb

    _require_single(path)
    try:
        with connect.preparing(":memory:", [str(path)], memory=_MEMORY, threads=_THREADS, spill="") as connection:
            yield connection
    except duckdb.Error:
        what, why = f"{visible(path.name)!r} could not be read.", "It is no whole Parquet file of reports."
        raise SourceUnavailable(what, why, "Copy it once more, or write it anew.") from None


def _require_columns(connection: Any, path: Path, questions: Sequence[str], group: str | None) -> None:
    """Refuses a file without a column of bytes for each question, and one of texts for the groups."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {_rows(path)}").fetchall()
    kinds = {name: kind for name, kind, *_ in described}
    wanted = dict.fromkeys(questions, "BLOB") | ({} if group is None else {group: "VARCHAR"})
    for name, kind in wanted.items():
        if kinds.get(name) != kind:
            there = f"It has type {kinds[name]}." if name in kinds else "There is no column of that name."
            what = f"{visible(path.name)!r} has no column {name!r} of type {kind}."
            fix = "Give the file of this survey: a BLOB column for each question, and a text column for its groups."
            raise SourceUnavailable(what, visible(there), fix)


def _blobs(rows: NDArray[np.uint8]) -> NDArray[np.object_]:
    """Each row as bytes."""
    width = rows.shape[1]
    joined = np.ascontiguousarray(rows).tobytes()
    blobs = np.empty(len(rows), dtype=object)
    blobs[:] = [joined[start : start + width] for start in range(0, len(joined), width)]
    return blobs


def _rows(path: Path) -> str:
    return f"read_parquet({text_in_sql(str(path))}, hive_partitioning = false)"


def _require_single(path: Path) -> None:
    """Refuses a path that stands for several files to DuckDB."""
    if any(letter in str(path) for letter in "*?["):
        what, why = f"{visible(str(path))!r} cannot be a file of reports.", "The letters * ? [ stand for other files."
        raise SourceUnavailable(what, why, "Give it a name without these letters.")


def _where_one_is_chosen(questions: Sequence[str]) -> str:
    if not questions:
        return ""
    marks = " + ".join(f"CAST(coalesce(starts_with(hex({_name(name)}), '01'), false) AS INTEGER)" for name in questions)
    return f" WHERE {marks} = 1"


def _name(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
