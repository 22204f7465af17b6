"""SQL and Python say the same: for each pair the canonical text of both questions is equal."""

from datetime import date, datetime

import pytest

from discreet.demo.hospital import TOML
from discreet.metadata import parse
from discreet.query.canonical import canonical
from discreet.query.form import words as dp
from discreet.query.form.frame import Frame
from discreet.query.meaning.resolve import resolved
from discreet.query.sql import parse_sql

SCHEMA = parse(TOML).schema
T = Frame("visits")
N = T.agg(n=dp.count())
SELECT_N = "SELECT COUNT(*) AS n FROM visits"
AGE, COST, DAY = dp.col("age"), dp.col("cost"), dp.col("admitted")

WHERE = [
    ("age = 3", AGE == 3),
    ("age <> 3", AGE != 3),
    ("age != 3", AGE != 3),
    ("age < 3", AGE < 3),
    ("age <= 3", AGE <= 3),
    ("age > 3", AGE > 3),
    ("age >= 3", AGE >= 3),
    ("cost > 0.5", COST > 0.5),
    ("cost > -0.5", COST > -0.5),
    ("cost >= 1e3", COST >= 1000.0),
    ("age > -3", AGE > -3),
    ("region = 'north'", dp.col("region") == "north"),
    ("diagnosis = 'o''hare'", dp.col("diagnosis") == "o'hare"),
    ("smoker", "smoker"),
    ("smoker = TRUE", dp.col("smoker") == True),  # noqa: E712
    ("NOT smoker", ~dp.col("smoker")),
    ("age >= 18 AND age < 65", (AGE >= 18) & (AGE < 65)),
    ("age >= 18 AND smoker AND cost > 1", (AGE >= 18) & dp.col("smoker") & (COST > 1)),
    ("age < 18 OR age > 65 OR smoker", (AGE < 18) | (AGE > 65) | dp.col("smoker")),
    ("smoker AND (age < 18 OR age > 65)", dp.col("smoker") & ((AGE < 18) | (AGE > 65))),
    ("NOT (age < 18 OR smoker)", ~((AGE < 18) | dp.col("smoker"))),
    ("age BETWEEN 18 AND 65", AGE.between(18, 65)),
    ("age NOT BETWEEN 18 AND 65", ~AGE.between(18, 65)),
    ("region IN ('north', 'south')", dp.col("region").is_in(["south", "north"])),
    ("region NOT IN ('north', 'south')", ~dp.col("region").is_in(["north", "south"])),
    ("age IN (1, 2, 3)", AGE.is_in([1, 2, 3])),
    ("diagnosis LIKE 'C%'", dp.col("diagnosis").like("C%")),
    ("diagnosis NOT LIKE 'C%'", ~dp.col("diagnosis").like("C%")),
    ("systolic IS NULL", dp.col("systolic").is_null()),
    ("systolic IS NOT NULL", ~dp.col("systolic").is_null()),
    ("age + 1 > 2", AGE + 1 > 2),
    ("age - 1 > 2", AGE - 1 > 2),
    ("age * 2 + 1 > 2", AGE * 2 + 1 > 2),
    ("age * (2 + cost) > 2", AGE * (2 + COST) > 2),
    ("cost / 2 > age", COST / 2 > AGE),
    ("age % 10 = 0", AGE % 10 == 0),
    ("-age < 0", -AGE < 0),
    ("ABS(cost - 100) < 5", abs(COST - 100) < 5),
    ("LOWER(region) = 'north'", dp.col("region").lower() == "north"),
    ("LENGTH(TRIM(diagnosis)) = 3", dp.col("diagnosis").trim().length() == 3),
    ("COALESCE(systolic, 0) > 140", dp.col("systolic").coalesce(0) > 140),
    ("NULLIF(age, 0) > 1", AGE.nullif(0) > 1),
    ("LEAST(age, cost) > 1", dp.least("age", "cost") > 1),
    ("FLOOR(cost) = CEIL(cost)", COST.floor() == COST.ceil()),
    ("SQRT(cost) > LN(cost)", COST.sqrt() > COST.ln()),
    ("admitted >= DATE '2024-01-31'", date(2024, 1, 31) <= DAY),
    ("admitted >= TIMESTAMP '2024-01-31 00:00:00'", datetime(2024, 1, 31) <= DAY),
    ("EXTRACT(YEAR FROM admitted) = 2024", DAY.year == 2024),
    ("MONTH(admitted) = 12", DAY.month == 12),
    ("QUARTER(admitted) = 4", DAY.quarter == 4),
    ("ISODOW(admitted) = 7", DAY.weekday == 7),
    ("CAST(diagnosis AS INTEGER) = 3", dp.col("diagnosis").cast("integer") == 3),
    ("TRY_CAST(diagnosis AS DATE) IS NULL", dp.col("diagnosis").cast("date").is_null()),
    (
        "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'old' END = 'adult'",
        dp.case(dp.when(AGE < 18, "minor"), dp.when(AGE < 65, "adult"), otherwise="old") == "adult",
    ),
    ("CASE WHEN smoker THEN age END > 3", dp.case(dp.when("smoker", AGE)) > 3),
]
OTHERWISE = [  # brackets, sides and spellings that only the schema's form makes alike
    ("(age >= 18 AND smoker) AND cost > 1", (AGE >= 18) & (dp.col("smoker") & (COST > 1))),
    ("age BETWEEN 18 AND 65 AND smoker", AGE.between(18, 65) & dp.col("smoker")),
    ("18 <= age", AGE >= 18),
    ("cost > 2.0", COST > 2),
    ("AGE > 2", AGE > 2),
    ("admitted > '2024-01-31'", date(2024, 1, 31) < DAY),
    ("region IN ('north')", dp.col("region") == "north"),
]

