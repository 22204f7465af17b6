"""Cells of rows that are not behind the gate get the places that their values have in the list."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.learn.input.column import ModelColumn

TEXTS = ModelColumn("kind", "kind", ("", "a", "b", "1"), is_coded=True)
WHOLE = ModelColumn("level", "level", (0, 1, 7))
BOOLEAN = ModelColumn("yes", "yes", (False, True))
CELLS = [
    "a", "b", "", "1", "c", np.str_("a"), 0, 1, 7, -1, 2**70, True, False, np.bool_(True), np.int64(7), 1.0, 0.5, -0.0,
    np.float32(7), float("nan"), float("inf"), None, Decimal(1), Fraction(7), 1 + 0j, [1], b"a",
    np.datetime64("2020-01-01"),
]  # fmt: skip


def places_one_by_one(column, cells):
    """The slow twin: each cell alone, in an array with a cell that no fast way takes."""
    strange = np.empty(2, dtype=object)
    strange[1] = [1]
    places = []
    for cell in cells:
        strange[0] = cell
        places.append(column.encoded(strange)[0])
    return np.array(places)


@pytest.mark.parametrize("column", [TEXTS, WHOLE, BOOLEAN], ids=["texts", "whole numbers", "booleans"])
def test_a_cell_has_one_place_whatever_stands_beside_it(column):
    expected = places_one_by_one(column, CELLS)
    for step in (1, 2, 3, 5, 7):
        for first in range(step):
            chosen = np.empty(len(CELLS[first::step]), dtype=object)
            chosen[:] = CELLS[first::step]
            np.testing.assert_array_equal(column.encoded(chosen), expected[first::step])
    for place, cell in enumerate(CELLS):
        np.testing.assert_array_equal(column.encoded([cell]), expected[place : place + 1])


def test_whole_numbers_are_texts_when_predicting_as_they_are_when_fitting():
    codes = np.tile([1, 2], 500)
    facts = {"values": {"x0": ["1", "2"]}, "classes": [0, 1]}
    model = dp.learn.NaiveBayes(epsilon=100, **facts).fit(codes[:, None], codes - 1)
    assert model.predict(np.array([[1], [2]])).tolist() == [0, 1]


def test_equal_numbers_of_any_type_have_one_place_and_other_things_none():
    assert TEXTS.encoded(np.array(["b", "c", "", "1"], dtype=object)).tolist() == [2, -1, 0, 3]
    assert TEXTS.encoded(np.array(["b", "c", "", "1"])).tolist() == [2, -1, 0, 3]
    assert TEXTS.encoded([1, None, True, 1.0]).tolist() == [3, -1, 3, 3]  # no type of a column keeps True from 1
    for cells in (np.array([7, 0, 1]), np.array([7.0, -0.0, 1.0]), np.array([7, False, True], dtype=object)):
        assert WHOLE.encoded(cells).tolist() == [7, 0, 1]
    assert np.isnan(WHOLE.encoded([2, float("nan"), None, "x", b"x", 1j, [1]])).all()
    assert WHOLE.encoded([0.5, "1", Decimal(1), Fraction(7), 1 + 0j]).tolist() == [1, 1, 1, 7, 1]  # halves upward
    assert BOOLEAN.encoded(np.array([True, False])).tolist() == [1, 0]
