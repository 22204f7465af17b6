"""One person's cells never change how other people's rows are read, from any source, whoever wrote the file."""

import csv
import io
import multiprocessing
import os
import stat

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.engine import Engine, Limits, frames
from discreet.engine.source import _Returns
from discreet.errors import SourceUnavailable
from discreet.noise.public import generator
from discreet.schema import Column, Schema, Unit

LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
WORDS = ("true", "false", "1", "2", "3", "b", "x", "True", "1.0")
SCHEMA = Schema("people", [Column("v", "category", values=WORDS), Column("note", "text")], Unit("who", 3))
KEPT = "SELECT v AS k0, note AS k1, p0 FROM (SELECT c0 AS v, c1 AS note, count(*) AS p0 FROM prepared GROUP BY ALL)"
UNITS = "SELECT count(DISTINCT discreet_unit) AS p0, count(*) AS p1 FROM prepared"


def kept(folder, source):
    """All kept rows as (v, note, how many), and how many units there are."""
    folder.mkdir(exist_ok=True)
    with Engine(folder, "people", SCHEMA, source, LIMITS) as engine:
        rows, units = engine.run([KEPT, UNITS])
    found = zip(*(rows[name].tolist() for name in ("k0", "k1", "p0")), strict=True)
    return {(v, note): count for v, note, count in found}, units["p0"].tolist()[0]


# --- CSV -----------------------------------------------------------------------------------------------------------


