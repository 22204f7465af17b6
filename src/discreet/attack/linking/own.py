"""The curator's own synthetic table beside the private table that it was made from: who is singled out by equal rows.

A private row that no other row equals is *singled out* where a synthetic row has all its values.  Independent columns
do so by chance: that is what the same synthetic values give when each column is shuffled by itself.
"""

import contextlib
import csv
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.interval import share_interval
from discreet.attack.linking.keys import shared_keys
from discreet.attack.result import RAW, Result
from discreet.dataset import open_dataset
from discreet.errors import DiscreetError, SourceUnavailable, bad, bad_private
from discreet.ndarrays import Ints
from discreet.noise.public import generator
from discreet.synth.synthetic import SyntheticTable
from discreet.table import Table

_CSV, _PARQUET = (".csv",), (".parquet", ".pq")


def linked_file(path: Path, seed: int) -> Result:
    """How many private rows the synthetic table in this file singles out; the TOML of its table must lie beside it."""
    synthetic, people = of_its_table(path)
    arrow = synthetic.to_arrow()
    names = [column.name for column in synthetic.build.plan.subject.columns]
    released = {name: texts(arrow.column(name).to_pylist()) for name in names}
    private = {name: texts(cells) for name, cells in source_columns(people, names).items()}
    if not arrow.num_rows or not private[names[0]]:
        raise bad_private("table", "must have rows, and so must the synthetic one", "There is nobody to single out.")
    chance = generator(seed)
    shuffled = {name: [cells[place] for place in chance.permutation(len(cells))] for name, cells in released.items()}
    own, theirs, by_chance = shared_keys([private, released, shuffled], names)
    is_single = np.bincount(own)[own] == 1
    hits = {RAW: int(is_single.sum()), epsilon_of(synthetic): int((is_single & np.isin(own, theirs)).sum())}
    blind = int((is_single & np.isin(own, by_chance)).sum()) / own.size
    return _result(hits, own, blind, names)


def _result(hits: dict[str, int], own: Ints, blind: float, names: Sequence[str]) -> Result:
    rows = own.size
    return Result(
        name="linkage",
        metric="rows singled out",
        measure=f"share of private rows that are the only ones with their values of {', '.join(names)}, all of which a "
        f"published row has",
        raw=hits[RAW] / rows,
        private={name: count / rows for name, count in hits.items() if name != RAW},
        baseline=blind,
        ceiling={},
        units="one row; no ceiling is known for how many rows are equal",
        trials=rows,
        intervals={name: share_interval(count, rows) for name, count in hits.items()},
        notes=(
            "Blind guessing is the same synthetic table with each column shuffled by itself.",
            "An equal row need not be a copy: it may be what the columns have to do with each other.",
        ),
        without="if the rows themselves were published",
        of_real_data=True,
    )


def of_its_table(path: Path) -> tuple[SyntheticTable, Table]:
    """The synthetic table with the private one, found by the TOML in the same folder whose facts it states."""
    from discreet.synth.saved.file import load

    synthetic = load(path)  # refuses what is no synthetic table
    tables = {}
    for toml in sorted(file for file in path.parent.glob("*.toml") if file.is_file()):  # a pipe would never end
        with contextlib.suppress(DiscreetError):
            dataset = open_dataset(toml)
            load(path, dataset)
            tables[toml.name] = dataset.table
    if len(tables) > 1:  # their rows differ, and the synthetic table states none
        rule = f"must lie beside one TOML that it may be of, and not {len(tables)}: {', '.join(tables)}"
        raise bad("on", rule, str(path), "Leave the TOML of its own table there alone.")
    for table in tables.values():
        return synthetic, table
    raise bad(
        "on", "must lie beside the TOML of the table that it was made from", str(path), "Copy it into that folder."
    )


def source_columns(people: Table, names: Sequence[str]) -> dict[str, list[Any]]:
    """These columns of the private file, cell by cell."""
    file = people.file
    kind = "" if file is None else file.suffix.lower()
    if file is None or kind not in (*_CSV, *_PARQUET):
        raise bad("on", "must be of a table in a CSV or Parquet file", kind or "another source", "Export the table.")
    try:
        if not file.is_file():  # a pipe or a device would never end
            raise OSError
        return _csv_columns(file, names) if kind in _CSV else _parquet_columns(file, names)
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, ValueError):
        pass
    raise SourceUnavailable(
        "The private table could not be read.", "It is not there, or has other columns now.", "Check the source."
    )


def _csv_columns(file: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    with file.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [row[name] for row in rows] for name in names}


def _parquet_columns(file: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    from pyarrow import parquet  # type: ignore[import-untyped]

    table = parquet.read_table(file, columns=list(names))
    return {name: table.column(name).to_pylist() for name in names}


def texts(cells: Sequence[Any]) -> list[str]:
    """One spelling for each value, whether it comes from text or is typed.

    >>> texts(["01", 1.0, None, "", date(2020, 5, 1), "2020-05-01", "north"])
    ['1.0', '1.0', '', '', '2020-05-01', '2020-05-01', 'north']
    """
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (date, datetime)):
        return cell.isoformat(sep=" ") if isinstance(cell, datetime) else cell.isoformat()
    text = str(cell).strip()
    try:
        return repr(float(text))
    except ValueError:
        return text.casefold() if text.casefold() in ("true", "false") else text


def epsilon_of(synthetic: SyntheticTable) -> str:
    return amounts.text_of(synthetic.build.plan.price.terms.epsilon)
