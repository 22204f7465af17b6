"""Synthetic tables of a rehearsal: quotes, rows, files, cards, pages, checks and the command line carry the stamp."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet

import discreet as dp
from discreet.cli import main
from discreet.errors import BadValue
from discreet.rehearsal.stamp import SENTENCE
from rehearsal.parts import written

COLUMNS = ["age", "sex", "region"]


@pytest.fixture
def rehearsed(tmp_path):
    with dp.open(written(tmp_path, rows=0), rehearsal=True) as dataset:
        yield dataset


@pytest.fixture
def table(rehearsed):
    return rehearsed.synthesize(COLUMNS).build(epsilon=1)


def test_quotes_and_checks_say_that_rows_are_invented(rehearsed, table):
    quote, check = rehearsed.synthesize(COLUMNS).quote(epsilon=1), table.check(epsilon=1)
    assert str(quote).startswith("REHEARSAL: ")
    assert quote.words[0] == SENTENCE
    assert str(check).startswith("REHEARSAL: ")
    assert SENTENCE in check.words()
    assert check.receipt.startswith("rehearsal-")


def test_rows_have_the_stamp_in_every_form(table, tmp_path):
    frame, arrow = table.to_pandas(), table.to_arrow()
    assert set(frame["rehearsal"]) == set(arrow["rehearsal"].to_pylist()) == {"invented"}
    stored = parquet.ParquetFile(table.save(tmp_path / "r.parquet"))
    assert set(stored.read()["rehearsal"].to_pylist()) == {"invented"}
    facts = json.loads(stored.metadata.metadata[b"discreet"])
    assert facts["rehearsal"] is True
    assert "REHEARSAL" in facts["privacy"]["covers"]
    header, *lines = table.save(tmp_path / "r.csv").read_text().splitlines()
    assert header.split(",")[-1] == '"rehearsal"'
    assert {line.split(",")[-1] for line in lines} == {'"invented"'}


def test_a_stamp_that_was_taken_off_a_file_is_missed(table, tmp_path):
    from discreet.synth.saved import file

    saved = table.save(tmp_path / "r.parquet")
    stored = parquet.ParquetFile(saved)
    facts = json.loads(stored.metadata.metadata[b"discreet"])
    facts["rehearsal"] = False
    bare = tmp_path / "bare.parquet"
    file._write_parquet(stored.read().drop_columns(["rehearsal"]), json.dumps(facts), bare)
    with pytest.raises(dp.DiscreetError, match="no whole file"):
        dp.synth.load(bare)


def test_card_and_page_begin_with_the_stamp(table):
    assert table.card().startswith("**REHEARSAL")
    page = table.report(check=table.check(epsilon=1))
    assert "<title>REHEARSAL: " in page
    assert page.index('<p class="stamp">REHEARSAL') < page.index("<h2>")
    assert page.count(SENTENCE) >= 1


def test_a_loaded_table_keeps_the_stamp(rehearsed, table, tmp_path):
    saved = table.save(tmp_path / "r.parquet")
    loaded = dp.synth.load(saved, rehearsed)
    assert repr(loaded).startswith("<REHEARSAL")
    assert loaded.to_arrow().equals(table.to_arrow())
    assert loaded.card() == table.card()
    with pytest.raises(BadValue, match="REHEARSAL"):
        dp.synth.load(saved)


def test_the_command_line_is_stamped_and_makes_nothing_but_its_files(tmp_path, monkeypatch, capsys):
    written(tmp_path, rows=0)
    monkeypatch.chdir(tmp_path)
    build = ("synth", "build", "people.toml", "--eps", "1", "--columns", "age,sex,region", "--rehearse")
    assert main.status(build) == 0
    assert SENTENCE in capsys.readouterr().err
    report = ("synth", "report", "people.rehearsal.parquet", "people.toml", "--eps", "1", "--rehearse", "--json")
    assert main.status(report) == 0
    reply = json.loads(capsys.readouterr().out)
    assert next(iter(reply)) == next(iter(reply["check"])) == "rehearsal"
    names = {path.name for path in Path().iterdir()}
    assert names == {"people.toml", "people.rehearsal.parquet", "people.rehearsal.html"}