def test_a_carriage_return_in_a_cell_makes_no_rows_of_other_people(tmp_path):
    """pandas leaves it without quotes, and the engine would read three more people off one cell."""
    frame = pd.DataFrame({"who": ["1", "2"], "v": ["1", "2"], "note": ["a", "\r7\r8\r9"]})
    frame.to_csv(tmp_path / "bare.csv", index=False)
    assert b"2,2,\r7\r8\r9\n" in (tmp_path / "bare.csv").read_bytes()
    with pytest.raises(SourceUnavailable, match="quotes") as refusal:
        kept(tmp_path / "bare", tmp_path / "bare.csv")
    assert "\r7" not in str(refusal.value)
    frame.to_csv(tmp_path / "quoted.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert kept(tmp_path / "quoted", tmp_path / "quoted.csv") == ({("1", "a"): 1, ("2", "\r7\r8\r9"): 1}, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_carriage_returns_are_told_apart_wherever_the_file_is_cut(size):
    cases = {
        b"a,b\n1,\r2\n": True,
        b'a,b\n1,"\r2"\n3,4\r': False,
        b"a,b\r\n1,2\r\n3,4\r\n": False,
        b"a,b\n1,2\r\n3,4\n": False,
        b"a,b\r1,2\r3,4\r": False,
        b'a,b\n"x""",\r"y"\n': True,
        b'a,b\n"x""\r""",y\n': False,
        b'"a",b\n"q",\r\r\n': True,
        b'a,b\n1,"x\r\ny\rz"\r\n': False,
    }
    for content, stray in cases.items():
        seen = _Returns()
        for start in range(0, len(content), size):
            seen.see(content[start : start + size])
        assert seen.stray is stray, content


def test_whatever_a_properly_written_cell_holds_other_rows_are_read_alike(tmp_path):
    pieces = ['"', ",", "\n", "\r\n", "a", '""', "'", ";", "\\", " ", "#", "\t", '"\n"', '","', "\ufeff", "é", "\0"]
    chance = generator(5)
    wanted, rows = {}, []
    for who in range(400):
        note = "".join(pieces[place] for place in chance.integers(0, len(pieces), int(chance.integers(0, 8))))
        rows.append([who, WORDS[who % 4], note])
        key = (WORDS[who % 4], note or None)
        wanted[key] = wanted.get(key, 0) + 1
    for end, quoting in (("\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)):
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=end, quoting=quoting)
        writer.writerows([["who", "v", "note"], *rows])
        path = tmp_path / f"{len(end)}{quoting}.csv"
        bare = end == "\n"
        path.write_text(out.getvalue().replace("\r\n", "\n") if bare else out.getvalue(), newline="", encoding="utf-8")
        alike = {(v, n.replace("\r\n", "\n") if n and bare else n): 0 for v, n in wanted}
        for (v, n), count in wanted.items():
            alike[v, n.replace("\r\n", "\n") if n and bare else n] += count
        assert kept(tmp_path / path.stem, path) == (alike, 400)


# --- tables in memory ----------------------------------------------------------------------------------------------

MIXED = {
    "booleans": ([1, 2], [True, np.False_]),
    "floats": ([1, 2], [1.0, np.float32(2)]),
    "whole numbers and floats": ([1, 2], [1, 2.0]),
    "bytes": ([1, 2], [b"b", b"1"]),
    "one unit as 1 and 1.0": ([1, 1.0, 2], ["1", "2", "b"]),
    "units beyond doubles": ([2**53, 2**53 + 1], ["1", "2"]),
}


STRANGERS = [("z", "x"), (0.5, 0.5), (None, b"\xff"), (True, None)]


def mixed(who, values, *more):
    """A frame of object columns: the people's own rows, and those of strangers."""
    whole = [*zip(who, values, strict=True), *more]
    series = [pd.Series([row[place] for row in whole], dtype=object) for place in (0, 1)]
    return pd.DataFrame({"who": series[0], "v": series[1], "note": ["own"] * len(who) + ["other"] * len(more)})


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_strangers_cell_changes_no_other_cell_of_a_frame(name, stranger):
    alone = frames.arrow_table(mixed(*MIXED[name]), SCHEMA)
    beside = frames.arrow_table(mixed(*MIXED[name], stranger), SCHEMA)
    assert beside.slice(0, alone.num_rows).to_pydict() == alone.to_pydict()
    assert set(alone.column("v").to_pylist()) <= set(WORDS)


@pytest.mark.parametrize("name", ["booleans", "one unit as 1 and 1.0"])
def test_a_strangers_cell_moves_no_kept_row_of_a_frame(tmp_path, name):
    alone, units = kept(tmp_path / "alone", mixed(*MIXED[name]))
    beside, more_units = kept(tmp_path / "beside", mixed(*MIXED[name], STRANGERS[0]))
    assert {key: count for key, count in beside.items() if key[1] == "own"} == alone
    assert (units, more_units) == (2, 3)


def test_a_cell_that_no_parquet_file_holds_is_not_quoted(tmp_path):
    moment = 2**62 + 12345
    table = pa.table({"who": [1], "v": ["1"], "note": pa.array([moment], type=pa.timestamp("s"))})
    with pytest.raises(SourceUnavailable) as refusal:
        kept(tmp_path / "t", table)
    assert "12345" not in str(refusal.value)
    assert (refusal.value.__cause__, refusal.value.__context__) == (None, None)
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["people.key"]


# --- several at once -----------------------------------------------------------------------------------------------


def _prepare(folder, source, found):
    with Engine(folder, "people", SCHEMA, source, LIMITS) as engine:
        found.put((engine.snapshot, engine.run([UNITS])[0]["p1"].tolist()))


def test_processes_that_prepare_one_file_at_once_agree(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text("who,v,note\n" + "".join(f"{n % 900},{WORDS[n % 4]},x{n}\n" for n in range(3000)))
    folder = tmp_path / "beside"
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    found = context.SimpleQueue()
    several = [context.Process(target=_prepare, args=(folder, source, found)) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join(60)
    assert [one.exitcode for one in several] == [0, 0, 0]
    answers = [found.get() for _ in several]
    assert answers == answers[:1] * 3
    assert sorted(os.listdir(folder)) == ["people.key", "people.prepared"]
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in os.listdir(folder)} == {0o600}
