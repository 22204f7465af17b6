"""A refusal points at its cause and, where one is sensible, ends with a statement to paste."""

import pytest

from discreet.errors import NotAnswerable
from discreet.query.canonical import canonical
from discreet.query.meaning.resolve import resolved
from discreet.query.sql import parsed
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
    "SELECT COUNT(*) FROM people WHERE x NOT IN (1, NULL)": "SELECT COUNT(*) FROM people WHERE NOT x IN (1)",
    "SELECT x, COUNT(*) FROM people WHERE x = 'a  b'": "SELECT x, COUNT(*) FROM people WHERE x = 'a  b' GROUP BY x",
    "SELECT COUNT(*) FROM people WHERE dow(d) = 1": "SELECT COUNT(*) FROM people WHERE ISODOW(d) = 1",
}


@pytest.mark.parametrize("text", REWRITES)
def test_a_refusal_ends_with_a_statement_to_paste(text):
    assert refused(text).fix.endswith(f"Write: {REWRITES[text]}")


def test_a_misspelt_option_gets_a_suggestion():
    with pytest.raises(NotAnswerable, match="Did you mean epsilon"):
        parsed("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilom=1) COUNT(*) FROM people")


def test_a_place_behind_the_options_is_the_place_in_the_text():
    head = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)"
    text = f"SELECT {head}\n  SUM(age),\n  array_agg(age) FROM people"
    with pytest.raises(NotAnswerable) as caught:
        parsed(text)
    assert caught.value.position == (3, 3)
    assert f"Write: SELECT {head} SUM(age), COUNT(age) FROM people" in caught.value.fix


REWRITES_OF_WINDOWS = {
    "SELECT COUNT(*) OVER () FROM people": "SELECT COUNT(*) FROM people",
    "SELECT region, COUNT(*) OVER () FROM people": "SELECT region, COUNT(*) FROM people GROUP BY region",
    "SELECT region, COUNT(*) OVER (PARTITION BY region) AS n FROM people": (
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    ),
}


@pytest.mark.parametrize("text", REWRITES_OF_WINDOWS)
def test_a_window_is_refused_as_a_window(text):
    refusal = refused(text)
    assert refusal.what.startswith("OVER is not understood")
    assert refusal.fix.endswith(f"Write: {REWRITES_OF_WINDOWS[text]}")


COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
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
    parsed(INNER[text])


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
def test_without_an_equal_question_none_is_offered(text):
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
    parsed(TRUNCATED[text])


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
    return resolved(parsed(text).question, SCHEMA)


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
    ("one", "other"),
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
def test_upper_and_lower_case_make_no_other_question(one, other):
    assert canonical(found(one)) == canonical(found(other))


def test_a_name_of_ones_own_stays():
    kept = found("SELECT region AS Where_, SUM(price) AS Total FROM people GROUP BY region")
    assert (kept.keys[0].name, kept.outputs[0].name) == ("Where_", "Total")


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [("MAX(region)", "MAX needs an order"), ("MEDIAN(region)", "MEDIAN needs"), ("AVG(region)", "AVG takes numbers")],
)
def test_a_refused_aggregate_is_called_as_it_was_typed(aggregate, words):
    with pytest.raises(NotAnswerable, match=words):
        found(f"SELECT {aggregate} FROM people")


def refused(text):
    """The refusal."""
    with pytest.raises(NotAnswerable) as caught:
        parsed(text)
    return caught.value
