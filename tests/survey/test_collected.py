"""A server's store and a Parquet file give the same tallies, which a slow count confirms; bad cells are counted."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from discreet.engine import reports as parquet
from discreet.errors import BadValue, IntegrityError, MetadataError, SourceUnavailable
from discreet.survey.collected import (
    INVENTED_FACT,
    SURVEY_FACT,
    read_collected,
    read_pairs,
    tally_of_counts,
)
from discreet.survey.invitations import invite
from discreet.survey.simulation import simulate
from discreet.survey.store import Entry, Store
from discreet.survey.submission import token_hash
from survey.surveys import mixed, tax


def write(path, survey, people=3000, **facts):
    """A Parquet file of simulated people, and the simulation."""
    simulation = simulate(survey, people, seed=3)
    parquet.write_reports(path, simulation.reports, simulation.groups, {SURVEY_FACT: survey.digest, **facts})
    return simulation


@pytest.mark.parametrize("survey", [tax(), mixed("split"), mixed("sampled")], ids=["tax", "split", "sampled"])
def test_the_tallies_of_a_parquet_file_are_those_of_its_arrays(tmp_path, survey):
    simulation = write(tmp_path / "reports.parquet", survey)
    collected = read_collected(survey, tmp_path / "reports.parquet")
    assert collected.rows == 3000
    for question in survey.questions:
        slow, fast = question.tally(simulation.reports[question.name]), collected.tallies[question.name]
        assert (fast.counts == slow.counts).all()
        assert (fast.reports, fast.rejected) == (slow.reports, slow.rejected)


def test_one_statement_counts_every_question_in_every_group(tmp_path):
    simulation = write(tmp_path / "r.parquet", tax())
    ((name, rows),) = simulation.reports.items()
    counted = parquet.read_counts(tmp_path / "r.parquet", [name], "region")[name]
    slow = Counter(zip(simulation.groups["region"], map(bytes, rows), strict=True))
    assert dict(zip(zip(counted.groups, counted.reports, strict=True), counted.times, strict=True)) == dict(slow)


def test_more_questions_than_a_statement_tells_apart_are_counted_too(tmp_path):
    chance = np.random.default_rng(5)
    columns = {f"q{number}": chance.integers(0, 3, (50, 1), dtype=np.uint8) for number in range(64)}
    parquet.write_reports(tmp_path / "r.parquet", columns, {}, {})
    for name, counted in parquet.read_counts(tmp_path / "r.parquet", list(columns)).items():
        assert dict(zip(counted.reports, counted.times, strict=True)) == Counter(map(bytes, columns[name]))


def test_a_store_and_a_parquet_file_of_the_same_reports_agree(tmp_path):
    survey = tax()
    simulation = write(tmp_path / "r.parquet", survey, 200)
    with Store.open_or_create(tmp_path / "a.sqlite", survey) as store:
        tokens = invite(store, 200, survey.groups[1])
        assert [group for group, _ in tokens] == simulation.groups["region"]
        pairs = zip(tokens, simulation.reports["q1"], strict=True)
        entries = [Entry(token_hash(token), 0, bytes(row)) for (_, token), row in pairs]
        store.take(entries, open_to_all=False, rejected={"malformed": 4})
    stored = read_collected(survey, tmp_path / "a.sqlite", by="region")
    filed = read_collected(survey, tmp_path / "r.parquet", by="region")
    assert (stored.kind, filed.kind, stored.rows, filed.rows) == ("store", "parquet", 200, 200)
    assert (stored.tallies["q1"].counts == filed.tallies["q1"].counts).all()
    for group in ("North", "South"):
        assert (stored.by_group[group]["q1"].counts == filed.by_group[group]["q1"].counts).all()
    assert stored.refused["malformed"] == 4
    total = filed.by_group["North"]["q1"] + filed.by_group["South"]["q1"]
    assert (total.counts == filed.tallies["q1"].counts).all()


def test_a_weighted_tally_is_the_tally_of_repeated_reports():
    question, chance = mixed("sampled").questions[1], np.random.default_rng(7)
    reports = [bytes(row) for row in chance.integers(0, 6, (40, question.report_bytes), dtype=np.uint8)]
    times = chance.integers(1, 1000, 40)
    repeated = np.repeat(np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(40, -1), times, axis=0)
    slow, fast = question.tally(repeated), tally_of_counts(question, reports, times)
    assert (fast.counts == slow.counts).all()
    assert (fast.reports, fast.rejected) == (slow.reports, slow.rejected)
    assert slow.rejected > 0


def bad_cells(path: Path, cells: list[bytes | None], groups: list[str | None]) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (q1 BLOB, region VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(zip(cells, groups, strict=True)))
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")


def test_cells_that_are_no_report_are_rejected_and_counted(tmp_path):
    cells = [b"\0", b"\1", b"\2", b"", b"\0\0", None, b"\1"]
    bad_cells(tmp_path / "r.parquet", cells, ["North", "South", "North", "North", None, "North", "East"])
    collected = read_collected(tax(), tmp_path / "r.parquet", by="region")
    tally = collected.tallies["q1"]
    assert (tally.reports, tally.rejected, collected.rows, collected.ungrouped) == (3, 4, 7, 2)
    assert list(tally.counts) == [1, 2]
    assert (collected.by_group["North"]["q1"].reports, collected.by_group["North"]["q1"].rejected) == (1, 3)
    assert not collected.is_stamped


def test_pairs_leave_out_people_with_a_cell_of_another_length(tmp_path):
    survey = mixed("split")
    simulation = write(tmp_path / "r.parquet", survey, 100)
    left, right, missing = read_pairs(survey, tmp_path / "r.parquet", *survey.questions[:2])
    order = sorted(zip(map(bytes, left), map(bytes, right), strict=True))
    pairs = zip(map(bytes, simulation.reports["q1"]), map(bytes, simulation.reports["q2"]), strict=True)
    assert (order, missing) == (sorted(pairs), 0)


def test_an_invented_file_and_a_file_of_another_survey_are_known(tmp_path):
    write(tmp_path / "r.parquet", tax(), **{INVENTED_FACT: "x"})
    assert read_collected(tax(), tmp_path / "r.parquet").is_invented
    with pytest.raises(IntegrityError):
        read_collected(tax(consent="Another"), tmp_path / "r.parquet")
    with pytest.raises(BadValue):
        read_collected(tax(), tmp_path / "r.parquet", by="age")


@pytest.mark.parametrize("name", ["r.parquet", "r.sqlite"])
def test_the_kind_is_told_by_content_and_not_by_name(tmp_path, name):
    write(tmp_path / "w.parquet", tax(), 10)
    (tmp_path / "w.parquet").rename(tmp_path / name)
    assert read_collected(tax(), tmp_path / name).kind == "parquet"


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1"], ids=["empty", "text", "cut", "broken"]
)
def test_a_file_that_holds_no_reports_is_refused(tmp_path, content):
    (tmp_path / "r.parquet").write_bytes(content)
    for path in (tmp_path / "r.parquet", tmp_path / "nowhere", tmp_path):
        with pytest.raises(SourceUnavailable):
            read_collected(tax(), path)


def test_a_question_with_the_name_of_the_groups_is_refused():
    with pytest.raises(MetadataError):
        tax(groups={"q1": ["North", "South"]})


def test_a_file_with_other_columns_is_refused(tmp_path):
    import duckdb

    for columns in ("1 AS q1", "'a'::BLOB AS q2", "'a'::BLOB AS q1"):
        duckdb.sql(f"SELECT {columns}").write_parquet(str(tmp_path / "r.parquet"))
        with pytest.raises(SourceUnavailable):
            read_collected(tax(), tmp_path / "r.parquet", by="region")


def test_a_file_without_rows_has_empty_tallies(tmp_path):
    bad_cells(tmp_path / "r.parquet", [b"\0"], ["North"])
    import duckdb

    duckdb.sql(f"SELECT * FROM '{tmp_path}/r.parquet' WHERE q1 IS NULL").write_parquet(str(tmp_path / "e.parquet"))
    collected = read_collected(tax(), tmp_path / "e.parquet", by="region")
    assert (collected.rows, collected.tallies["q1"].reports, collected.by_group["North"]["q1"].reports) == (0, 0, 0)
