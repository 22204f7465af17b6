"""Impossible combinations are read against public facts, and cells never lie on both sides of one."""

import json
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.noise.public import generator
from discreet.schema import Column, Schema, Type
from discreet.schema.kind import number_of
from discreet.synth.column.choice import columns_of
from discreet.synth.column.stated import MOST_CUTS, MOST_ZEROS, cuts_of, stated_zeros
from discreet.synth.column.values import values_of
from discreet.synth.column.zeros import MOST_PROFILES, Zero, is_impossible, profiles, zeros_of

FOLK = Schema(
    "folk",
    (
        Column("age", "integer", bounds=(0, 110)),
        Column("income", "integer", bounds=(0, 10**6)),
        Column("debt", "integer", bounds=(-5000, 5000), bins=(-5000, 0, 5000)),
        Column("share", "number", bounds=(0, 100), step=Fraction(1, 10)),
        Column("even", "number", bounds=(0, 5000)),
        Column("born", "date", bounds=("0001-01-01", "9999-12-31")),
        Column("seen", "datetime", bounds=("2020-01-01", "2021-01-01")),
        Column("status", "category", values=("single", "Single", "married"), null="key"),
        Column("rooms", "integer", values=(3, 1, 7)),
        Column("pregnant", "boolean"),
        Column("city", "category", values=tuple(f"c{number}" for number in range(400))),
        Column("flat", "category", values=tuple(f"f{number}" for number in range(400))),
        Column("notes", "text"),
    ),
)
NAMES = [column.name for column in FOLK.columns if column.name != "notes"]


def over_cells(given_zeros, schema=FOLK, names=None):
    """Columns cut for these zeros, and the zeros over their cells."""
    stated = stated_zeros(schema, given_zeros)
    columns = columns_of(schema, names or NAMES, cuts_of(stated)).columns
    return columns, zeros_of(stated, columns)


def number(value, kind):
    """A given or drawn value of an ordered column as an exact number."""
    if isinstance(value, str):
        value = date.fromisoformat(value) if kind is Type.DATE else datetime.fromisoformat(value)
    return Fraction(repr(value)) if isinstance(value, float) else number_of(value)


def belongs(column, cells, value):
    """The slow twin of a mask: whether a drawn value is one of those that were given, as they were given."""
    if isinstance(cells, list):
        return any(belongs(column, cell, value) for cell in cells)
    if value is None or cells is None:
        return value is cells
    if column.type in (Type.CATEGORY, Type.BOOLEAN):
        return value == cells
    low, high = cells if isinstance(cells, tuple) else (cells, cells)
    return number(low, column.type) <= number(value, column.type) <= number(high, column.type)


ENDS = {
    "age": st.integers(0, 110),
    "income": st.integers(0, 10**6),
    "debt": st.integers(-5000, 5000),
    "share": st.integers(0, 1000).map(lambda tenths: Fraction(tenths, 10)),
    "born": st.dates(),
    "seen": st.datetimes(datetime(2020, 1, 1), datetime(2020, 12, 31)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
    "rooms": st.sampled_from([3, 1, 7]),
}


def parts(name):
    """What a combination can say of a column."""
    column = FOLK.find(name)
    if column.type is Type.BOOLEAN:
        single = st.sampled_from([True, False, None])
    elif column.type is Type.CATEGORY:
        single = st.sampled_from([*column.values[:3], None])
    else:
        single = ENDS[name] | st.none()
    listed = st.lists(single, min_size=1, max_size=4)
    if name not in ENDS:
        return single | listed
    return single | listed | st.tuples(ENDS[name], ENDS[name]).map(lambda pair: tuple(sorted(pair)))


USED = [*ENDS, "status", "pregnant"]
ZERO = st.lists(st.sampled_from(USED), min_size=2, max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: parts(name) for name in names})
)