OUTPUTS = [
    ("COUNT(*)", dp.count()),
    ("COUNT(1)", dp.count(1)),
    ("COUNT(systolic)", dp.count("systolic")),
    ("COUNT(DISTINCT patient_id)", dp.count_distinct("patient_id")),
    ("COUNT(DISTINCT diagnosis)", dp.count_distinct("diagnosis")),
    ("SUM(cost)", dp.sum("cost")),
    ("SUM(cost * 2)", dp.sum(COST * 2)),
    ("SUM(CLAMP(cost / 2, 0, 100))", dp.sum((COST / 2).clamp(0, 100))),
    ("AVG(age)", dp.mean("age")),
    ("VARIANCE(age)", dp.variance("age")),
    ("VAR_SAMP(age)", dp.variance("age")),
    ("VAR_POP(age)", dp.variance("age", less=0)),
    ("STDDEV(age)", dp.stddev("age")),
    ("STDDEV_POP(age)", dp.stddev("age", less=0)),
    ("MEDIAN(cost)", dp.median("cost")),
    ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost)", dp.quantile("cost", 0.9)),
    ("QUANTILE(cost, 0.25)", dp.quantile("cost", 0.25)),
    ("MIN(cost)", dp.min("cost")),
    ("MAX(cost)", dp.max("cost")),
    ("MODE(ward)", dp.mode("ward")),
    ("TOP_K(ward, 3)", dp.top_k("ward", 3)),
    ("COVAR_SAMP(age, cost)", dp.covariance("age", "cost")),
    ("COVAR_POP(age, cost)", dp.covariance("age", "cost", less=0)),
    ("CORR(age, cost)", dp.correlation("age", "cost")),
]

WHOLE = [
    (SELECT_N, N),
    ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", N.group_by("ward")),
    ("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex", N.group_by("ward", "sex")),
    (
        "SELECT MONTH(admitted) AS month, COUNT(*) AS n FROM visits GROUP BY MONTH(admitted)",
        N.group_by(month=DAY.month),
    ),
    ("SELECT BIN(age) AS age, COUNT(*) AS n FROM visits GROUP BY BIN(age)", N.group_by(dp.bins("age"))),
    (
        "SELECT BIN(cost, 0, 0.5, 100) AS c, COUNT(*) AS n FROM visits GROUP BY c",
        N.group_by(c=dp.bins("cost", [0, 0.5, 100])),
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_rows_contributed = 3, max_groups_contributed = 2) "
        "ward, COUNT(*) AS n FROM visits GROUP BY ward",
        N.group_by("ward").caps(rows=3, groups=2),
    ),
    ("SELECT COUNT(*) AS n, AVG(age) AS years FROM visits", N.agg(years=dp.mean("age"))),
    (
        "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward HAVING n > 100 "
        "ORDER BY n DESC, ward LIMIT 3 OFFSET 1",
        N.where(AGE >= 18).group_by("ward").having(dp.col("n") > 100).order_by("-n", "ward").limit(3).offset(1),
    ),
    (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 100 AND ward <> 'surgery'",
        N.group_by("ward").having(dp.col("n") > 100, dp.col("ward") != "surgery"),
    ),
]


def same(text, frame):
    """Whether both are one question as asked, and one in the schema's form, which replays go by."""
    return canonical(parse_sql(text).question) == canonical(frame.question) and same_resolved(text, frame)


def same_resolved(text, frame):
    return canonical(resolved(parse_sql(text).question, SCHEMA)) == canonical(resolved(frame.question, SCHEMA))


@pytest.mark.parametrize(("text", "term"), WHERE, ids=[text for text, _ in WHERE])
def test_a_condition_means_the_same_in_sql_and_in_python(text, term):
    assert same(f"{SELECT_N} WHERE {text}", N.where(term))


@pytest.mark.parametrize(("text", "term"), OTHERWISE, ids=[text for text, _ in OTHERWISE])
def test_a_condition_written_otherwise_means_the_same_to_the_schema(text, term):
    assert same_resolved(f"{SELECT_N} WHERE {text}", N.where(term))


@pytest.mark.parametrize(("text", "measure"), OUTPUTS, ids=[text for text, _ in OUTPUTS])
def test_an_aggregate_means_the_same_in_sql_and_in_python(text, measure):
    assert same(f"SELECT {text} AS x FROM visits", T.agg(x=measure))


@pytest.mark.parametrize(("text", "frame"), WHOLE, ids=[text for text, _ in WHOLE])
def test_a_question_means_the_same_in_sql_and_in_python(text, frame):
    assert same(text, frame)


def test_different_questions_are_told_apart():
    for text, frame in (
        (f"{SELECT_N} WHERE age > 3", N.where(AGE >= 3)),
        ("SELECT AVG(age) AS x FROM visits", T.agg(x=dp.sum("age"))),
        (f"{SELECT_N} LIMIT 3", N.limit(4)),
    ):
        assert not same(text, frame)
        assert not same_resolved(text, frame)
