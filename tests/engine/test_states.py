"""Prepared states side by side, in use and no longer in use, and those of older formats."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from discreet.engine import Engine, Limits, legacy, states
from discreet.engine.secret import Secret
from discreet.errors import EngineFailed, SourceUnavailable
from discreet.schema import Column, Schema, Unit

OLD = Path(__file__).parent / "format2"
OLD_SNAPSHOT = "757328c5ab68247146a2b4b7db15e583"  # as the commit that wrote that format called it
LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema(
    "people",
    [Column("age", "integer", bounds=(0, 110)), Column("region", "category", values=("north", "south"))],
    Unit("person", 2),
)
AGES = "SELECT CAST(sum(c0) AS BIGINT) AS p0 FROM prepared"


def engine(folder):
    return Engine(folder, "people", SCHEMA, folder / "people.csv", LIMITS)


def filled(folder, *ages):
    rows = "".join(f"{person},{age},north\n" for person, age in enumerate(ages))
    (folder / "people.csv").write_text(f"person,age,region\n{rows}")


def ages(asked, snapshot=None):
    return int(asked.run([AGES], snapshot)[0]["p0"][0])


def test_a_question_in_flight_reads_the_state_it_was_charged_for(tmp_path):
    filled(tmp_path, 1, 2)
    with engine(tmp_path) as mine, engine(tmp_path) as other:
        first = mine.prepare()
        filled(tmp_path, 5, 6)
        second = other.prepare()
        assert second.anew
        assert (ages(mine, first.snapshot), ages(other, second.snapshot)) == (3, 11)
        mine.close()  # the worker too: nothing but the lock kept the file
        assert mine.prepare().snapshot == second.snapshot
        assert ages(mine) == 11


def test_the_state_before_the_present_one_stays_and_older_ones_go(tmp_path):
    with engine(tmp_path) as mine:
        seen = []
        for age in (1, 2, 3, 4):
            filled(tmp_path, age)
            seen.append(mine.snapshot)
        left = {states.path(tmp_path, "people", snapshot) for snapshot in seen[2:]}
        assert set(states.paths(tmp_path, "people")) == left
        assert ages(mine, seen[2]) == 3
        with pytest.raises(EngineFailed):
            mine.run([AGES], seen[1])


HOLD = """
import sys
from pathlib import Path
from discreet.engine.states import Holds
holds = Holds()
holds.hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_nobody_takes_a_state_from_under_another_process(tmp_path):
    filled(tmp_path, 1)
    with engine(tmp_path) as mine:
        held = mine.path
        command = [sys.executable, "-c", HOLD, str(held)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout.readline() == "held\n"
            with pytest.raises(SourceUnavailable, match="in use"):
                mine.clean()
            assert held.exists()
            filled(tmp_path, 2)
            mine.prepare()
            assert held.exists()
            reader.stdin.close()
        mine.clean()
        assert states.paths(tmp_path, "people") == []


@pytest.mark.parametrize("snapshot", ["", "../people", "0" * 31, "0" * 32, "Z" * 32])
def test_no_other_name_is_read(tmp_path, snapshot):
    filled(tmp_path, 1)
    with engine(tmp_path) as mine:
        mine.prepare()
        with pytest.raises(EngineFailed):
            mine.run([AGES], snapshot)


@pytest.mark.parametrize("table", ["prepared", "discreet_units"])
def test_rows_that_were_multiplied_are_noticed(tmp_path, table):
    filled(tmp_path, 1, 2)
    with engine(tmp_path) as mine:
        first = mine.prepare()
        mine.close()
        with duckdb.connect(str(states.path(tmp_path, "people", first.snapshot))) as connection:
            connection.execute(f"INSERT INTO {table} SELECT * FROM {table}")
        with pytest.raises(EngineFailed):
            mine.run([AGES], first.snapshot)
        second = mine.prepare()
        assert (second.snapshot, second.anew) == (first.snapshot, True)
        assert ages(mine) == 3


# --- format 2 ------------------------------------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path):
    """A folder as the last version that wrote format 2 left it."""
    shutil.copy(OLD / "people.csv", tmp_path)
    for name, content in (("people.key", b"5a" * 32), ("people.prepared", None)):
        (tmp_path / name).touch(0o600)
        (tmp_path / name).write_bytes(content or gzip.decompress((OLD / "people.prepared.gz").read_bytes()))
    return tmp_path


def test_an_old_id_is_carried_and_outlives_its_file(old):
    with engine(old) as mine:
        snapshot = mine.prepare()
        assert (snapshot.anew, snapshot.older_snapshots) == (True, (OLD_SNAPSHOT,))
        assert snapshot.snapshot != OLD_SNAPSHOT
        assert not legacy.path(old, "people").exists()
        assert mine.prepare().older_snapshots == (OLD_SNAPSHOT,)
    with engine(old) as reopened:
        assert (reopened.prepare().anew, reopened.prepare().older_snapshots) == (False, (OLD_SNAPSHOT,))


def test_an_old_id_is_not_carried_to_another_content(old):
    filled(old, 1)
    with engine(old) as mine:
        assert mine.prepare().older_snapshots == ()


@pytest.mark.parametrize("fact", ["snapshot", "layout", "content"])
def test_an_old_id_that_does_not_follow_from_its_facts_is_not_carried(old, fact):
    with duckdb.connect(str(old / "people.prepared")) as connection:
        connection.execute(f"UPDATE discreet_facts SET {fact} = repeat('0', length({fact}))")
    with engine(old) as mine:
        assert mine.prepare().older_snapshots == ()


def test_an_old_id_needs_the_key_and_the_schema_it_was_made_with(old):
    with duckdb.connect(str(old / "people.prepared"), read_only=True) as connection:
        rows = connection.execute("SELECT * FROM discreet_facts")
        facts = dict(zip((column[0] for column in rows.description), rows.fetchone(), strict=True))
    content = bytes.fromhex(facts["content"])
    wider = Schema("people", SCHEMA.columns, Unit("person", 3))
    assert legacy.old_snapshots(facts, Secret(b"Z" * 32), SCHEMA, content) == (OLD_SNAPSHOT,)
    assert legacy.old_snapshots(facts, Secret(b"Y" * 32), SCHEMA, content) == ()
    assert legacy.old_snapshots(facts, Secret(b"Z" * 32), wider, content) == ()
    assert legacy.old_snapshots({}, Secret(b"Z" * 32), SCHEMA, content) == ()
