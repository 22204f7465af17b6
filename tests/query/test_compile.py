"""Compiled statements against the twin: counts, sums, buckets, keys and caps, on rows chosen to hurt."""

import math
from collections import defaultdict
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import NotAnswerable
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.statements import statements
from discreet.query.meaning import dates
from discreet.query.meaning.cells import cells
from discreet.query.meaning.normal import normal
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import (
    And,
    Arith,
    Bins,
    Call,
    Caps,
    Case,
    Col,
    Compare,
    CountRows,
    DatePart,
    IsNull,
    Key,
    Literal,
    Output,
    Question,
    TryCast,
)
from discreet.query.parts import Distinct, Grid, Present, Ranks, Rows, RowSum, Tops, Units
from discreet.schema import Column, Lattice, Schema, Type, Unit
from query import asked, twin
from query.twin import SCHEMA, Days, Seconds, evaluated, key_value, nasty_rows, row_of

ROWS = nasty_rows(80)


@pytest.fixture(scope="module")
def con():
    with twin.connected(ROWS) as connection:
        yield connection


def asked_for(keys=(), where=None):
    listed = tuple(Key(f"key{i}", item) for i, item in enumerate(keys))
    return resolved(Question("people", (Output("n", CountRows()),), listed, where), SCHEMA)


def run(con, question, parts, caps=None, schema=SCHEMA):
    """The exact parts, and the statements that made them."""
    caps = caps or Caps(schema.max_rows, None)
    groups = cells(question, schema)
    compiled = statements(schema, groups, question.where, caps, parts)
    results = []
    for statement in compiled:
        columns = con.execute(statement.sql).fetchnumpy()
        front = ["cell"] if groups.public else [f"k{i}" for i in range(len(groups.keys))]
        buckets = ["bucket"] if isinstance(statement.parts[0], Ranks | Tops) else []
        assert list(columns) == front + buckets + [f"p{i}" for i in range(len(statement.parts))]
        for name in list(columns)[len(front) :]:
            assert columns[name].dtype == "int64"
            assert not hasattr(columns[name], "mask")
        results.append(columns)
    return exacts_of(compiled, results, groups), groups


# --- the twin ------------------------------------------------------------------------------------------------------


def shown(value, key, row):
    """A value of the twin as a label."""
    item = key.key.item
    column = SCHEMA.find(item.name) if isinstance(item, Col) else None
    if column is not None and column.type is Type.NUMBER and column.lattice is not None:
        return None if row[column.name] is None else dates.whole(row[column.name] * column.step)
    if key.labels is not None and isinstance(value, float):
        return next((label for label in key.labels if label is not None and float(label) == value), None)
    match value:
        case Days(n):
            return dates.day(n)
        case Seconds(n):
            return dates.moment(n)
        case float() if math.isinf(value) or (column is None and not -(2**63) <= value < 2**63):
            return None
        case float():
            return int(value) if column is None else dates.whole(Fraction(repr(value)))
        case _:
            return value


def group_of(row, groups):
    """The labels of a row's group; None if it belongs to none."""
    keys = []
    for key in groups.keys:
        value = key_value(key.key.item, row)
        if isinstance(key.key.item, Bins):
            label = None if value is None else key.labels[value]
        else:
            label = shown(value, key, row)
            label = label if key.labels is None or label in key.labels else None
        if label is None and not key.with_null:
            return None
        keys.append(label)
    return tuple(keys)


def nearest(value, lattice):
    """A value in steps of the lattice, by the formula for doubles."""
    if value is None:
        return 0
    if isinstance(value, float):
        low, high, step = lattice.low, lattice.high, float(lattice.step)
        if value <= float(lattice.low * lattice.step):
            return low
        return high if value >= float(lattice.high * lattice.step) else math.floor(value / step + 0.5)
    return max(lattice.low, min(lattice.high, math.floor(Fraction(value) / lattice.step + Fraction(1, 2))))


def bucket(value, grid):
    value = value.n if isinstance(value, Days | Seconds) else value
    if math.isinf(value):
        return 0 if value < 0 else grid.points - 1
    return max(0, min(grid.points - 1, math.floor((Fraction(value) - grid.first) / grid.step + Fraction(1, 2))))


