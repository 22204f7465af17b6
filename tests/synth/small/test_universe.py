"""Cells and conditions: what holds where, against the engine's counts, and what is refused before anything is read."""

from contextlib import closing

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue, DiscreetError, NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.nodes import And, CountRows, IsNull, Not, Output, Question
from discreet.schema import Column, Null, Schema
from discreet.synth.small import conditions as conditions_module
from discreet.synth.small import universe as universe_module
from discreet.synth.small.conditions import conditions_of
from discreet.synth.small.universe import universe_of
from synth.small.town import written

TYPED = [
    ["ill"],
    ["NOT ill", "region IS NULL", "region = 'north'"],
    ["age >= 40 AND ill", "age < 18 OR region IN ('north', 'east')"],
    ["rooms * 2 > 7 AND ill", "rooms BETWEEN 2 AND 3"],
    ["pay > 17.5", "pay <= 3"],
    ["born >= '2000-01-04' AND ill", "EXTRACT(day FROM born) = 2"],
    ["CASE WHEN ill THEN rooms > 3 ELSE region = 'south' END"],
    ["region LIKE 'n%' OR length(region) = 4 AND ill"],
    ["age + 2 >= 42", "40 <= age"],
    [(dp.col("age") >= 18) & ~dp.col("ill"), dp.col("region").is_in(["south"]), "rooms <> 3"],
    ["coalesce(region, 'none') = 'none'", "ill = TRUE"],
]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    with dp.open(written(tmp_path_factory.mktemp("town"))) as dataset:
        yield dataset


@pytest.fixture
def schema(people):
    return people.table.schema


def counted(people, question):
    """The exact counts of the engine, as no caller ever sees them."""
    tally = draft_of(question, people.table.schema).tally
    with closing(people.table.view()) as view:
        (counts,) = view.tally(tally).compute().parts.values()
    return counts


@pytest.mark.parametrize("queries", TYPED, ids=str)
def test_queries_hold_in_the_cells_whose_rows_satisfy_them(people, schema, queries):
    """Rows that satisfy a query, among those that have a cell, against the counts of the cells in which it holds."""
    conditions = conditions_of(queries, schema)
    universe = universe_of(schema, conditions)
    with closing(people.table.view()) as view:
        (histogram,) = view.tally(universe.tally).compute().parts.values()
    whole = [name for name in universe.names if schema.find(name).null is Null.DROP]
    has_cell = tuple(Not(IsNull(dp.col(name).expr)) for name in whole)
    for condition, held in zip(conditions, universe.truths, strict=True):
        where = And((condition, *has_cell)) if has_cell else condition
        exact = counted(people, Question("people", (Output("n", CountRows()),), where=where))
        assert int(held @ histogram) == int(exact[0])
        assert 0 < held.sum() < universe.cells


def test_cells_are_the_product_of_the_columns_of_all_queries(schema):
    universe = universe_of(schema, conditions_of(["age >= 40 AND ill", "region = 'north'"], schema))
    assert universe.names == ("ill", "region", "age")
    assert universe.cells == 2 * 4 * 3
    rows = [universe.row(cell) for cell in range(universe.cells)]
    assert rows[0] == {"ill": False, "region": "north", "age": "[0, 18)"}
    assert rows[-1] == {"ill": True, "region": None, "age": "[40, 110]"}
    assert len({tuple(row.values()) for row in rows}) == universe.cells


def test_numbers_between_whole_ones_are_shown_as_floats(schema):
    universe = universe_of(schema, conditions_of(["pay > 3"], schema))
    assert [universe.row(cell)["pay"] for cell in (0, 1, 200)] == [0, 0.5, 100]


def test_typed_bins_take_the_place_of_declared_ones(schema):
    universe = universe_of(schema, conditions_of(["age >= 41"], schema), {"AGE": [0, 41, 110]})
    assert [universe.row(cell) for cell in range(universe.cells)] == [{"age": "[0, 41)"}, {"age": "[41, 110]"}]
    assert universe.truths.tolist() == [[False, True]]


