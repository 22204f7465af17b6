"""Invented rows keep every public fact and come from nothing else."""

import csv
import io
from collections import Counter
from datetime import date, datetime

import pytest

import discreet as dp
from discreet import metadata
from discreet.errors import BadValue
from discreet.metadata import Metadata
from discreet.rehearsal import Rehearsal
from discreet.rehearsal.rows import as_csv, invented_table
from discreet.schema import Budget, Column, Schema, Unit
from rehearsal.parts import TOML


@pytest.fixture(scope="module")
def schema():
    return metadata.parse(TOML).schema


@pytest.fixture(scope="module")
def table(schema):
    return invented_table(schema, seed=3)


def test_units_are_a_thousand_and_none_has_more_rows_than_its_cap(table):
    rows = Counter(table["person_id"])
    assert len(rows) == 1000
    assert max(rows.values()) == 3
    assert rows["invented-0"] == 3


def test_a_huge_cap_invents_a_bounded_number_of_rows():
    wide = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("person_id", 10**9))
    rows = Counter(invented_table(wide)["person_id"])
    assert rows["invented-0"] == 1000
    assert sum(rows.values()) < 20_000


def test_cells_lie_within_bounds_on_the_lattice(table):
    assert all(isinstance(age, int) and 0 <= age <= 110 for age in table["age"])
    assert all(0 <= cost <= 500 and cost * 2 == int(cost * 2) for cost in table["cost"])
    assert all(date(2023, 1, 1) <= date.fromisoformat(day) <= date(2024, 12, 31) for day in table["seen"])
    moments = [datetime.fromisoformat(moment) for moment in table["at"]]
    assert all(datetime(2023, 1, 1) <= moment <= datetime(2024, 12, 31) for moment in moments)
    assert len(set(table["age"])) > 100


def test_values_are_those_of_the_metadata_and_levels_those_of_the_branch(table):
    assert set(table["sex"]) == {"f", "m"}
    assert set(zip(table["region"], table["ward"], strict=True)) == {("north", "n1"), ("north", "n2"), ("south", "s1")}
    assert set(table["smoker"]) == {"true", "false", None}


def test_only_columns_that_keep_empty_cells_have_some(table):
    assert [name for name, cells in table.items() if None in cells] == ["smoker"]


def test_a_column_fixed_per_unit_has_one_value_per_unit(table):
    assert len(set(zip(table["person_id"], table["sex"], strict=True))) == 1000


def test_unlisted_categories_have_frequent_and_rare_labels(table):
    often = Counter(table["diagnosis"]).most_common()
    assert often[0][1] > 10 * often[-1][1]


def test_texts_have_many_labels(table):
    assert len(set(table["household"])) > 200


def test_the_same_seed_gives_the_same_rows_and_another_gives_others(schema, table):
    assert invented_table(schema, seed=3) == table
    assert invented_table(schema, seed=4) != table


@pytest.mark.parametrize("kind", ["integer", "number", "date", "datetime", "text", "category", "boolean"])
def test_columns_without_limits_are_invented_too(kind):
    cells = invented_table(Schema("t", [Column("c", kind)]), units=50)["c"]
    assert len(cells) == 50
    assert len(set(cells)) > 1


def test_bounds_hold_even_where_the_step_does_not_meet_them():
    coarse = Schema("t", [Column("c", "number", bounds=("0.3", "9.9"), step=2)])
    assert {min(max(c, 0.3), 9.9) == c for c in invented_table(coarse)["c"]} == {True}


def test_a_schema_without_columns_has_rows():
    assert len(invented_table(Schema("t"), units=5)["row"]) == 5


@pytest.mark.parametrize(("units", "seed"), [(0, 1), (10**7, 1), (5, -1), (5, "x")])
def test_values_that_are_no_number_of_units_or_no_seed_are_refused(units, seed):
    with pytest.raises(BadValue):
        invented_table(Schema("t"), units=units, seed=seed)


def test_awkward_names_and_values_arrive_at_the_engine(tmp_path):
    name, values = 'my "; col', ('a "quoted" one', "a, b", "", "ü", "=1+1", "'")
    odd = Schema("odd", [Column(name, "category", values=values)])
    table = Rehearsal(Metadata(odd, Budget(1000)), tmp_path / "odd.toml", units=600)
    exact = Counter(invented_table(odd, units=600)[name])
    with dp.Dataset(table) as dataset:
        answer = dataset.group_by(k=dp.col(name)).agg(n=dp.count()).ask(epsilon=1000)
    assert {row["k"]: row["n"] for row in answer.rows} == {value: exact[value] for value in values}


def test_rows_read_back_from_csv():
    table = {"a": ["x", None, 'q"'], "n": [1, 2.5, -3]}
    assert list(csv.reader(io.StringIO(as_csv(table)))) == [["a", "n"], ["x", "1"], ["", "2.5"], ['q"', "-3"]]


def test_the_widest_facts_are_prepared_and_no_cell_is_lost(tmp_path):
    columns = [
        Column("big", "number", bounds=("-1e280", "1e280")),
        Column("small", "number", bounds=("0", "1e-290")),
        Column("when", "datetime", bounds=("0001-01-01", "9999-12-31T23:59:59")),
        Column("day", "date", bounds=("0001-01-01", "9999-12-31")),
        Column("listed", "integer", values=(3, 5, -7)),
        Column("wide", "integer", bounds=(-(2**61), 2**61)),
    ]
    table = Rehearsal(Metadata(Schema("odd", columns), Budget(10**5)), tmp_path / "odd.toml", units=200)
    with dp.Dataset(table) as odd:
        filled = {column.name: dp.count(column.name) for column in columns}
        (row,) = odd.agg(**filled).ask(epsilon=10**4).rows
    assert row == dict.fromkeys(filled, 200)
