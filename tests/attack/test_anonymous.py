"""A k-anonymous table leaves few secrets for one person, and two such tables fewer."""

import math

import numpy as np
import pytest

from discreet.attack.linking.anonymous import (
    HOSPITAL,
    REBECCA,
    K,
    _possible,
    anonymous,
    example,
    fits,
    secrets_left,
)
from discreet.attack.linking.mondrian import groups
from discreet.errors import BadValue
from discreet.noise.public import generator


@pytest.fixture(scope="module")
def built_in():
    return example(("1",), 7)


def test_rebecca_who_is_55_has_one_of_two_diagnoses(built_in):
    """The table of The Ethical Algorithm (Kearns & Roth 2019), as the lecture prints it."""
    assert secrets_left(HOSPITAL, REBECCA, secret="diagnosis") == {"HIV", "Ulcerative colitis"}
    assert secrets_left(HOSPITAL, {"age": 55}, secret="diagnosis") == {
        *("HIV", "Lyme disease", "Seasonal allergies", "Ulcerative colitis")
    }
    assert anonymous([HOSPITAL], REBECCA).raw == 0.5
    assert built_in.details["left"][1] == ["HIV", "Ulcerative colitis"]


def test_a_second_table_leaves_one(built_in):
    assert built_in.details["left"][2] == ["HIV"]
    assert built_in.chart.lines[0].y == (8, 2, 1)


def test_two_releases_make_certain_what_one_hides(built_in):
    two = built_in.details["two_releases"]
    assert two["certain by one release"] < 0.01
    assert two["certain by both"] > 0.2


def test_noisy_counts_leave_a_guess_below_the_ceiling(built_in):
    """1,000 trials at a chance of .3: .23 to .375 but for 1 run in 10⁶, and the ceiling is .34."""
    assert 0.2 < built_in.private["1"] < 0.4
    assert built_in.ceiling["1"] == pytest.approx(math.e / 8)
    assert built_in.baseline == 1 / 8


def test_exact_counts_are_guessed_from_in_the_same_trials(built_in):
    """Both women have one diagnosis with chance ⅛, else the guess is one of two: 9/16, ± .08 but for 1 seed in 10⁶."""
    assert built_in.raw == pytest.approx(9 / 16, abs=0.08)
    low, high = built_in.intervals["raw"]
    assert low < built_in.raw < high
    assert example(("100",), 7).private["100"] == pytest.approx(built_in.raw, abs=0.1)


@pytest.mark.parametrize(
    ("cell", "value", "whether"),
    [
        ("50-60", 50, True),
        ("50-60", 60.5, False),
        ("50–60", "55", True),
        ("50-60", "n/a", False),
        ("1910*", 19103, True),
        ("1910*", 1910, False),
        ("*", None, True),
        ("a.c", "abc", False),
    ],
)
def test_cells_stand_for_what_they_say(cell, value, whether):
    assert fits(cell, value) is whether


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_every_group_has_k_rows_and_none_could_be_cut(k):
    traits = generator(k).integers(0, 9, size=(80, 2)).astype(float)
    labels = groups(traits, k)
    assert np.bincount(labels).min() >= k
    assert len(np.unique(labels)) == labels.max() + 1
    for label in range(labels.max() + 1):
        part = traits[labels == label]
        cuts = [(part[:, column] <= np.median(part[:, column])).sum() for column in (0, 1)]
        assert not any(k <= cut <= len(part) - k for cut in cuts)


def test_what_a_group_leaves_agrees_with_sets():
    """The twin of the table of what is possible."""
    chance = generator(3)
    labels, secrets = groups(chance.random((60, 2)), K), chance.integers(0, 50, size=60)
    for row, possible in enumerate(_possible(labels, secrets)):
        assert set(np.flatnonzero(possible)) == set(secrets[labels == labels[row]])


def test_tables_of_the_callers_own_are_intersected():
    first = {"age": ["20-30", "20-30"], "illness": ["flu", "gout"]}
    second = {"sex": ["f", "f", "m"], "illness": ["gout", "mumps", "flu"]}
    result = anonymous([first, second], {"age": 22, "sex": "f"}, secret="illness")
    assert result.details["left"] == [["flu", "gout"], ["flu", "gout"], ["gout"]]
    assert result.raw == 1
    assert result.of_real_data
    assert anonymous((table for table in (first, second)), {"age": 22, "sex": "f"}, secret="illness") == result


def test_the_guess_is_the_most_frequent_of_what_is_left():
    ward = {"age": ["20-30"] * 6 + ["30-40"] * 2, "illness": ["flu"] * 4 + ["gout", "mumps", "mumps", "HIV"]}
    alone = anonymous([ward], {"age": 22}, secret="illness")
    assert alone.raw == pytest.approx(4 / 6)
    assert alone.baseline == 4 / 8
    other = {"sex": ["f", "f", "f", "m"], "illness": ["gout", "gout", "mumps", "flu"]}
    assert anonymous([ward, other], {"age": 22, "sex": "f"}, secret="illness").raw == pytest.approx(2 / 3)


def test_a_column_that_no_table_has_is_no_knowledge():
    with pytest.raises(BadValue, match=r"known must be of columns that a table has.*alter"):
        anonymous([HOSPITAL], {"alter": 35})


def test_a_table_that_is_not_in_a_list_is_refused_as_such():
    with pytest.raises(BadValue, match=r"one table.*\[table\]"):
        anonymous(HOSPITAL, REBECCA)


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_tables_may_be_frames(kind):
    import pandas
    import polars
    import pyarrow

    build = {"polars": polars.DataFrame, "pandas": pandas.DataFrame, "arrow": pyarrow.table}[kind]
    assert anonymous([build(HOSPITAL)], REBECCA).raw == 0.5


@pytest.mark.parametrize(
    ("tables", "known", "secret"),
    [
        ([], {}, "illness"),
        ([{"age": ["20-30"], "illness": ["canary"]}], {"age": 40}, "illness"),
        ([{"age": ["20-30"]}], {"age": 22}, "illness"),
        ([3], {"age": 22}, "illness"),
        (3, {"age": 22}, "illness"),
        ({"age": ["20-30"], "illness": ["canary"]}, {"age": 22}, "illness"),
        ([{"age": ["20-30"], "illness": ["canary"]}], ["age"], "illness"),
        ([{"age": ["20-30"], "illness": ["canary"]}], None, "illness"),
    ],
)
def test_tables_that_nobody_fits_are_refused(tables, known, secret):
    with pytest.raises(BadValue) as refused:
        anonymous(tables, known, secret=secret)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("k", [0, 81])
def test_groups_larger_than_the_table_are_refused(k):
    with pytest.raises(BadValue):
        groups(np.zeros((80, 1)), k)