def test_a_column_called_like_the_count_is_no_obstacle():
    schema = Schema("people", [Column("n", "boolean"), Column("N2", "boolean")])
    assert universe_of(schema, conditions_of(["n AND NOT n2"], schema)).names == ("n", "N2")


REFUSED = {
    "no list": ("ill", None, "queries must be a list of conditions"),
    "none": ([], None, "queries must be 1 to 10,000 conditions"),
    "a number": ([3], None, "query must be a condition"),
    "no column": (["1 = 1"], None, "Query 1 looks at no column"),
    "not declared": (["ill", "height > 3"], None, "Query 2: people has no column"),
    "not SQL": (["ill AND"], None, "Query 1: The text is not SQL"),
    "another clause": (["ill GROUP BY region"], None, "one condition on a row"),
    "a limit": (["ill LIMIT 3"], None, "one condition on a row"),
    "an aggregate": (["COUNT(*) > 3"], None, "Query 1"),
    "no condition": (["rooms"], None, "WHERE takes a condition"),
    "a text": (["note = 'x'"], None, "note has no public values"),
    "the unit": (["who = 3"], None, "no answer may be about one unit"),
    "inside of a bin": (["ill", "age >= 41"], None, "Query 2 is true for some values and false for others of the cell"),
    "inside of typed bins": (["age >= 41"], {"age": [0, 50, 110]}, "others of the cell age in \\[0, 50\\)"),
    "bins of another column": (["ill"], {"age": [0, 40]}, "bins must be of columns that the queries look at"),
    "bins of no column": (["ill"], {"height": [0, 40]}, "bins must be of columns that the queries look at"),
    "bins that are none": (["age >= 40"], [0, 40], "bins must be edges by column"),
    "always false": (["age IS NULL"], None, "false for every row that has a cell"),
    "always true": (["ill OR NOT ill"], None, "true for every row that has a cell"),
    "too many cells": (["age >= 40 AND pay > 3 AND rooms > 2 AND born > '2000-01-02'"], None, "too many cells"),
    "too long": ([" OR ".join(f"pay > {n} AND NOT ill" for n in range(99))], None, "too long"),
}


@pytest.mark.parametrize(("queries", "bins", "match"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_cells_is_refused_with_three_sentences(schema, queries, bins, match):
    with pytest.raises(DiscreetError, match=match) as refused:
        universe_of(schema, conditions_of(queries, schema), bins)
    assert isinstance(refused.value, (NotAnswerable, BadValue))
    assert refused.value.what
    assert refused.value.why
    assert refused.value.fix


def test_a_place_in_a_text_is_counted_from_its_own_beginning(schema):
    with pytest.raises(NotAnswerable) as refused:
        conditions_of(["ill AND\n  (ill IS 3)"], schema)
    line, column = refused.value.position
    assert (line, column > 2) == (2, True)


def test_more_queries_than_can_be_tried_are_refused(schema, monkeypatch):
    monkeypatch.setattr(conditions_module, "MOST_QUERIES", 2)
    with pytest.raises(BadValue, match="1 to 2 conditions"):
        conditions_of(["ill"] * 3, schema)


def test_a_table_of_truth_that_would_fill_the_memory_is_refused(schema, monkeypatch):
    monkeypatch.setattr(universe_module, "_MOST_TRUTHS", 11)
    conditions = conditions_of(["rooms > 3", "rooms > 4"], schema)
    with pytest.raises(NotAnswerable, match="too many for so many cells"):
        universe_of(schema, conditions)
    assert universe_of(schema, conditions[:1]).truths.shape == (1, 6)


def test_equal_conditions_are_tried_once_and_stay_in_their_places(schema):
    universe = universe_of(schema, conditions_of(["ill", "age < 18", "ILL"], schema))
    assert np.array_equal(universe.truths[0], universe.truths[2])
    assert not np.array_equal(universe.truths[0], universe.truths[1])