def exact(part, members, schema=SCHEMA):
    """A part of the rows of one group: a number, or counts by bucket."""
    match part:
        case Rows(of):
            return sum(all(evaluated(item, row) is not None for item in of) for _, row in members)
        case Units() | Present():
            return len({unit for unit, _ in members})
        case Distinct(item):
            return len({present for _, row in members if (present := evaluated(item, row)) is not None})
        case RowSum(item, lattice):
            return sum(nearest(evaluated(item, row), lattice) for _, row in members)
        case Ranks(item, grid, _):
            present = [evaluated(item, row) for _, row in members]
            return [sum(v is not None and bucket(v, grid) == i for v in present) for i in range(grid.points)]
        case Tops(item, values, _):
            return [sum(evaluated(item, row) == value for _, row in members) for value in values]


def wanted(question, parts, groups, rows=ROWS, cap=SCHEMA.max_rows):
    by_group = defaultdict(list)
    for cells_of_row in rows:
        row = row_of(cells_of_row)
        kept = cells_of_row[1] <= cap and (question.where is None or evaluated(question.where, row) is True)
        labels = group_of(row, groups) if kept else None
        if labels is not None:
            by_group[labels].append((cells_of_row[0], row))
    keys = [groups.labels(cell) for cell in range(groups.size)] if groups.public else list(by_group)
    return {key: {part: exact(part, by_group[key]) for part in parts} for key in keys}


def check(con, question, parts, caps=None):
    parts_read, groups = run(con, question, parts, caps)
    expected = wanted(question, parts, groups, cap=caps.rows if caps else SCHEMA.max_rows)
    assert set(parts_read.keys) == set(expected)
    assert len(parts_read.keys) == len(expected)
    for place, key in enumerate(parts_read.keys):
        for part in parts:
            got = parts_read.parts[part]
            if isinstance(part, Ranks | Tops):
                points = part.grid.points if isinstance(part, Ranks) else len(part.values)
                assert got.of(place, points).tolist() == expected[key][part], (key, part)
            else:
                assert got[place] == expected[key][part], (key, part)


# --- parts ---------------------------------------------------------------------------------------------------------

