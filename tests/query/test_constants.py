"""Constants beside stored numbers are taken exactly as typed: DuckDB on DECIMAL data is the slow twin."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.render import value
from discreet.query.compile.statements import statements
from discreet.query.meaning.evaluate import value as after
from discreet.query.nodes import Arith, Col, Compare, Literal, TryCast
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Type
from query.twin import connected

CENTS = [Fraction(n, 100) for n in (-2500, -1, 0, 1, 10, 999, 1000, 1750, 1799, 1800, 4999, 5000)]
WHOLE = [-25, 0, 1, 17, 18, 50]
DAY, MOMENT = date(2020, 1, 2), datetime(2020, 1, 6)  # weeks are counted from 1970, a Thursday
SCHEMA = Schema(
    "t",
    [
        Column("whole", "number", bounds=(-25, 50), step=1),
        Column("cents", "number", bounds=(-25, 50), step="0.01"),
        Column("plain", "number", bounds=(-25, 50)),
        Column("n", "integer", bounds=(-25, 50)),
        Column("tens", "integer", bounds=(-100, 100), step=10),
        Column("week", "date", bounds=(DAY, DAY + timedelta(70)), step=7),
        Column("minute", "datetime", bounds=(MOMENT, MOMENT + timedelta(hours=1)), step=60),
    ],
)


def decimals():
    """Rows of values that lie on every declared lattice, and an empty one."""
    rows = []
    for i, cent in enumerate([*CENTS, *CENTS]):
        w = WHOLE[i % len(WHOLE)]
        week, minute = DAY + timedelta(7 * (i % 9)), MOMENT + timedelta(minutes=i)
        rows.append((w, cent, cent, w, 10 * (w // 10), week, minute))
    return [*rows, (None,) * 7]


def steps(value, column):
    if value is None:
        return None
    epoch = datetime(1970, 1, 1)
    if isinstance(value, datetime):
        value = int((value - epoch).total_seconds())
    elif isinstance(value, date):
        value = (value - epoch.date()).days
    return int((Fraction(value) / column.step + Fraction(1, 2)) // 1)


@pytest.fixture(scope="module")
def both():
    """The prepared table, and the same rows as DuckDB itself would hold them."""
    rows = decimals()
    cells = [(i, 1, *map(steps, row, SCHEMA.columns)) for i, row in enumerate(rows)]
    prepared, plain = connected(cells, SCHEMA), duckdb.connect(config={"threads": 1})
    kinds = ("DECIMAL(9,2)",) * 3 + ("INTEGER",) * 2 + ("DATE", "TIMESTAMP")
    plain.execute(f"CREATE TABLE t({', '.join(f'{c.name} {k}' for c, k in zip(SCHEMA.columns, kinds, strict=True))})")
    shown = [tuple(f"{float(x):.2f}" if isinstance(x, Fraction) else x for x in row) for row in rows]
    plain.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", shown)
    yield prepared, plain
    prepared.close()
    plain.close()


def exact_counts(prepared, sql):
    draft = draft_of(parse_sql(sql).question, SCHEMA)
    parts = [need.part for need in draft.needs]
    asked = statements(SCHEMA, draft.cells, draft.question.where, draft.caps, parts)
    exact = exacts_of(asked, [prepared.execute(statement.sql).fetchnumpy() for statement in asked], draft.cells)
    return [int(n) for n in exact.parts[parts[0]]]


def same(both, condition):
    prepared, plain = both
    (wanted,) = plain.execute(f"SELECT count(*) FROM t WHERE {condition}").fetchone()
    assert exact_counts(prepared, f"SELECT COUNT(*) AS x FROM t WHERE {condition}") == [wanted], condition


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize(
    "left", ["whole", "n", "tens", "cents", "whole + 0.5", "2 * n - 0.5", "n / 4", "10.5 - whole", "cents + 0.1"]
)
@pytest.mark.parametrize("constant", ["17.5", "17", "-0.25", "0.3", "10.01", "1e3", "-1e3"])
def test_comparison_counts_what_duckdb_counts_in_decimals(both, left, op, constant):
    same(both, f"{left} {op} {constant}")


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize("constant", ["9.99", "0.01", "17.99", "-0.01", "10"])
def test_decimals_beside_a_step_that_nobody_declared_are_read_as_cells_are(both, op, constant):
    same(both, f"plain {op} {constant}")
    same(both, f"plain - 0.01 {op} {constant}")


@pytest.mark.parametrize(
    "condition",
    [
        "whole IN (17.5, 18)",
        "whole IN (17.5, 0.5)",
        "whole NOT IN (17.5, 0.5)",
        "whole BETWEEN 0.5 AND 17.5",
        "n + 0.5 IN (17.5, 18)",
        "n NOT BETWEEN 0.5 AND 17.5",
        "CASE WHEN whole > 17.5 THEN n > 0 ELSE n > 16.5 END",
        "nullif(whole, 17.5) IS NULL",
        "week > DATE '2020-01-15'",
        "week <= DATE '2020-01-15'",
        "week = DATE '2020-01-15'",
        "week <> DATE '2020-01-15'",
        "week IN (DATE '2020-01-15', DATE '2020-01-16')",
        "minute > TIMESTAMP '2020-01-06 00:05:30'",
        "minute = TIMESTAMP '2020-01-06 00:05:30'",
    ],
)
def test_lists_ranges_cases_and_dates_count_what_duckdb_counts(both, condition):
    same(both, condition)


def test_a_step_of_one_parts_at_a_half_and_nothing_equals_it(both):
    """What was rounded to 18 before: `> 17.5` lost the 18s, `<= 17.5` and `= 17.5` counted them."""
    prepared, _ = both
    counts = {op: exact_counts(prepared, f"SELECT COUNT(*) AS x FROM t WHERE whole {op} 17.5")[0]
              for op in (">", "<=", "=", "<>")}  # fmt: skip
    assert counts == {">": 8, "<=": 16, "=": 0, "<>": 24}


def test_edges_of_bins_part_rows_as_comparisons_do(both):
    prepared, plain = both
    sql = "SELECT BIN(whole, -25, 0.5, 17.5, 50) AS b, COUNT(*) AS x FROM t GROUP BY b"
    wanted = plain.execute(
        "SELECT count(*) FILTER (whole < 0.5), count(*) FILTER (whole >= 0.5 AND whole < 17.5),"
        " count(*) FILTER (whole >= 17.5) FROM t"
    ).fetchone()
    assert exact_counts(prepared, sql) == list(wanted)


numbers = st.builds(Fraction, st.integers(-9000, 9000), st.sampled_from([1, 2, 3, 4, 7, 10, 100, 1000]))
OPS = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(["whole", "cents", "n", "tens"]), op=st.sampled_from(sorted(OPS)), constant=numbers,
       factor=numbers.filter(bool), shift=numbers)  # fmt: skip
def test_lines_over_a_column_are_compared_in_fractions(both, name, op, constant, factor, shift):
    """Every row's exact value against the exact constant, by Python's Fractions alone."""
    prepared, _ = both
    place = [column.name for column in SCHEMA.columns].index(name)
    cells = [row[place] for row in decimals() if row[place] is not None]
    wanted = sum(getattr(factor * Fraction(cell) + shift, OPS[op])(constant) for cell in cells)
    item = Arith("+", Arith("*", Col(name), Literal(factor)), Literal(shift))
    where = Compare({"<>": "!="}.get(op, op), item, Literal(constant))
    draft = draft_of(replace(parse_sql("SELECT COUNT(*) AS x FROM t").question, where=where), SCHEMA)
    (asked,) = statements(SCHEMA, draft.cells, draft.question.where, draft.caps, [draft.needs[0].part])
    ((value,),) = prepared.execute(asked.sql.replace("CAST(0 AS BIGINT) AS cell, ", "")).fetchall()
    assert value == wanted


def test_equal_cells_are_not_asked_for_where_nobody_declared_a_step_fine_enough():
    wide = Schema("t", [Column("x", "number", bounds=(0, 10**9))])
    for condition in ("x = 300", "x <> 300.5", "x IN (512, 300)", "x + 1 = 300"):
        with pytest.raises(NotAnswerable, match="lies between two steps of x, which are 512 apart") as refusal:
            draft_of(parse_sql(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").question, wide)
        assert "step = 1" in refusal.value.fix
    for condition in ("x = 512", "x > 300", "x BETWEEN 100 AND 300"):
        draft_of(parse_sql(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").question, wide)


HALVES = Schema("t", [Column("x", "number", bounds=(-3, 3), step="0.5"), Column("f", "number")])


def test_a_cast_to_an_integer_takes_halves_upward_in_the_engine_and_after_the_noise():
    """DuckDB's own rule depends on the type: away from zero for DECIMAL, to the even neighbour for DOUBLE."""
    halves = [Fraction(n, 2) for n in range(-6, 7)]
    con = connected([(i, 1, int(2 * x), float(x)) for i, x in enumerate(halves)], HALVES)
    for name in ("x", "f"):
        cast = TryCast(Col(name), Type.INTEGER)
        (engine,) = zip(
            *con.execute(f"SELECT {value(cast, HALVES)} FROM prepared ORDER BY rowid").fetchall(), strict=True
        )
        assert list(engine) == [after(cast, {name: float(x)}) for x in halves]
        assert list(engine) == [int((x + Fraction(1, 2)) // 1) for x in halves]
    assert con.execute("SELECT CAST(2.5 AS INT), CAST(2.5::DOUBLE AS INT), CAST(-2.5 AS INT)").fetchone() == (3, 2, -3)
    con.close()


def test_a_cast_of_public_numbers_is_folded_by_the_same_rule():
    sql = "SELECT x, COUNT(*) AS n FROM t WHERE CAST(x AS INT) = {} GROUP BY x"
    for whole, wanted in ((3, ["2.5", "3"]), (-2, ["-2.5", "-2"]), (0, ["-0.5", "0"])):
        draft = draft_of(parse_sql(sql.format(whole)).question, HALVES)
        assert [label for (label,) in draft.cells.all_labels] == [Fraction(x) for x in wanted]
