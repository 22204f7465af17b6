"""Columns become fine cells by public facts alone, and every value a table can hold has one of them."""

import json
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.kernel.encode import Feature
from discreet.learn.input.column import model_column
from discreet.schema import Column, Schema, Unit
from discreet.schema.kind import number_of
from discreet.synth.column.choice import columns_of
from discreet.synth.column.column import EMPTY, MOST_FINE, SynthColumn, synth_column
from discreet.synth.column.obstacle import MOST_CELLS
from synth.column.declared import CASES, NUMBERS, columns, integers, numbers


def codes_of(column, encoded):
    """The codes that a kernel gives to encoded cells."""
    codes = Feature.parse(column.described).codes(encoded)
    return np.where(codes < 0, column.cells, codes)


def code_by_edges(column, measure):
    """The slow twin: the cell that a number on the lattice lies in, by exact comparisons with its edges alone."""
    inner = column.edges[1:-1]
    return sum(1 for edge in inner if edge <= measure)


def on_lattice(declared, first, count):
    """So many neighbouring points of a table's lattice, from a place between 0 and 1 on, and their floats."""
    lattice = declared.lattice
    start = lattice.low + round((lattice.points - 1) * first)
    points = [point for point in range(start, start + count) if point <= lattice.high]
    top, bottom = lattice.step.numerator, lattice.step.denominator
    floats = np.array([float(point) * float(top) / float(bottom) for point in points])  # as a view makes them
    return [point * lattice.step for point in points], floats


@pytest.mark.parametrize("declared", CASES, ids=lambda column: column.name)
def test_a_column_is_the_same_when_its_json_is_read_back(declared):
    column = synth_column(declared)
    again_read = SynthColumn.from_json(json.loads(json.dumps(column.to_json())))
    assert again_read == column
    assert again_read.described == column.described
    assert [again_read.label(code) for code in range(column.cells + 1)] == [
        column.label(code) for code in range(column.cells + 1)
    ]


@pytest.mark.parametrize("declared", CASES, ids=lambda column: column.name)
def test_a_kernel_takes_the_description_and_sees_as_many_cells(declared):
    column = synth_column(declared)
    feature = Feature.parse(json.loads(json.dumps(column.described)))
    feature.require(declared)
    assert feature.cells == column.cells
    assert column.is_person == declared.fixed_per_unit


@pytest.mark.parametrize("declared", NUMBERS, ids=lambda column: column.name)
@pytest.mark.parametrize("first", [0, 0.31, 0.5, 1])
def test_every_number_of_a_table_is_in_the_cell_that_its_edges_say(declared, first):
    column = synth_column(declared)
    exact, floats = on_lattice(declared, first, 600)
    assert codes_of(column, floats).tolist() == [code_by_edges(column, measure) for measure in exact]


@settings(max_examples=60, deadline=None)
@given(integers() | numbers(), st.floats(0, 1))
def test_any_declared_number_is_in_the_cell_that_its_edges_say(declared, first):
    column = synth_column(declared)
    exact, floats = on_lattice(declared, first, 50)
    assert codes_of(column, floats).tolist() == [code_by_edges(column, measure) for measure in exact]


@settings(max_examples=80, deadline=None)
@given(columns())
def test_cells_share_the_lattice_within_the_bounds(declared):
    column = synth_column(declared)
    assert 1 <= column.cells <= MOST_CELLS
    assert column.label(column.cells) == EMPTY
    labels = [column.label(code) for code in range(column.cells + 1)]
    assert len(set(labels)) == len(labels)
    if column.values is None:
        low, high = (number_of(end) / column.step for end in declared.bounds)
        assert (np.diff(column.starts) >= 1).all()
        first, end = int(column.starts[0]), int(column.starts[-1])
        assert low <= first < low + 1
        assert high < end <= high + 1
        assert declared.bins is not None or column.cells <= MOST_FINE


def test_few_points_have_a_cell_each_and_many_share_256():
    assert synth_column(Column("c", "integer", bounds=(0, 255))).cells == 256
    assert synth_column(Column("c", "integer", bounds=(1, 1000))).cells == 256
    assert synth_column(Column("c", "number", bounds=(0, 1), step="0.1")).cells == 11
    assert synth_column(Column("c", "date", bounds=("2020-01-01", "2020-01-31"))).cells == 31


def test_bins_are_those_of_models():
    for declared in NUMBERS:
        low, high = (number_of(end) for end in declared.bounds)
        if declared.bins is None and low % declared.step == high % declared.step == 0:
            starts = [edge / declared.step for edge in model_column(declared).edges(MOST_FINE)]
            assert synth_column(declared).starts[:-1].tolist() == starts[:-1]


