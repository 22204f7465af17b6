"""Small areas: exact tables give persons away, a release does not; ranges of a built release are counted."""

import json
import math
from itertools import product

import numpy as np
import pytest

from discreet.attack.catalog import attack_named
from discreet.attack.consistent import small_area
from discreet.attack.consistent.ranges import log_worlds
from discreet.attack.invented import invented_dataset
from discreet.attack.words import STAMP, alt_text
from discreet.errors import BadValue
from discreet.noise.public import generator

_TOML = """
[unit]
key = "person"
max_rows = 1
[columns.area]
type = "category"
[columns.sex]
type = "category"
values = ["f", "m"]
[hierarchy.places]
levels = ["district", "area"]
branches = [["all", "a"], ["all", "b"], ["all", "c"]]
[budget]
epsilon = 50
"""


def test_exact_tables_rebuild_small_areas_and_a_release_does_not():
    """ε = 1 over three releases, 40 areas of 10 persons: chance of more than a tenth rebuilt is below 10⁻⁶.

    At most one guessed person in four areas is right on average (0.015 measured), and a tenth is forty persons.
    """
    result = small_area.example(("1",), 7)
    assert result.raw >= 0.95
    assert result.private["1"] < 0.15
    assert result.private["1"] < result.raw / 4
    assert 0 < result.baseline < 0.3
    assert "found nothing above" in result.sentence or result.private["1"] > result.baseline


def test_the_solver_is_as_near_as_the_best_of_all_tables():
    """All tables of up to two persons in each of 2 × 2 × 2 cells, tried one by one."""
    chance, views = generator(5), ((0, 1), (0, 2), (1, 2))
    margins = [chance.integers(0, 3, (2, 2)) for _ in views]

    def miss(cells):
        sums = (cells.sum(axis=2), cells.sum(axis=1), cells.sum(axis=0))
        return sum(int(np.abs(own - given).sum()) for own, given in zip(sums, margins, strict=True))

    every = (np.array(cells).reshape(2, 2, 2) for cells in product(range(3), repeat=8))
    assert miss(small_area.rebuilt(margins, views, (2, 2, 2))) == min(map(miss, every))


def test_overlap_counts_each_guessed_person_once():
    assert small_area.overlap(np.array([2, 1, 0]), np.array([1, 5, 5])) == 2 / 3


def test_worlds_in_ranges_are_the_product_of_their_lengths():
    low, high = np.array([0, 2, 1]), np.array([3, 2, 2])
    inside = list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))
    assert math.isclose(10 ** log_worlds(low, high), len(inside))


def test_a_built_release_is_attacked_and_the_result_is_the_curators(tmp_path):
    people = [("a", "f")] * 9 + [("b", "m")] * 20 + [("c", "f")] * 3
    columns = {"person": list(range(32)), "area": [area for area, _ in people], "sex": [sex for _, sex in people]}
    with invented_dataset(_TOML, columns) as dataset:
        dataset.release("places", by=["sex"]).build(epsilon=20).save(tmp_path / "built")
    result = attack_named("small_area").on_file(tmp_path / "built", 7)
    assert result.of_real_data
    assert alt_text(result).startswith(STAMP)
    assert result.trials == 3
    assert list(result.private) == ["20"]
    assert 0 <= result.private["20"] < 4
    json.dumps(result.to_json(), allow_nan=False)


NO_CELLS = '{"levels": [{"level": "area"}], "cells": 2}'


@pytest.mark.parametrize("text", [None, "{", "{}", '{"levels": []}', "[]", NO_CELLS])
def test_what_is_no_release_is_refused_in_a_sentence(tmp_path, text):
    if text is not None:
        (tmp_path / "release.json").write_text(text)
    with pytest.raises(BadValue, match="built release"):
        small_area.on_file(tmp_path, 7)