AGES = Lattice(-55, 55, Fraction(1))
PARTS = (
    Rows(),
    Rows((Col("age"),)),
    Rows((Col("age"), Arith("/", Literal(1), Col("wild")))),
    Units(),
    Distinct(Col("odd")),
    Distinct(Arith("%", Col("age"), Literal(7))),
    RowSum(Col("age"), Lattice(0, 110, Fraction(1))),
    RowSum(Col("age"), Lattice(20, 30, Fraction(1))),
    RowSum(Arith("-", Col("age"), Literal(55)), AGES),
    RowSum(Case(((IsNull(Col("wild")), Literal(None)),), Arith("-", Col("age"), Literal(55))), AGES),
    RowSum(Col("vip"), Lattice(0, 1, Fraction(1))),
    RowSum(Col("price"), Lattice(0, 500, Fraction(1, 10))),
    RowSum(Arith("*", Col("wild"), Literal(3)), Lattice(-1000, 1000, Fraction(1, 4))),
    RowSum(Call("exp", (Col("wild"),)), Lattice(-(2**40), 2**40, Fraction(1, 3))),
    RowSum(Arith("*", Col("age"), Col("age")), Lattice(0, 12100, Fraction(1))),
)
CHOICES = (
    Ranks(Col("age"), Grid(Fraction(0), Fraction(1), 111), Fraction(1, 2)),
    Ranks(Col("age"), Grid(Fraction(0), Fraction(7), 16), Fraction(1, 2)),
    Ranks(Col("age"), Grid(Fraction(10), Fraction(5, 2), 9), Fraction(1, 2)),
    Ranks(Col("wild"), Grid(Fraction(-3), Fraction(1, 2), 20), Fraction(1, 2)),
    Ranks(Col("weekly"), Grid(Fraction(18263), Fraction(7), 26), Fraction(1, 2)),
    Tops(Col("region"), ("north", "south", "east", "west"), 1),
    Tops(Col("region"), ("west", "north"), 1),
    Tops(Col("code"), (7, 3, 11), 2),
    Tops(Col("vip"), (False, True), 1),
    Tops(DatePart("month", Col("seen")), tuple(range(1, 13)), 1),
)
KEYS = (
    Col("region"),
    Col("odd"),
    Col("vip"),
    Col("age"),
    Col("code"),
    Col("tens"),
    Col("home"),
    Col("weekly"),
    Col("seen"),
    Bins(Col("born"), (date(2000, 1, 1), date(2000, 2, 1), date(2000, 3, 3))),
    Bins(Col("age")),
    Bins(Col("age"), (Fraction(0), Fraction(10), Fraction(20), Fraction(30))),
    Col("price"),
    Bins(Col("wild"), (Fraction(-3), Fraction(0), Fraction(17))),
    Bins(Col("seen"), (date(2020, 1, 1), date(2020, 7, 1), date(2021, 1, 1))),
    Bins(Arith("*", Col("age"), Literal(2)), tuple(map(Fraction, (0, 17, 50, 220)))),
    DatePart("month", Col("seen")),
    DatePart("weekday", Col("born")),
    DatePart("year", Col("seen")),
    DatePart("hour", Col("at")),
    Call("floor", (Arith("/", Col("age"), Literal(10)),)),
    Arith("*", Call("floor", (Arith("/", Col("age"), Literal(10)),)), Literal(10)),
    Call("upper", (Col("odd"),)),
    Call("length", (Col("region"),)),
    Call("coalesce", (Col("region"), Literal("none"))),
    Case(
        (
            (Compare("<", Col("age"), Literal(18)), Literal("it's")),
            (Compare("<", Col("age"), Literal(65)), Literal("b")),
        ),
        Literal(None),
    ),
    Case(((Compare("<", Col("age"), Literal(18)), Literal(Fraction(1, 3))),), Literal(7)),
    IsNull(Col("note")),
    Compare(">", Col("wild"), Literal(0)),
    Case(((Col("vip"), Col("region")),), Literal("other")),
    Col("ward"),
    Col("note"),
    Col("big"),
    Col("wild"),
    Col("born"),
    Col("moment"),
    Col("score"),
    Call("lower", (Col("note"),)),
    TryCast(Col("note"), Type.INTEGER),
    Arith("+", Col("big"), Literal(1)),
    DatePart("year", Col("born")),
)


@pytest.mark.parametrize("part", [*PARTS, *CHOICES], ids=lambda part: type(part).__name__)
def test_each_part_alone_and_by_region_agrees_with_the_twin(con, part):
    check(con, asked_for(), (part,))
    check(con, asked_for([Col("region")], Compare(">=", Col("age"), Literal(1))), (part,))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_each_key_agrees_with_the_twin(con, key):
    parts = (Present(), Rows(), RowSum(Col("age"), Lattice(0, 110, Fraction(1))), CHOICES[1], CHOICES[5])
    check(con, asked_for([key]), parts)
    check(con, asked_for([Col("vip"), key], Compare("!=", Col("big"), Literal(17))), parts, Caps(2, None))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(KEYS), max_size=2, unique=True),
    st.none() | asked.flag(1),
    st.sampled_from((*PARTS, *CHOICES)),
    st.integers(1, 4),
)
def test_questions_agree_with_the_twin(con, keys, where, part, rows):
    try:
        question = asked_for(keys, where)
    except NotAnswerable:
        assume(False)
    assume(cells(question, SCHEMA).size <= 2000)
    parts = (Units(), part) if cells(question, SCHEMA).public else (Present(), Units(), part)
    check(con, question, parts, Caps(rows, None))


def test_every_computed_number_can_be_summed_whatever_its_rows(con):
    lattice = Lattice(-(2**61), 2**61, Fraction(1, 7))
    for expr in (
        Arith("/", Col("wild"), Col("score")),
        Arith("*", Col("wild"), Col("wild")),
        TryCast(Col("note"), Type.NUMBER),
    ):
        parts_read, _ = run(con, asked_for(), (RowSum(expr, lattice),))
        assert abs(int(parts_read.parts[RowSum(expr, lattice)][0])) <= 2**62 - 1


