"""Rows that belong to no group are spoken of once, from public facts; several favourites are a list."""

import pytest

from discreet.answer.answer import Answer
from discreet.answer.compose import answer_of
from discreet.cli.formats import content
from discreet.query import explain
from discreet.query.bound import draft_of
from discreet.query.joint import Released
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema
from discreet.terms import Terms

SCHEMA = Schema(
    "people",
    [
        Column("payment", "category", values=("Cash", "Card", "a;b", "c\\d"), null="key"),
        Column("region", "category", values=("north", "south")),
        Column("age", "integer", bounds=(0, 110), bins=(18, 65)),
        Column("name", "text"),
    ],
)


def left_out(sql, delta=0):
    plan = plan_of(
        draft_of(parse_sql(f"SELECT COUNT(*) AS n FROM people {sql}").question, SCHEMA), Terms.parse(1, delta)
    )
    return [caveat for caveat in explain.caveats(plan) if "are left out" in caveat]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", None),
        ("GROUP BY payment", None),  # null = "key": such rows have a group of their own
        ("GROUP BY age IS NULL", None),
        ("GROUP BY CASE WHEN age > 18 THEN 'old' ELSE 'young' END", None),
        ("GROUP BY coalesce(region, 'none')", None),
        ("GROUP BY region", "Rows whose region is empty or not listed in the metadata are left out"),
        ("GROUP BY age", "Rows whose age is empty are left out"),
        ("GROUP BY BIN(age)", "Rows whose bin_age is empty or outside its bins are left out"),
        ("GROUP BY region, age", "Rows whose region or age is empty or not listed in the metadata are left out"),
    ],
)
def test_rows_without_a_group_are_said_to_be_left_out(sql, said):
    caveats = left_out(sql)
    assert len(caveats) == (said is not None)
    assert said is None or caveats[0] == f"{said}; ± does not cover that."


def test_an_expression_loses_the_group_of_empty_cells_and_says_so():
    (said,) = left_out("GROUP BY lower(payment)")
    assert said.endswith("An empty payment is a group only where payment itself is grouped by.")


def test_private_keys_that_are_empty_are_left_out_too():
    assert left_out("GROUP BY name", delta="1e-6")[0].startswith("Rows whose name is empty are left out")


# --- several favourites ----------------------------------------------------------------------------------------------


def favourites(sql="SELECT TOP_K(payment, 3) AS t FROM people"):
    plan = plan_of(draft_of(parse_sql(sql).question, SCHEMA), Terms.parse(1, 0))
    (measured,) = plan.measured
    return answer_of(plan, Released([()], {measured.part: [[1, 2, 3]]}))


def test_several_favourites_are_a_list():
    answer, values = favourites(), ["Card", "a;b", "c\\d"]
    assert answer.rows == [{"t": values}]
    assert answer.to_json()["rows"][0]["t"] == values
    assert answer.to_pandas()["t"].tolist() == [values]
    assert answer.to_polars()["t"].to_list() == [values]
    assert answer.to_arrow()["t"].to_pylist() == [values]
    assert "Card, a;b, c\\d" in repr(answer)


def test_several_favourites_in_one_cell_of_csv_can_be_told_apart():
    assert content(favourites(), "csv").decode().splitlines()[1].startswith("Card; a\\;b; c\\\\d,")


def test_the_stored_form_of_favourites_is_one_text():
    assert Answer.from_bytes(favourites().to_bytes()).rows == [{"t": "Card, a;b, c\\d"}]


def test_favourites_can_be_sorted_and_compared():
    sql = "SELECT TOP_K(payment, 3) AS t FROM people HAVING t = 'Card, a;b, c\\d' ORDER BY t"
    assert len(favourites(sql)) == 1
