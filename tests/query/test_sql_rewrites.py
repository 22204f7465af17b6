"""A refusal points at its cause and, where one is sensible, ends with a statement to paste."""

import re

import duckdb
import pytest

from discreet.errors import NotAnswerable
from discreet.query.canonical import canonical
from discreet.query.meaning.resolve import resolved
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema

PLACES = {
    "SELECT COUNT(*) FROM people WHERE repeat(name, 3) = 'x'": (1, 35),
    "SELECT COUNT(*)\nFROM people\nWHERE age IN (1, NULL)": (3, 18),
    "SELECT DISTINCT region FROM people": (1, 8),
    "SELECT COUNT(*) AS n FROM people ORDER BY n NULLS LAST": (1, 45),
    "SELECT COUNT(*) FROM people JOIN visits USING (id)": (1, 34),
    "SELECT region,\n  age, COUNT(*) FROM people GROUP BY region": (2, 3),
    "SELECT COUNT(*) FROM people WHERE age = ?": (1, 41),
}


@pytest.mark.parametrize("text", PLACES)
def test_a_refusal_points_at_its_cause(text):
    assert refused(text).position == PLACES[text]


REWRITES = {
    "SELECT DISTINCT region FROM people": "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "SELECT region, COUNT(*) FROM people": "SELECT region, COUNT(*) FROM people GROUP BY region",
    "SELECT region FROM people": "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "SELECT COUNT(*) FILTER (WHERE x > 1) FROM people": "SELECT COUNT(CASE WHEN x > 1 THEN 1 END) FROM people",
    "SELECT SUM(x) / COUNT(*) FROM people": "SELECT SUM(x), COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people ORDER BY SUM(x)": "SELECT COUNT(*), SUM(x) FROM people ORDER BY SUM(x)",
    "SELECT COUNT(*) FROM people HAVING SUM(x) > 3": "SELECT COUNT(*), SUM(x) FROM people HAVING SUM(x) > 3",
    "SELECT HISTOGRAM(x), COUNT(*) FROM people": "SELECT BIN(x), COUNT(*) FROM people GROUP BY BIN(x)",
    "SELECT COUNT(*) FROM people WHERE x IN (1, NULL)": "SELECT COUNT(*) FROM people WHERE x IN (1)",
    "SELECT x, COUNT(*) FROM people WHERE x = 'a  b'": "SELECT x, COUNT(*) FROM people WHERE x = 'a  b' GROUP BY x",
    "SELECT COUNT(*) FROM people WHERE dow(d) = 0": "SELECT COUNT(*) FROM people WHERE (ISODOW(d) % 7) = 0",
}


@pytest.mark.parametrize("text", REWRITES)
def test_a_refusal_ends_with_a_statement_to_paste(text):
    assert refused(text).fix.endswith(f"Write: {REWRITES[text]}")


def test_a_misspelt_option_gets_a_suggestion():
    with pytest.raises(NotAnswerable, match="Did you mean epsilon"):
        parse_sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilom=1) COUNT(*) FROM people")


def test_a_place_behind_the_options_is_the_place_in_the_text():
    head = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)"
    text = f"SELECT {head}\n  SUM(age),\n  count_if(age > 1) FROM people"
    with pytest.raises(NotAnswerable) as caught:
        parse_sql(text)
    assert caught.value.position == (3, 3)
    meant = "SUM(age), COUNT(CASE WHEN age > 1 THEN 1 END)"
    assert f"Write: SELECT {head} {meant} FROM people" in caught.value.fix


REWRITES_OF_WINDOWS = {
    "SELECT COUNT(*) OVER () FROM people": "SELECT COUNT(*) FROM people",
    "SELECT region, COUNT(*) OVER (PARTITION BY region) AS n FROM people": (
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    ),
}


@pytest.mark.parametrize("text", REWRITES_OF_WINDOWS)
def test_a_window_is_refused_as_a_window(text):
    refusal = refused(text)
    assert refusal.what.startswith("OVER is not supported")
    assert refusal.fix.endswith(f"Write: {REWRITES_OF_WINDOWS[text]}")


COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
SAME = [  # conditions that are not understood, each with a rewrite that means the same on every row, NULLs too
    "a IS DISTINCT FROM b",
    "a IS NOT DISTINCT FROM b",
    "NOT (a IS DISTINCT FROM b)",
    "NOT (a IS NOT DISTINCT FROM b)",
    "a IS DISTINCT FROM 1",
    "NOT (a IS NOT DISTINCT FROM 1)",
    "a IS DISTINCT FROM NULL",
    "a + b IS DISTINCT FROM b * 2",
    "t LIKE '50!%' ESCAPE '!'",
    "t NOT LIKE '50!%' ESCAPE '!'",
    "t LIKE '5%' ESCAPE '!'",
    "trunc(a) = -1",
    "a IN (1, NULL)",
    "extract(dow FROM d) = 0",
    "date_part('dow', d) IN (0, 6)",
]


@pytest.mark.parametrize("condition", SAME)
def test_a_rewrite_means_the_same(condition):
    rows = "(VALUES (1, 1, '50%', DATE '2024-01-07'), (1, 2, '50x', DATE '2024-01-08'), (NULL, 1, '50', NULL), "
    rows += "(1, NULL, NULL, DATE '2024-01-13'), (NULL, NULL, '5', NULL), (-1.5, 3, '50%', NULL)) AS people(a, b, t, d)"
    text = f"SELECT COUNT(*) FROM people WHERE {condition}"
    rewrite = refused(text).fix.partition("Write: ")[2]
    portable = re.sub(
        r"ISODOW\((\w+)\)", r"date_part('isodow', \1)", rewrite
    )  # a function of ours, not of every DuckDB
    first, other = (duckdb.sql(each.replace("FROM people", f"FROM {rows}")).fetchall() for each in (text, portable))
    assert first == other, rewrite
    parse_sql(rewrite)


NOT_THE_SAME = [  # what is near is said in words, and nothing that means something else is offered to paste
    "SELECT COUNT(*) FROM people WHERE dayofweek(d) = 1",
    "SELECT COUNT(*) FROM people WHERE weekday(d) = 0",
    "SELECT COUNT(*) FROM people WHERE name LIKE '%50!%%' ESCAPE '!'",
    "SELECT COUNT(*) FROM people WHERE name ILIKE '50!%' ESCAPE '!'",
    "SELECT COUNT(*) FROM people WHERE name SIMILAR TO '(a|b)%'",
    "SELECT COUNT(*) FROM people WHERE name GLOB 'a*'",
    "SELECT COUNT(*) FROM people WHERE regexp_matches(name, 'a.*')",
    "SELECT COUNT(*) FROM people WHERE starts_with(name, '5%')",
    "SELECT COUNT(*) FROM people WHERE ltrim(name) = 'a'",
    "SELECT COUNT(*) FROM people WHERE power(x, 3) > 8",
    "SELECT COUNT(*) FROM people WHERE log(x) > 8",
    "SELECT COUNT(*) FROM people WHERE x // 2 = 1",
    "SELECT COUNT(*) FROM people WHERE x NOT IN (1, NULL)",
    "SELECT COUNT(*) FROM people WHERE x IN (NULL)",
    "SELECT COUNT(*) FROM people WHERE CAST(x AS DECIMAL(9, 2)) = 1",
    "SELECT COUNT(*) FROM people WHERE EXTRACT(decade FROM d) = 202",
    "SELECT week, COUNT(*) FROM people GROUP BY DATE_TRUNC('week', d) AS week",
    "SELECT DATE_TRUNC('week', d), COUNT(*) FROM people GROUP BY 1",
    "SELECT COUNT(DISTINCT a, b) FROM people",
    "SELECT COUNT(a, b) FROM people",
    "SELECT COUNT(NULL) FROM people",
    "SELECT SUM(DISTINCT x) FROM people",
    "SELECT SUM(x, y) FROM people",
    "SELECT QUANTILE(x) FROM people",
    "SELECT TOP_K(x) FROM people",
    "SELECT arg_max(x, y) FROM people",
    "SELECT first(x) FROM people",
    "SELECT array_agg(x) FROM people",
    "SELECT region, COUNT(*) OVER () FROM people",
    "SELECT SUM(x) OVER (ORDER BY y) FROM people",
    "SELECT COUNT(*) FROM people JOIN visits USING (id)",
    "SELECT COUNT(*) FROM people TABLESAMPLE 10%",
]


@pytest.mark.parametrize("text", NOT_THE_SAME)
def test_a_rewrite_that_would_mean_something_else_is_not_offered(text):
    assert "Write: " not in refused(text).fix