@settings(max_examples=80, deadline=None)
@given(st.lists(ZERO, min_size=1, max_size=4), st.integers(0, 2**32))
def test_a_row_is_impossible_where_its_values_are(given_zeros, seed):
    columns, zeros = over_cells(given_zeros, names=USED)
    drawing = generator(seed)
    codes = {}
    for column in columns:
        listed = [np.flatnonzero(zero.masks[column.name]) for zero in zeros if column.name in zero.masks]
        likely = np.concatenate([np.arange(column.cells + 1)[-3:], *listed])
        codes[column.name] = likely[drawing.integers(0, len(likely), 40)]
    values = {column.name: values_of(column, codes[column.name], drawing) for column in columns}
    expected = [
        any(
            all(belongs(FOLK.find(name), cells, values[name][row]) for name, cells in zero.items())
            for zero in given_zeros
        )
        for row in range(40)
    ]
    assert is_impossible(zeros, codes).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(ZERO, min_size=1, max_size=4))
def test_cells_share_a_profile_exactly_where_every_zero_has_both_or_neither(given_zeros):
    columns, zeros = over_cells(given_zeros, names=USED)
    numbered = profiles(columns, zeros)
    assert set(numbered) == set(USED)
    for column in columns:
        kinds = [
            tuple(bool(zero.masks[column.name][code]) for zero in zeros if column.name in zero.masks)
            for code in range(column.cells + 1)
        ]
        firsts = list(dict.fromkeys(kinds))
        assert numbered[column.name].tolist() == [firsts.index(kind) for kind in kinds]


@settings(max_examples=40, deadline=None)
@given(st.lists(ZERO, min_size=1, max_size=4))
def test_zeros_are_the_same_when_their_json_is_read_back(given_zeros):
    _, zeros = over_cells(given_zeros, names=USED)
    for zero in zeros:
        read = Zero.from_json(json.loads(json.dumps(zero.to_json())))
        assert list(read.masks) == list(zero.masks)
        for name, mask in zero.masks.items():
            np.testing.assert_array_equal(read.masks[name], mask)


def test_json_names_runs_of_codes():
    _, zeros = over_cells([{"age": [(3), 4, 5, 9, None], "pregnant": True}])
    assert zeros[0].to_json() == {
        "age": {"codes": 112, "runs": [[3, 5], [9, 9], [111, 111]]},
        "pregnant": {"codes": 3, "runs": [[1, 1]]},
    }


def test_ends_of_ranges_cut_the_cells():
    columns, zeros = over_cells([{"debt": (-10, 14), "income": (14, 14), "seen": ("2020-02-01", "2020-02-01T10:00")}
                                 | {"pregnant": False}])  # fmt: skip
    by_name = {column.name: column for column in columns}
    debt, income = by_name["debt"], by_name["income"]
    assert [debt.label(code) for code in range(debt.cells)] == ["[-5000, -10)", "[-10, 0)", "[0, 15)", "[15, 5000]"]
    assert zeros[0].masks["debt"].tolist() == [False, True, True, False, False]
    assert [income.label(int(code)) for code in np.flatnonzero(zeros[0].masks["income"])] == ["14"]
    seen = by_name["seen"]
    held = np.flatnonzero(zeros[0].masks["seen"])
    assert seen.label(int(held[0])).startswith("[2020-02-01T00:00:00, ")
    assert seen.label(int(held[-1])).endswith("2020-02-01T10:00:01)")


def test_ranges_of_listed_integers_hold_those_between():
    _, zeros = over_cells([{"rooms": (2, 7), "pregnant": None}, {"rooms": (1, 2), "pregnant": True}])
    assert zeros[0].masks["rooms"].tolist() == [True, False, True, False]
    assert zeros[1].masks["rooms"].tolist() == [False, True, False, False]


def test_names_and_values_tell_upper_from_lower_case_where_columns_do():
    _, zeros = over_cells([{"AGE": 3, "Status": "Single"}])
    assert list(zeros[0].masks) == ["age", "status"]
    assert zeros[0].masks["status"].tolist() == [False, True, False, False]