def test_sums_saturate_instead_of_failing():
    wide = Schema("people", [Column("x", "integer", bounds=(-(2**61), 2**61))], Unit("pid", 2))
    rows = [(unit, rank, 2**61) for unit in range(5) for rank in (1, 2)]
    with twin.connected(rows, wide) as con:
        question = resolved(Question("people", (Output("n", CountRows()),)), wide)
        part = RowSum(Col("x"), Lattice(-(2**61), 2**61, Fraction(1)))
        parts_read, _ = run(con, question, (part,), schema=wide)
    assert parts_read.parts[part].tolist() == [2**62 - 1]


# --- shape ---------------------------------------------------------------------------------------------------------


def test_one_statement_for_all_sums_and_one_for_each_choice():
    parts = (Rows(), CHOICES[0], Units(), CHOICES[5])
    compiled = statements(SCHEMA, cells(asked_for(), SCHEMA), None, Caps(4, None), parts)
    assert [statement.parts for statement in compiled] == [(Rows(), Units()), (CHOICES[0],), (CHOICES[5],)]


def test_an_empty_table_gives_zeros_for_public_keys_and_nothing_for_private_ones():
    with twin.connected([]) as con:
        assert run(con, asked_for(), (Rows(), PARTS[6]))[0].parts[Rows()].tolist() == [0]
        assert run(con, asked_for([Col("region")]), (Rows(),))[0].parts[Rows()].tolist() == [0] * 4
        assert run(con, asked_for([Col("note")]), (Present(),))[0].keys == ()


def test_plain_questions_compile_to_plain_sql():
    compiled = statements(SCHEMA, cells(asked_for(), SCHEMA), None, Caps(4, None), (Rows(), Units(), PARTS[6]))
    assert "TRY" not in compiled[0].sql
    assert "discreet_rank <=" not in compiled[0].sql
    assert "count(*) FILTER (WHERE discreet_rank = 1)" in compiled[0].sql
    assert "sum(c0)" in compiled[0].sql


def test_private_keys_are_sorted_whatever_the_order_of_rows():
    question, parts = asked_for([Col("note"), Col("vip")]), (Present(), Rows())
    with twin.connected(ROWS) as first, twin.connected(ROWS[::-1]) as other:
        a, b = run(first, question, parts)[0], run(other, question, parts)[0]
    assert a.keys == b.keys
    assert all(a.parts[part].tolist() == b.parts[part].tolist() for part in parts)
    assert [key[0] for key in a.keys if key[0] is not None] == sorted(key[0] for key in a.keys if key[0] is not None)
    assert a.keys[-1][0] is None


def test_public_keys_beside_private_ones_keep_their_public_order(con):
    parts_read, groups = run(con, asked_for([Bins(Col("age")), Col("note")]), (Present(), CHOICES[0]))
    places = [groups.keys[0].labels.index(key[0]) for key in parts_read.keys]
    assert places == sorted(places)
    dense = [parts_read.parts[CHOICES[0]].of(place, 111).sum() for place in range(len(parts_read.keys))]
    assert (parts_read.parts[Present()] >= 1).all()
    assert min(dense) >= 1


# --- caps ----------------------------------------------------------------------------------------------------------


def many_groups(units=40):
    """Units of four rows in four different regions, ages all 100."""
    template = list(nasty_rows(1)[0])
    rows = []
    for unit in range(units):
        for rank, region in enumerate(("north", "south", "east", "west"), 1):
            row = list(template)
            row[0], row[1], row[2], row[6] = unit, rank, region, 100
            rows.append(tuple(row))
    return rows


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_a_unit_counts_in_at_most_its_cap_of_groups(groups):
    question, caps = asked_for([Col("region")]), Caps(4, groups)
    with twin.connected(many_groups()) as con:
        parts_read, _ = run(con, question, (Units(), Rows(), CHOICES[5], PARTS[6]), caps)
        assert parts_read.parts[Units()].sum() == 40 * groups
        assert parts_read.parts[Rows()].sum() == 40 * groups
        assert parts_read.parts[PARTS[6]].sum() == 4000 * groups
        assert sum(parts_read.parts[CHOICES[5]].of(cell, 4).sum() for cell in range(4)) == 40 * groups
        assert (parts_read.parts[Units()] > 0).all()  # units keep different groups


