"""Expressions over one coded column, computed on its public values where Python and the engine agree."""

import pytest

from discreet.query.meaning.fold import value_table
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema

PEOPLE = Schema("people", [Column("w", "category", values=("a", "b"))])


def results(expression):
    question = parse_sql(f"SELECT SUM({expression}) AS n FROM people").question
    table = value_table(question.outputs[0].aggregate.item, PEOPLE)
    return None if table is None else (*table.results, table.empty)


@pytest.mark.parametrize(
    "expression",
    [
        "CASE WHEN 9007199254740993 > 9007199254740992.5 THEN 0 ELSE 1 + length(w) END",
        "CASE WHEN 0.1 <> 0.1000000000000000055511151231257827 THEN 0 ELSE CAST(w < 'b' AS BIGINT) END",
    ],
)
def test_a_branch_that_no_value_reaches_does_not_leave_exact_constants_to_the_engine(expression):
    assert results(expression) == (0, 0, 0)


def test_arithmetic_that_a_value_reaches_is_left_to_the_engine():
    assert results("CASE WHEN w = 'a' THEN 1 ELSE 1 + length(w) END") is None
    assert results("CASE WHEN w = 'a' THEN 1 ELSE length(w) + 1 END") is None
    assert results("CASE WHEN w = 'a' THEN 1 ELSE length(w) END") == (1, 1, None)
