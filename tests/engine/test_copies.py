"""A prepared copy that somebody wrote to: rows multiplied would raise every answer above its sensitivity."""

import duckdb
import pytest

from discreet.engine import Engine
from discreet.engine.prepare import FACTS
from discreet.query.layout import TABLE
from discreet.schema import Column, Schema, Unit

SCHEMA = Schema("people", (Column("age", "integer", bounds=(0, 110)),), Unit("person", 2))
COUNT = f"SELECT count(*) AS n FROM {TABLE}"
CHANGES = {
    "multiplied": f"INSERT INTO {TABLE} SELECT t.* FROM {TABLE} t, range(9)",
    "thinned": f"DELETE FROM {TABLE} WHERE rowid = 0",
    "no count": f"ALTER TABLE {FACTS} DROP COLUMN rows",
}


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text("person,age\n" + "".join(f"{n},{n}\n" for n in range(50)))
    with Engine(tmp_path, "people", SCHEMA, tmp_path / "people.csv") as engine:
        engine.prepare()
        yield engine


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_with_other_rows_than_it_was_made_with_is_made_anew(people, change):
    before, path = people.snapshot, people.path
    people.close()
    with duckdb.connect(path) as somebody:
        somebody.execute(CHANGES[change])
    snapshot = people.prepare()
    assert (snapshot.snapshot, snapshot.anew) == (before, True)
    assert [column["n"].tolist() for column in people.run([COUNT])] == [[50]]


def test_how_many_rows_there_are_does_not_leave_the_worker(people):
    assert not any(fact == "50" or "rows" in name for name, fact in people._facts(people.path).items())