def test_groups_of_a_unit_do_not_depend_on_other_units_or_row_order():
    question, caps, rows = asked_for([Col("region"), Col("note")]), Caps(4, 2), many_groups()
    with twin.connected(rows) as con, twin.connected(rows[4:][::-1]) as less:
        all_units = run(con, question, (Present(), Rows()), caps)[0]
        fewer = run(less, question, (Present(), Rows()), caps)[0]
    before = dict(zip(all_units.keys, all_units.parts[Rows()].tolist(), strict=True))
    after = dict(zip(fewer.keys, fewer.parts[Rows()].tolist(), strict=True))
    moved = {key: before[key] - after.get(key, 0) for key in before if before[key] != after.get(key, 0)}
    assert sorted(moved.values()) == [1, 1]


def test_a_cap_on_groups_ranks_only_groups_that_where_leaves():
    question = asked_for([Col("region")], Compare("=", Col("region"), Literal("east")))
    with twin.connected(many_groups()) as con:
        assert run(con, question, (Units(),), Caps(4, 1))[0].parts[Units()].tolist() == [0, 0, 40, 0]


# --- sensitivity, by brute force -----------------------------------------------------------------------------------


@pytest.mark.parametrize("caps", [Caps(4, None), Caps(2, None), Caps(4, 2), Caps(4, 1)], ids=str)
@pytest.mark.parametrize("key", [Col("region"), Col("odd"), Bins(Col("age")), DatePart("month", Col("seen"))], ids=str)
def test_removing_a_unit_moves_parts_by_no_more_than_caps_allow(caps, key):
    rows = nasty_rows(30)
    question = asked_for([key], Compare(">=", Col("age"), Literal(0)))
    parts = (
        Units(),
        Rows(),
        RowSum(Col("age"), Lattice(0, 110, Fraction(1))),
        RowSum(PARTS[12].item, PARTS[12].lattice),
        CHOICES[1],
    )
    groups = min(caps.groups or caps.rows, caps.rows)
    with twin.connected(rows) as con:
        before, _ = run(con, question, parts, caps)
        for unit in {row[0] for row in rows}:
            con.execute("BEGIN")
            con.execute("DELETE FROM prepared WHERE discreet_unit = ?", [unit])
            after, _ = run(con, question, parts, caps)
            con.execute("ROLLBACK")
            d = {part: before.parts[part] - after.parts[part] for part in parts[:4]}
            assert abs(d[parts[0]]).sum() <= groups
            assert abs(d[parts[0]]).max() <= 1
            assert abs(d[parts[1]]).sum() <= caps.rows
            assert (d[parts[1]] != 0).sum() <= groups
            assert abs(d[parts[2]]).sum() <= 110 * caps.rows
            assert abs(d[parts[3]]).sum() <= 1000 * caps.rows
            ranks = [
                before.parts[parts[4]].of(c, 16) - after.parts[parts[4]].of(c, 16) for c in range(len(before.keys))
            ]
            assert sum(abs(r).sum() for r in ranks) <= caps.rows


@settings(max_examples=60, deadline=None)
@given(asked.flag(2), asked.number(2), st.sampled_from([Caps(4, None), Caps(3, 1)]))
def test_no_expression_makes_the_engine_fail(con, where, item, caps):
    try:
        question = asked_for([Col("odd"), Col("ward")], where)
        settled = normal(item, SCHEMA)
    except NotAnswerable:
        assume(False)
    lattice, grid = Lattice(-10, 10, Fraction(1, 3)), Grid(Fraction(-1), Fraction(1, 7), 50)
    parts = (
        Present(),
        Rows((settled,)),
        Distinct(settled),
        RowSum(settled, lattice),
        Ranks(settled, grid, Fraction(1, 2)),
    )
    parts_read, _ = run(con, question, parts, caps)
    assert (abs(parts_read.parts[RowSum(settled, lattice)]) <= 10 * parts_read.parts[Rows((settled,))]).all()


def test_conditions_are_joined_one_by_one():
    where = And((Compare(">", Col("age"), Literal(3)), Compare("=", Col("region"), Literal("east"))))
    question = asked_for([], where)
    sql = statements(SCHEMA, cells(question, SCHEMA), question.where, Caps(3, None), (Rows(),))[0].sql
    assert "FROM prepared WHERE discreet_rank <= 3 AND (c0 > 3) AND (c10 = 2)" in sql
