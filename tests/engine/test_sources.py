"""CSV, Parquet, DuckDB, pandas, Polars and Arrow go through the same door and come out alike; bad ones are refused."""

import os
import stat
import time
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.engine import Engine, Limits, states
from discreet.engine import source as origin
from discreet.engine.tables import delimiter
from discreet.errors import BadValue, CannotWrite, DiscreetError, IntegrityError, MetadataError, SourceUnavailable
from discreet.metadata import header
from discreet.schema import Column, Schema, Unit

CANARY = "zq7canary"
LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema(
    "people",
    [
        Column("region", "category", values=["north", "south"]),
        Column("age", "integer", bounds=(0, 110)),
        Column("income", "number", bounds=(0, 100)),
        Column("born", "date", bounds=("1950-01-01", "2020-12-31")),
        Column("member", "boolean"),
        Column("note", "text"),
    ],
    Unit("who", 2),
)
ROWS = [
    (1, "north", 34, 12.5, "1980-05-06", True, "x"),
    (1, "south", 35, None, None, False, None),
    (1, "east", 36, 99.0, "1980-05-06", None, "y, z"),
    (2, "north", 300, -5.25, "1900-01-01", True, 'q"q'),
    (3, None, None, 1000.0, "2030-01-01", False, "two\nlines"),
]
NAMES = ["who", "region", "age", "income", "born", "member", "note"]
CELL = "coalesce(CAST(c{} AS VARCHAR), '-')"
EVERYTHING = (
    f"SELECT concat_ws('|', {', '.join(CELL.format(place) for place in range(6))}) AS k0, "
    "CAST(discreet_rank AS BIGINT) AS p0, discreet_unit AS p1 FROM prepared ORDER BY ALL"
)


@pytest.fixture
def pandas_frame():
    frame = pd.DataFrame(ROWS, columns=NAMES)
    frame["extra"] = [object()] * len(frame)
    return frame.sample(frac=1, random_state=1)


def arrow_table():
    return pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in ROWS])


def given(kind, folder, frame):
    """The same rows as `kind` of source."""
    path = folder / f"people.{kind}"
    match kind:
        case "csv":
            frame.drop(columns="extra").to_csv(path, index=False)
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n3,", b"\r\n3,"))
        case "tsv":
            frame.drop(columns="extra").to_csv(path, index=False, sep=";")
        case "parquet":
            duckdb.from_arrow(arrow_table()).write_parquet(str(path))
        case "duckdb":
            with duckdb.connect(str(path)) as connection:
                connection.register("rows", arrow_table())
                connection.execute('CREATE TABLE "People" AS SELECT * REPLACE (CAST(born AS DATE) AS born) FROM rows')
                connection.execute("CREATE TABLE other AS SELECT 1 AS who")
        case "pandas":
            return frame
        case "polars":
            return pl.DataFrame(arrow_table().to_pylist())
        case "arrow":
            return arrow_table()
    return path


def test_every_source_gives_the_same_table(tmp_path, pandas_frame):
    tables = {}
    for kind in ("csv", "tsv", "parquet", "duckdb", "pandas", "polars", "arrow"):
        folder = tmp_path / kind
        folder.mkdir()
        (folder / "people.key").write_text("ab" * 32)
        (folder / "people.key").chmod(0o600)
        with Engine(folder, "people", SCHEMA, given(kind, folder, pandas_frame), LIMITS) as engine:
            columns = engine.run([EVERYTHING])[0]
            prepared = engine.path.name
        tables[kind] = list(zip(*(columns[name].tolist() for name in ("k0", "p0", "p1")), strict=True))
        assert {file.name for file in folder.iterdir()} - {"people.key", f"people.{kind}"} == {prepared}
    assert len(tables["csv"]) == 4
    assert all(rows == tables["csv"] for rows in tables.values()), tables


def test_files_are_the_owners_alone_and_steps_are_coarse(tmp_path):
    os.umask(umask := os.umask(0))
    seen, source = [], tmp_path / "people.csv"
    source.write_text("who,age\n1,5\n")
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    os.umask(0)
    try:
        with Engine(tmp_path, "people", schema, source, LIMITS) as engine:
            snapshot = engine.prepare(lambda name, share: seen.append((name, share)))
            assert snapshot.anew
            assert not engine.prepare().anew
            for path in (tmp_path / "people.key", engine.path):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert len((tmp_path / "people.key").read_text()) == 64
            assert [name for name, _ in seen] == ["reading", "ranking", "writing", "writing"]
            assert [share for _, share in seen] == sorted(share for _, share in seen)
            engine.path.chmod(0o644)
            assert engine.prepare().anew
            engine.clean()
            assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "people.key"]
            assert engine.snapshot == snapshot.snapshot
            (tmp_path / "people.key").chmod(0o640)
            engine.clean()
            with pytest.raises(IntegrityError, match="chmod 600"):
                engine.prepare()
    finally:
        os.umask(umask)


