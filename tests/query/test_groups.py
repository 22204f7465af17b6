"""Groups by place and never by label, and none that WHERE leaves out by its own words; DuckDB is the slow twin."""

from datetime import date
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue, NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.statements import Statement, statements
from discreet.query.meaning.cells import Cells, KeyCells
from discreet.query.nodes import Col, Key
from discreet.query.parts import Present, Rows
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema
from query.asked import flag
from query.twin import SCHEMA, connected, nasty_rows

LAST = date(9999, 12, 31)


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "bounds", "step"),
    [
        ("date", ("9999-12-01", "9999-12-31"), 7),
        ("date", ("0001-01-01", "0001-02-01"), 7),
        ("datetime", ("9999-12-31T00:00:00", "9999-12-31T23:59:59"), 7),
    ],
)
def test_a_lattice_of_dates_that_reaches_beyond_the_calendar_is_refused(kind, bounds, step):
    with pytest.raises(BadValue, match=r"columns\.d\.step must keep the bounds, rounded outward"):
        Column("d", kind, bounds=bounds, step=step, null="key")
    Column("d", kind, bounds=bounds, step=1)


def test_groups_of_one_label_are_not_added_up():
    """A unit in both would be counted twice where a key is selected for having many units."""
    keys = (KeyCells(Key("town", Col("town")), None), KeyCells(Key("d", Col("d")), (LAST, None, None), with_null=True))
    columns = {"k0": np.array(["a", "a", "a"]), "k1": np.array([0, 1, 2]), "p0": np.array([1, 1, 1])}
    exact = exacts_of([Statement("", (Present(),))] * 2, [columns] * 2, Cells(keys))
    assert exact.keys == (("a", LAST), ("a", None), ("a", None))
    assert exact.parts[Present()].tolist() == [1, 1, 1]


