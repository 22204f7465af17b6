"""A small table asked through the product's own face, faults to put in its way, and its ledger's file read bare.

What the file says is read by SQLite alone, so that no planted fault can hide it.
"""

import contextlib
import itertools
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.answer.answer import Answer
from discreet.answer.compose import recalled_answer
from discreet.ask import asking
from discreet.engine import Limits
from discreet.engine.process import Process
from discreet.errors import DiscreetError
from discreet.query import layout
from discreet.query.bound import draft_of
from discreet.query.joint import Joint
from fuzz.tokens import Secrets, laid
from people_toml import TOWN, people_toml

LIMITS = Limits(memory=2**29, threads=1)
TOWNS = ("oslo", "bern", "york", "cork", "lyon", "nice", "graz", "rome")
HEADER = "person,region,age,pay,town"
TOML = people_toml(
    "{budget}",
    columns=f'[columns.pay]\ntype = "number"\nbounds = [-5, 20]\nstep = 0.25\n{TOWN}',
    dataset="{dataset}\n",
)
Row = tuple[Any, ...]
WIDE = "epsilon = 1000\ndelta = 1e-6"


def rows(units: int, *, turn: int = 0, towns: Sequence[str] = TOWNS) -> list[Row]:
    """Two rows a unit, the units dealt out to the towns one after the other; nobody is over 99."""
    table_rows = []
    for n in range(2 * units):
        unit, other = n // 2, n + turn
        region, pay = ("north", "south")[other % 3 % 2], (other * 13 % 100) / 4 - 5
        table_rows.append((f"p{unit}", region, other * 7 % 100, pay, towns[unit % len(towns)]))
    return table_rows


ROWS, OTHERS = rows(64), rows(108, turn=5, towns=(*TOWNS, "bath"))
OLD = [*ROWS, ("q", "north", 107, 3, "oslo")]  # one unit more, the only one over 100


class Kept(Process):
    """A worker that serves one dataset after the other, so that a hundred of them need not each start one."""

    def close(self) -> None:
        """Not yet."""

    def end(self) -> None:
        super().close()


@dataclass
class Maker:
    """Datasets in folders of their own, each through `dp.open`; cleared away together."""

    home: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)
    opened_datasets: list[dp.Dataset] = field(default_factory=list)

    def __call__(self, table_rows: Sequence[Row] = ROWS, *, budget: str = WIDE, dataset: str = "") -> dp.Dataset:
        folder = self._folder()
        (folder / "people.toml").write_text(TOML.format(budget=budget, dataset=dataset))
        write(folder, table_rows)
        return self.opened(folder)

    def secret(self, seed: int) -> tuple[dp.Dataset, Secrets]:
        """The table whose every cell can be recognised."""
        folder = self._folder()
        secrets = laid(folder, seed)
        return self.opened(folder), secrets

    def opened(self, folder: Path) -> dp.Dataset:
        """What lies there, opened once more: another ledger object, as another process would have."""
        self.opened_datasets.append(dp.open(folder / "people.toml", limits=LIMITS))
        return self.opened_datasets[-1]

    def clear(self) -> None:
        """None open and none left."""
        while self.opened_datasets:
            people = self.opened_datasets.pop()
            people.close()
            shutil.rmtree(folder_of(people), ignore_errors=True)

    def _folder(self) -> Path:
        folder = self.home / f"d{next(self.numbers)}"
        folder.mkdir()
        return folder


def write(folder: Path, table_rows: Sequence[Row]) -> None:
    """people.csv, with a time of change long ago: it is looked at anew when that moves.

    No question sees its last column: two worlds with the same people are two tables, each with its own ledger.
    """
    place = folder / "people.csv"
    lines = [f"{HEADER},world", *(",".join(map(str, (*row, folder.name))) for row in table_rows)]
    place.write_text("\n".join(lines) + "\n")
    then = place.stat().st_mtime_ns - 3_600 * 10**9
    os.utime(place, ns=(then, then))


def folder_of(people: dp.Dataset) -> Path:
    return people.table.toml.parent


