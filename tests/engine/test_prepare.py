"""A unit's kept rows are a function of that unit's rows and the key alone."""

from collections import Counter, defaultdict
from dataclasses import fields, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine import prepare
from discreet.engine.cells import Family
from discreet.engine.prepare import FORMAT, Table, layout, steps
from discreet.engine.secret import Secret
from discreet.query.layout import storage
from discreet.schema import Column, Schema, Unit

from .twin import SCHEMA, SECRET, UNITS, as_row, id64, mixed, spelt, sql_rows, words

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


def kept(schema, rows, secret=SECRET):
    """For each person the kept rows with their rank; every row carries its person's id."""
    rows_of_unit = defaultdict(Counter)
    for unit, *row in sql_rows(schema, rows, secret=secret):
        assert unit == id64(row[1], secret=secret)
        rows_of_unit[row[1]][tuple(row)] += 1
    return dict(rows_of_unit)


@settings(max_examples=20, deadline=None)
@given(ROWS, OTHERS, st.randoms(use_true_random=False))
def test_other_units_and_file_order_change_nobodys_rows(rows, others, dice):
    together = [*rows, *others]
    dice.shuffle(together)
    here, there = kept(SMALL, rows), kept(SMALL, together)
    assert here == {who: there[who] for who in there if who in PEOPLE}


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_ranking_is_what_the_twin_says(rows):
    expected = Counter()
    for who in PEOPLE:
        mine = [as_row(SMALL, row) for row in rows if row[0] == who]
        ranked = sorted(mine, key=lambda row, who=who: _order(row, who))[: SMALL.max_rows]
        for rank, row in enumerate(ranked, 1):
            expected[(id64(who), rank, *row)] += row[3] == ranked[0][3]
    assert Counter(sql_rows(SMALL, rows)) == +expected


def _order(row, who):
    packed, loose = words(SMALL, row)
    own = [*(word for word, _ in packed), *loose]
    return mixed(SMALL, row, id64(who)), [(word is None, "" if word is None else word) for word in own]


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_units_are_what_the_twin_says(rows):
    narrow = [replace(column, bounds=(2, 5)) if column.name == "age" else column for column in LOOSE.columns]
    expected = []
    for who in PEOPLE:
        ages = [row[3] for row in rows if row[0] == who]
        if ages:
            sides = [ages.count("1"), ages.count("99")]
            expected.append((id64(who), min(len(ages), 2), len(ages).bit_length() - 1, *sides))
    assert sql_rows(replace(LOOSE, columns=narrow), rows, only="*", table=UNITS) == sorted(expected)


def test_sketches_saturate_and_see_every_kind_of_bound():
    beyond = {
        "age": "-1",
        "cents": "9999",
        "income": "-inf",
        "price": "nan",
        "born": "1949-12-31",
        "seen": "2021-01-02",
    }
    row = ("p", *(beyond.get(column.name) for column in SCHEMA.columns))
    places = [storage(SCHEMA, SCHEMA.find(name)).name for name in beyond]
    sides = ", ".join(f"below_{place}, above_{place}" for place in places)
    sketches = sql_rows(SCHEMA, [row] * 300, only=f"discreet_kept, discreet_bucket, {sides}", table=UNITS)
    assert sketches == [(3, 8, 255, 0, 0, 255, 255, 0, 0, 0, 255, 0, 0, 255)]


def test_rows_lie_in_the_order_of_units_and_ranks():
    rows = [(str(who), str(who), "a", str(age), "f", "1") for age in range(4) for who in range(3000)]
    rows_read = sql_rows(SMALL, rows, only="discreet_unit, discreet_rank")
    assert rows_read == sorted(rows_read)
    assert len(rows_read) == 6000


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_fixed_columns_have_one_value_per_unit(rows):
    for mine in kept(SMALL, rows).values():
        assert len({row[4] for row in mine}) == 1
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
    rows_read = sql_rows(SCHEMA, [row, (None, *row[1:]), ("", *row[1:])])
    assert rows_read == [(id64("7"), 1, *as_row(SCHEMA, row))]


def test_another_key_keeps_other_rows():
    rows = [("p", "p", "a", str(age), "f", str(age)) for age in range(9)]
    secrets = [Secret(bytes([number]) * 32) for number in range(8)]
    assert len({str(kept(SMALL, rows, secret)) for secret in secrets}) > 3


def test_every_row_is_equally_likely_to_be_kept():
    """400 units, 8 rows of which 2 are kept: each is kept 100 times ± 5.5 σ (σ = 8.7), false alarm below 1e-6."""
    rows = [(str(who), str(who), "a", str(age), "f", "1") for age in range(8) for who in range(400)]
    times = Counter(row[0] for row in sql_rows(SMALL, rows, only="c0"))
    assert len(times) == 8
    assert all(abs(count - 100) < 48 for count in times.values())