def aged(path, seconds=60):
    """The file as if it had been written some time ago."""
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_a_changed_source_is_another_snapshot_and_a_touched_one_is_not(tmp_path, monkeypatch):
    source = tmp_path / "people.csv"
    source.write_text("who,age\n1,5\n")
    aged(source)
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    monkeypatch.setattr("discreet.engine.engine._SETTLED", 0)  # the stamps of a new file are believed
    with Engine(tmp_path, "people", schema, source, LIMITS) as engine:
        first = engine.snapshot
        aged(source, 50)
        assert engine.prepare().snapshot == first
    digests = []
    monkeypatch.setattr(origin.File, "digest", lambda self: digests.append(1) or b"")
    with Engine(tmp_path, "people", schema, source, LIMITS) as engine:
        assert not engine.prepare().anew
        assert engine.snapshot == first
        assert not digests, "an unchanged file is not read again"
        monkeypatch.undo()
        source.write_text("who,age\n1,6\n")
        changed = engine.prepare()
        assert changed.anew
        assert changed.snapshot != first
        assert engine.run(["SELECT CAST(sum(c0) AS BIGINT) AS p0 FROM prepared"])[0]["p0"].tolist() == [6]
        source.write_text("who,age\n1,5\n")
        assert engine.snapshot == first
    wider = Schema("people", [Column("age", "integer", bounds=(0, 99))], Unit("who", 1))
    with Engine(tmp_path, "people", wider, source, LIMITS) as engine:
        assert engine.prepare().anew
        assert engine.snapshot != first
        engine.path.write_bytes(b"broken")
        assert engine.prepare().anew


def test_a_prepared_file_that_was_written_over_is_made_anew_whenever_that_was(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text("who,age\n1,5\n")
    aged(source)
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    with Engine(tmp_path, "people", schema, source, LIMITS) as engine:
        first = engine.prepare()
        assert not engine.prepare().anew
        engine.path.write_bytes(b"broken")
        snapshot = engine.prepare()
        assert snapshot.anew
        assert snapshot.snapshot == first.snapshot


def test_a_frame_is_the_same_snapshot_in_another_engine(tmp_path, pandas_frame):
    with Engine(tmp_path, "people", SCHEMA, pandas_frame, LIMITS) as engine:
        first = engine.snapshot
    with Engine(tmp_path, "people", SCHEMA, pandas_frame.copy(), LIMITS) as engine:
        snapshot = engine.prepare()
        assert (snapshot.snapshot, snapshot.anew) == (first, False)
    other = pandas_frame.assign(age=1)
    with Engine(tmp_path, "people", SCHEMA, other, LIMITS) as engine:
        assert engine.snapshot != first


def test_a_frame_with_cells_of_several_types_never_fails(tmp_path):
    class Odd:
        def __str__(self):
            raise RuntimeError(CANARY)

    cells = [1, "2", 3.5, None, float("nan"), Odd(), "\ud800", [1], pd.NA, b"4"]
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))])
    with Engine(tmp_path, "people", schema, pd.DataFrame({"age": cells}), LIMITS) as engine:
        columns = engine.run(["SELECT count(*) AS p0, count(c0) AS p1, CAST(sum(c0) AS BIGINT) AS p2 FROM prepared"])[0]
    assert [columns[name].tolist() for name in ("p0", "p1", "p2")] == [[10], [4], [11]]


BAD = {
    "missing.csv": (None, SourceUnavailable, "not there"),
    "folder.csv": ("folder", SourceUnavailable, "folder"),
    "empty.csv": (b"", MetadataError, "column names"),
    "latin.csv": (b"who,age\n1,\xe9" + CANARY.encode() + b"\n", SourceUnavailable, "iconv -f latin1 -t utf-8"),
    "open.csv": (b'who,age\n1,"' + CANARY.encode() + b"\n2,3\n", SourceUnavailable, "come in pairs"),
    "cut.csv": (b"who,age\n1,\xe2\x82", SourceUnavailable, "UTF-8"),
    "twins.csv": (b"who,age,Age\n", MetadataError, "Columns 2 and 3"),
    "nokey.csv": (b"who_id,age\n", MetadataError, '"who_id"'),
    "nocolumn.csv": (b"who,agge\n", MetadataError, 'Did you mean "agge"'),
    "rows.csv": (b"1,2\n3,4\n", MetadataError, "seems to be a row"),
    "junk.parquet": (b"PAR1" + CANARY.encode() * 9, SourceUnavailable, "could not be read"),
    "junk.duckdb": (CANARY.encode() * 99, SourceUnavailable, "could not be read"),
    "empty.parquet": (b"", SourceUnavailable, "could not be read"),
    "data.xlsx": (b"PK\x03\x04" + CANARY.encode(), SourceUnavailable, "Parquet"),
}


