"""What adaptive rooms need: hundreds of marginals from one view, and hundreds of steps from one run."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from unittest import mock

from benchmarks.report import Aim, Report, Table, verdict
from discreet.dataset import Dataset, open_dataset
from discreet.demo import hospital
from discreet.query.bound import draft_of
from discreet.query.nodes import Bins, Col, CountRows, Expr, Key, Output, Question
from discreet.query.tally import Tally

MARGINALS = 300
CATEGORIES = ("region", "ward", "sex", "smoker")
BINNED = {"age": 110, "length_of_stay": 60}  # columns, and the end of their bounds
WIDTHS = (5, *range(6, 20), 30)  # of bins


def report() -> Report:
    """Seconds by the clock."""
    with (
        tempfile.TemporaryDirectory() as name,
        mock.patch.dict(os.environ, XDG_STATE_HOME=f"{name}/state"),
        open_dataset(hospital.write(Path(name) / "demo")) as dataset,
    ):
        measured = _marginals(dataset)
    aims = {"first": Aim(at_most=5), "again": Aim(at_most=0.1)}
    rows = [
        (
            f"{MARGINALS} three-way marginals, {turn}",
            f"{measured[turn]:.3f}",
            aim.text(" s"),
            verdict(aim, measured[turn]),
        )
        for turn, aim in aims.items()
    ]
    meaning = "Seconds by the clock, of one view on the demo's table; the second time the view remembers them."
    return Report((Table("Rooms", meaning, ("what", "s", "aim", "met"), tuple(rows)),), measured, ())


def _marginals(dataset: Dataset) -> dict[str, float]:
    tallies = [tally for _, tally in zip(range(MARGINALS), _tallies(dataset), strict=False)]
    dataset.prepare()
    measured = {}
    with closing(dataset.table.view()) as view:
        for turn in ("first", "again"):
            began = time.perf_counter()
            for tally in tallies:
                view.tally(tally).compute()
            measured[turn] = time.perf_counter() - began
    return measured | {"marginals": len(tallies)}


def _tallies(dataset: Dataset) -> Iterator[Tally]:
    schema = dataset.table.schema
    for names in combinations((*CATEGORIES, *BINNED), 3):
        for items in product(*(_items(name) for name in names)):
            keys = tuple(Key(f"k{place}", item) for place, item in enumerate(items))
            yield draft_of(Question(schema.name, (Output("n", CountRows()),), keys), schema).tally


def _items(name: str) -> list[Expr]:
    """The column, or if it is a number the column in bins of several widths."""
    if name in CATEGORIES:
        return [Col(name)]
    limit = BINNED[name]
    edges = [(*range(0, limit, width), limit) for width in WIDTHS]
    return [Bins(Col(name), tuple(map(Fraction, each))) for each in edges]
