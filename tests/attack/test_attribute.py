"""Hidden cells from a model's answers and from published tables."""

from collections import Counter

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import discreet as dp
from discreet.attack.models.attribute import attribute, example, inverted, on_file
from discreet.attack.models.nearest import chances_of_right, codes_of
from discreet.errors import BadValue
from discreet.noise.public import generator

TOML = """
[dataset]
name = "people"
source = "people.csv"
[columns.age]
type = "integer"
bounds = [0, 9]
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.ward]
type = "category"
values = ["a", "b", "c"]
[budget]
epsilon = 100
delta = 1e-6
"""


def chance_by_hand(known, truth, published, values):
    """The slow twin, one row at a time."""
    alike = [sum(a == b for a, b in zip(known, row, strict=True)) for row in published]
    nearest = [value for value, count in zip(values, alike, strict=True) if count == max(alike)]
    counts = Counter(nearest)
    best = [value for value, count in counts.items() if count == max(counts.values())]
    return (truth in best) / len(best)


def test_the_nearest_rows_are_those_of_a_slow_search():
    chance = generator(3)
    known, published = chance.integers(3, size=(40, 4)), chance.integers(3, size=(60, 4))
    truth, values = chance.integers(4, size=40), chance.integers(4, size=60)
    slow = [chance_by_hand(row, value, published, values) for row, value in zip(known, truth, strict=True)]
    assert chances_of_right(known, truth, published, values) == pytest.approx(slow)


def test_a_row_left_out_is_told_by_all_others_alone():
    chance = generator(4)
    known, truth = chance.integers(3, size=(30, 3)), chance.integers(2, size=30)
    slow = [
        chance_by_hand(known[row], truth[row], np.delete(known, row, 0), np.delete(truth, row)) for row in range(30)
    ]
    assert chances_of_right(known, truth, known, truth, own=True) == pytest.approx(slow)


def test_codes_are_equal_where_cells_are():
    first, second = codes_of([[["a", "b"], [1, 2]], [["b", "c"], [2, 2]]])
    assert first.tolist() == [[0, 0], [1, 1]]
    assert second.tolist() == [[1, 1], [2, 1]]


def test_the_prior_decides_between_equal_chances():
    chances = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert inverted(chances, [0, 1], np.array([0.9, 0.1])).tolist() == [1, 0]
    assert inverted(chances, [0, 1], np.array([0.5, 0.5])).tolist() == [0.5, 0.5]


def test_a_single_person_has_no_interval():
    assert attribute([1], chances=[[0.1, 0.9]]).intervals == {}


def test_a_copy_of_a_table_tells_its_hidden_column():
    table = {"age": [30, 40, 50], "sex": ["f", "m", "f"], "ward": ["a", "b", "c"]}
    known = {"age": [30, 40, 50], "sex": ["f", "m", "f"]}
    result = attribute(["a", "b", "c"], known=known, published=table, column="ward")
    assert result.raw == 1
    assert result.baseline == pytest.approx(1 / 3)
    assert result.of_real_data
    for build in (polars.DataFrame, pandas.DataFrame, pyarrow.table):
        of_frames = attribute(build(table)["ward"], known=build(known), published=build(table), column="ward")
        assert of_frames == result


def test_trees_tell_coins_and_private_trees_stay_below_the_ceiling():
    """40 trees and 5,120 people: .4 is more than 20 standard errors above what is seen."""
    result = example(("1",), 7)
    assert result.raw > 0.6
    assert result.private["1"] < 0.4
    assert result.ceiling["1"] == pytest.approx(0.25 * np.e)
    assert result.details["from_tables"]["raw"] > 0.9
    assert result.details["from_tables"]["1"] < 0.35


def people(folder, follows=True):
    """A ward that follows from sex and age, or none that does."""
    chance = generator(5)
    rows = []
    for _ in range(300):
        age, sex = int(chance.integers(10)), "fm"[int(chance.integers(2))]
        ward = "abc"[(age > 4) + (sex == "f")] if follows else "abc"[int(chance.integers(3))]
        rows.append(f"{age},{sex},{ward}")
    (folder / "people.csv").write_text("\n".join(["age,sex,ward", *rows]) + "\n")
    (folder / "people.toml").write_text(TOML)
    return dp.open(folder / "people.toml")


def test_a_synthetic_table_is_tried_against_the_private_one_beside_it(tmp_path):
    with people(tmp_path) as dataset:
        dataset.synthesize().build(epsilon=50).save(tmp_path / "synthetic.parquet")
    result = on_file(tmp_path / "synthetic.parquet", 7)
    assert result.of_real_data
    assert result.raw is None
    assert result.private["50"] > 0.8  # ward follows from age and sex
    assert result.private["50"] > result.baseline
    assert set(result.details["by_column"]) == {"age", "sex", "ward"}
    ward = result.details["by_column"]["ward"]
    assert ward["other_rows"] > 0.95  # so it is a fact about all


def test_a_synthetic_table_away_from_its_own_is_refused(tmp_path):
    with people(tmp_path) as dataset:
        dataset.synthesize().build(epsilon=1).save(tmp_path / "synthetic.parquet")
    (tmp_path / "people.toml").rename(tmp_path / "people.txt")
    with pytest.raises(BadValue, match="beside the TOML"):
        on_file(tmp_path / "synthetic.parquet", 7)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"known": {"a": [1]}, "published": {"b": [1]}, "column": "b"},
        {"known": {"a": [1]}, "published": {"a": [1], "b": [1]}, "column": "a"},
        {"known": {"a": [1, 2]}, "published": {"a": [1], "b": [1]}, "column": "b"},
        {"known": {"a": []}, "published": {"a": [], "b": []}, "column": "b"},
        {"chances": [[0.5, 0.5]], "prior": [1.0]},
        {"chances": [[0.5]]},
        {"known": {"a": [[1]]}, "published": {"a": [[1]], "b": [1]}, "column": "b"},
        {"known": 3, "published": {"a": [1], "b": [1]}, "column": "b"},
        {"known": {"a": [1]}, "published": None, "column": "b"},
    ],
)
def test_what_hides_no_cell_is_refused(given):
    with pytest.raises(BadValue):
        attribute([1], **given)


@pytest.mark.parametrize("truth", [None, 3, []])
def test_no_truth_is_refused(truth):
    with pytest.raises(BadValue):
        attribute(truth, known={"a": [1]}, published={"a": [1], "b": [1]}, column="b")
    with pytest.raises(BadValue):
        attribute(truth, chances=[[0.5, 0.5]])
