"""What a column counts is said wherever a cap can leave something out, and only there."""

from fractions import Fraction

import pytest

from discreet.answer.caps import counted_of
from discreet.answer.compose import answer_of
from discreet.answer.quote import quote_of
from discreet.query.bound import draft_of
from discreet.query.form.frame import Frame
from discreet.query.form.words import count
from discreet.query.joint import Released
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.release.caps import counted_of as release_counted_of
from discreet.release.subject import ReleaseSpec, subject
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms

COLUMNS = (
    Column("region", "category", values=("north", "south")),
    Column("sex", "category", values=("f", "m"), fixed_per_unit=True),
    Column("age", "integer", bounds=(0, 110)),
    Column("born", "integer", bounds=(1900, 2020), fixed_per_unit=True),
    Column("household", "text"),
)
TREE = Hierarchy("geo", ("all", "region"), branches=(("top", "north"), ("top", "south")))
SCHEMA = Schema("people", COLUMNS, Unit("person", 3), hierarchies=(TREE,))
ROWS, SEEN = "of at most 3 rows per person", "seen in at most 3 rows per person"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*) AS x FROM people", ROWS),
        ("SELECT COUNT(age) AS x FROM people", ROWS),
        ("SELECT SUM(age) AS x FROM people", ROWS),
        ("SELECT AVG(age) AS x FROM people WHERE sex = 'f'", ROWS),
        ("SELECT VAR_SAMP(age) AS x FROM people", ROWS),
        ("SELECT MEDIAN(age) AS x FROM people", ROWS),
        ("SELECT MODE(region) AS x FROM people", ROWS),
        ("SELECT COUNT(*) AS x FROM people GROUP BY sex", ROWS),
        ("SELECT COUNT(DISTINCT person) AS x FROM people", None),
        ("SELECT COUNT(DISTINCT person) AS x FROM people WHERE sex = 'f'", None),
        ("SELECT sex, COUNT(DISTINCT person) AS x FROM people GROUP BY sex", None),
        ("SELECT region, COUNT(DISTINCT person) AS x FROM people GROUP BY region", SEEN),
        ("SELECT COUNT(DISTINCT person) AS x FROM people WHERE age > 40", SEEN),
        ("SELECT COUNT(DISTINCT age) AS x FROM people", SEEN),
        ("SELECT COUNT(DISTINCT born) AS x FROM people", None),
    ],
)
def test_the_words_follow_the_aggregate_its_groups_and_its_filter(sql, words):
    draft = draft_of(parse_sql(sql).question, SCHEMA)
    assert counted_of(draft.recipes[0], draft) == words
    alone = Schema("people", COLUMNS)  # a row is a unit: no cap leaves anything out
    if "person" not in sql:
        draft = draft_of(parse_sql(sql).question, alone)
        assert counted_of(draft.recipes[0], draft) is None


def test_caps_of_the_question_are_said_too():
    frame = Frame("people").group_by("region").agg(x=count()).caps(rows=2, groups=1)
    draft = draft_of(frame.question, SCHEMA)
    assert counted_of(draft.recipes[0], draft) == "of at most 2 rows, in at most 1 group, per person"


def test_answer_and_quote_carry_the_words():
    plan = plan_of(draft_of(parse_sql("SELECT COUNT(*) AS x FROM people").question, SCHEMA), Terms.parse(1, 0))
    (measured,) = plan.measured
    answer = answer_of(plan, Released([()], {measured.part: [7]}))
    assert answer.column("x").of == ROWS
    assert answer.to_json()["columns"][0]["of"] == ROWS
    assert f"x: {ROWS}" in repr(answer)
    assert f"<small>{ROWS}</small>" in answer._repr_html_()
    assert answer.to_pandas().attrs["discreet"]["columns"][0]["of"] == ROWS
    assert ROWS in answer.to_arrow().schema.metadata[b"discreet"].decode()
    assert answer.to_polars()["x_of"].to_list() == [ROWS]
    assert answer.ratio("x", "x")[0].of == ROWS
    left = {"epsilon": "1", "delta": "0"}
    quote = quote_of(plan, remaining=left, remaining_after=left)
    assert quote.to_json()["columns"][0]["of"] == ROWS
    assert f"; {ROWS}" in repr(quote)
    assert quote.level == Fraction(95, 100)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (ReleaseSpec("geo", count="rows"), ROWS),
        (ReleaseSpec("geo"), "seen in at most 3 rows, in at most 1 cell, per person"),
        (ReleaseSpec("geo", groups="household", largest=4), ROWS),
        (ReleaseSpec("geo", groups="person", largest=4), "of at most 3 rows, in at most 1 place, per person"),
    ],
)
def test_releases_say_what_they_count(wanted, words):
    assert release_counted_of(subject(wanted, SCHEMA)) == words


def test_releases_of_what_is_fixed_per_unit_and_of_rows_alone_lose_nothing():
    region = Column("region", "category", values=("north", "south"), fixed_per_unit=True)
    fixed = Schema("people", (region, *COLUMNS[1:]), Unit("person", 3), hierarchies=(TREE,))
    assert release_counted_of(subject(ReleaseSpec("geo", by=("sex",)), fixed)) is None
    assert release_counted_of(subject(ReleaseSpec("geo"), Schema("people", COLUMNS, hierarchies=(TREE,)))) is None
