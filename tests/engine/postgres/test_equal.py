"""The same content under the same key gives the same prepared rows and the same integers as DuckDB."""

import collections
import math
import random
from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from discreet.engine.postgres import functions
from discreet.engine.postgres.cells import cast
from discreet.engine.prepare import columns_read
from discreet.errors import NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.compile.operations import DUCKDB
from discreet.query.compile.postgres import POSTGRES
from discreet.query.compile.render import value
from discreet.query.layout import storage
from discreet.query.nodes import And, Caps, Col, CountUnits, IsNull, Not, Output, UnitIn
from discreet.query.parts import Sizes
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Type, Unit
from engine import twin
from engine.postgres.beside import KEY, exacts, filled, opened, prepared
from engine.test_cells import NASTY
from query import asked
from query import twin as query_twin
from shapes import tables
from shapes.shapes import MOST, covering, plain, planned, with_population

FAMILIES = {"with": tables.with_units(60, 20), "without": tables.without_units()}
LEAST_QUESTIONS = 200  # of each family


def cells(row):
    """A row of the CSV as its cells: nothing at all is NULL, two quotes are an empty text."""
    return [None if text == "" else "" if text == '""' else text for text in row]


@pytest.fixture(scope="module", params=FAMILIES)
def both(request, server, tmp_path_factory):
    """A family of shapes' table in a file and in the server."""
    folder, rows = tmp_path_factory.mktemp(request.param), FAMILIES[request.param].tables["all"]
    duck = tables.opened(folder / "duck", rows, request.param)
    assert tables.KEY == KEY
    filled(server, f"shapes_{request.param}", dict.fromkeys(tables.HEADER.split(","), "text"), map(cells, rows))
    postgres = opened(server, folder / "postgres", duck.schema, f"shapes_{request.param}")
    yield request.param, duck, postgres
    duck.close()
    postgres.close()


def in_file(path, table):
    with duckdb.connect(str(path), read_only=True) as connection:
        return sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=lambda row: row[:2])


def test_prepared_tables_are_those_of_duckdb(both, server):
    unit, duck, postgres = both
    for table in ("prepared", "discreet_units"):
        assert prepared(server, postgres, table) == in_file(duck.path, table)
    kept = collections.Counter(row[0] for row in prepared(server, postgres))
    if unit == "with":
        rows = collections.Counter(row[0] for row in FAMILIES[unit].tables["all"] if row[0])
        assert max(rows.values()) > MOST  # the cap binds
        assert max(kept.values()) == MOST


def test_every_shape_of_question_counts_the_same(both):
    unit, duck, postgres = both
    shapes = [shape for shape in (*covering(), *plain(), *with_population()) if shape.family == unit]
    plans = {place: planned(shape) for place, shape in enumerate(shapes)}
    there = tables.measured(duck, tables.apart(plans))
    assert len(plans) >= LEAST_QUESTIONS
    assert any(shape.caps == "groups" and shape.grouping == "private" for shape in shapes)
    for place, plan in plans.items():
        counted = exacts(postgres, plan.draft, tables.measured_parts(plan))
        here = {part: tables._numbers(counted, part) for part in counted.parts}
        assert here == there[place], shapes[place].sql


@pytest.mark.parametrize("group", [None, "town", "age"])
@pytest.mark.parametrize("caps", [Caps(), Caps(groups=1)])
def test_sizes_of_groups_are_the_same(both, group, caps):
    _, duck, postgres = both
    question = replace(parse_sql("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind").question, caps=caps)
    draft, part = draft_of(question, duck.schema), Sizes(group, 5)
    there, here = exacts(duck, draft, [part], DUCKDB), exacts(postgres, draft, [part], POSTGRES)
    assert tables._numbers(here, part) == tables._numbers(there, part) != {}


@pytest.mark.parametrize(("first", "end"), [("0", "1/3"), ("1/3", "1"), ("1/4", "3/4"), ("0", "1")])
def test_parts_of_the_units_are_the_same(both, first, end):
    _, duck, postgres = both
    question = parse_sql("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind").question
    question = replace(question, outputs=(*question.outputs, Output("u", CountUnits())))
    part = UnitIn(Fraction(first), Fraction(end))
    for where in (part, And((part, IsNull(Col("age")))), Not(part)):
        draft = draft_of(replace(question, where=where), duck.schema)
        parts = [need.part for need in draft.needs]
        there, here = exacts(duck, draft, parts, DUCKDB), exacts(postgres, draft, parts, POSTGRES)
        assert [here.parts[key].tolist() for key in parts] == [there.parts[key].tolist() for key in parts]