@pytest.mark.parametrize("key", ["x", "CASE WHEN x > 1 THEN 36893488147419103232 ELSE 36893488147419103233 END"])
def test_labels_that_are_shown_alike_are_refused(key):
    column = Column("x", "number", bounds=(1, Fraction(10**18 + 50, 10**18)), step=Fraction(1, 10**18))
    with pytest.raises(NotAnswerable, match="would both be called"):
        draft_of(parse_sql(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k").question, Schema("t", [column]))


# --- groups that WHERE leaves out ------------------------------------------------------------------------------------

PEOPLE = Schema(
    "t",
    [
        Column("a", "category", values=("0", "1", "2"), null="key"),
        Column("b", "category", values=("x", "y")),
        Column("age", "integer", bounds=(0, 20)),
        Column("price", "number", bounds=(0, 5), step="0.5"),
        Column("vip", "boolean", null="key"),
        Column("d", "date", bounds=("2020-12-20", "2021-01-10")),
        Column("wild", "number"),
    ],
)
KEPT = [
    ("a", "a IN ('0', '1')", [("0",), ("1",)]),
    ("a", "a = '2' AND age > 3", [("2",)]),
    ("a", "a <> '0'", [("1",), ("2",)]),
    ("a", "a IS NULL", [(None,)]),
    ("a", "a IS NULL OR b = 'x'", [("0",), ("1",), ("2",), (None,)]),
    ("a", "NOT (a = '0' OR age > 3)", [("1",), ("2",)]),
    ("a", "a LIKE '1%'", [("1",)]),
    ("a", "CASE WHEN a = '0' THEN age > 3 ELSE FALSE END", [("0",)]),
    ("a, b", "(a = '0' AND b = 'x') OR (a = '1' AND b = 'y')", [("0", "x"), ("1", "y")]),
    ("vip", "vip", [(True,)]),
    ("vip", "NOT vip", [(False,)]),
    ("age", "age < 1.5", [(0,), (1,)]),
    ("age", "2 * age + 1 > 38.5", [(19,), (20,)]),
    ("price", "price > 4.25", [(Fraction(9, 2),), (5,)]),
    ("d", "d < '2020-12-21'", [(date(2020, 12, 20),)]),
    ("year(d)", "year(d) = 2021", [(2021,)]),
    ("BIN(age, 0, 5, 10, 20)", "age >= 5", [("[5, 10)",), ("[10, 20]",)]),
    ("BIN(age, 0, 5, 10, 20)", "age > 4.5 AND age < 10", [("[5, 10)",)]),
    ("BIN(age, 0, 5, 10, 20)", "age IN (4, 20)", [("[0, 5)",), ("[10, 20]",)]),
    ("BIN(age, 0, 5, 10, 20)", "age IS NULL OR age = 7", [("[5, 10)",)]),
    ("BIN(wild, -1, 0, 1)", "wild < 0", [("[-1, 0)",)]),
    ("BIN(wild, -1, 0, 1)", "wild <= 0", [("[-1, 0)",), ("[0, 1]",)]),
]


def draft(keys, where, schema=PEOPLE):
    return draft_of(parse_sql(f"SELECT {keys}, MEDIAN(age) AS m FROM t WHERE {where} GROUP BY {keys}").question, schema)


@pytest.mark.parametrize(("keys", "where", "wanted"), KEPT)
def test_groups_that_where_excludes_by_its_words_do_not_appear(keys, where, wanted):
    assert list(draft(keys, where).cells.all_labels) == wanted


def test_a_condition_that_leaves_no_group_is_refused_before_anything_is_charged():
    with pytest.raises(NotAnswerable, match="WHERE leaves out every group"):
        draft("a", "a = '0' AND a = '1'")


def test_kept_groups_are_the_ones_that_duckdb_shows():
    """Full of every combination, the table shows exactly the groups that words alone leave."""
    rows = list(product(("0", "1", "2", None), ("x", "y", None), range(21), (True, False, None)))
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t(a VARCHAR, b VARCHAR, age INTEGER, vip BOOLEAN)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        for keys, where, wanted in KEPT:
            if keys in ("a", "vip", "age"):
                shown = con.execute(f"SELECT {keys} FROM t WHERE ({where}) GROUP BY {keys}").fetchall()
                assert set(shown) == set(wanted), where


def test_numbers_belong_to_their_groups_where_some_are_left_out():
    draft_of_groups = draft("a, b", "a <> '0' AND (a = '1' OR b = 'y' OR a IS NULL)")
    columns = {"cell": np.arange(8), "p0": np.arange(8) * 10}
    exact = exacts_of([Statement("", (Rows(),))], [columns], draft_of_groups.cells)
    assert dict(zip(exact.keys, exact.parts[Rows()].tolist(), strict=True)) == {
        ("1", "x"): 20, ("1", "y"): 30, ("2", "y"): 50,
    }  # fmt: skip


def test_a_question_about_fewer_groups_is_no_dearer():
    whole, some = (draft("a", where) for where in ("age > 3", "a IN ('0', '1')"))
    for first, other in zip(whole.needs, some.needs, strict=True):
        assert first.sensitivity.covers(other.sensitivity)


ROWS = nasty_rows()


@settings(max_examples=150, deadline=None)
@given(where=flag(2), key=st.sampled_from(["region", "odd", "age", "code", "tens", "price", "vip", "seen", "weekly"]))
def test_no_row_that_counts_is_in_a_group_left_out(where, key):
    """On rows that hurt, whatever satisfies WHERE by the row-by-row twin is in a group that stays."""
    question = parse_sql(f"SELECT {key}, COUNT(*) AS n FROM people GROUP BY {key}").question
    try:
        kept_draft = draft_of(type(question)(question.table, question.outputs, question.keys, where), SCHEMA)
    except NotAnswerable as refusal:
        if "leaves out every group" not in refusal.what:
            return
        kept_draft = None
    plain = draft_of(question, SCHEMA)
    settled = where if kept_draft is None else kept_draft.question.where
    con = connected(ROWS)
    parts = [plain.needs[0].part]
    (asked,) = statements(SCHEMA, plain.cells, settled, plain.caps, parts)
    exact = exacts_of([asked], [con.execute(asked.sql).fetchnumpy()], plain.cells)
    con.close()
    filled = {label for label, n in zip(exact.keys, exact.parts[parts[0]], strict=True) if n}
    assert filled <= (set() if kept_draft is None else set(kept_draft.cells.all_labels)), settled
