"""Small areas: exact tables give persons away, a release does not; ranges of a built release are counted."""

import json
import math
import os
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


def test_a_built_release_is_attacked_by_what_it_publishes(tmp_path):
    people = [("a", "f")] * 9 + [("b", "m")] * 20 + [("c", "f")] * 3
    columns = {"person": list(range(32)), "area": [area for area, _ in people], "sex": [sex for _, sex in people]}
    with invented_dataset(_TOML, columns) as dataset:
        dataset.release("places", by=["sex"]).build(epsilon=20).save(tmp_path / "built")
    result = attack_named("small_area").on_file(tmp_path / "built", 7)
    assert not result.of_real_data  # it reads what is published, and no row
    assert STAMP not in alt_text(result)
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


@pytest.fixture
def forged(tmp_path):
    """A release of which any fact or number can be replaced."""
    from pyarrow import array, parquet, table, uint64

    def write(low=0, high=1, **facts):
        (tmp_path / "release.json").write_text(
            json.dumps({"levels": [{"level": "area"}], "cells": 1, "epsilon": "1", "unit": "person"} | facts)
        )
        ends = (array([end], uint64() if end == 2**64 - 1 else None) for end in (low, high))
        parquet.write_table(
            table(dict(zip(("level", "n_low", "n_high"), (["area"], *ends), strict=True))), tmp_path / "table.parquet"
        )
        return tmp_path

    return write


def test_a_release_that_reads_is_no_more_private_than_it_was(forged):
    result = small_area.on_file(forged(), 7)
    assert result.private == {"1": pytest.approx(math.log10(2))}
    assert not result.of_real_data


@pytest.mark.parametrize(
    "facts",
    [
        *[{"high": number} for number in (2**64 - 1, 1e300, math.inf, math.nan, 1.5, 10**16, "canary", None)],
        *[{"low": number} for number in (-1, 2**64 - 1, math.inf)],
        *[{"cells": number} for number in (math.inf, 1e300, 0, -1, 2, "1e9999999", None)],
        *[{"epsilon": number} for number in (math.inf, math.nan, -1, 1e300, "canary", None, [], "1e999999999")],
        *[{"unit": name} for name in ([1], 3, {})],
    ],
)
def test_forged_numbers_are_refused_in_one_sentence(forged, facts):
    with pytest.raises(BadValue, match="must be the folder of a") as refused:
        small_area.on_file(forged(**facts), 7)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("name", ["release.json", "table.parquet"])
def test_a_pipe_in_a_release_is_not_waited_for(forged, name):
    folder = forged()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(BadValue, match="built release"):
        small_area.on_file(folder, 7)


def test_blind_guessing_is_the_mean_of_many_districts(monkeypatch):
    """The mean over 8,000 areas is the same by another seed; one district of 40 is not."""
    monkeypatch.setattr(small_area, "_rebuilt_shares", lambda truth, tables: np.zeros(len(truth)))
    blind = [small_area.example((), seed).baseline for seed in range(4)]
    assert max(blind) - min(blind) < 0.01