INNER = {  # a question about a question, and the one to ask instead
    "SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE age > 18) AS adults": (
        "SELECT COUNT(*) AS n FROM people WHERE age > 18"
    ),
    "SELECT COUNT(*) FROM (SELECT age FROM people p WHERE p.x = 1 OR y = 2) a WHERE a.age > 3": (
        "SELECT COUNT(*) FROM people AS p WHERE (x = 1 OR y = 2) AND age > 3"
    ),
    "WITH p AS (SELECT * FROM people WHERE x = 1) SELECT p.region, COUNT(*) FROM p GROUP BY p.region": (
        "SELECT region, COUNT(*) FROM people WHERE x = 1 GROUP BY region"
    ),
    "WITH p AS (SELECT * FROM people), q AS (SELECT * FROM p WHERE x = 1) SELECT COUNT(*) FROM q": (
        "SELECT COUNT(*) FROM people WHERE x = 1"
    ),
    f"SELECT AVG(n) FROM ({COUNTS})": COUNTS,
    f"WITH p AS ({COUNTS}) SELECT AVG(n) FROM p": COUNTS,
    "SELECT COUNT(*) FROM people WHERE age = (SELECT MAX(age) FROM people)": "SELECT MAX(age) FROM people",
}


@pytest.mark.parametrize("text", INNER)
def test_a_question_about_a_question_ends_with_the_one_to_ask(text):
    assert refused(text).fix.endswith(f"Write: {INNER[text]}")
    parse_sql(INNER[text])


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM (SELECT DISTINCT region FROM people)",
        "SELECT COUNT(*) FROM (SELECT age + 1 AS age FROM people)",
        "SELECT COUNT(*) FROM (SELECT * FROM people LIMIT 3)",
        "WITH RECURSIVE p AS (SELECT * FROM p) SELECT COUNT(*) FROM p",
        "WITH p AS (INSERT INTO x VALUES (1)) SELECT COUNT(*) FROM p",
        "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)",
        "WITH",
        "WITH p AS (SELECT 1) DELETE FROM people",
    ],
)
def test_no_rewrite_is_offered_without_an_equal_question(text):
    assert "Write: " not in refused(text).fix


TRUNCATED = {
    "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM people GROUP BY m ORDER BY m DESC": (
        "SELECT YEAR(d), MONTH(d), COUNT(*) AS n FROM people GROUP BY YEAR(d), MONTH(d) "
        "ORDER BY YEAR(d) DESC, MONTH(d) DESC"
    ),
    "SELECT region, DATE_TRUNC('day', d), COUNT(*) FROM people GROUP BY 2, 1": (
        "SELECT region, YEAR(d), MONTH(d), DAY(d), COUNT(*) FROM people GROUP BY YEAR(d), MONTH(d), DAY(d), region"
    ),
    "SELECT DATE_TRUNC('year', d), COUNT(*) FROM people": "SELECT YEAR(d), COUNT(*) FROM people GROUP BY YEAR(d)",
    "SELECT COUNT(*) FROM people GROUP BY DATE_TRUNC('month', d)": (
        "SELECT COUNT(*) FROM people GROUP BY YEAR(d), MONTH(d)"
    ),
}


@pytest.mark.parametrize("text", TRUNCATED)
def test_a_truncated_date_becomes_its_parts(text):
    assert refused(text).fix.endswith(f"Write: {TRUNCATED[text]}")
    parse_sql(TRUNCATED[text])


def test_a_truncated_date_in_a_condition_is_compared_with_dates():
    fix = refused("SELECT COUNT(*) FROM people WHERE DATE_TRUNC('month', d) = DATE '2020-03-01'").fix
    assert "d >= DATE '2020-03-01'" in fix
    assert "Write: " not in fix


# --- names ---------------------------------------------------------------------------------------------------------

SCHEMA = Schema(
    "people",
    [
        Column("region", "category", values=["north", "it's"]),
        Column("Größe (cm)", "integer", bounds=(100, 250)),
        Column("order", "integer", bounds=(0, 9)),
        Column("price", "number", bounds=(0, 50), bins=[0, 10, 50]),
    ],
)


