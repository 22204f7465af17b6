"""No cell makes a question fail, and no two groups share a place: attacks that once succeeded, and a hunt."""

import csv
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from discreet.engine import Engine, Limits
from discreet.errors import NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Buckets, exacts_of
from discreet.query.compile.statements import Statement, statements
from discreet.query.nodes import (
    Bins,
    Call,
    Caps,
    Count,
    CountDistinct,
    CountRows,
    CountUnits,
    Covariance,
    Key,
    Literal,
    Mean,
    Output,
    Quantile,
    Question,
    Sum,
    Variance,
)
from discreet.query.parts import Ranks, Rows, Tops
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from query import asked
from query.twin import SCHEMA

LIMITS = Limits(memory=2**29, seconds=20, threads=1)
NASTY = (
    "",
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1",
    "5e-324",
    "1e308",
    "1e309",
    "-1e308",
    str(2**63 - 1),
    str(-(2**63)),
    str(2**63),
    "true",
    "abc",
    "it's",
    '"q"',
    "a\nb",
    "ß",
    "İ",
    "x" * 5_000,
    "north",
    "a",
    "7",
    "2020-02-30",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "0044-03-15 (BC)",
    "infinity",
    "-infinity",
    "5877642-06-25 (BC)",
    "5881580-07-10",
    "290309-12-22 (BC) 00:00:00",
    "294247-01-10 04:00:54",
    "1969-12-31 23:59:59",
)


def prepared(folder, schema, rows):
    """An engine over a CSV with those rows, the unit's key first."""
    folder.mkdir(exist_ok=True)
    with (folder / "t.csv").open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow([schema.unit.key, *(column.name for column in schema.columns)])
        writer.writerows(rows)
    engine = Engine(folder, "t", schema, folder / "t.csv", LIMITS)
    engine.prepare()
    return engine


def exact(engine, question):
    """The exact integers of a question, as mechanisms would get them, and the parts they measure."""
    draft = draft_of(parse_sql(question).question if isinstance(question, str) else question, engine.schema)
    parts = [need.part for need in draft.needs]
    compiled = statements(engine.schema, draft.cells, draft.question.where, draft.caps, parts)
    results = engine.run([statement.sql for statement in compiled])
    require_one_row_a_group(compiled, results)
    return exacts_of(compiled, results, draft.cells)


def require_one_row_a_group(compiled, results):
    for statement, columns in zip(compiled, results, strict=True):
        names = [name for name in columns if not name.startswith("p")]
        keys = list(zip(*(columns[name].tolist() for name in names), strict=True))
        assert isinstance(statement.parts[0], Ranks) or len(set(keys)) == len(keys)


def only(exacts):
    """The single number of a question with one part."""
    (values,) = exacts.parts.values()
    return values.tolist()


# --- what failed on some cells -------------------------------------------------------------------------------------


TINY = Schema(
    "t",
    [
        Column("age", "integer", bounds=(0, 110)),
        Column("tiny", "number", bounds=(0, "1e-160")),
        Column("wide", "integer", bounds=(0, 10**25), step=10**15),
        Column("codes", "integer", bounds=(0, 10**25), step=10**15, values=(0, 10**24, 10**25)),
        Column("day", "date"),
    ],
    Unit("id", 1),
)
TARGET = [1, 37, "1e-161", 10**24, 10**24, "5877642-06-25 (BC)"]
OTHERS = [[2, 0, 0, 0, 0, "2020-01-01"], [3, "", "", "", "", ""]]
FAILED_ONCE = [
    "SELECT SUM(age * 1e-200) AS x FROM t",
    "SELECT AVG(CASE WHEN age = 37 THEN age END * 1e-250) AS x FROM t",
    "SELECT SUM(tiny * 2) AS x FROM t",
    "SELECT SUM(wide + 1) AS x FROM t",
    "SELECT MEDIAN(wide + 1) AS x FROM t",
    "SELECT SUM(coalesce(wide, 5)) AS x FROM t",
    "SELECT SUM(clamp(wide, 0, 1000)) AS x FROM t",
    "SELECT codes, COUNT(*) AS x FROM t GROUP BY codes",
    "SELECT MODE(codes) AS x FROM t",
    "SELECT COUNT(week(day)) AS x FROM t",
    "SELECT COUNT(*) AS x FROM t WHERE week(day) = 3",
    "SELECT week(day) AS w, COUNT(*) AS x FROM t GROUP BY week(day)",
]


REFUSED = [  # before anything is read: no double tells their steps apart
    "SELECT SUM(age * 1e-300 * 1e-20) AS x FROM t",
    "SELECT AVG(CASE WHEN age = 37 THEN age END * 1e-320) AS x FROM t",
    "SELECT SUM(tiny * tiny) AS x FROM t",
    "SELECT MEDIAN(tiny * tiny) AS x FROM t",
    "SELECT VARIANCE(tiny) AS x FROM t",
]


@pytest.mark.parametrize("question", REFUSED)
def test_numbers_whose_steps_no_double_tells_apart_are_refused(question):
    with pytest.raises(NotAnswerable, match="cannot be measured"):
        draft_of(parse_sql(question).question, TINY)


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """The table with and without the target's row."""
    folder = tmp_path_factory.mktemp("twins")
    both = prepared(folder / "with", TINY, [TARGET, *OTHERS]), prepared(folder / "without", TINY, OTHERS)
    yield both
    for engine in both:
        engine.close()


@pytest.mark.parametrize("question", FAILED_ONCE)
def test_one_persons_cell_does_not_make_a_question_fail(twins, question):
    for engine in twins:
        exacts = exact(engine, question)
        for part, values in exacts.parts.items():
            if hasattr(part, "lattice"):  # three rows at most, each within the lattice
                assert all(3 * min(part.lattice.low, 0) <= v <= 3 * max(part.lattice.high, 0) for v in values.tolist())


