"""A table larger than the memory it may take: what does not fit goes to disk, and the prepared rows are the same."""

import stat
import threading

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from discreet.engine import Engine, Limits
from discreet.engine.secret import load_or_create_secret
from discreet.noise.public import generator
from discreet.schema import Column, Schema, Unit

ROWS = 1_500_000
SMALL, AMPLE = 2**26, 2**30
SCHEMA = Schema("people", [Column("age", "integer", bounds=(0, 1000)), Column("town", "text")], Unit("person", 3))
DIGEST = """
    SELECT count(*) AS p0, CAST(sum(c0 * discreet_rank) AS BIGINT) AS p1,
           CAST(bit_xor(hash(c0, c1, discreet_rank) >> 1) AS BIGINT) AS p2
    FROM prepared"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    draw = generator(5)
    person, age = draw.integers(0, ROWS // 5, ROWS), draw.integers(0, 1001, ROWS)
    town = arrow.array(age).cast(arrow.string())
    path = tmp_path_factory.mktemp("large") / "people.parquet"
    parquet.write_table(arrow.table({"person": person, "age": age, "town": town}), path)
    return path


def prepared(folder, source, memory, key):
    """What the prepared rows add up to, and the modes of all overflow files that were seen."""
    folder.mkdir()
    (folder / "people.key").touch(0o600)
    (folder / "people.key").write_bytes(key)
    seen, done = set(), threading.Event()
    spill = folder / ".people.preparing.spill"

    def watched():
        while not done.wait(0.005):
            seen.update(_modes(spill))

    watching = threading.Thread(target=watched)
    watching.start()
    try:
        with Engine(folder, "people", SCHEMA, source, Limits(memory, 60, 120, 2)) as engine:
            engine.prepare()
            (digest,) = engine.run([DIGEST])
    finally:
        done.set()
        watching.join()
    assert not spill.exists()
    return {name: int(column[0]) for name, column in digest.items()}, seen


def _modes(spill):
    try:
        return {stat.S_IMODE(path.stat().st_mode) for path in (spill, *spill.iterdir())}
    except OSError:
        return set()  # not there yet, or gone again


def test_rows_beyond_memory_go_to_a_file_of_the_owner_and_change_nothing(tmp_path, source):
    load_or_create_secret(tmp_path / "people.key")
    key = (tmp_path / "people.key").read_bytes()
    spilled, modes = prepared(tmp_path / "small", source, SMALL, key)
    ample, none = prepared(tmp_path / "ample", source, AMPLE, key)
    assert spilled == ample
    assert modes
    assert not none
    assert all(not mode & 0o077 for mode in modes)
