"""A unit's kept rows are a function of that unit's rows and the key alone."""

from collections import Counter, defaultdict
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells import Family
from discreet.engine.prepare import Table, layout_hash, steps
from discreet.schema import Column, Schema, Unit

from .twin import SCHEMA, WORD, as_row, sql_rows

SMALL = Schema(
    "people",
    [
        Column("who", "text"),
        Column("region", "category", values=["a", "b", "c"]),
        Column("age", "integer", bounds=(0, 9)),
        Column("sex", "category", values=["f", "m"], fixed_per_unit=True),
        Column("size", "number"),
    ],
    Unit("person", 2),
)
LOOSE = replace(SMALL, columns=[replace(column, fixed_per_unit=False) for column in SMALL.columns])
CELLS = (
    st.sampled_from(["a", "b", "c", "z", None]),
    st.sampled_from(["1", "2", "99", "x", None]),
    st.sampled_from(["f", "m", None, "?"]),
    st.sampled_from(["-0.0", "0", "nan", "inf", "2.5", "", None]),
)
PEOPLE = ["p", "q", "r", "s"]


def rows_of(people):
    return st.sampled_from(people).flatmap(lambda who: st.tuples(st.just(who), st.just(who), *CELLS))


ROWS = st.lists(rows_of(PEOPLE), max_size=25)
OTHERS = st.lists(rows_of(["t", "u", "v"]), max_size=25)


def kept(schema, rows, word=WORD):
    """For each person the kept rows with rank and salt; and one code for each person, no two alike."""
    found, codes = defaultdict(Counter), defaultdict(set)
    for unit, *row in sql_rows(schema, rows, word=word):
        found[row[2]][tuple(row)] += 1
        codes[row[2]].add(unit)
    assert all(len(code) == 1 for code in codes.values())
    assert len(set.union(set(), *codes.values())) == len(codes)
    return dict(found)


@settings(max_examples=20, deadline=None)
@given(ROWS, OTHERS, st.randoms(use_true_random=False))
def test_other_units_and_file_order_change_nobodys_rows(rows, others, dice):
    mixed = [*rows, *others]
    dice.shuffle(mixed)
    here, there = kept(SMALL, rows), kept(SMALL, mixed)
    assert here == {who: there[who] for who in there if who in PEOPLE}


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_ranking_is_what_the_twin_says(rows):
    everything = replace(LOOSE, unit=Unit("person", 10**9))
    cells = "c0, c1, c2, c3, c4"  # c0 repeats the person's key, which is hashed before the cells
    hashed = sql_rows(everything, rows, only=f"{cells}, hash(hash(CAST({WORD} AS UBIGINT), c0, {cells}))")
    h = {row[:5]: row[5] for row in hashed}
    expected = Counter()
    for who in PEOPLE:
        mine = [as_row(SMALL, row) for row in rows if row[0] == who]
        ranked = sorted(mine, key=lambda row: (h[row], _order(row)))[: SMALL.max_rows]
        for rank, row in enumerate(ranked, 1):
            expected[(rank, *row)] += row[3] == ranked[0][3]
    found = Counter((row[1], *row[3:]) for row in sql_rows(SMALL, rows))
    assert found == +expected


def _order(row):
    return tuple((cell is None, "" if cell is None else cell) for cell in row)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_fixed_columns_have_one_value_per_unit(rows):
    for mine in kept(SMALL, rows).values():
        assert len({row[5] for row in mine}) == 1
        assert 1 in {row[0] for row in mine}


def test_wide_rows_are_what_the_twin_says():
    row = (
        "7",
        "7",
        "north",
        "12.0",
        "-25",
        "1e400",
        "0.145",
        "-0.0",
        "5",
        "2",
        "1940-01-01",
        "2021-01-01",
        "",
        "x",
        "T",
    )
    found = sql_rows(SCHEMA, [row, (None, *row[1:]), ("", *row[1:])])
    assert [(1, *entry[3:]) for entry in found] == [(1, *as_row(SCHEMA, row))]


def test_another_key_keeps_other_rows():
    rows = [("p", "p", "a", str(age), "f", str(age)) for age in range(9)]
    assert len({str(kept(SMALL, rows, word)) for word in range(8)}) > 3


def test_every_row_is_equally_likely_to_be_kept():
    """400 units, 8 rows of which 2 are kept: each is kept 100 times ± 5.5 σ (σ = 8.7), false alarm below 1e-6."""
    rows = [(str(who), str(who), "a", str(age), "f", "1") for age in range(8) for who in range(400)]
    times = Counter(row[0] for row in sql_rows(SMALL, rows, only="c2"))
    assert len(times) == 8
    assert all(abs(count - 100) < 48 for count in times.values())


def test_without_units_every_row_is_its_own():
    schema = replace(LOOSE, unit=None)
    found = sql_rows(schema, [("p", "a", "1", "f", "2")] * 3 + [("q", None, None, None, None)])
    assert sorted(row[0] for row in found) == [1, 2, 3, 4]
    assert {row[1] for row in found} == {1}


def test_a_table_without_columns_still_has_units():
    assert len(sql_rows(Schema("t", [], Unit("who", 2)), [("a",), ("a",), ("a",), ("b",)])) == 3


def test_layout_sees_the_order_of_values_and_columns():
    turned = replace(SMALL, columns=[replace(SMALL.columns[1], values=["b", "a", "c"])])
    straight = replace(SMALL, columns=[SMALL.columns[1]])
    assert turned.hash == straight.hash
    assert layout_hash(turned) != layout_hash(straight)
    swapped = replace(SMALL, columns=SMALL.columns[::-1])
    assert swapped.hash == SMALL.hash
    assert layout_hash(swapped) != layout_hash(SMALL)


def test_quotes_in_names_and_values_stay_text():
    schema = Schema("t", [Column('a"; DROP TABLE x; --', "category", values=["it's", "'; --"])])
    table = Table("source", {schema.columns[0].name: ("s0", Family.TEXT)})
    assert "('it''s', '''; --')" in steps(schema, table, WORD)[0].statements[0]
    found = sql_rows(schema, [("it's",), ("'; --",), ("its",)], only="c0")
    assert sorted(found, key=str) == [("'; --",), ("it's",), (None,)]