def test_integers_beyond_64_bits_keep_their_value(twins):
    engine = twins[0]
    assert only(exact(engine, "SELECT COUNT(*) AS n FROM t WHERE wide + 1 > 4")) == [1]
    assert only(exact(engine, "SELECT COUNT(wide + 1) AS n FROM t")) == [2]
    assert only(exact(engine, "SELECT codes, COUNT(*) AS n FROM t GROUP BY codes")) == [1, 1, 0]


def test_public_constants_beyond_64_bits_keep_their_value(tmp_path):
    schema = Schema("t", [Column("c", "category", values=("n", "s"))], Unit("id", 1))
    with prepared(tmp_path / "t", schema, [[1, "n"], [2, "s"], [3, ""]]) as engine:
        far = "CASE WHEN c = 'n' THEN 10000000000000000000 ELSE 3 END"
        assert only(exact(engine, f"SELECT COUNT(*) AS n FROM t WHERE {far} > 5")) == [1]
        assert only(exact(engine, f"SELECT {far} AS k, COUNT(*) AS n FROM t GROUP BY {far}")) == [1, 2]
        (part, values), *_ = exact(engine, f"SELECT SUM({far}) AS n FROM t").parts.items()
        assert abs(values[0] * part.lattice.step - (10**19 + 6)) <= 3 * part.lattice.step


# --- places --------------------------------------------------------------------------------------------------------


def test_a_value_without_a_place_does_not_take_the_place_of_empty_cells(tmp_path):
    """7 is not on the lattice of step 5: its rows have no group, and must not hide the rows of the group NULL."""
    column = Column("c", "integer", bounds=(0, 10), values=(0, 7), null="key")
    object.__setattr__(column, "step", Fraction(5))  # past the schema, which refuses it
    rows = [[1, 7], *([number, ""] for number in range(2, 12))]
    with prepared(tmp_path / "t", Schema("t", [column], Unit("id", 1)), rows) as engine:
        assert only(exact(engine, "SELECT c, COUNT(*) AS n FROM t GROUP BY c")) == [0, 0, 10]


def test_a_group_that_is_named_twice_adds_up():
    draft = draft_of(parse_sql("SELECT vip, COUNT(*) AS n FROM people GROUP BY vip").question, SCHEMA)
    columns = {"cell": np.array([0, 2, 0]), "p0": np.array([5, 1, 7])}
    assert exacts_of([Statement("", (Rows(),))], [columns], draft.cells).parts[Rows()].tolist() == [12, 0, 1]


def test_bins_with_far_edges_hold_what_lies_between_them(tmp_path):
    schema = Schema("t", [Column("age", "integer", bounds=(-110, 110))], Unit("id", 1))
    with prepared(tmp_path / "t", schema, [[1, 37], [2, 0], [3, -1]]) as engine:
        far = "BIN(age, -1e30, 0, 1e30)"
        assert only(exact(engine, f"SELECT {far} AS b, COUNT(*) AS n FROM t GROUP BY {far}")) == [1, 2]


# --- the hunt ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hunted(tmp_path_factory):
    """The twin's schema, where every column of a unit holds one nasty cell, and units that mix them."""
    width = len(SCHEMA.columns)
    rows = [[number, *[cell] * width] for number, cell in enumerate(NASTY)]
    rows += [
        [100 + number // 3, *(NASTY[(7 * number + 11 * place) % len(NASTY)] for place in range(width))]
        for number in range(120)
    ]
    engine = prepared(tmp_path_factory.mktemp("hunted") / "t", SCHEMA, rows)
    yield engine
    engine.close()


def shaped(number, text, moment, flag):
    """One question with every shape of part and key."""
    clamped = Call("clamp", (number, Literal(-3), Literal(1000)))
    outputs = [
        Count(text),
        CountDistinct(moment),
        CountUnits(),
        CountRows(),
        Sum(clamped),
        Mean(clamped),
        Variance(clamped),
    ]
    outputs += [Covariance(clamped, Call("clamp", (Call("exp", (number,)), Literal(0), Literal(9)))), Count(number)]
    outputs.append(Quantile(clamped, Fraction(1, 2)))
    named = tuple(Output(f"o{place}", aggregate) for place, aggregate in enumerate(outputs))
    edges = (Fraction(-(10**31)), Fraction(0), Fraction(10**31))
    for keys in ((), (Key("k", text),), (Key("k", flag), Key("b", Bins(number, edges))), (Key("k", moment),)):
        for caps in (Caps(), Caps(2, 1)):
            yield Question("people", named, keys, flag, caps)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(number=asked.number(2), text=asked.text(1), moment=asked.time(1), flag=asked.flag(1))
def test_no_expression_fails_on_any_cell_or_leaves_its_places(hunted, number, text, moment, flag):
    for question in shaped(number, text, moment, flag):
        try:
            exacts = exact(hunted, question)
        except NotAnswerable:
            continue
        for part, values in exacts.parts.items():
            if isinstance(values, Buckets) and values.bucket.size:
                places = part.grid.points if isinstance(part, Ranks) else len(part.values)
                assert isinstance(part, Ranks | Tops)
                assert 0 <= values.bucket.min() <= values.bucket.max() < places


def test_the_hunt_meets_dates_that_python_does_not_know(hunted):
    assert only(exact(hunted, "SELECT COUNT(born) AS n FROM people")) > only(
        exact(hunted, "SELECT COUNT(year(born)) AS n FROM people")
    )