def test_a_value_may_be_written_in_any_type_that_means_it():
    spelt = [3, 3.0, "3", np.int64(3), np.float64(3), Decimal(3), Fraction(3)]
    masks = [over_cells([{"age": value, "pregnant": True}])[1][0].masks["age"] for value in spelt]
    assert all((mask == masks[0]).all() for mask in masks)
    dates = ["2020-02-03", date(2020, 2, 3)]
    masks = [over_cells([{"born": value, "pregnant": True}])[1][0].masks["born"] for value in dates]
    assert (masks[0] == masks[1]).all()
    assert masks[0].sum() == 1


def test_without_zeros_nothing_is_impossible_and_all_cells_are_alike():
    for nothing in (None, [], ()):
        columns, zeros = over_cells(nothing)
        assert zeros == ()
        assert all((kinds == 0).all() for kinds in profiles(columns, zeros).values())
        assert not is_impossible(zeros, {"age": np.arange(112)}).any()


def test_impossible_cells_of_a_table_are_told_by_codes_along_its_axes():
    _, zeros = over_cells([{"pregnant": True, "status": ["married", None]}])
    codes = {"pregnant": np.arange(3)[:, None], "status": np.arange(4)[None, :]}
    table = is_impossible(zeros, codes)
    assert table.tolist() == [[False] * 4, [False, False, True, True], [False] * 4]


def test_a_column_may_be_said_to_be_never_empty():
    _, (zero,) = over_cells([{"status": None}])
    assert {name: mask.tolist() for name, mask in zero.masks.items()} == {"status": [False] * 3 + [True]}


def test_a_column_that_was_not_cut_is_an_error_of_the_program():
    stated = stated_zeros(FOLK, [{"debt": (-10, 14), "pregnant": True}])
    with pytest.raises(ValueError, match="cut the column by cuts_of"):
        zeros_of(stated, columns_of(FOLK, NAMES).columns)


def test_a_zero_of_a_column_that_is_left_out_is_refused():
    stated = stated_zeros(FOLK, [{"age": 3, "pregnant": True}])
    with pytest.raises(BadValue, match=r"columns of the synthetic table.*'pregnant'.*Add 'pregnant' to columns"):
        zeros_of(stated, columns_of(FOLK, ["age", "status"]).columns)


def test_zeros_that_leave_no_row_possible_are_refused():
    with pytest.raises(BadValue, match="must leave some rows possible"):
        over_cells([{"pregnant": [True, False, None], "status": ["single", "Single", "married", None]}])
    _, zeros = over_cells([{"pregnant": [True, False], "status": ["single", "Single", "married"]}])
    assert len(zeros) == 1


def test_too_many_kinds_of_cells_are_refused():
    many = [{"city": f"c{place}", "flat": f"f{place}"} for place in range(MOST_PROFILES)]
    columns, zeros = over_cells(many[:-1], names=["city", "flat"])
    assert profiles(columns, zeros)["city"].max() + 1 == MOST_PROFILES
    columns, zeros = over_cells(many, names=["city", "flat"])
    with pytest.raises(BadValue, match=r"at most 256 kinds.*257 kinds of 'city'.*whole groups of 'city'"):
        profiles(columns, zeros)


