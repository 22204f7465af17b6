"""No cell changes how another is read, whatever type a column gets from it; fits and predictions alike."""

import datetime
import uuid
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays
from discreet.learn.input.cells import keys_of, numbers_of
from discreet.learn.input.column import model_column
from discreet.schema import Column

ODD = [None, float("nan"), "x", "", b"x", 0.5, 2**63, 2**70, -(10**400), 1j, True, [1], (1, 2), pd.NA, np.int64(1)]
ODD += [
    np.float64(2),
    np.bool_(True),
    Decimal("1"),
    float("inf"),
    datetime.date(2020, 1, 1),
    np.datetime64("NaT"),
]
PLAIN = {
    "whole": [1, 2, 1, 2, 2, 1],
    "real": [0.25, 1.5, 2.0, 0.0, 1.0, 1.75],
    "flag": [True, False, True, True, False, True],
    "text": ["1", "2", "1", "2", "1", "1"],
    "spelt": ["True", "False", "True", "True", "False", "False"],
}
COLUMNS = {
    "whole": Column("c", "integer", values=(1, 2)),
    "real": Column("c", "number", bounds=(0, 2)),
    "flag": Column("c", "boolean"),
    "text": Column("c", "category", values=("1", "2")),
    "spelt": Column("c", "category", values=("True", "False")),
}
FACTS = {
    "whole": {"values": {"c": [1, 2]}},
    "real": {"bounds": (0, 2)},
    "flag": {"values": {"c": [False, True]}},
    "text": {"values": {"c": ["1", "2"]}},
    "spelt": {"values": {"c": ["True", "False"]}},
}


def held(column, kind, y, units=None):
    """The stored cells of the first six rows, and which of them are empty."""
    facts = ArrayFacts(classes=[0, 1], **FACTS[kind])
    _, view = subject_of_arrays(columns_of({"c": column}), y, units, facts)
    own = view._rows.cells["x0"]
    return [None if empty else cell for cell, empty in zip(own.stored.tolist(), own.empty.tolist(), strict=True)]


def shapes(cells):
    """A column in the types that callers hand over; those that refuse such cells are left out."""
    yield list(cells)
    objects = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        objects[place] = cell
    yield objects
    for make in (np.array, pd.Series, lambda listed: pl.Series(listed, strict=False)):
        try:
            typed_column = make(list(cells))
        except Exception:  # a library's own refusal, before Discreet is called
            continue
        if getattr(typed_column, "dtype", None) is not None and len(np.shape(typed_column)) == 1:
            yield typed_column


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("kind", ["whole", "real", "flag", "text"])
def test_an_odd_cell_changes_no_other_persons_cells(kind, odd):
    plain = held(PLAIN[kind], kind, [0, 1] * 3)
    assert None not in plain
    listed, objects, *_ = shapes([*PLAIN[kind], odd])
    for column in (listed, objects):
        assert held(column, kind, [0, 1] * 3 + [0])[:6] == plain
        encoded = model_column(COLUMNS[kind]).encoded(column)[:6]
        assert encoded.tolist() == model_column(COLUMNS[kind]).encoded(PLAIN[kind]).tolist()


@pytest.mark.parametrize("missing", [None, float("nan")], ids=repr)
@pytest.mark.parametrize("kind", list(PLAIN))
def test_an_empty_cell_changes_nothing_in_frames_and_arrays(kind, missing):
    """Whole numbers and booleans become floats or objects in such a column."""
    plain = held(PLAIN[kind], kind, [0, 1] * 3)
    for column in shapes([*PLAIN[kind], missing]):
        if kind == "flag" and getattr(column, "dtype", None) == np.float64:
            continue
        cells = held(column, kind, [0, 1] * 3 + [0])
        if kind != "spelt" or not isinstance(column, np.ndarray):
            assert cells[:6] == plain


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_target_or_unit_changes_no_other_persons_rows(odd):
    facts = {"bounds": (0, 2), "classes": [0, 1], "epsilon": 1000}
    numbers, targets, units = [0.5] * 7, [0, 1, 1, 0, 1, 1, odd], [1, 2, 3, 4, 5, 6, odd]
    by_target = dp.learn.NaiveBayes(bins=2, **facts).fit({"c": numbers}, targets)
    assert by_target.fit_.released["c"].sum() in (6, 7)
    by_unit = dp.learn.NaiveBayes(bins=2, **facts).fit({"c": numbers}, [0, 1, 1, 0, 1, 1, 1], units=units)
    assert by_unit.fit_.released["c"].sum() in (6, 7)