def test_dates_from_1970_on_have_even_bins_too():
    for first in ("1970-01-01", "1970-01-02"):
        widths = np.diff(synth_column(Column("c", "date", bounds=(first, "2020-01-01"))).starts)
        assert len(widths) == 256
        assert widths.max() - widths.min() <= 1


def test_labels_are_what_people_read():
    texts = {
        "age": {0: "0", 110: "110", 111: "empty"},
        "decade": {0: "[0, 18)", 2: "[65, 110]"},
        "share": {3: "0.3", 10: "1"},
        "thirds": {0: "-2", 1: "-4/3", 2: "[-2/3, 2/3)", 255: "200"},
        "inner": {0: "[0, 18)", 1: "[18, 65)", 2: "[65, 91)", 3: "[91, 110]"},
        "months": {0: "[2020-01-01T00:00:00, 2020-07-01T00:00:00)"},
        "soon": {0: "2020-01-05", 1: "2020-01-06"},
        "hours": {1: "2020-01-01T01:00:00"},
        "twins": {0: "a", 1: "A", 3: '"empty"', 5: "empty"},
        "blank": {0: '""'},
        "jumbled": {1: "-3"},
        "flag": {0: "false", 1: "true", 2: "empty"},
    }
    by_name = {declared.name: synth_column(declared) for declared in CASES}
    for name, expected in texts.items():
        assert {code: by_name[name].label(code) for code in expected} == expected


def test_numbers_and_growing_lists_are_ordered_and_names_are_not():
    unordered = {"twins", "blank", "only", "jumbled", "flag"}
    assert {column.name for column in map(synth_column, CASES) if not column.is_ordered} == unordered


def test_bins_within_the_bounds_leave_no_number_without_a_cell():
    column = synth_column(Column("c", "integer", bounds=(0, 110), bins=(18, 65, 90)))
    assert codes_of(column, np.arange(111.0)).tolist() == [0] * 18 + [1] * 47 + [2] * 26 + [3] * 20


def test_a_bin_without_a_point_of_the_lattice_is_no_cell():
    column = synth_column(Column("c", "number", bounds=(0, 5), step=1, bins=["0", "0.2", "0.4", "3.5", "3.7", "5"]))
    assert [column.label(code) for code in range(column.cells)] == ["0", "[0.4, 3.7)", "[3.7, 5]"]


def test_cuts_are_edges_where_none_was():
    declared = Column("c", "integer", bounds=(0, 110), bins=(0, 50, 110))
    cuts = (Fraction(15), Fraction(50), Fraction(0), Fraction(111))
    column = synth_column(declared, cuts)
    assert [column.label(code) for code in range(column.cells)] == ["[0, 15)", "[15, 50)", "[50, 110]"]
    assert synth_column(Column("c", "boolean"), cuts) == synth_column(Column("c", "boolean"))


def test_texts_with_public_values_have_cells_like_categories():
    text = synth_column(Column("c", "text", values=("a", "b")))
    assert (text.cells, text.described, text.is_ordered) == (2, {"size": 2}, False)


def test_equality_is_by_public_facts():
    age = Column("age", "integer", bounds=(0, 110))
    assert synth_column(age) == synth_column(replace(age))
    assert synth_column(age) != synth_column(replace(age, fixed_per_unit=True))
    assert synth_column(age) != synth_column(age, (Fraction(1, 2),)) or synth_column(age).cells == 111
    assert len({synth_column(age), synth_column(replace(age, name="years"))}) == 2


def test_edges_or_values_but_not_both_make_a_column():
    with pytest.raises(ValueError, match="values or edges"):
        SynthColumn("c", synth_column(CASES[0]).type)
    with pytest.raises(ValueError, match="holds a point"):
        SynthColumn("c", synth_column(CASES[0]).type, edges=(Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2)))