@pytest.fixture(scope="module")
def shared():
    """One worker for all of them: what is refused must not end it."""
    from discreet.engine.process import Process

    process = Process(LIMITS)
    yield process
    process.close()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_source_is_refused_with_a_fix(tmp_path, shared, name):
    content, error, words = BAD[name]
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    engine = Engine(tmp_path, "people", schema, path, LIMITS)
    engine.process = shared
    with pytest.raises(error) as caught:
        engine.prepare()
    assert words in str(caught.value)
    assert CANARY not in repr(caught.value)
    assert caught.value.__cause__ is None
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left <= {name, "people.key"}, "nothing half-made stays"


def test_twin_columns_in_other_formats_are_refused(tmp_path, shared):
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    twins = pa.table([pa.array([1]), pa.array([1]), pa.array([2])], names=["who", "age", "age"])
    import pyarrow.parquet as pq

    pq.write_table(twins, tmp_path / "people.parquet")
    for source in (twins, tmp_path / "people.parquet"):
        engine = Engine(tmp_path, "people", schema, source, LIMITS)
        engine.process = shared
        with pytest.raises(MetadataError, match="Columns 2 and 3"):
            engine.prepare()


def test_odd_but_good_files_are_read(tmp_path, shared):
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 10))
    many = ",".join(f"c{place}" for place in range(9_998))
    cases = {
        b"who,age\n": (0, 0),
        b"who,age": (0, 0),
        b"WHO,Age\r\n1,2\r\n": (1, 1),
        b'\xef\xbb\xbfwho;age\n1;2\n2\n3;4;5\n;7\n"4";""\n': (4, 2),
        b" who , age \n1, 2\n": (1, 1),
        f"who,age,{many}\n1,2{',x' * 9_998}\n".encode(): (1, 1),
        b"who,age\n1," + b"9" * 3_000_000 + b"\n2,3\n": (2, 2),
    }
    for number, (content, expected) in enumerate(cases.items()):
        path = tmp_path / f"t{number}.csv"
        path.write_bytes(content)
        engine = Engine(tmp_path, f"t{number}", schema, path, LIMITS)
        engine.process = shared
        columns = engine.run(["SELECT count(*) AS p0, count(c0) AS p1 FROM prepared"])[0]
        counted = (int(columns["p0"][0]), int(columns["p1"][0]))
        assert counted == expected, content[:30]


def test_delimiters_are_guessed_as_the_header_reader_does(tmp_path):
    for line in ("a,b", "a;b,c;d", "a\tb", "a|b|c", '"a,b,c";d', "alone", "a,b;c"):
        path = tmp_path / "x.csv"
        path.write_text(line + "\n")
        import csv

        expected = next(csv.reader([line], delimiter=delimiter(line)))
        assert list(header.names(path)) == expected


def test_a_copy_that_cannot_be_written_is_refused_and_the_old_one_stays(tmp_path, shared, monkeypatch):
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    source = tmp_path / "people.csv"
    source.write_text("who,age\n1,5\n")
    with pytest.raises(CannotWrite):
        Engine(tmp_path / "nowhere", "people", schema, source, LIMITS).prepare()
    engine = Engine(tmp_path, "people", schema, source, LIMITS)
    engine.process = shared
    engine.prepare()
    old = engine.path
    before = old.read_bytes()
    source.write_text("who,age\n1,6\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.durable.sync", full)
    with pytest.raises(CannotWrite):
        engine.prepare()
    monkeypatch.undo()
    assert old.read_bytes() == before
    assert states.paths(tmp_path, "people") == [old]
    assert engine.prepare().anew


@pytest.mark.parametrize("bad", [{"memory": 5}, {"seconds": 0}, {"seconds": float("nan")}, {"threads": -1}])
def test_limits_outside_their_range_are_refused(bad):
    with pytest.raises(BadValue, match=next(iter(bad))):
        Limits(**bad)


def test_a_value_that_is_no_table_is_refused(tmp_path):
    with pytest.raises(BadValue, match="pandas, Polars or PyArrow"):
        Engine(tmp_path, "people", SCHEMA, [CANARY])
    with pytest.raises(DiscreetError, match="name"):
        Engine(tmp_path, "../people", SCHEMA, Path("x.csv"))