def test_masked_cells_are_empty():
    mask = [False, True, False, False, False, False]
    for kind, cells in (("real", np.array(PLAIN["real"])), ("whole", np.array(PLAIN["whole"]))):
        stored = held(np.ma.masked_array(cells, mask), kind, [0, 1] * 3)
        assert stored[1] is None
        assert None not in stored[2:]


def test_rows_to_predict_are_read_as_those_of_a_fit():
    column = model_column(Column("a", "integer", values=(0, 1, 2)))
    assert column.encoded([0.6, 1.4, 2.6, -0.4]).tolist()[:2] == [1.0, 1.0]
    bounded = model_column(Column("a", "integer", bounds=(0, 9)))
    assert bounded.encoded([0.6, 3.5, 12, "4"]).tolist() == [1.0, 4.0, 9.0, 4.0]
    day = model_column(Column("d", "date", bounds=(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1))))
    dates = [datetime.date(2020, 1, 2), "2020-01-02", "no date", None]
    assert day.encoded(dates).tolist()[:2] == [18263.0, 18263.0]
    assert np.isnan(day.encoded(dates)[2:]).all()
    assert day.encoded(np.array(["2020-01-02"], dtype="datetime64[ns]")).tolist() == [18263.0]


@pytest.mark.parametrize(
    ("kind", "plain", "odd"),
    [
        ("text", np.array([1, 2, 1]), np.array([1, 2, 1, "oops"])),
        ("text", np.array([1.0, 2.0, 1.0]), np.array([1.0, 2.0, 1.0, "oops"])),
        ("text", np.array([1, 2, 1]), pd.Series([1, 2, 1, None])),
        ("spelt", np.array([True, False, True]), np.array([True, False, True, np.nan])),
        ("spelt", np.array([True, False, True]), np.array([True, False, True, "oops"])),
        ("flag", np.array([True, False, True]), np.array(["true", "false", "TRUE", "oops"])),
    ],
)
def test_a_type_that_an_odd_cell_gives_a_column_changes_no_other_value(kind, plain, odd):
    without = held(plain, kind, [0, 1, 0])
    assert None not in without
    assert held(odd, kind, [0, 1, 0, 1])[:3] == without


def test_keys_are_the_same_in_every_type_that_keeps_them():
    ids = [10**17 + 1, 10**17 + 2, 7]
    columns = (ids, np.array(ids), np.array([*map(str, ids), "oops"]), pd.Series([*ids, None], dtype="Int64"))
    assert {tuple(keys_of(column)[:3]) for column in columns} == {tuple(map(str, ids))}
    assert keys_of(np.array([1.0, 2.0, "oops"])).tolist() == ["1", "2", "oops"]


def test_floats_that_merge_large_numbers_are_refused_by_their_type():
    for units in (pd.Series([10**17 + 1, None]), np.array([1.0, 2.0])):
        with pytest.raises(BadValue, match="units must not be floats"):
            held(["1", "2"], "text", [0, 1], units)
    facts = ArrayFacts(values={"c": [str(10**17 + 1), "2"]}, classes=[0, 1])
    with pytest.raises(BadValue, match="must not be floats"):
        subject_of_arrays({"c": np.array([1e17, 2.0])}, [0, 1], None, facts)


def test_cells_and_rows_that_cannot_be_spelt_raise_nothing_of_their_own():
    assert held([10**5000, "2"], "text", [0, 1]) == [None, held(["2"], "text", [0])[0]]
    with pytest.raises(BadValue, match="X must hold rows"):
        columns_of([[1, 2], None, [3, 4]])


# --- facts of columns that are not there -----------------------------------------------------------------------------


@pytest.mark.parametrize("argument", ["bounds", "values"])
def test_facts_of_a_column_that_is_not_there_are_refused(argument):
    """Caught here: a misspelt name whose bounds nobody obeyed, while those of all columns stood in for it."""
    facts = {"bounds": {"age": (0, 9)}, "values": {"work": ["a", "b"]}}
    columns = {"age": [1, 2], "work": ["a", "b"]}
    known = ArrayFacts(**facts, classes=["no", "yes"])
    assert subject_of_arrays(columns, ["no", "yes"], None, known)[0].features[0].high == 9
    wrong = {**facts, argument: {**facts[argument], "agee": (0, 9)}}
    with pytest.raises(BadValue, match=rf"{argument} must name columns .* age, work, .*agee.*Did you mean 'age'"):
        subject_of_arrays(columns, ["no", "yes"], None, ArrayFacts(**wrong, classes=["no", "yes"]))