def test_expressions_have_the_same_value_in_every_row(server):
    schema, rows, expressions = query_twin.SCHEMA, query_twin.nasty_rows(60), []

    @seed(17)
    @settings(max_examples=600, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(asked.flag(3), asked.number(3), asked.text(2), asked.time(2)))
    def drawn(expr):
        expressions.append(expr)

    drawn()
    duck, connection = query_twin.connected(rows), by_hand(server, schema, rows)
    compared, refused = 0, []
    for expr in expressions:
        try:
            there = value(expr, schema, POSTGRES)
        except NotAnswerable as refusal:
            refused.append(refusal.why)
            continue
        here = value(expr, schema)
        tail = "FROM prepared ORDER BY discreet_unit, discreet_rank"
        first, second = (
            run.execute(f"SELECT {sql} {tail}").fetchall() for run, sql in ((duck, here), (connection, there))
        )
        assert list(map(repr_of, first)) == list(map(repr_of, second)), expr
        compared += 1
    connection.close()
    assert compared > 500
    assert all("locale" in why for why in refused)  # lower and upper of private texts, and nothing else


def repr_of(row):
    (value,) = row
    return repr(value + 0.0) if isinstance(value, float) else repr(value)


def by_hand(server, schema, rows):
    """A connection whose first schema holds the functions and a prepared table of those rows."""
    connection = server.connect()
    connection.prepare_threshold = None
    for statement in ("DROP SCHEMA IF EXISTS hand CASCADE", "CREATE SCHEMA hand", "SET search_path = hand, pg_temp"):
        connection.execute(statement)
    for statement in functions.statements():
        connection.execute(statement)
    names = [storage(schema, column).name for column in schema.columns]
    typed = ", ".join(f"{cast(schema, c, 'NULL')} AS {n}" for c, n in zip(schema.columns, names, strict=True))
    connection.execute(
        f"CREATE TABLE prepared AS SELECT 0::bigint AS discreet_unit, 0 AS discreet_rank, {typed} LIMIT 0"
    )
    listed = f"prepared (discreet_unit, discreet_rank, {', '.join(names)})"
    with connection.cursor() as cursor, cursor.copy(f"COPY {listed} FROM STDIN") as copy:
        for unit, rank, *row in rows:
            copy.write_row([unit, rank, *map(query_twin._code, schema.columns, row)])
    return connection


