"""What two tables must be: refused with words before anything is read or charged."""

import pandas
import pytest

import discreet as dp
from discreet.errors import BadValue, DiscreetError, NotAnswerable
from discreet.synth.children.joining import joining_of
from discreet.synth.children.table import with_child

from .clinic import opened, patients_of, spent, task, visits_of, written


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, patients_of(40))


def changed(folder, name, *changes):
    toml = folder / f"{name}.toml"
    text = toml.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    toml.write_text(text)


UNIT = '[unit]\nkey = "patient"\nmax_rows = {}\n'
REFUSED = {
    "persons without a unit": ("patients", [(UNIT.format(1), "")], "must have a unit in both tables"),
    "rows without a unit": ("visits", [(UNIT.format(6), "")], "must have a unit in both tables"),
    "another key": ("visits", [('"patient"', '"mark"')], "must have the same unit.key"),
    "several rows of a person": ("patients", [("max_rows = 1", "max_rows = 2")], "one row for each unit"),
    "another relation": ("visits", [("add-remove", "replace-one")], "in the same sense"),
    "too many rows": ("visits", [("max_rows = 6", "max_rows = 2000")], "unit.max_rows must be at most"),
}


@pytest.mark.parametrize(("name", "changes", "match"), REFUSED.values(), ids=REFUSED)
def test_tables_of_other_units_are_refused(folder, name, changes, match):
    changed(folder, name, *changes)
    with opened(folder) as (persons, rows):
        with pytest.raises(BadValue, match=match):
            task(persons, rows)
        assert spent(persons, rows) == [0, 0]
    assert not list(folder.glob("*.ledger"))


def test_children_are_one_open_dataset_under_a_name(folder):
    with opened(folder) as (persons, rows):
        for given, match in [
            (rows, "must name one table"),
            ({}, "must name one table"),
            ({"visits": rows, "stays": rows}, "must name one table"),
            ({"visits": pandas.DataFrame()}, "must be an open dataset"),
            ({"visits": "visits.toml"}, "must be an open dataset"),
            ({"visits": rows.split(test="0.2")[0]}, "must be an open dataset"),
            ({"the visits": rows}, "letters, digits and _"),
            ({1: rows}, "letters, digits and _"),
            ({"visits": persons}, "other tables"),
            ({"visits": with_child(persons.table, {"visits": rows.table})}, "must be a table by itself|other tables"),
        ]:
            with pytest.raises(BadValue, match=match):
                persons.synthesize(children=given)
        assert spent(persons, rows) == [0, 0]


def test_a_part_of_the_persons_is_not_synthesised_with_its_rows(folder):
    """Their own table divides persons by other keys than the joined one: charges of parts would not add up."""
    with opened(folder) as (persons, rows), pytest.raises(NotAnswerable, match="Parts of two tables"):
        persons.split(test="0.2")[0].synthesize(children={"visits": rows.table})


def test_tables_in_memory_are_refused(folder):
    changed(folder, "visits", ('source = "visits.csv"\n', ""))
    frame = visits_of(patients_of(40))
    with dp.open(folder / "patients.toml") as persons, dp.open(folder / "visits.toml", table=frame) as rows:  # noqa: SIM117
        with pytest.raises(NotAnswerable, match="from files alone"):
            task(persons, rows)


def test_tables_in_a_server_are_refused(folder):
    changed(
        folder,
        "visits",
        ('source = "visits.csv"', 'source = "postgresql://curator@db.example.org:5432/clinic?table=public.visits"'),
    )
    with opened(folder) as (persons, rows), pytest.raises(NotAnswerable, match="from files alone"):
        task(persons, rows)


def test_invented_rows_of_two_tables_share_no_units(folder):
    with (
        opened(folder, rehearsal=True) as (persons, rows),
        pytest.raises(NotAnswerable, match="not rehearsed together"),
    ):
        task(persons, rows)
    with dp.open(folder / "patients.toml") as persons, dp.open(folder / "visits.toml", rehearsal=True) as rows:  # noqa: SIM117
        with pytest.raises(NotAnswerable, match="not rehearsed together"):
            task(persons, rows)


def test_the_same_file_as_both_tables_is_refused_as_a_second_ledger(folder):
    changed(folder, "visits", ('source = "visits.csv"', 'source = "patients.csv"'),
            ("[columns.reason]\ntype = \"category\"\nvalues = [\"heart\", \"check\", \"cold\"]\n", ""),
            ("[columns.day]\ntype = \"date\"\nbounds = [2024-01-01, 2024-12-31]\n"
             "bins = [2024-01-01, 2024-07-01, 2024-12-31]\n", ""),
            ("[columns.urgent]\ntype = \"boolean\"\n", ""))  # fmt: skip
    with opened(folder) as (persons, rows):
        with pytest.raises(DiscreetError, match="Another ledger stands over the same rows"):
            task(persons, rows).build(epsilon=1)
        assert sum(spent(persons, rows)) == 0


def test_columns_and_zeros_name_what_the_joined_table_has(folder):
    with opened(folder) as (persons, rows):
        with pytest.raises(BadValue, match="must be declared columns"):
            task(persons, rows, columns=["age", "reasn"])
        with pytest.raises(BadValue, match="must be a list of names"):
            task(persons, rows, columns="age")
        with pytest.raises(BadValue, match="must hold one of patients"):
            task(persons, rows, columns=["reason", "has visits"])
        own = task(persons, rows, zeros=[{"age": (0, 29), "reason": "heart"}, {"visits age": 3, "urgent": True}])
        table = own.build(epsilon=300)
        both = table.children["visits"].to_pandas().merge(table.to_pandas(), on="patient", suffixes=("", " of patient"))
        assert not ((both["age of patient"] < 30) & (both["reason"] == "heart")).any()
        assert not ((both["age"] == 3) & both["urgent"]).any()


def test_the_child_may_have_any_name_that_is_an_identifier(folder):
    with opened(folder) as (persons, rows):
        joining = joining_of(persons.table.schema, rows.table.schema, "stays")
        assert (joining.presence, joining.names["age"], joining.schema.name) == (
            "has stays",
            "stays age",
            "patients_with_stays",
        )
        table = persons.synthesize(children={"stays": rows}).build(epsilon=5)
        assert list(table.children) == ["stays"]
