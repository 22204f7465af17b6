"""One person's cells never change how other people's rows are read, from any source, whoever wrote the file."""

import csv
import io
import multiprocessing
import os
import stat

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engine import Engine, Limits, cells, frames
from discreet.engine.source import _Returns
from discreet.errors import SourceUnavailable
from discreet.noise.public import generator
from discreet.query.layout import Store, storage
from discreet.schema import Column, Schema, Unit

LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
WORDS = ("true", "false", "1", "2", "3", "b", "x", "True", "1.0")
SCHEMA = Schema("people", [Column("v", "category", values=WORDS), Column("note", "text")], Unit("who", 3))
V = "enum_range(CAST(NULL AS tc1))[CAST(c1 AS INTEGER) + 1]"
KEPT = f"SELECT v AS k0, note AS k1, p0 FROM (SELECT {V} AS v, c0 AS note, count(*) AS p0 FROM prepared GROUP BY ALL)"
UNITS = "SELECT count(DISTINCT discreet_unit) AS p0, count(*) AS p1 FROM prepared"


def kept(folder, source):
    """All kept rows as (v, note, how many), and how many units there are."""
    folder.mkdir(exist_ok=True)
    with Engine(folder, "people", SCHEMA, source, LIMITS) as engine:
        rows, units = engine.run([KEPT, UNITS])
    counted = zip(*(rows[name].tolist() for name in ("k0", "k1", "p0")), strict=True)
    return {(v, note): count for v, note, count in counted}, units["p0"].tolist()[0]


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
        key = (WORDS[who % 4], note)
        wanted[key] = wanted.get(key, 0) + 1
    for end, quoting in (("\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)):
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=end, quoting=quoting)
        writer.writerows([["who", "v", "note"], *rows])
        path = tmp_path / f"{len(end)}{quoting}.csv"
        bare = end == "\n"
        path.write_text(out.getvalue().replace("\r\n", "\n") if bare else out.getvalue(), newline="", encoding="utf-8")
        unquoted = None if quoting == csv.QUOTE_MINIMAL else ""  # nothing between two commas is no text
        alike: dict[tuple[str, str | None], int] = {}
        for (v, n), count in wanted.items():
            key = v, (n.replace("\r\n", "\n") if bare else n) or unquoted
            alike[key] = alike.get(key, 0) + count
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


@pytest.mark.parametrize("name", ["booleans", "one unit as 1 and 1.0"])
def test_a_strangers_cell_moves_no_kept_row_of_a_frame(tmp_path, name):
    alone, units = kept(tmp_path / "alone", mixed(*MIXED[name]))
    beside, more_units = kept(tmp_path / "beside", mixed(*MIXED[name], STRANGERS[0]))
    assert {key: count for key, count in beside.items() if key[1] == "own"} == alone
    assert (units, more_units) == (2, 3)


def test_a_moment_that_no_parquet_file_holds_is_endless_and_fails_nobody(tmp_path):
    table = pa.table({"who": [1, 2], "v": ["1", "2"], "note": pa.array([2**62 + 12345, 0], type=pa.timestamp("s"))})
    assert kept(tmp_path / "t", table) == ({("1", "infinity"): 1, ("2", "1970-01-01 00:00:00"): 1}, 2)


@pytest.mark.parametrize("count", [-(2**63), -(2**63) + 2, -9_223_372_022_400_000_001, 2**63 - 2])
def test_a_moment_that_the_engine_cannot_spell_fails_nobody(tmp_path, count):
    moments = pa.array([count, 0], pa.int64()).view(pa.timestamp("us"))
    pq.write_table(pa.table({"who": [1, 2], "v": ["1", "2"], "note": moments}), tmp_path / "p.parquet")
    rows, units = kept(tmp_path / "t", tmp_path / "p.parquet")
    assert units == 2
    assert rows["2", "1970-01-01 00:00:00"] == 1


# --- quotes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ['"a', 'a"', 'a"b', '"""', '"a"",'])
def test_a_lone_quote_swallows_no_rows_of_other_people(tmp_path, cell):
    rows = "".join(f"{who},1,x\n" for who in range(3000))
    (tmp_path / "p.csv").write_text(f"who,v,note\n9999,1,{cell}\n{rows}")
    with pytest.raises(SourceUnavailable, match="pairs") as refusal:
        kept(tmp_path / "t", tmp_path / "p.csv")
    assert cell not in str(refusal.value)
    (tmp_path / "p.csv").write_text(f'who,v,note\n9999,1,"a""b"\n{rows}')
    assert kept(tmp_path / "t", tmp_path / "p.csv") == ({("1", 'a"b'): 1, ("1", "x"): 3000}, 3001)


# --- the empty text ------------------------------------------------------------------------------------------------

EMPTY = Schema(
    "people",
    [Column("v", "category", values=["", "a"]), Column("note", "text"), Column("w", "text", empty="null")],
    Unit("who", 3),
)
CELLS = [("", 2), ("a", 1), (None, 1)]


def texts(folder, source):
    """How often each text of v, of note and of w is there."""
    places = [storage(EMPTY, column) for column in EMPTY.columns]
    shown = [
        f"enum_range(CAST(NULL AS t{p.name}))[CAST({p.name} AS INTEGER) + 1]" if p.store is Store.CODE else p.name
        for p in places
    ]
    with Engine(folder, "people", EMPTY, source, LIMITS) as engine:
        statements = [
            f"SELECT CAST({text} AS VARCHAR) AS k0, count(*) AS p0 FROM prepared GROUP BY ALL" for text in shown
        ]
        return [dict(zip(f["k0"].tolist(), f["p0"].tolist(), strict=True)) for f in engine.run(statements)]


def sources_with_empty_texts(folder):
    cells = [cell for cell, times in CELLS for _ in range(times)]
    frame = pd.DataFrame(
        {"who": range(len(cells)), **{name: pd.Series(cells, dtype=object) for name in ("v", "note", "w")}}
    )
    arrow = pa.table({"who": range(len(cells)), "v": cells, "note": cells, "w": cells})
    pq.write_table(arrow, folder / "p.parquet")
    spelt = ["" if cell is None else f'"{cell}"' for cell in cells]
    lines = "".join(f"{who},{cell},{cell},{cell}\n" for who, cell in enumerate(spelt))
    (folder / "p.csv").write_text("who,v,note,w\n" + lines)
    typed = frame.astype({"v": "category", "note": "str", "w": "str"})
    return [frame, typed, arrow, pl.from_arrow(arrow), folder / "p.parquet", folder / "p.csv"]


def test_the_empty_text_is_a_value_in_every_source(tmp_path):
    for number, source in enumerate(sources_with_empty_texts(tmp_path)):
        (tmp_path / str(number)).mkdir()
        cells = texts(tmp_path / str(number), source)
        assert cells == [dict(CELLS), dict(CELLS), {"a": 1, None: 3}], type(source)


def test_rows_without_a_key_belong_to_nobody_even_in_quotes(tmp_path):
    (tmp_path / "p.csv").write_text('who,v,note\n"",1,a\n,1,b\n1,1,c\n')
    assert kept(tmp_path / "t", tmp_path / "p.csv") == ({("1", "c"): 1}, 1)


# --- several at once -----------------------------------------------------------------------------------------------


def _prepare(folder, source, queue):
    with Engine(folder, "people", SCHEMA, source, LIMITS) as engine:
        queue.put((engine.snapshot, engine.run([UNITS])[0]["p1"].tolist()))


def test_processes_that_prepare_one_file_at_once_agree(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text("who,v,note\n" + "".join(f"{n % 900},{WORDS[n % 4]},x{n}\n" for n in range(3000)))
    folder = tmp_path / "beside"
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    several = [context.Process(target=_prepare, args=(folder, source, queue)) for _ in range(3)]
    for process in several:
        process.start()
    for process in several:
        process.join(60)
    assert [started.exitcode for started in several] == [0, 0, 0]
    answers = [queue.get() for _ in several]
    assert answers == answers[:1] * 3
    assert sorted(os.listdir(folder)) == [f"people.{answers[0][0]}.prepared", "people.key"]
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in os.listdir(folder)} == {0o600}


# --- the empty text in questions, and planted faults ---------------------------------------------------------------

QUESTIONS = {
    "SELECT COUNT(*) AS n FROM people WHERE url = ''": [(100,)],
    "SELECT COUNT(url) AS n FROM people": [(300,)],
    "SELECT url, COUNT(*) AS n FROM people GROUP BY url": [("", 100), ("a", 200)],
}


def test_questions_about_the_empty_text_are_answered_as_plain_sql_answers_them(tmp_path):
    lines = ['""'] * 100 + ["a"] * 200 + [""] * 50
    (tmp_path / "people.csv").write_text("who,url\n" + "".join(f"{who},{url}\n" for who, url in enumerate(lines)))
    facts = '[dataset]\nname = "people"\nsource = "people.csv"\n[unit]\nkey = "who"\nmax_rows = 1\n'
    facts += (
        '[columns.url]\ntype = "category"\nvalues = ["", "a"]\n[budget]\nepsilon = 1000\n[limits]\nmemory_gib = 1\n'
    )
    (tmp_path / "people.toml").write_text(facts)
    with duckdb.connect() as plain:
        read = f"read_csv('{tmp_path}/people.csv', allow_quoted_nulls = false, all_varchar = true)"
        for asked, wanted in QUESTIONS.items():
            exact = plain.execute(asked.replace("people", read)).fetchall()
            assert sorted(row for row in exact if row[0] is not None) == wanted
    people = discreet.open(tmp_path / "people.toml")
    for asked, wanted in QUESTIONS.items():  # at ε = 100 noise is other than 0 with a chance below 1e-40
        rows = people.sql(asked).ask(epsilon=100).rows
        assert [tuple(row[name] for name in ("url", "n") if name in row) for row in rows] == wanted


PLANTED = {
    "an empty text is nothing": lambda text: lambda raw, held: f"nullif({text(raw, held)}, '')",
    "an empty cell is an empty text": lambda text: lambda raw, held: f"coalesce({text(raw, held)}, '')",
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_in_the_empty_text_are_seen(tmp_path, monkeypatch, name):
    source = sources_with_empty_texts(tmp_path)[2]
    assert texts(tmp_path, source)[1] == dict(CELLS)
    for prepared in tmp_path.glob("people.*.prepared"):
        prepared.unlink()
    monkeypatch.setattr(cells, "text", PLANTED[name](cells.text))
    assert texts(tmp_path, source)[1] != dict(CELLS)
