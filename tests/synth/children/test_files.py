"""Two synthetic tables as two files, which any reader joins."""

import json

import pandas
import pytest
from pyarrow import parquet

from discreet.errors import BadValue, CannotWrite, NotAnswerable
from discreet.synth.children import files
from discreet.synth.saved.file import load

from .clinic import opened, patients_of, task, written


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = written(tmp_path_factory.mktemp("files"), patients_of(100))
    with opened(folder) as both:
        yield task(*both).build(epsilon=20), folder


def test_both_files_hold_their_rows_and_the_promise(built, tmp_path):
    table, _ = built
    assert table.save(tmp_path / "synthetic.parquet") == tmp_path / "synthetic.parquet"
    for form, name in ((table, "synthetic.parquet"), (table.children["visits"], "synthetic.visits.parquet")):
        assert parquet.read_table(tmp_path / name).replace_schema_metadata(None).equals(form.to_arrow())
        facts = json.loads(parquet.ParquetFile(tmp_path / name).metadata.metadata[b"discreet"])
        assert facts["files"] == ["synthetic.parquet", "synthetic.visits.parquet"]
        assert facts["privacy"] == json.loads(json.dumps(table.privacy_.to_json()))
        assert len(facts["measured"]) == len(table.measured)
    assert sorted(path.name for path in tmp_path.iterdir()) == facts["files"]


def test_the_same_tables_are_the_same_bytes(tmp_path):
    folder = written(tmp_path / "clinic", patients_of(60))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with opened(folder) as both:
            task(*both, columns=["age", "reason"]).build(epsilon=20).save(tmp_path / name / "a.parquet")
    for name in ("a.parquet", "a.visits.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_csv_files_hold_rows_alone(built, tmp_path):
    table, _ = built
    table.save(tmp_path / "out.csv")
    rows = pandas.read_csv(tmp_path / "out.visits.csv")
    assert list(rows) == ["patient", "reason", "day", "age", "urgent"]
    assert rows["patient"].tolist() == table.children["visits"].to_pandas()["patient"].tolist()
    assert len(pandas.read_csv(tmp_path / "out.csv")) == table.rows


def test_neither_file_is_written_where_one_is_in_the_way(built, tmp_path):
    table, _ = built
    (tmp_path / "out.visits.parquet").write_text("kept")
    with pytest.raises(BadValue, match="must not be there yet"):
        table.save(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    table.save(tmp_path / "out.parquet", replace=True)
    assert parquet.read_table(tmp_path / "out.visits.parquet").num_rows == table.children["visits"].rows


@pytest.mark.parametrize("name", ["out.parquet", "out.visits.parquet"])
def test_neither_file_is_written_where_the_other_has_no_place(built, tmp_path, name):
    table, _ = built
    other = {"out.parquet": "out.visits.parquet", "out.visits.parquet": "out.parquet"}[name]
    (tmp_path / name).mkdir()
    (tmp_path / other).write_text("kept")
    with pytest.raises(BadValue, match="must be a plain file"):
        table.save(tmp_path / "out.parquet", replace=True)
    assert (tmp_path / other).read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "out.visits.parquet"]


def test_neither_file_is_replaced_where_the_second_cannot_be_written(built, tmp_path, monkeypatch):
    table, _ = built
    for name in ("out.parquet", "out.visits.parquet"):
        (tmp_path / name).write_text("kept")
    plain = files._write_parquet

    def full(arrow, text, draft):
        if "visits" in draft.name:
            raise OSError(28, "No space left on device")
        plain(arrow, text, draft)

    monkeypatch.setattr(files, "_write_parquet", full)
    with pytest.raises(CannotWrite, match="visits"):
        table.save(tmp_path / "out.parquet", replace=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "out.parquet": "kept",
        "out.visits.parquet": "kept",
    }


def test_two_names_of_one_file_are_refused(built, tmp_path):
    table, _ = built
    (tmp_path / "out.parquet").write_text("kept")
    (tmp_path / "out.visits.parquet").symlink_to("out.parquet")
    with pytest.raises(BadValue, match="two files"):
        table.save(tmp_path / "out.parquet", replace=True)
    assert (tmp_path / "out.parquet").read_text() == "kept"


def test_a_link_stays_one_and_modes_stay(built, tmp_path):
    table, _ = built
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.bin").write_text("old")
    (tmp_path / "real" / "a.bin").chmod(0o640)
    (tmp_path / "out.parquet").symlink_to("real/a.bin")
    table.save(tmp_path / "out.parquet", replace=True)
    assert (tmp_path / "out.parquet").is_symlink()
    assert (tmp_path / "real" / "a.bin").stat().st_mode & 0o777 == 0o640
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == table.rows


@pytest.mark.parametrize("name", ["patients.csv", "visits.csv", "patients.toml"])
def test_no_source_of_either_table_is_replaced(built, name):
    table, folder = built
    before = (folder / name).read_bytes()
    with pytest.raises(BadValue, match="must"):
        table.save(folder / name, replace=True)
    assert (folder / name).read_bytes() == before


def test_rows_are_not_written_onto_the_source_of_visits(tmp_path):
    """A source called like the second file: clinic.visits.csv beside clinic.csv."""
    folder = written(tmp_path, patients_of(60))
    (folder / "visits.csv").rename(folder / "clinic.visits.csv")
    toml = folder / "visits.toml"
    toml.write_text(toml.read_text().replace('"visits.csv"', '"clinic.visits.csv"'))
    before = (folder / "clinic.visits.csv").read_bytes()
    with opened(folder) as both, pytest.raises(BadValue, match="must not replace"):
        task(*both, columns=["age"]).build(epsilon=1).save(folder / "clinic.csv", replace=True)
    assert (folder / "clinic.visits.csv").read_bytes() == before
    assert not (folder / "clinic.csv").exists()


def test_the_files_are_not_loaded_and_say_how_to_read_them(built, tmp_path):
    table, _ = built
    table.save(tmp_path / "out.parquet")
    for name in ("out.parquet", "out.visits.parquet"):
        with pytest.raises(NotAnswerable, match=r"pandas\.read_parquet"):
            load(tmp_path / name)