def found(text):
    return resolved(parse_sql(text).question, SCHEMA)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('SELECT AVG("Größe") FROM people', '"Größe (cm)"'),
        ("SELECT AVG(oder) FROM people", '"order"'),
        ("SELECT AVG(prices) FROM people", "price"),
        ("SELECT COUNT(*) FROM people WHERE region = 'its'", "'it''s'"),
    ],
)
def test_a_suggestion_is_spelt_as_sql_needs_it(text, meant):
    with pytest.raises(NotAnswerable) as caught:
        found(text)
    assert caught.value.fix == f"Did you mean {meant}?"
    for wrong in ('"Größe"', "oder", "prices", "'its'"):
        text = text.replace(wrong, meant)
    found(text)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (COUNTS, "SELECT Region, COUNT(*) AS n FROM people GROUP BY REGION"),
        (
            "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING region = 'north' ORDER BY region",
            "SELECT REGION, COUNT(*) AS n FROM People GROUP BY 1 HAVING Region = 'north' ORDER BY 1",
        ),
        ("SELECT SUM(price), SUM(price) FROM people", "SELECT SUM(Price), SUM(PRICE) FROM people"),
        ("SELECT COUNT(*) FROM people GROUP BY price", "SELECT COUNT(*) FROM people GROUP BY PRICE"),
        ("SELECT COUNT(*) FROM people GROUP BY BIN(price)", "SELECT COUNT(*) FROM people GROUP BY BIN(Price)"),
        ("SELECT MAX(price) FROM people ORDER BY max_price", "SELECT MAX(PRICE) FROM people ORDER BY MAX_Price"),
    ],
)
def test_upper_and_lower_case_make_no_other_question(first, other):
    assert canonical(found(first)) == canonical(found(other))


def test_an_alias_keeps_its_spelling():
    kept = found("SELECT region AS Where_, SUM(price) AS Total FROM people GROUP BY region")
    assert (kept.keys[0].name, kept.outputs[0].name) == ("Where_", "Total")


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [("MAX(region)", "MAX needs an order"), ("MEDIAN(region)", "MEDIAN needs"), ("AVG(region)", "AVG takes numbers")],
)
def test_a_refused_aggregate_is_called_as_it_was_typed(aggregate, words):
    with pytest.raises(NotAnswerable, match=words):
        found(f"SELECT {aggregate} FROM people")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM people GROUP BY",
        "SELECT COUNT(*) AS n FROM people GROUP BY HAVING n > 1",
        "SELECT COUNT(*) AS n FROM people GROUP BY ORDER BY n",
        "SELECT COUNT(*) AS n FROM people GROUP BY LIMIT 3",
        "SELECT COUNT(*) AS n FROM people GROUP BY;",
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region,",
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY n,",
        "SELECT COUNT(*) AS, SUM(x) FROM people",
        "SELECT COUNT(*) AS n FROM people AS",
        "SELECT COUNT(*) AS n FROM people GROUP",
        "SELECT COUNT(*) AS n FROM people BY",
        "SELECT COUNT(*) AS n FROM people OFFSET",
        "SELECT COUNT(*) AS n FROM people ASC",
    ],
)
def test_a_question_that_breaks_off_is_refused(text):
    assert "Write: " not in refused(text).fix


def test_an_alias_takes_the_place_of_the_tables_name():
    assert "another table" in refused("SELECT COUNT(*) AS n FROM people p WHERE people.age > 1").what
    parse_sql("SELECT COUNT(*) AS n FROM people p WHERE p.age > 1 AND P.age < 9")
    parse_sql("SELECT COUNT(*) AS n FROM people WHERE people.age > 1")
    parse_sql('SELECT COUNT(*) AS n FROM people AS "group" WHERE "group".age > 1')


# --- sentences -----------------------------------------------------------------------------------------------------


def test_a_refusal_quotes_nothing_that_was_not_typed():
    assert "CASE" not in refused("SELECT COUNT(DISTINCT a, b) FROM people").what
    with pytest.raises(NotAnswerable) as caught:
        found("SELECT COUNT(*) FROM people WHERE CAST(price AS DATE) > DATE '2020-01-01'")
    assert "TRY_CAST" not in caught.value.fix


def test_a_refusal_of_filter_says_it_once():
    refusal = refused("SELECT COUNT(*) FILTER (WHERE x > 1) FROM people")
    assert f"{refusal.what} {refusal.why}".count("is not supported") == 1


@pytest.mark.parametrize("name", ["concat", "left", "strftime"])
def test_a_function_that_is_not_near_another_gets_no_suggestion(name):
    assert "Did you mean" not in refused(f"SELECT COUNT(*) FROM people WHERE {name}(x, 1) = 'a'").fix


@pytest.mark.parametrize(("typed", "meant"), [("lenght", "length"), ("uper", "upper"), ("coalece", "coalesce")])
def test_a_misspelt_function_gets_a_suggestion(typed, meant):
    assert f"Did you mean {meant}?" in refused(f"SELECT COUNT(*) FROM people WHERE {typed}(x) = 'a'").fix


def refused(text):
    """The refusal."""
    with pytest.raises(NotAnswerable) as caught:
        parse_sql(text)
    return caught.value
