"""Oblivious trees planted without a look at any row: their tests are digits of a hash of public facts.

Trees take the features of a shuffled round in turn, so that each feature is asked about equally often, and put several
tests in a row to each of them: alone a test says little, and fewer features a tree leave more rows in a leaf.

    a number     cut at a place drawn among the edges of its bins, another one for each test
    a category   a coin decides: one value against the rest, or a random set of values of uniform size
    empty        goes to a side by a coin

Equal facts plant equal trees, on every machine and in every later version, so a stored forest needs no copy of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.kernel.encode import Feature
from discreet.ndarrays import Ints
from discreet.noise.public import SeededWords

IN_A_ROW = 3  # tests of one feature


def planted_tests(
    seed: str, trees: int, depth: int, features: Sequence[Feature], ordered: Sequence[bool]
) -> tuple[Ints, Any]:
    """The features that each tree asks, tree × test, and the sides of their cells, tree × test × cell."""
    words = SeededWords(seed)
    asked = _feature_order(words, trees, depth, len(features))
    sides = np.zeros((trees, depth, 1 + max(feature.cells for feature in features)), dtype=np.uint8)
    for tree, tests in enumerate(asked):
        for feature in sorted(set(tests.tolist())):
            (places,) = np.nonzero(tests == feature)
            draw = _cuts if ordered[feature] else _subsets
            cells = features[feature].cells
            sides[tree, places, : cells + 1] = draw(words, f" sides {tree} {feature}", len(places), cells)
    return asked, sides


def _feature_order(words: SeededWords, trees: int, depth: int, features: int) -> Ints:
    """Which feature each test asks: a round of all features serves as many trees as it has features for."""
    width = min(max(-(-depth // IN_A_ROW), 1), features)
    a_round = features // width
    rounds = [np.argsort(words(f" round {count}", features)) for count in range(-(-trees // a_round))]
    chosen = np.concatenate([order[: a_round * width].reshape(a_round, width) for order in rounds])[:trees]
    in_a_row = max(IN_A_ROW, -(-depth // width))
    return np.repeat(chosen, in_a_row, axis=1)[:, :depth].astype(np.int64)


def _cuts(seeded: SeededWords, name: str, tests: int, cells: int) -> Ints:
    """Sides of an ordered feature: 1 from a cut on."""
    words, sides = seeded(name, cells + tests), np.zeros((tests, cells + 1), dtype=np.int64)
    places = 1 + np.argsort(words[: cells - 1])  # no cell is cut off where there is but one
    for test in range(tests):
        sides[test, :cells] = np.arange(cells) >= (places[test % len(places)] if len(places) else cells)
        sides[test, cells] = words[cells + test] & np.uint64(1)
    return sides


def _subsets(seeded: SeededWords, name: str, tests: int, cells: int) -> Ints:
    """Sides of a category: 1 for one value, or for a set of values."""
    sides = np.zeros((tests, cells + 1), dtype=np.int64)
    for test in range(tests):
        words = seeded(f"{name} {test}", cells + 3)
        coin, size, empty = words[:3]
        chosen = 1 if coin & np.uint64(1) else 1 + int(size) % max(cells - 1, 1)
        sides[test, np.argsort(words[3:])[:chosen]] = 1
        sides[test, cells] = empty & np.uint64(1)
    return sides
