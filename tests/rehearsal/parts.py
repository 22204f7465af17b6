"""A small dataset with something of every kind, and what a folder holds."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

from discreet.mechanism import additive
from discreet.query.bound import draft_of
from discreet.query.nodes import Col, CountRows, Key, Output, Question
from discreet.request import Request
from discreet.terms import Terms

TOML = """\
[dataset]
name = "people"
source = "people.csv"

[unit]
key = "person_id"
max_rows = 3

[columns.ward]
type = "category"

[columns.age]
type = "integer"
bounds = [0, 110]

[columns.cost]
type = "number"
bounds = [0, 500]
step = 0.5

[columns.smoker]
type = "boolean"
null = "key"

[columns.seen]
type = "date"
bounds = [2023-01-01, 2024-12-31]

[columns.at]
type = "datetime"
bounds = [2023-01-01T00:00:00, 2024-12-31T00:00:00]

[columns.diagnosis]
type = "category"

[columns.household]
type = "text"

[columns.sex]
type = "category"
values = ["f", "m"]
fixed_per_unit = true

[columns.region]
type = "category"
values = ["north", "south"]

[hierarchy.geo]
levels = ["country", "region", "ward"]
branches = [["X", "north", "n1"], ["X", "north", "n2"], ["X", "south", "s1"]]

[budget]
epsilon = 3
delta = 1e-7
max_epsilon_per_question = 2

[budget.analysts]
ana = 1
"""
SQL = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
HEADER = "person_id,ward,age,cost,smoker,seen,at,diagnosis,household,sex,region"
ROW = "p{n},n1,44,100.5,true,2023-05-06,2023-05-06T07:08:09,CANARY,h{n},f,north"


def written(folder: Path, *, rows: int = 40) -> Path:
    """The dataset in a folder, with private rows if any are wanted; where its metadata lie."""
    folder.mkdir(exist_ok=True)
    (folder / "people.toml").write_text(TOML)
    if rows:
        (folder / "people.csv").write_text("\n".join([HEADER, *(ROW.format(n=n) for n in range(rows))]) + "\n")
    return folder / "people.toml"


def contents(*folders: Path) -> dict[str, tuple[str, int]]:
    """Every file below, with its digest and the time of its last change."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files}


class Breaking:
    """A mechanism with a bug of its own, which depends on what it is given."""

    def __init__(self, mechanism):
        self.sensitivity, self.cost = mechanism.sensitivity, mechanism.cost

    def __call__(self, exact, source):
        return divided_by_nothing(int(exact.sum()))


def divided_by_nothing(total):
    """The bug."""
    try:
        return {}["scale"]
    except KeyError as error:
        raise ZeroDivisionError(f"{total} rows over nothing") from error


def as_bytes(noisy):
    """What the toy room stores."""
    return json.dumps(noisy.tolist()).encode()


def parts_of(table, view):
    """A room's request for rows by region: what is wanted, its mechanism, and the computation for the gate."""
    question = Question(table.schema.name, (Output("n", CountRows()),), (Key("region", Col("region")),))
    tally = draft_of(question, table.schema).tally
    (part,) = tally.parts
    sensitivity = tally.sensitivity.parts[part]
    counts = view.tally(tally).then(lambda exacts: exacts.parts[part], sensitivity, proof="query.md")
    return Request({"toy": 1}, Terms(Fraction(1))), additive.laplace(sensitivity, Fraction(1)), counts