def test_facts_of_the_target_by_its_name_are_no_unknown_ones():
    target = pd.Series(["no", "yes"], name="sick")
    for name in ("y", "sick"):
        facts = ArrayFacts(bounds={"age": (0, 9), name: (0, 1)}, classes=["no", "yes"])
        assert subject_of_arrays({"age": [1, 2]}, target, None, facts)
    with pytest.raises(BadValue, match="must name columns"):
        subject_of_arrays({"age": [1, 2]}, ["no", "yes"], None, facts)


def test_columns_that_are_numbers_are_named_by_them():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: ["a", "b"]})
    model = dp.learn.NaiveBayes(epsilon=1, bounds={0: (0, 9)}, values={1: ["a", "b"]}, classes=["no", "yes"])
    names = [feature.name for feature in model.fit(dict(frame), ["no", "yes"]).fit_.plan.subject.features]
    assert names == ["0", "1"]


def test_values_that_are_no_dict_are_refused():
    with pytest.raises(BadValue, match="values must be a dict"):
        subject_of_arrays({"a": [1]}, [0], None, ArrayFacts(bounds=(0, 1), values=["x"], classes=[0, 1]))


@pytest.mark.parametrize("target", [["no", "yes"], np.array(["no", "yes"]), np.array(["no", "yes"], dtype=object)])
def test_no_type_of_a_target_is_an_error(target):
    """A list or array is of texts as soon as one cell is one: an error would tell whether anyone's is, or is not."""
    model = dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
    assert model.fit({"a": [0, 1]}, target).predict({"a": [0]})[0] in (0, 1)


# --- keys of units ---------------------------------------------------------------------------------------------------

NEAR = [2**53, 2**53 + 1]  # one number as doubles


@pytest.mark.parametrize(
    "units",
    [
        pd.Series([*map(float, NEAR), None]).astype("category"),
        pd.arrays.SparseArray([*map(float, NEAR), np.nan]),
        pa.array([*map(float, NEAR), None]).dictionary_encode(),
        pa.chunked_array([pa.array([*map(float, NEAR), None])]),
        pd.Series([*map(float, NEAR), None]),
    ],
    ids=["categories", "sparse", "dictionary", "chunks", "floats"],
)
def test_units_that_floats_may_have_merged_are_refused_by_their_type(units):
    facts = ArrayFacts(bounds=(0, 1), classes=[0, 1])
    with pytest.raises(BadValue, match="units must not be floats"):
        subject_of_arrays({"a": [0.0, 1.0, 1.0]}, [0, 1, 1], units, facts)


def test_keys_may_be_of_any_type_that_names_somebody():
    first, second = uuid.UUID(int=1), uuid.UUID(int=2)
    moments = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    assert keys_of([first, second, str(first)]).tolist() == [str(first), str(second), str(first)]
    assert len(set(keys_of(moments).tolist())) == 2
    assert keys_of([Decimal(3), Decimal("3.0"), 3, "3"]).tolist() == ["3"] * 4
    assert keys_of([Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e5000"), None]).tolist() == [None] * 5
    assert len(set(keys_of([b"\x31", "31", 31, "1"]).tolist())) == 3


class Telling:
    """A cell whose conversion raises its own words."""

    def __float__(self) -> float:
        raise RuntimeError("secret 42")


def test_no_cell_raises_or_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(numbers_of([Telling(), 1.0])[0])
        assert numbers_of(np.array([np.longdouble("1e4000"), 1], dtype=np.longdouble)).tolist() == [np.inf, 1.0]
        far = pa.array([2**62, 0], pa.timestamp("s"))
        assert keys_of(far).tolist()[0] is None
        broken = pa.StringArray.from_buffers(1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff"))
        assert keys_of(broken).tolist() == [None]


def test_a_dict_names_each_column_once():
    with pytest.raises(BadValue, match="X must name each column once"):
        columns_of({1: [0.0], "1": [1.0]})