def test_every_row_is_a_unit_where_no_unit_is_declared():
    schema = replace(LOOSE, unit=None)
    rows = [("p", "a", "1", "f", "2"), ("q", *[None] * 4), ("p", "a", "1", "f", "2"), ("p", "a", "99", "f", "2")]
    rows_read = sql_rows(schema, rows)
    equal, clamped, empty = (
        spelt(schema, cells) for cells in (("p", 0, 1, 0, 2.0), ("p", 0, 9, 0, 2.0), ("q", *[None] * 4))
    )
    ids = [id64(*equal, 0, 1), id64(*equal, 0, 2), id64(*clamped, 2, 1), id64(*empty, 0, 1)]
    assert [row[0] for row in rows_read] == sorted(ids)
    assert {row[1] for row in rows_read} == {1}
    units = sql_rows(schema, rows, only="*", table=UNITS)
    assert units == sorted((unit, 1, 0, 0, int(unit == ids[2])) for unit in ids)


def test_the_order_of_columns_in_the_metadata_moves_no_id():
    columns = [Column(name, "integer", bounds=(0, 9)) for name in ("b", "a", "c")]
    rows = [("1", "99", "-5"), ("3", "4", "5")]
    for unit in (None, Unit("who", 1)):
        known, turned = Schema("t", columns, unit), Schema("t", columns[::-1], unit)
        keys = [] if unit is None else ["p"]
        units = sql_rows(known, [(*keys, *row) for row in rows], only="*", table=UNITS)
        assert units == sql_rows(turned, [(*keys, *row[::-1]) for row in rows], only="*", table=UNITS)
        assert layout(known) == layout(turned)


def test_more_sides_than_fit_into_a_word_are_told_apart():
    columns = [Column(f"n{place:02}", "integer", bounds=(0, 9)) for place in range(70)]
    row = [str({0: -1, 30: 10, 31: -1, 61: 10, 62: 10, 69: -1}.get(place, 5)) for place in range(70)]
    told = {"below_c0": 1, "above_c30": 1, "below_c31": 1, "above_c61": 1, "above_c62": 1, "below_c69": 1}
    names = [f"{side}_c{place}" for place in range(70) for side in ("below", "above")]
    for unit in (None, Unit("who", 1)):
        given = [row] if unit is None else [["p", *row]]
        (sketch,) = sql_rows(Schema("t", columns, unit), given, only=", ".join(names), table=UNITS)
        assert {name: count for name, count in zip(names, sketch, strict=True) if count} == told


def test_a_table_without_columns_still_has_units():
    assert len(sql_rows(Schema("t", [], Unit("who", 2)), [("a",), ("a",), ("a",), ("b",)])) == 3


def test_layout_depends_on_facts_and_not_on_spelling():
    age = SMALL.columns[2]

    def alone(column):
        return layout(replace(SMALL, columns=[column]))

    assert alone(replace(SMALL.columns[1], values=["b", "a", "c"])) != alone(SMALL.columns[1])
    assert layout(replace(SMALL, columns=SMALL.columns[::-1])) == layout(SMALL)
    assert layout(replace(SMALL, population=5000, relation="replace-one")) == layout(SMALL)
    spelt = replace(age, bounds=("0", "9.0"), step="1", null="key", bins=(0, 9), why_public="known")
    assert alone(spelt) == alone(age)
    changes = (
        {"bounds": (0, 8)},
        {"bounds": (0, 10), "step": 5},
        {"name": "years"},
        {"type": "number", "step": 1},
        {"fixed_per_unit": True},
        {"values": (1, 2)},
    )
    assert len({alone(replace(age, **change)) for change in changes} | {alone(age)}) == 7
    assert layout(replace(SMALL, unit=Unit("person", 3))) != layout(SMALL) != layout(replace(SMALL, unit=None))


def test_snapshots_are_what_earlier_versions_computed():
    """Of a fixed key, content and schema: whoever changes one on purpose raises FORMAT."""
    assert SECRET.snapshot(b"content", layout(SMALL), FORMAT) == "f2ccdb93206c19ca6bd3e357f4d55c81"
    assert SECRET.snapshot(b"content", layout(SCHEMA), FORMAT) == "3ed6957ec21ee543a0795fbd763f2948"
    assert id64("p") == sql_rows(SMALL, [("p", "p", "a", "1", "f", "1")])[0][0] == -5880979907692977085


def test_other_words_in_the_sql_are_the_same_snapshot(monkeypatch):
    before = layout(SMALL)
    monkeypatch.setattr(prepare, "_ranked_rows", lambda schema: "SELECT 1")
    renamed = type("Other", (Column,), {})
    given = [{field.name: getattr(column, field.name) for field in fields(column)} for column in SMALL.columns]
    columns = [renamed(**facts) for facts in given]
    assert layout(replace(SMALL, columns=columns)) == before


def test_quotes_in_names_and_values_stay_text():
    schema = Schema("t", [Column('a"; DROP TABLE x; --', "category", values=["it's", "'; --"])])
    table = Table("source", {schema.columns[0].name: ("s0", Family.TEXT)})
    assert "('it''s', '''; --')" in steps(schema, table)[0].statements[0]
    cells = sql_rows(schema, [("it's",), ("'; --",), ("its",)], only="c0")
    assert sorted(cells, key=str) == [(0,), (1,), (None,)]