# --- what lies in the ledger -----------------------------------------------------------------------------------------


def _rows(people: dp.Dataset, query: str) -> list[Any]:
    place = people.table.ledger_path
    if not place.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def entries(people: dp.Dataset, kind: str | None = None) -> list[dict[str, Any]]:
    """The entries of that kind, oldest first."""
    entries_read = [json.loads(body) for (body,) in _rows(people, "SELECT body FROM entries ORDER BY n")]
    return [entry for entry in entries_read if kind in (None, entry["kind"])]


def stored(people: dp.Dataset) -> list[bytes]:
    """Every answer that is kept, as it is told."""
    kept = [bytes(stored) for (stored,) in _rows(people, "SELECT bytes FROM answers ORDER BY charge")]
    answers = [
        recalled_answer(
            stored, lambda question: draft_of(question, people.table.schema), schema=people.table.schema.hash
        )
        for stored in kept
    ]
    return [bare(answer).to_bytes() for answer in answers]


def bare(answer: Answer) -> Answer:
    """The answer without the version that drew it, which only a recalled one states."""
    return replace(answer, plan={name: said for name, said in answer.plan.items() if name != "version"})


def charged(people: dp.Dataset) -> Fraction:
    """Σ ε of all charges, as written down."""
    return sum((Fraction(entry["amounts"]["epsilon"]) for entry in entries(people, "charge")), Fraction(0))


# --- asking ----------------------------------------------------------------------------------------------------------


def reply(asking: Any, **terms: Any) -> tuple[str, Any]:
    """("answered", the answer), or an error's code and the error."""
    try:
        return "answered", asking.ask(**terms)
    except DiscreetError as error:
        return error.code, error
    except Exception as error:
        return type(error).__name__, error


def public(answer: Answer) -> str:
    """All that a reader of an answer sees but for its receipt, whose hash covers the clock."""
    bare = replace(answer, receipt=None)
    return "\n".join([bare.to_bytes().decode(), json.dumps(bare.to_json()), repr(bare), bare.explain()])


# --- faults ----------------------------------------------------------------------------------------------------------


def _raising(error: Exception) -> Callable[..., Any]:
    def raised(*_: Any, **__: Any) -> Any:
        raise error

    return raised


def _stating(patch: pytest.MonkeyPatch, people: dp.Dataset, sql: str) -> None:
    """Every statement that the engine sends replaced by another one."""
    run = people.table.engine.run
    patch.setattr(people.table.engine, "run", lambda asked, snapshot=None: run([sql] * len(asked), snapshot))


def _late(patch: pytest.MonkeyPatch, people: dp.Dataset, _: str) -> None:
    _stating(patch, people, "SELECT CAST(sum(hash(range) % 7) AS BIGINT) AS p0 FROM range(10000000000)")
    patch.setattr(people.table.engine, "limits", replace(LIMITS, seconds=0.01))


def _cell(patch: pytest.MonkeyPatch, people: dp.Dataset, _: str) -> None:
    held = [layout.storage(people.table.schema, column) for column in people.table.schema.columns]
    text = next(stored_column.name for stored_column in held if stored_column.store is layout.Store.TEXT)
    _stating(patch, people, f"SELECT CAST(sum(CAST({text} AS BIGINT)) AS BIGINT) AS p0 FROM {layout.TABLE}")


FAULTS: dict[str, Callable[[pytest.MonkeyPatch, dp.Dataset, str], None]] = {
    "a cell that cannot be cast": _cell,
    "too late": _late,
    "the engine": lambda patch, people, said: patch.setattr(people.table.engine, "run", _raising(ValueError(said))),
    "the noise": lambda patch, people, said: patch.setattr(Joint, "__call__", _raising(MemoryError(said))),
    "the answer's packing": lambda patch, people, said: patch.setattr(asking, "to_bytes", _raising(KeyError(said))),
}


@contextlib.contextmanager
def fault(people: dp.Dataset, name: str, said: str = "") -> Iterator[None]:
    """That goes wrong on this dataset, and if it has words they are `said`."""
    people.prepare()
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[name](patch, people, said)
        yield