TEXTS = [
    *("", " ", "0", "-0", "1", "+7", " 12 ", "1e3", "1E3", "2.5", "-2.5", "0.005", "0.015", "1_000", "0x10", "1e400"),
    *("-1e400", "1e-400", "5e-324", "1.7976931348623157e308", "nan", "NaN", "inf", "-Infinity", "+inf", ".5", "5."),
    *(".", "e5", "1e", "--1", "9007199254740993", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775809", "4611686018427387904.5", "true", "T", "yes", "no", "N", "on", "north", "south", "o'east"),
    *("Ä", "👍", "tab\there", "2020-01-01", "2020-02-29", "2021-02-29", "1950-01-01 00:00:00", "2020-06-30T12:34:56"),
    *("2020-06-30 12:34:56.789", "2020-06-30 23:30:00+02:00", "2020-06-30 23:30:00-02", "2020-06-30T23:30:00Z"),
    *("9999-12-31", "0044-03-15 (BC)", "infinity", "-infinity", "2020-13-01", "2020-00-10", "2020-1-5"),
    *("2020-06-30 25:00:00", "soon", "12:30", "1e99999999999", "1e200000", "-1e-99999999999", "-1e99999999999"),
]  # fmt: skip


def random_texts(number=400):
    """Short texts of letters that numbers and dates are made of, and others."""
    chance = random.Random(5)
    pieces = [*"0123456789-+.:eETZ _/", "inf", "nan", "2020-01-", "(BC)", "\t", "\n", "é", "👍", "|", "\\", "'", "1e30"]
    far = ["999999-12-31", "290001-01-01", "999999-01-01 (BC)", "2020-01-01 99:99:99", "9" * 500, "1e-20000000"]
    return far + ["".join(chance.choices(pieces, k=chance.randint(1, 8))) for _ in range(number)]


def read_by_both(server, folder, schema, texts):
    """The prepared rows in the server and in DuckDB, each text in every column of a unit of its own."""
    names = columns_read(schema)
    rows = [(f"u{place}", *[text] * (len(names) - 1)) for place, text in enumerate(texts)]
    filled(server, "texts", dict.fromkeys(names, "text"), rows)
    with opened(server, folder, schema, "texts") as engine:
        here = prepared(server, engine)
    chosen = ", ".join(["discreet_unit", "discreet_rank", *(f"c{i}" for i in range(len(schema.columns)))])
    there = sorted(twin.sql_rows(schema, rows, only=chosen), key=lambda row: row[:2])
    return [list(map(repr, row)) for row in here], [list(map(repr, row)) for row in there]


def test_texts_are_read_as_duckdb_reads_them(server, tmp_path):
    here, there = read_by_both(server, tmp_path, twin.SCHEMA, [*TEXTS, *NASTY])
    assert here == there


def test_numbers_in_random_texts_are_read_as_duckdb_reads_them(server, tmp_path):
    columns = [column for column in twin.SCHEMA.columns if column.type not in (Type.DATE, Type.DATETIME)]
    here, there = read_by_both(server, tmp_path, Schema("people", columns, twin.SCHEMA.unit), random_texts())
    assert here == there


def test_no_random_text_makes_preparing_fail(server, tmp_path):
    here, there = read_by_both(server, tmp_path, twin.SCHEMA, random_texts())
    assert len(here) == len(there)


@pytest.mark.parametrize("step", [3, 10**30, 10**60])
def test_wide_steps_are_read_as_duckdb_reads_them(server, tmp_path, step):
    columns = [Column("x", kind, bounds=(-step * 5, step * 5), step=step) for kind in ("integer",)]
    columns += [Column("y", "number", bounds=(-step * 5, step * 5), step=Fraction(step, 7))]
    here, there = read_by_both(server, tmp_path, Schema("people", columns, Unit("who", 3)), NASTY)
    assert here == there


TYPED = Schema(
    "people",
    [
        Column("i", "integer", bounds=(-5, 10**6)),
        Column("l", "integer"),
        Column("s", "integer", bounds=(-1000, 1000), step=50),
        Column("f", "number", bounds=(0, 1), step="0.01"),
        Column("r", "number"),
        Column("n", "number", bounds=(-10, 100)),
        Column("w", "integer", bounds=(-(10**6), 10**6)),
        Column("b", "boolean"),
        Column("d", "date", bounds=("1950-01-01", "2020-12-31")),
        Column("t", "datetime", bounds=("2020-01-01T00:00:00", "2020-12-31T23:59:59"), step=60),
        Column("z", "datetime"),
        Column("x", "text"),
        Column("fx", "text"),
        Column("nx", "text"),
    ],
    Unit("who", 2),
)
KINDS = {
    **{"who": "bigint", "i": "integer", "l": "bigint", "s": "smallint", "f": "double", "r": "double"},
    **{"n": "decimal(18,4)", "w": "double", "b": "boolean", "d": "date", "t": "timestamp", "z": "timestamp"},
    **{"x": "varchar", "fx": "double", "nx": "decimal(10,3)"},
}
DAYS = ["1970-01-01", "1949-12-31", None, "2020-12-31", "infinity", "-infinity", "2000-01-01"]
MOMENTS = ["2020-06-30 12:34:56.7", "2019-01-01", None, "2021-01-01", "-infinity", "infinity", "2020-01-01"]
OTHERS = ["1969-12-31 23:59:59.5", "2020-02-29", None, "0001-01-01", "infinity", "-infinity", "2020-01-01"]
LETTERS = [("a", 0.1, "1.5"), ("", 17.0, "2"), (None,) * 3, ("ä|b", 1e22, "-0.125"), ("👍", -1.5e-7, "100")]
LETTERS += [("x", math.nan, "0.001"), ("nobody", 1.0, "1")]
NUMBERS = [
    (1, 5, 2**62, 24, 0.005, 0.1, "2.5000", 2.5, True),
    (1, -7, -(2**62), 25, 0.015, -0.0, "-99", 1e18, False),
    (1, *[None] * 8),
    (2, 2**31 - 1, 0, -1000, 7.5, 1e308, "1000", -1e300, True),
    (3, 0, 1, -975, math.inf, -math.inf, "0.0001", math.inf, None),
    (4, 1, 2, 975, math.nan, math.nan, "99.9999", math.nan, False),
    (None, 1, 2, 3, 0.5, 0.5, "1", 1.0, True),
]
TIMES = zip(DAYS, MOMENTS, OTHERS, strict=True)
ROWS = [(*row, *times, *more) for row, times, more in zip(NUMBERS, TIMES, LETTERS, strict=True)]


def test_typed_columns_are_read_as_duckdb_reads_them(server, tmp_path):
    from discreet.engine import Engine

    path = tmp_path / "duck" / "people.duckdb"
    path.parent.mkdir()
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people ({', '.join(f'{name} {kind}' for name, kind in KINDS.items())})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(KINDS))})", ROWS)
    (path.parent / "people.key").touch(0o600)
    (path.parent / "people.key").write_text(KEY)
    renamed = {name: {"double": "double precision"}.get(kind, kind) for name, kind in KINDS.items()}
    filled(server, "typed", renamed, ROWS)
    with (
        Engine(path.parent, "people", TYPED, path) as duck,
        opened(server, tmp_path / "pg", TYPED, "typed") as postgres,
    ):
        for table in ("prepared", "discreet_units"):
            assert prepared(server, postgres, table) == in_file(duck.path, table)