def test_too_many_cuts_of_one_range_are_refused():
    places = list(range(0, 2 * MOST_CUTS, 2))
    with pytest.raises(BadValue, match=r"at no more than 512 places.*1,024 places in 'income'.*ranges"):
        cuts_of(stated_zeros(FOLK, [{"income": places, "pregnant": True}]))
    half = places[: MOST_CUTS // 2]
    assert len(cuts_of(stated_zeros(FOLK, [{"income": half, "pregnant": True}]))["income"]) == MOST_CUTS


REFUSED = [
    ({"age": 3, "pregnant": True}, "must be a list of combinations", "zeros = ["),
    ("age", "must be a list of combinations", "zeros = ["),
    (7, "must be a list of combinations", "zeros = ["),
    ([("age", 3)], "zeros[0] must map columns", "Give, for example"),
    ([{"age": 3}], "must name two columns or more, or one", "declare others"),
    ([{}], "must name two columns or more, or one", "declare others"),
    ([{"age": 3, "pregnant": True}, {"aeg": 3, "pregnant": True}], "zeros[1] must name declared", "'age'"),
    ([{"age": 3, 7: True}], "must name declared columns", "Name a declared column"),
    ([{"age": 3, "AGE": 4}], "must name each column once", "under 'age'"),
    ([{"age": 3, "notes": "x"}], "public values", "values = "),
    ([{"age": (14, 0), "pregnant": True}], "lower end first", "Write: (0, 14)"),
    ([{"born": ("2020-02-02", "2020-02-01"), "pregnant": True}], "lower", '("2020-02-01", "2020-02-02")'),
    ([{"age": (100, 200), "pregnant": True}], "within the bounds [0, 110]", "(0, 110)"),
    ([{"age": -1, "pregnant": True}], "within the bounds [0, 110]", "(0, 110)"),
    ([{"age": 1.5, "pregnant": True}], "whole numbers", "(0, 110)"),
    ([{"age": float("nan"), "pregnant": True}], "whole numbers", "(0, 110)"),
    ([{"age": "old", "pregnant": True}], "whole numbers", "(0, 110)"),
    ([{"age": True, "pregnant": True}], "whole numbers", "(0, 110)"),
    ([{"age": (0, None), "pregnant": True}], "a value, a list of values", "Write one of them"),
    ([{"age": (0, 5, 9), "pregnant": True}], "a pair (low, high) is a range", "square brackets"),
    ([{"age": [], "pregnant": True}], "1 to 10,000 values", "Leave the column out"),
    ([{"age": {3}, "pregnant": True}], "a value, a list of values", "Write one of them"),
    ([{"age": [(0, 3)], "pregnant": True}], "a value, a list of values", "Write one of them"),
    ([{"age": object(), "pregnant": True}], "a value, a list of values", "Write one of them"),
    ([{"age": pd.Series([3]), "pregnant": True}], "a value, a list of values", "Write one of them"),
    ([{"share": 0.15, "pregnant": True}], "whose step is 0.1", "(low, high)"),
    ([{"share": (0.12, 0.18), "pregnant": True}], "must hold a value", "Widen"),
    ([{"rooms": (4, 6), "pregnant": True}], "must hold a value", "Widen"),
    ([{"rooms": 2, "pregnant": True}], "among the public values", "Write, for example: 3"),
    ([{"status": "Maried", "age": 3}], "among the public values", "Did you mean 'married'?"),
    ([{"status": 3, "age": 3}], "among the public values", 'Write, for example: "single"'),
    ([{"status": True, "age": 3}], "among the public values", 'Write, for example: "single"'),
    ([{"status": ("single", "married"), "age": 3}], "a pair (low, high) is a range", "square brackets"),
    ([{"pregnant": "yes", "age": 3}], "True, False or None", "True"),
    ([{"pregnant": 1, "age": 3}], "True, False or None", "True"),
    ([{"born": "yesterday", "age": 3}], "dates such as", "0001-01-01"),
    ([{"seen": "2020-02-01T10:00+01:00", "age": 3}], "without an offset", "2020-01-01T00:00:00"),
    ([{"age": 3, "pregnant": True}] * (MOST_ZEROS + 1), "at most 1,000 combinations", "Join those"),
]  # fmt: skip


@pytest.mark.parametrize(("given_zeros", "rule", "fix"), REFUSED, ids=range(len(REFUSED)))
def test_zeros_that_mean_nothing_are_refused_with_what_to_write(given_zeros, rule, fix):
    with pytest.raises(BadValue) as refusal:
        stated_zeros(FOLK, given_zeros)
    assert rule in refusal.value.what
    assert fix in refusal.value.fix
