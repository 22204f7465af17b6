"""What a folder is called, one complex or nested cell, and a file moved away and back change nobody's rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine import Engine, Limits
from discreet.engine import source as origin
from discreet.engine.quotes import Quotes
from discreet.errors import SourceUnavailable
from discreet.schema import Column, Schema, Unit

LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema(
    "people", [Column("region", "category", values=("north", "south")), Column("note", "text")], Unit("who", 3)
)
SOUTH = "CAST(coalesce(sum(c1), 0) AS BIGINT)"
COUNTS = f"SELECT count(DISTINCT discreet_unit) AS p0, count(c1) AS p1, {SOUTH} AS p2 FROM prepared"
PEOPLE = pd.DataFrame({"who": [str(n) for n in range(30)], "region": ["north", "south"] * 15, "note": "x"})


def counted(folder, source):
    with Engine(folder, "people", SCHEMA, source, LIMITS) as engine:
        (columns,) = engine.run([COUNTS])
        return [int(columns[name][0]) for name in ("p0", "p1", "p2")], engine.snapshot


@pytest.mark.parametrize("name", ["region=south", "who=7", "note=y"])
@pytest.mark.parametrize("kind", ["parquet", "csv", "frame"])
def test_a_folder_that_is_called_like_a_column_and_a_value_stands_for_no_column(tmp_path, name, kind):
    counts = []
    for folder in (tmp_path / "plain", tmp_path / name):
        folder.mkdir()
        if kind == "parquet":
            PEOPLE.to_parquet(folder / "people.parquet")
        elif kind == "csv":
            PEOPLE.to_csv(folder / "people.csv", index=False)
        counts.append(counted(folder, PEOPLE if kind == "frame" else folder / f"people.{kind}")[0])
    assert counts[0] == counts[1] == [30, 30, 15]


def test_a_source_moved_away_and_back_while_it_is_read_is_not_taken_for_itself(tmp_path, monkeypatch):
    source, other, kept = (tmp_path / name for name in ("people.csv", "other.csv", "kept.csv"))
    PEOPLE.to_csv(source, index=False)
    pd.concat([PEOPLE.assign(who=PEOPLE.who + f"-{n}", region="south") for n in range(2)]).to_csv(other, index=False)
    real, swaps = Engine._make, iter([True])

    def swapped(engine, *given):
        if not next(swaps, False):
            return real(engine, *given)
        source.rename(kept)
        other.rename(source)
        try:
            return real(engine, *given)
        finally:
            source.rename(other)
            kept.rename(source)

    monkeypatch.setattr("discreet.engine.engine._SETTLED", 0)  # so that the stamps of new files are believed
    monkeypatch.setattr(Engine, "_make", swapped)
    assert counted(tmp_path, source)[0] == [30, 30, 15]


BIG = 2**53


@pytest.mark.parametrize(
    "key",
    [
        pd.Series([BIG, BIG + 1, BIG + 2, 5 + 0j]),
        pd.Series([BIG, BIG + 1, 5 + 0j, 1]).astype("category"),
        pd.Series(np.array([1, 2, 3, 4], dtype=np.complex64)),
    ],
)
def test_complex_columns_are_refused_where_large_whole_numbers_count(tmp_path, key):
    frame = pd.DataFrame({"who": key, "region": "north", "note": "x"})
    with pytest.raises(SourceUnavailable, match="must not hold floats"):
        counted(tmp_path, frame)


@pytest.mark.parametrize("notes", [[{"a": 1}, {"a": 2}], [[1, 2], [1.5]]])
@pytest.mark.parametrize(
    "library", [pa.table, pl.DataFrame, lambda of: pa.table(of).to_pandas(types_mapper=pd.ArrowDtype)]
)
def test_lists_and_records_are_refused_by_name(tmp_path, notes, library):
    frame = library({"who": ["1", "2"], "region": ["north", "south"], "note": notes})
    with pytest.raises(SourceUnavailable, match="must not hold lists or records"):
        counted(tmp_path, frame)


def test_the_reply_to_a_refused_column_names_no_cell(tmp_path):
    frame = pa.table({"who": ["1"], "region": ["north"], "note": [{"zqxjkv": 1}]})
    with pytest.raises(SourceUnavailable) as refusal:
        counted(tmp_path, frame)
    assert "note" in str(refusal.value)


# --- quotes that are no quotes to the reader ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        (b'a,b\n1,"x""y"\n2,""\n3,""""\n', False),
        (b'\xef\xbb\xbf"a",b\r\n1,"x\r\ny"', False),
        (b'a,b\n1,x"y,"z\n', True),
        (b'a,b\n1,x"\r2,q\rw,x"\n', True),
        (b'a,b\n1,"x"y\n', True),
        (b'a,b\n1, "x"\n', True),
        (b'a;b\n1;"x,"",y"\n', False),
        (b'a;b\n1;x,"y";z"\n', True),
    ],
)
def test_a_quote_that_neither_begins_nor_ends_a_cell_is_refused(tmp_path, content, refused):
    """Pairs of quotes were counted, and the reader took some of them as letters: one row swallowed 3,000 others."""
    (tmp_path / "people.csv").write_bytes(content)
    source = origin.file(tmp_path / "people.csv")
    if not refused:
        assert len(source.digest()) == 32
        return
    with pytest.raises(SourceUnavailable) as caught:
        source.digest()
    assert caught.value.what in ("Quotes in a CSV must begin and end cells.", "Quotes in a CSV must come in pairs.")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_quotes_are_told_in_parts_of_any_size(size):
    for content, misplaced in {b'a,b\n1,"x""y"\n2,"z"': False, b'a,b\n1,x"y"\n': True, b'a,"b"c\n': True}.items():
        seen = Quotes(",")
        for first in range(0, len(content), size):
            seen.see(content[first : first + size])
        seen.end()
        assert seen.misplaced is misplaced


