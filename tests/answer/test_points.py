"""Where values are chosen among coarse points, or read in steps that nobody declared, answer and quote say so."""

import pytest

from discreet.answer.compose import answer_of
from discreet.answer.quote import quote_of
from discreet.cli.formats import content
from discreet.query import explain
from discreet.query.bound import draft_of
from discreet.query.joint import Released
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms

SCHEMA = Schema(
    "people",
    [
        Column("income", "integer", bounds=(0, 10_000_000)),
        Column("age", "integer", bounds=(0, 110)),
        Column("price", "number", bounds=(0, 100)),
        Column("cents", "number", bounds=(0, 100), step="0.01"),
        Column("tip", "number", bounds=(0, 10_000_000)),
        Column("moment", "datetime", bounds=("2020-01-01T00:00:00", "2029-12-31T23:59:59")),
        Column("region", "category", values=("north", "south")),
    ],
)
LEFT = {"epsilon": "3", "delta": "0"}


def planned(sql, schema=SCHEMA):
    return plan_of(draft_of(parse_sql(sql).question, schema), Terms.parse(1, 0))


def asked(sql, schema=SCHEMA, value=7):
    plan = planned(sql, schema)
    (measured,) = plan.measured
    return answer_of(plan, Released([()], {measured.part: [value]}))


def quote_sql(sql, schema=SCHEMA):
    return quote_of(planned(sql, schema), remaining=LEFT, remaining_after=LEFT)


def test_every_form_of_a_quantile_says_how_far_apart_its_points_are():
    said, answer = "chosen among points 153 apart", asked("SELECT MEDIAN(income) AS m FROM people")
    assert answer.column("m").of == said
    assert answer.to_json()["columns"][0]["of"] == said
    assert answer.to_json()["columns"][0]["step"] == 153
    assert f"m: {said}" in repr(answer)
    assert f"<small>{said}</small>" in answer._repr_html_()
    assert said in content(answer, "csv").decode()
    assert said in content(answer, "md").decode()
    assert answer.to_polars()["m_of"].to_list() == [said]
    (caveat,) = [caveat for caveat in answer.caveats if "153 apart" in caveat]
    assert "Narrower bounds under [columns.income] make them finer." in caveat
    quote = quote_sql("SELECT MEDIAN(income) AS m FROM people")
    assert said in repr(quote)
    assert caveat in quote.caveats


@pytest.mark.parametrize(
    ("sql", "words", "finer"),
    [
        ("SELECT MAX(income) AS m FROM people", "points 153 apart", "Narrower bounds"),
        ("SELECT MEDIAN(price) AS m FROM people", "points 0.0244751 apart", "A declared step or narrower bounds"),
        ("SELECT MEDIAN(income / 2) AS m FROM people", "apart", "clamp("),
        ("SELECT MEDIAN(moment) AS m FROM people", "points 4,816 seconds apart", "Narrower bounds"),
    ],
)
def test_coarse_points_are_said_of_every_kind_of_value(sql, words, finer):
    answer = asked(sql)
    assert words in answer.column("m").of
    assert any(finer in caveat for caveat in answer.caveats)


@pytest.mark.parametrize("item", ["age", "cents"])
def test_points_as_fine_as_the_column_need_no_word(item):
    answer = asked(f"SELECT MEDIAN({item}) AS m FROM people")
    assert answer.column("m").of is None
    assert not any("apart" in caveat for caveat in answer.caveats)


def test_a_cap_and_coarse_points_are_both_said():
    schema = Schema("people", SCHEMA.columns, Unit("person", 3))
    of = asked("SELECT MEDIAN(income) AS m FROM people", schema).column("m").of
    assert of == "of at most 3 rows per person; chosen among points 153 apart"


# --- steps that nobody declared --------------------------------------------------------------------------------------

TIP = "tip is read in steps of 8"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(tip) AS s FROM people",
        "SELECT MEDIAN(tip) AS s FROM people",
        "SELECT COUNT(*) AS s FROM people WHERE tip > 3",
    ],
)
def test_a_coarse_step_that_nobody_declared_is_said(sql):
    answer = asked(sql)
    (caveat,) = [caveat for caveat in answer.caveats if TIP in caveat]
    assert "[columns.tip]" in caveat
    assert "step = " in caveat
    assert any(TIP in caveat for caveat in quote_sql(sql).caveats)
    assert any(TIP in line for line in explain.words(planned(sql)))


def test_a_fine_step_that_nobody_declared_is_said_before_asking_only():
    sql = "SELECT SUM(price) AS s FROM people"
    assert not any("steps of" in caveat for caveat in asked(sql).caveats)
    assert any("price is read in steps of 6.10352e-5" in caveat for caveat in quote_sql(sql).caveats)


def test_a_declared_step_and_whole_numbers_are_not_spoken_of():
    sql = "SELECT COUNT(*) AS n FROM people WHERE cents > 3 AND income > 3 AND region = 'north'"
    assert not any("read in steps" in caveat for caveat in (*asked(sql).caveats, *quote_sql(sql).caveats))


# --- ranks -----------------------------------------------------------------------------------------------------------


def test_quote_and_answer_say_the_same_ranks():
    sql = "SELECT MEDIAN(age) AS m FROM people"
    plan = planned(sql)
    shown = repr(asked(sql)).splitlines()[1].split("±")[1].strip()
    assert f"± {shown}" in repr(quote_sql(sql))
    assert shown.endswith(" ranks")
    sure = plan_of(plan.draft, Terms.parse(100, 0))
    quote = quote_of(sure, remaining=LEFT, remaining_after=LEFT)
    assert "± 1 rank " in repr(quote)
    (measured,) = sure.measured
    assert "± 1 rank" in repr(answer_of(sure, Released([()], {measured.part: [7]}))).splitlines()[1]


def test_files_without_metadata_carry_the_error_of_chosen_values():
    answer = asked("SELECT MEDIAN(age) AS m FROM people")
    header, row = content(answer, "csv").decode().splitlines()
    ranks = answer.column("m").ranks
    assert header == "m,m_moe,m_ranks"
    assert row == f"7,,{-int(-ranks // 1)}"
    assert answer.to_polars()["m_ranks"].to_list() == [-int(-ranks // 1)]
    top = asked("SELECT MODE(region) AS m FROM people", value=[0])
    assert content(top, "csv").decode().splitlines()[0] == "m,m_moe,m_shortfall"
