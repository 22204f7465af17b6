"""Whole cells: a cell is said to be whole only if all of its values agree, by trying every one of them."""

from itertools import pairwise

import numpy as np
import pytest

from discreet.query.bound import draft_of
from discreet.query.meaning.evaluate import value
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from discreet.schema.kind import Type
from discreet.synth.answers.whole import whole_counts
from discreet.synth.subject import subject_of

SCHEMA = Schema(
    "people",
    (
        Column("age", "integer", bounds=(0, 110), bins=(0, 18, 40, 65, 110)),
        Column("pay", "number", bounds=(0, 50), step="0.5", bins=(0, 10, 20.5, 50)),
        Column("raw", "number", bounds=(0, 50), bins=(0, 10, 50)),
        Column("born", "date", bounds=("2000-01-01", "2009-12-31"), bins=("2000-01-01", "2005-01-01", "2009-12-31")),
        Column("sex", "category", values=("f", "m")),
        Column("region", "category", values=("north", "south", "east"), null="key"),
        Column("ill", "boolean"),
        Column("kids", "integer", values=(0, 1, 2)),
    ),
)
CONDITIONS = [
    "age >= 18",
    "age > 17",
    "age > 17.5",
    "age > 18",
    "age < 65 AND age >= 18",
    "age = 40",
    "age <> 200",
    "age IN (3, 4)",
    "NOT (age < 40)",
    "age BETWEEN 40 AND 64",
    "age BETWEEN 40 AND 65",
    "age IS NULL",
    "age IS NOT NULL",
    "age < 18 OR age IS NULL",
    "pay < 10",
    "pay <= 9.5",
    "pay <= 10",
    "pay < 20.25",
    "born < DATE '2005-01-01'",
    "born <= DATE '2005-01-01'",
    "sex = 'f'",
    "sex LIKE 'f%'",
    "region IN ('north', 'east')",
    "region IS NULL",
    "ill",
    "NOT ill",
    "ill IS NOT TRUE",
    "kids > 0",
]


def asked(sql, schema=SCHEMA):
    draft = draft_of(parse_sql(f"SELECT {sql}").question, schema)
    return draft, whole_counts(draft, draft.question.outputs[0].aggregate, subject_of(schema))


def values_of(column, code):
    """Every value of a cell."""
    if code == column.cells:
        return [None]
    if column.values is not None:
        return [column.values[code]]
    from discreet.query.meaning import dates

    points = range(*(int(start) for start in list(pairwise(column.starts))[code]))
    return [dates.day(point) if column.type is Type.DATE else dates.whole(point * column.step) for point in points]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_whole_cells_are_those_whose_every_value_agrees(condition):
    draft, (whole,) = asked(f"COUNT(*) AS n FROM people WHERE {condition}")
    subject = subject_of(SCHEMA)
    place = next(place for place, column in enumerate(subject.columns) if column.name in condition)
    column = subject.columns[place]
    truths = [
        {value(draft.question.where, {column.name: cell}) is True for cell in values_of(column, code)}
        for code in range(column.cells + 1)
    ]
    if any(len(own) > 1 for own in truths):
        assert whole is None
    else:
        expected = [own == {True} for own in truths]
        assert whole is not None
        assert whole.get(place, np.ones(len(expected), dtype=bool)).tolist() == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SUM(age) AS n FROM people",
        "COUNT(DISTINCT age) AS n FROM people",
        "COUNT(*) AS n FROM people WHERE age % 2 = 0",
        "COUNT(*) AS n FROM people WHERE age + 0 >= 18",
        "COUNT(*) AS n FROM people WHERE age < kids",
        "COUNT(*) AS n FROM people WHERE sex = 'f' OR ill",
        "COUNT(*) AS n FROM people WHERE sex = 'f' AND ill AND kids = 0",
        "COUNT(*) AS n FROM people WHERE raw < 10",  # its steps follow from its bounds, and constants are rounded
        "COUNT(*) AS n FROM people WHERE upper(sex) = 'F'",
        "COUNT(*) AS n FROM people WHERE year(born) = 2001",
        "COUNT(age % 2) AS n FROM people",
    ],
)
def test_what_compares_more_than_columns_with_constants_counts_no_whole_cells(sql):
    assert asked(sql)[1] == [None]


def test_cells_of_an_undeclared_step_are_whole_where_only_the_empty_one_matters():
    (whole,) = asked("COUNT(raw) AS n FROM people")[1]
    assert whole is not None
    assert whole[2].tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("region, COUNT(*) AS n FROM people GROUP BY region", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        ("kids, COUNT(*) AS n FROM people GROUP BY kids", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
        ("ill, COUNT(*) AS n FROM people WHERE ill GROUP BY ill", [[0, 1, 0]]),
        ("BIN(age) AS a, COUNT(*) AS n FROM people GROUP BY a", np.eye(4, 5, dtype=int).tolist()),
        ("BIN(age, 18, 65) AS a, COUNT(*) AS n FROM people GROUP BY a", None),  # 65 is in the last bin
    ],
)
def test_groups_of_one_column(sql, expected):
    wholes = asked(sql)[1]
    if expected is None:
        assert wholes == [None] * len(wholes)
    else:
        assert [next(iter(whole.values())).astype(int).tolist() for whole in wholes] == expected


def test_two_columns_have_a_mask_each_and_one_that_does_not_matter_has_none():
    draft, wholes = asked("region, COUNT(*) AS n FROM people WHERE ill GROUP BY region")
    assert len(wholes) == draft.cells.size == 4
    assert all(sorted(whole) == [5, 6] for whole in wholes)
    (whole,) = asked("COUNT(*) AS n FROM people WHERE sex = 'f' AND (ill OR NOT ill OR ill IS NULL)")[1]
    assert sorted(whole) == [4]
    assert asked("COUNT(*) AS n FROM people")[1] == [{}]


def test_units_of_several_rows_count_whole_by_their_own_columns_alone():
    columns = (Column("sex", "category", values=("f", "m"), fixed_per_unit=True), Column("ill", "boolean"))
    schema = Schema("people", columns, Unit("who", 3))
    assert asked("COUNT(*) AS n FROM people", schema)[1] == [None]
    assert asked("COUNT(DISTINCT who) AS n FROM people", schema)[1] == [{}]
    assert asked("COUNT(DISTINCT who) AS n FROM people WHERE ill", schema)[1] == [None]
    (whole,) = asked("COUNT(DISTINCT who) AS n FROM people WHERE sex = 'm'", schema)[1]
    assert whole[0].tolist() == [False, True, False]
