"""The invented hospital: the same for the same seed, as its metadata says, and with something to find out."""

import time
from itertools import islice

import numpy as np
import pytest

from discreet.demo import hospital, visits
from discreet.errors import BadValue, CannotWrite
from discreet.metadata import gaps, load
from discreet.metadata.header import names
from discreet.schema import Type


@pytest.fixture(scope="module")
def table():
    return hospital.hospital()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hospital")
    hospital.write(place)
    return place


def test_there_are_many_visits_and_several_per_patient(table):
    _, rows = np.unique(table["patient_id"], return_counts=True)
    assert len(rows) == 30_000
    assert rows.sum() == len(table["age"]) >= 100_000
    assert rows.min() == 1
    assert rows.max() == 10
    assert np.median(rows) < rows.mean()


def test_a_seed_makes_the_same_table_again_and_another_seed_another():
    first, same, other = (hospital.as_csv(hospital.hospital(300, seed)) for seed in (1, 1, 2))
    assert first == same != other


def test_the_metadata_has_no_gap_but_the_private_diagnoses(folder):
    known = load(folder / hospital.METADATA)
    open_gaps = gaps(known, names(folder / hospital.TABLE))
    assert [gap.where for gap in open_gaps] == ["columns.diagnosis.values"]
    assert not open_gaps[0].blocks
    assert known.schema.unit.key == "patient_id"
    assert (known.budget.epsilon, float(known.budget.delta)) == (3, 1e-7)


def test_every_cell_keeps_the_rule_of_its_column(table, folder):
    schema = load(folder / hospital.METADATA).schema
    assert [schema.unit.key, *(column.name for column in schema.columns)] == list(table)
    for column in schema.columns:
        cells = table[column.name]
        if column.values is not None:
            assert set(cells) == set(column.values)
        elif column.bounds is not None and column.type is not Type.DATE:
            assert np.nanmin(cells) >= column.bounds[0]
            assert np.nanmax(cells) <= column.bounds[1]
    assert table["admitted"].min() == visits.FIRST
    assert table["admitted"].max() == visits.LAST
    assert set(table["smoker"]) == {"true", "false", None}
    assert 0.10 < np.isnan(table["systolic"]).mean() < 0.14


def test_sex_is_fixed_per_patient_and_age_moves_by_at_most_two_years(table):
    order = np.argsort(table["patient_id"], kind="stable")
    same = table["patient_id"][order][1:] == table["patient_id"][order][:-1]
    sex, age = table["sex"][order], table["age"][order]
    assert (sex[1:] == sex[:-1])[same].all()
    grown = (age[1:] - age[:-1])[same]  # visits are in the order of admission
    assert set(np.unique(grown)) <= {0, 1, 2}


def test_relations_are_there_to_be_found(table):
    measured = ~np.isnan(table["systolic"])
    assert np.corrcoef(table["age"][measured], table["systolic"][measured])[0, 1] > 0.5
    cost = {ward: table["cost"][table["ward"] == ward].mean() for ward in visits.WARDS}
    assert cost["intensive care"] > 3 * cost["emergency"]
    assert table["age"][table["ward"] == "paediatrics"].max() < 16
    assert set(table["sex"][table["ward"] == "maternity"]) == {"female"}
    assert np.median(table["cost"]) < 0.8 * table["cost"].mean()


def test_some_diagnoses_are_frequent_and_some_are_of_a_few_patients(table):
    patients = {code: len(set(table["patient_id"][table["diagnosis"] == code])) for code in set(table["diagnosis"])}
    assert len(patients) >= 40
    assert max(patients.values()) > 5_000
    assert sum(few < 20 for few in patients.values()) >= 4


def test_the_row_cap_leaves_nobody_out_whatever_the_seed(folder):
    row_cap = load(folder / hospital.METADATA).schema.max_rows
    for seed in (1, 2, 3):
        _, rows = np.unique(hospital.hospital(5_000, seed)["patient_id"], return_counts=True)
        assert rows.max() == row_cap


def test_the_file_holds_the_table(table, folder):
    with (folder / hospital.TABLE).open(encoding="utf-8") as lines:
        assert next(lines).rstrip("\n").split(",") == list(table)
        for i, line in enumerate(islice(lines, 50)):
            cells = line.rstrip("\n").split(",")
            assert cells[0] == str(table["patient_id"][i])
            assert float(cells[8]) == table["cost"][i]
            assert (cells[9] == "") == np.isnan(table["systolic"][i])
            assert cells[10] == str(table["admitted"][i])


def test_writing_takes_little_processor_time(tmp_path):
    start = time.process_time()
    hospital.write(tmp_path)
    assert time.process_time() - start < 3  # under 1 s alone; room for a busy machine


def test_writing_again_changes_nothing_and_somebodys_own_file_stays(tmp_path):
    toml = hospital.write(tmp_path / "new", patients=50)
    before = (toml.parent / hospital.TABLE).stat().st_mtime_ns
    assert hospital.write(tmp_path / "new", patients=50) == toml
    assert (toml.parent / hospital.TABLE).stat().st_mtime_ns == before
    (tmp_path / hospital.METADATA).write_text("mine", encoding="utf-8")
    with pytest.raises(CannotWrite, match="not replaced"):
        hospital.write(tmp_path, patients=50)
    assert (tmp_path / hospital.METADATA).read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / hospital.TABLE).exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(CannotWrite, match="folder"):
        hospital.write(tmp_path / "taken", patients=50)


@pytest.mark.parametrize(("patients", "seed"), [(0, 1), (50, -1), (1.5, 1), (50, "one")])
def test_bad_numbers_are_refused(patients, seed):
    with pytest.raises(BadValue):
        hospital.hospital(patients, seed)
