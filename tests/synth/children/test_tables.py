"""Two synthetic tables: their columns, types and keys, how they belong together, and that they follow the truth."""

import json
import warnings

import numpy as np
import pandas
import pytest

from discreet.errors import NotAnswerable

from .clinic import MOST, fill, opened, patients_of, task, visits_of, written


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A build at an ε where noise is gone, and the true tables."""
    folder = written(tmp_path_factory.mktemp("clinic"))
    with opened(folder) as (persons, rows), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = task(persons, rows).build(epsilon=900, delta="1e-7")
        yield table, patients_of(), visits_of(patients_of()), folder


def test_columns_and_types_are_those_of_the_originals(clinic):
    table, *_ = clinic
    units, rows = table.to_pandas(), table.children["visits"].to_pandas()
    assert list(units.columns) == list(table.columns) == ["patient", "age", "sex", "weight"]
    assert list(rows.columns) == ["patient", "reason", "day", "age", "urgent"]
    assert str(units["age"].dtype) == "Int64"
    assert list(units["sex"].cat.categories) == ["f", "m"]
    assert units["weight"].dtype == float
    assert (rows["urgent"].dtype.kind, rows["age"].dtype.kind) == ("b", "i")
    assert rows["day"].dtype.kind == "M"
    assert (len(units), len(rows)) == (table.rows, table.children["visits"].rows)


def test_every_visit_belongs_to_a_patient_of_whom_there_is_one(clinic):
    table, *_ = clinic
    units, rows = table.to_pandas(), table.children["visits"].to_pandas()
    assert units["patient"].is_unique
    assert set(rows["patient"]) <= set(units["patient"])
    assert rows["patient"].value_counts().max() <= MOST
    assert rows["patient"].is_monotonic_increasing


def test_arrow_has_the_same_cells_as_pandas_and_both_are_the_same_each_time(clinic):
    table, *_ = clinic
    for form in (table, table.children["visits"]):
        arrow, frame = form.to_arrow(), form.to_pandas()
        assert form.to_arrow().equals(arrow)
        pandas.testing.assert_frame_equal(form.to_pandas(), frame)
        assert arrow.column_names == list(frame.columns)
        for name in arrow.column_names:
            own = [None if pandas.isna(cell) else cell for cell in frame[name]]
            theirs = arrow.column(name).to_pylist()
            assert [str(cell)[:10] for cell in theirs] == [str(cell)[:10] for cell in own]


def test_without_noise_both_tables_follow_the_truth(clinic):
    """Rounding and systematic draws leave errors of about one unit in each group that columns are drawn in."""
    table, patients, visits, _ = clinic
    units, rows = table.to_pandas(), table.children["visits"].to_pandas()
    visits = visits[visits["patient"] != 1]
    assert abs(len(units) - len(patients)) <= 1
    own = rows["patient"].value_counts().reindex(units["patient"], fill_value=0)
    true = visits["patient"].value_counts().reindex(patients["patient"], fill_value=0)
    shares = [np.bincount(counts, minlength=MOST + 1) / len(counts) for counts in (own, true)]
    assert np.abs(shares[0] - shares[1]).sum() < 0.1
    assert abs(units["age"].isna().mean() - patients["age"].isna().mean()) < 0.02
    for frame, other in ((units, patients), (rows, visits)):
        for column in ({"sex"} & set(frame)) | ({"reason", "urgent"} & set(frame)):
            both = [table[column].astype(str).value_counts(normalize=True) for table in (frame, other)]
            assert both[0].sub(both[1], fill_value=0).abs().sum() < 0.12
    joined = [pandas.merge(r, u.assign(old=_is_old(u)), on="patient", suffixes=("", "_p"))
              for r, u in ((rows, units), (visits, patients.drop(columns="old")))]  # fmt: skip
    crossed = [pandas.crosstab(table["old"], table["reason"].astype(str), normalize="all") for table in joined]
    assert crossed[0].sub(crossed[1], fill_value=0).abs().to_numpy().sum() < 0.2


def _is_old(units):
    return pandas.to_numeric(units["age"]).fillna(0) >= 60


def test_measured_tables_name_both_sides_and_their_shares_add_up_to_one(clinic):
    table, *_ = clinic
    names = {measurement.columns for measurement in table.measured}
    assert ("has visits",) in names
    assert ("visits age",) in names
    assert ("rows of one patient",) in names
    assert sum(measurement.share for measurement in table.measured) == 1
    chosen = {m.columns for m in table.measured if m.step == "pairs"}
    known = {"has visits", "reason", "day", "visits age", "urgent", "rows of one patient"}
    assert not {pair for pair in chosen if "has visits" in pair and set(pair) <= known}


def test_values_of_persons_are_equal_in_all_of_their_rows(tmp_path):
    """Constant columns of the visits, such as an insurance, are so in the synthetic ones too."""
    folder = written(tmp_path)
    toml = folder / "visits.toml"
    toml.write_text(toml.read_text().replace("[columns.urgent]", "[columns.paid]\ntype='integer'\nbounds=[0,999]\n"
                                             "bins=[0,500,999]\nfixed_per_unit=true\n[columns.urgent]"))  # fmt: skip
    patients = patients_of()
    visits = visits_of(patients)
    fill(folder, patients, visits.assign(paid=visits["patient"] * 7 % 1000))
    with opened(folder) as (persons, rows):
        table = task(persons, rows).build(epsilon=50)
        for frame in (table.children["visits"].to_pandas(), table.children["visits"].to_arrow().to_pandas()):
            assert (frame.groupby("patient")["paid"].nunique(dropna=False) == 1).all()
            assert frame["paid"].nunique() > 20


@pytest.mark.parametrize("epsilon", [900, 3], ids=["huge", "small"])
def test_a_value_of_one_row_that_nobody_listed_never_appears(tmp_path, epsilon):
    patients = patients_of()
    visits = visits_of(patients)
    patients.loc[3, "sex"], patients.loc[4, "weight"] = "zebra", 1234567
    visits.loc[5, "reason"], visits.loc[6, "age"] = "zebrafish", 7654321
    folder = written(tmp_path, patients, visits)
    with opened(folder) as (persons, rows):
        built = task(persons, rows)
        table = built.build(epsilon=epsilon, delta="1e-7")
        table.save(folder / "out.parquet")
        texts = [repr(table), str(built.quote(epsilon=1)), str(table.measured), json.dumps(table.privacy_.to_json())]
        texts += [frame.to_csv() for frame in (table.to_pandas(), table.children["visits"].to_pandas())]
        files = [(folder / name).read_bytes() for name in ("out.parquet", "out.visits.parquet")]
    for secret in ("zebra", "1234567", "7654321", "secret"):
        assert not any(secret in text for text in texts)
        assert not any(secret.encode() in bytes for bytes in files)


def test_named_columns_leave_the_others_out_and_keep_presence(tmp_path):
    folder = written(tmp_path)
    with opened(folder) as (persons, rows):
        table = task(persons, rows, columns=["reason", "sex"]).build(epsilon=50)
        assert list(table.to_pandas()) == ["patient", "sex"]
        assert list(table.children["visits"].to_pandas()) == ["patient", "reason"]
        alone = task(persons, rows, columns=["age"]).build(epsilon=50)
        assert list(alone.children["visits"].to_pandas()) == ["patient"]
        assert alone.children["visits"].to_arrow().num_rows == alone.children["visits"].rows > 0


def test_the_second_tables_key_is_spelt_as_its_metadata_do(tmp_path):
    folder = written(tmp_path, key="Patient")
    with opened(folder) as (persons, rows):
        table = task(persons, rows).build(epsilon=50)
        assert table.children["visits"].to_pandas().columns[0] == "Patient"
        assert table.children["visits"].to_arrow().column_names[0] == "Patient"
        assert table.unit_column == "patient"


def test_at_most_one_visit_each_is_a_second_table_too(tmp_path):
    patients = patients_of()
    folder = written(tmp_path, patients, visits_of(patients, max_rows=1), max_rows=1)
    with opened(folder) as (persons, rows):
        table = task(persons, rows).build(epsilon=500, delta="1e-7")
        owners = table.children["visits"].to_pandas()["patient"]
        assert owners.is_unique
        true = visits_of(patients, max_rows=1)["patient"].nunique() - 1
        assert abs(len(owners) - true) <= 12
        assert "has one row of visits, or none" in table.privacy_.mechanisms[0]


def test_a_public_number_of_rows_is_one_of_patients(tmp_path):
    with opened(written(tmp_path)) as (persons, rows):
        table = task(persons, rows, rows=77).build(epsilon=50)
        assert (table.rows, len(table.to_pandas())) == (77, 77)


@pytest.mark.parametrize("empty", ["visits", "patients", "both"])
def test_empty_tables_give_what_noise_gives(tmp_path, empty):
    patients = patients_of()
    visits = visits_of(patients)
    fewer = patients.iloc[:0] if empty in ("patients", "both") else patients
    folder = written(tmp_path, fewer, visits.iloc[:0] if empty in ("visits", "both") else visits)
    with opened(folder) as (persons, rows):
        table = task(persons, rows).build(epsilon=900, delta="1e-7")
        assert abs(table.rows - max(len(fewer), 1)) <= 1
        assert table.children["visits"].rows <= 6
        assert len(table.children["visits"].to_pandas()) == table.children["visits"].rows


def test_replicates_give_frames_of_both_tables_that_belong_together(clinic):
    table, *_ = clinic
    units, rows = table.replicates(3), table.children["visits"].replicates(3)
    both = table.replicate_tables(3)
    assert [type(tables) for tables in both] == [type(table)] * 3
    for frame, child, tables in zip(units, rows, both, strict=True):
        pandas.testing.assert_frame_equal(frame, tables.to_pandas())
        pandas.testing.assert_frame_equal(child, tables.children["visits"].to_pandas())
        assert set(child["patient"]) <= set(frame["patient"])


def test_questions_and_checks_are_refused_with_what_to_do_instead(clinic):
    table, *_ = clinic
    with pytest.raises(NotAnswerable, match="to_pandas"):
        table.answer("SELECT COUNT(*) AS n FROM patients")
    for verb in (table.check, table.quote_check):
        with pytest.raises(NotAnswerable, match="patients or of visits alone"):
            verb(epsilon=1)


def test_cards_and_pages_say_what_both_tables_promise(clinic):
    table, *_ = clinic
    card = table.card()
    assert "counts once, in both tables" in card
    assert "Both ledgers are charged" in card
    assert "has visits" in str(table.report())