def test_a_moment_before_all_others_is_read(tmp_path):
    """One cell beyond the first day that 64 bits hold failed every preparing."""
    moments = pa.array([-(2**63) + 1, -9223372022400000001, 0, None], type=pa.timestamp("us"))
    pq.write_table(pa.table({"who": [1, 2, 3, 4], "day": moments}), tmp_path / "people.parquet")
    schema = Schema("people", [Column("day", "date", bounds=("1970-01-01", "2020-12-31"))], Unit("who", 1))
    with Engine(tmp_path, "people", schema, tmp_path / "people.parquet") as engine:
        engine.prepare()
        told = engine.run(["SELECT CAST(count(c0) AS BIGINT) AS p0, CAST(sum(c0) AS BIGINT) AS p1 FROM prepared"])
    assert (told[0]["p0"].tolist(), told[0]["p1"].tolist()) == ([3], [0])


@pytest.mark.parametrize(("kind", "low", "high"), [("date", 18262, 18264), ("datetime", 1577836800, 1578009600)])
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_moments_with_a_zone_are_read_in_every_unit(tmp_path, kind, low, high, unit):
    """Nanoseconds with a zone were refused in one column and all empty in another."""
    moments = pa.array(pd.date_range("2020-01-01", periods=3, tz="UTC"), type=pa.timestamp(unit, "UTC"))
    pq.write_table(pa.table({"who": [1, 2, 3], "day": moments, "told": moments}), tmp_path / "people.parquet")
    schema = Schema("people", [Column("day", kind), Column("told", "text")], Unit("who", 1))
    with Engine(tmp_path, "people", schema, tmp_path / "people.parquet") as engine:
        engine.prepare()
        sql = "SELECT CAST(min(c0) AS BIGINT) AS p0, CAST(max(c0) AS BIGINT) AS p1, CAST(count(c1) AS BIGINT) AS p2"
        told = engine.run([f"{sql} FROM prepared"])[0]
    assert [told[name].tolist() for name in ("p0", "p1", "p2")] == [[low], [high], [3]]


def test_a_log_that_a_kill_left_beside_a_state_is_ended(tmp_path):
    """Stamps are recorded in the prepared file; whoever was killed meanwhile left its log for good."""
    (tmp_path / "people.csv").write_text("who,age\na,3\nb,4\n")
    schema = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 1))
    with Engine(tmp_path, "people", schema, tmp_path / "people.csv") as engine:
        state = tmp_path / f"people.{engine.prepare().snapshot}.prepared"
    killed = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('PRAGMA wal_autocheckpoint = \\'1TB\\'')"
    )
    killed += "; c.execute('CREATE OR REPLACE TABLE discreet_facts AS SELECT * FROM discreet_facts'); os._exit(1)"
    subprocess.run([sys.executable, "-c", killed, str(state)], check=False)
    assert Path(f"{state}.wal").exists()
    with Engine(tmp_path, "people", schema, tmp_path / "people.csv") as engine:
        assert not engine.prepare().anew
        assert engine.run(["SELECT CAST(sum(c0) AS BIGINT) AS p0 FROM prepared"])[0]["p0"].tolist() == [7]
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "people.key", state.name}