MANY = tuple(f"v{number}" for number in range(MOST_CELLS + 1))
REFUSED = [
    (Column("notes", "text"), "must have public values", "free text", "values = "),
    (Column("town", "category"), "must have public values", "lists no public values", "values = "),
    (Column("pay", "number"), "must have public bounds", "public bounds", "bounds = [0, 5000]"),
    (Column("age", "integer"), "must have public bounds", "public bounds", "bounds = [0, 110]"),
    (Column("born", "date"), "must have public bounds", "public bounds", "bounds = [2020-01-01"),
    (Column("seen", "datetime"), "must have public bounds", "public bounds", "bounds = [2020-01-01T00"),
    (Column("id", "category", values=MANY), "at most 10,000 values", "as an identifier does", "Leave it out"),
    (Column("no", "integer", values=tuple(range(MOST_CELLS + 1))), "at most 10,000 values",
     "as an identifier does", "Leave it out"),
    (Column("x", "integer", bounds=(0, 10**6), bins=tuple(range(10_002))), "at most 10,000 bins", "10,001", "bins"),
    (Column("x", "integer", bounds=(0, 2**60)), "within 2^50 steps", "lose digits", "step = 2048"),
    (Column("x", "integer", bounds=(-(2**70), 2**70), step=2**40), "within 2^62", "lose digits", "a distance from"),
    (Column("x", "number", bounds=(10**9, 10**9 + 1), step=Fraction(1, 2**30)), "within 2^50 steps", "lose digits",
     "step = 9.5367431640625e-7"),
    (Column("x", "integer", values=(0, 2**53)), "within 2^50 steps", "lose digits", "Leave it out"),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "rule", "why", "fix"), REFUSED, ids=lambda part: getattr(part, "name", None))
def test_a_column_without_public_cells_is_refused_with_what_to_write(declared, rule, why, fix):
    with pytest.raises(BadValue) as refusal:
        synth_column(declared)
    assert rule in refusal.value.what
    assert why in refusal.value.why
    assert fix in refusal.value.fix
    assert declared.name in refusal.value.what


def test_a_step_that_a_refusal_names_is_taken():
    for declared in (Column("x", "integer", bounds=(0, 2**60)), Column("x", "integer", bounds=(2**58 - 1, 2**60 - 7))):
        with pytest.raises(BadValue) as refusal:
            synth_column(declared)
        step = refusal.value.fix.rpartition(" = ")[2]
        assert synth_column(replace(declared, step=int(step))).cells >= 200


PEOPLE = Schema(
    "people",
    (
        Column("age", "integer", bounds=(0, 110)),
        Column("Town", "category", values=("n", "s"), fixed_per_unit=True),
        Column("notes", "text"),
        Column("pay", "number"),
    ),
    Unit("person_id", 3),
)


def test_without_names_all_columns_come_and_the_rest_is_told_with_its_reason():
    chosen = columns_of(PEOPLE)
    assert [column.name for column in chosen.columns] == ["age", "Town"]
    assert [column.is_person for column in chosen.columns] == [False, True]
    assert set(chosen.left_out) == {"person_id", "notes", "pay"}
    assert "identifier" in chosen.left_out["person_id"]
    assert "free text" in chosen.left_out["notes"]
    assert "public bounds" in chosen.left_out["pay"]


def test_named_columns_come_in_that_order_whatever_their_case():
    chosen = columns_of(PEOPLE, ["town", "AGE"])
    assert [column.name for column in chosen.columns] == ["Town", "age"]
    assert chosen.left_out == {}


def test_cuts_reach_the_column_that_they_are_for():
    schema = Schema("t", (Column("a", "integer", bounds=(0, 99), bins=(0, 99)), Column("b", "boolean")))
    for names in (None, ["a", "b"]):
        assert columns_of(schema, names, {"a": (Fraction(9),)}).columns[0].label(0) == "[0, 9)"


@pytest.mark.parametrize(
    ("names", "rule", "fix"),
    [
        (["aeg"], "declared columns", "Did you mean 'age'?"),
        (["zzz"], "declared columns", 'columns = ["age", "Town"]'),
        ([7], "declared columns", "Name a declared column"),
        (["age", "Age"], "name each column once", "Leave out 'age'"),
        (["person_id"], "the unit's key, an identifier", "Leave it out"),
        (["PERSON_ID"], "the unit's key, an identifier", "Leave it out"),
        (["notes"], "public values", "values = "),
        ("age", "a list of names", "Give, for example"),
        ([], "a list of names", "Give, for example"),
        ({"age"}, "a list of names", "Give, for example"),
    ],
)
def test_names_that_cannot_be_are_refused(names, rule, fix):
    with pytest.raises(BadValue) as refusal:
        columns_of(PEOPLE, names)
    assert rule in refusal.value.what
    assert fix in refusal.value.fix


def test_a_table_without_any_public_column_is_refused():
    with pytest.raises(BadValue, match="public values or bounds"):
        columns_of(Schema("t", (Column("notes", "text"),)))


def test_every_edge_of_dates_is_a_date():
    column = synth_column(Column("c", "date", bounds=(date.min, date.max)))
    assert column.label(0).startswith("[0001-01-01, ")
    assert column.label(column.cells - 1).endswith(", 9999-12-31]")
    moment = synth_column(Column("c", "datetime", bounds=(datetime.min, datetime(9999, 12, 31, 23, 59, 59))))
    assert moment.label(moment.cells - 1).endswith(", 9999-12-31T23:59:59]")
