"""Adults of the census survey of 1994 as numbers, from $DISCREET_DATA; invented ones where that is not there."""

import json
import os
from pathlib import Path

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator

_ROWS, _DOMAIN, _TARGET = "adult_binned.csv", "adult_binned_domain.json", "income>50K"
_NUMBERS = frozenset({"fnlwgt", "capital-gain", "capital-loss"})  # one column each; all others one for each value
_INVENTED = {"age": 85, "occupation": 15, "hours": 99, "country": 42, "education": 16, "relationship": 6, "weight": 100}


def adults(count: int, chance: Generator) -> tuple[Floats, Floats, bool]:
    """(rows with a last column of ones, classes ±1, whether they are real) of so many people, drawn by chance."""
    folder = Path(os.environ.get("DISCREET_DATA", "")) / "adult"
    if not (folder / _ROWS).is_file() or not (folder / _DOMAIN).is_file():
        return *_invented_people(count, chance), False
    sizes: dict[str, int] = json.loads((folder / _DOMAIN).read_text())
    table = np.loadtxt(folder / _ROWS, delimiter=",", skiprows=1, dtype=np.int64)
    table = table[chance.permutation(len(table))[:count]]
    signs = np.where(table[:, list(sizes).index(_TARGET)] == 1, 1.0, -1.0)
    sizes_of_features = {name: size for name, size in sizes.items() if name != _TARGET}
    return _design(table, sizes_of_features, _NUMBERS), signs, True


def _invented_people(count: int, chance: Generator) -> tuple[Floats, Floats]:
    """People whose class follows from their age, hours and education, and otherwise from a coin."""
    table = np.column_stack([chance.integers(size, size=count) for size in _INVENTED.values()])
    scaled = table / np.array(list(_INVENTED.values()))
    slope = 2 * (scaled[:, 0] + scaled[:, 2] + 2 * scaled[:, 4]) - 5
    signs = np.where(slope + chance.logistic(size=count) > 0, 1.0, -1.0)
    return _design(table, _INVENTED, frozenset({"weight"})), signs


def _design(table: Ints, sizes: dict[str, int], numbers: frozenset[str]) -> Floats:
    """A column for each value of a category, one in [−1, 1] for a number, and one of ones."""
    parts = []
    for (name, size), column in zip(sizes.items(), table.T, strict=False):
        parts.append(column[:, None] * 2 / (size - 1) - 1 if name in numbers else np.eye(size)[column])
    return np.column_stack([*parts, np.ones(len(table))])
