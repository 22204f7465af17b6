"""Models of a table in PostgreSQL: counts give the model of the file, and what passes over rows is refused unpaid."""

import csv

import numpy as np
import pytest

import discreet as dp
from discreet.errors import NotAnswerable
from engine.postgres.beside import filled
from people_toml import people_toml

SICK = '[columns.sick]\ntype = "category"\nvalues = ["no", "yes"]\n'
NAMES = ["who", "region", "age", "sick"]
ROWS = [
    (f"u{i}", ("north", "south")[i % 3 == 0], i * 7 % 90, ("no", "yes")[i * 7 % 90 > 40 + i % 11]) for i in range(300)
]
HUGE = {"epsilon": 100_000, "delta": 0}
PASSING = [
    "AdditiveClassifier",
    "RandomForest",
    "DecisionTree",
    "GaussianNaiveBayes",
    "LogisticRegression",
    "LinearClassifier",
]


def open_people(folder, source):
    folder.mkdir()
    toml = people_toml("epsilon = 1_000_000\ndelta = 1e-6", columns=SICK, key="who", max_rows=1, source=source)
    (folder / "people.toml").write_text(toml)
    return dp.open(folder / "people.toml")


@pytest.fixture
def in_server(server, tmp_path):
    filled(server, "fitted", {"who": "text", "region": "text", "age": "integer", "sick": "text"}, ROWS)
    with open_people(tmp_path / "server", server.url("fitted")) as people:
        yield people


@pytest.fixture
def in_file(tmp_path):
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *ROWS])
    with open_people(tmp_path / "file", str(path)) as people:
        yield people


def test_naive_bayes_in_the_server_is_that_of_the_file_and_of_plain_counts(in_server, in_file):
    tasks = [people.learn(dp.learn.NaiveBayes(), target="sick", features=["region"]) for people in (in_server, in_file)]
    fits = [task.fit(**HUGE).fit_ for task in tasks]
    counts = [
        sum(row[1] == region and row[3] == sick for row in ROWS)
        for sick in ("no", "yes")
        for region in ("north", "south")
    ]
    for fit in fits:
        (table,) = fit.released.values()
        assert sorted(np.asarray(table).ravel().tolist()) == sorted(counts)
    tasks = [
        people.learn(dp.learn.NaiveBayes(), target="sick", features=["region", "age"])
        for people in (in_server, in_file)
    ]
    X = {"region": ["north", "south", "north"], "age": [3, 44, 89]}
    there, here = (task.fit(**HUGE).predict_proba(X) for task in tasks)
    assert np.array_equal(there, here)
    assert tasks[0].fit(**HUGE).fit_.is_replayed


@pytest.mark.parametrize("name", PASSING)
def test_a_model_that_passes_over_rows_is_refused_in_the_server_before_its_charge(in_server, name):
    task = in_server.learn(getattr(dp.learn, name)(), target="sick", features=["region", "age"])
    for act in (task.quote, task.fit):
        with pytest.raises(NotAnswerable, match=r"is not fitted to a table in PostgreSQL[\s\S]*naive Bayes"):
            act(epsilon=1, delta="1e-8")
    assert in_server.budget is None  # there is no ledger yet
