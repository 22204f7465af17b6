"""The worker of our own side: prepare a table, run what a question compiles to, and ask from text to stored answer.

    prepare    the source is read, typed, capped and written down, in a fresh folder each time
    engine …   the very statements that `ask` sends to the engine, on the prepared table
    ask …      text → plan → ledger → engine → noise → ledger, in a warm process; each at a price of its own, since an
               equal question would be answered from the ledger

Only this module knows the names of the system that is measured.
"""

import atexit
import itertools
import os
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import cpu, people
from benchmarks.people import AGES, CAP, INCOMES, REGIONS
from benchmarks.serve import Draw, Laws, serve

SQL = {
    "count": "SELECT COUNT(*) AS n FROM people",
    "count by region": "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "sum by region": "SELECT region, SUM(income) AS total FROM people GROUP BY region",
    "median": "SELECT MEDIAN(income) AS middle FROM people",
    "median by region": "SELECT region, MEDIAN(income) AS middle FROM people GROUP BY region",
    "units by region": "SELECT region, COUNT(DISTINCT person_id) AS n FROM people GROUP BY region",
}
TOML = f"""\
[dataset]
name = "people"
source = "{{source}}"
[unit]
key = "person_id"
max_rows = {CAP}
[columns.region]
type = "category"
values = {list(REGIONS)}
[columns.age]
type = "integer"
bounds = {list(AGES)}
[columns.income]
type = "number"
bounds = {list(INCOMES)}
step = 1
[budget]
epsilon = 1000000
delta = 1e-7
"""
_PRICES = (Fraction(1) + Fraction(i, 10**6) for i in itertools.count())  # no two alike: nothing is replayed
_PREPARED: dict[str, Any] = {}  # by rows


@cache
def _home() -> Path:
    """A folder for this run alone, on a real disk, with the ledgers' second record in it."""
    people.home().mkdir(parents=True, exist_ok=True)
    home = tempfile.TemporaryDirectory(prefix="run-", dir=people.home())
    atexit.register(home.cleanup)
    os.environ["XDG_STATE_HOME"] = home.name
    return Path(home.name)


def opened(source: Path, folder: Path) -> Any:
    """The table under its metadata, in a folder of its own there: nothing is prepared and nothing was spent."""
    from discreet.dataset import open_dataset

    toml = Path(tempfile.mkdtemp(dir=folder)) / "people.toml"
    toml.write_text(TOML.format(source=source))
    return open_dataset(toml, second_ledger="Each run of a benchmark has a ledger of its own; the people are invented.")


def dataset(rows: str) -> Any:
    """The dataset that questions about a table of that size go to, prepared."""
    if rows not in _PREPARED:
        _prepare(rows)(1)
    return _PREPARED[rows]


def compiled(asked: Any, text: str) -> Callable[[], Any]:
    """What runs the statements that one `ask` of the text sends to the engine, as they were sent."""
    from discreet.engine import Engine

    sent: list[tuple[Any, list[str]]] = []
    run = Engine.run

    def noted(engine: Any, statements: list[str], snapshot: str | None = None) -> Any:
        sent.append((engine, statements))
        return run(engine, statements, snapshot)

    with mock.patch.object(Engine, "run", noted):
        asked.sql(text).ask(epsilon=next(_PRICES))
    ((engine, statements),) = sent
    return lambda: engine.run(statements)


def _prepare(rows: str) -> Draw:
    """The last one made is the one that questions go to."""
    if rows in _PREPARED:
        _PREPARED.pop(rows).close()
        _compiled.cache_clear()

    def draw(n: int) -> list[str]:
        datasets = [opened(people.path(int(rows)), _home()) for _ in range(n)]
        snapshots = [each.prepare() for each in datasets]
        for each in datasets:
            atexit.register(each.close)
        _PREPARED[rows] = datasets[-1]
        return snapshots

    return draw


@cache
def _compiled(text: str, rows: str) -> Callable[[], Any]:
    return compiled(dataset(rows), text)


def _engine(text: str, rows: str) -> Draw:
    run = _compiled(text, rows)
    return lambda n: [run() for _ in range(n)]


def _ask(text: str, rows: str) -> Draw:
    asked = dataset(rows)
    return lambda n: [asked.sql(text).ask(epsilon=next(_PRICES)) for _ in range(n)]


LAWS: Laws = {
    "prepare": _prepare,
    **{f"engine {name}": partial(_engine, text) for name, text in SQL.items()},
    **{f"ask {name}": partial(_ask, text) for name, text in SQL.items()},
}

if __name__ == "__main__":
    serve(LAWS, clock=cpu.Family())
