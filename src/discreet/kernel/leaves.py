"""Counts of rows by tree, class and leaf, for public oblivious trees: every leaf of a tree lies behind the same tests.

A test asks one feature and sends each of its cells, and an empty one, to side 0 or 1; the sides of a row are the binary
digits of its leaf, the first test's first.  A unit counts with its first `rows` rows, and a row once in each tree:

                     l0        l1       l2²      linf        M trees, r rows of a unit
    add-remove       M·r       M·r      M·r²     r
    replace-one      2·M·r     2·M·r    2·M·r²   r           (l0 at most as many as there are counts)

Columns are the features, by their cells (`encode`), and last the class; a row without a class adds 0.  Parameters:
`features`, `target`, `rows`; `tests`, for each tree and test its feature; `sides`, for each of these a row of 0 and 1,
by cell, then for an empty cell, then 0 to the end.  Proof page: docs/proofs/kernel.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import MOST_NUMBERS, Public, require_keys
from discreet.kernel.described import description_of
from discreet.kernel.encode import MOST_FEATURES, MOST_ROWS, Feature
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.relation import Relation
from discreet.schema import Column

MOST_DEPTH = 12
MOST_SIDES = 2**24  # trees · tests · cells of the widest feature: what trees of few leaves would still hold
_BLOCK = 2**11  # rows that are looked up at once


@dataclass(frozen=True, eq=False)
class Trees:
    """Features by their cells, and for each tree its tests: which feature, and the side of each of its cells."""

    features: tuple[Feature, ...]
    tests: Ints  # tree × test
    sides: Ints  # tree × test × cell

    @classmethod
    def parse(cls, public: Public) -> "Trees":
        """From the parameters `features`, `tests` and `sides`."""
        described = public["features"]
        if not isinstance(described, list) or not 1 <= len(described) <= MOST_FEATURES:
            raise bad("features", f"must be a list of 1 to {MOST_FEATURES}", type(described).__name__, "List them.")
        features = tuple(map(_parse_cells, described))
        tests, sides = (_whole(public[name], name) for name in ("tests", "sides"))
        widest = 1 + max(feature.cells for feature in features)
        require_sides(sides.shape)
        if tests.ndim != 2 or not 1 <= len(tests) <= MOST_NUMBERS or tests.shape[1] > MOST_DEPTH:
            raise bad("tests", f"must have at most {MOST_DEPTH} for each tree", tests.shape, "Plant fewer.")
        if sides.shape != (*tests.shape, widest):
            raise bad("sides", f"must have the shape {(*tests.shape, widest)}", sides.shape, "Give one for each cell.")
        is_known = not tests.size or (tests.min() >= 0 and tests.max() < len(features))
        if not is_known or (sides.size and not (sides.min() >= 0 and sides.max() <= 1)):
            raise bad("tests", "must name features by number, with sides 0 or 1", "others", "Count from 0.")
        return cls(features, tests, sides)

    @property
    def leaves(self) -> int:
        """How many leaves each tree has."""
        return int(1 << self.tests.shape[1])

    def codes(self, columns: Mapping[str, Any], names: Sequence[str]) -> list[Ints]:
        """For each feature the cell of each row, the last one where it has none."""
        parts = zip(self.features, names, strict=True)
        codes = [(feature.cells, feature.codes(columns[name])) for feature, name in parts]
        return [np.where(cell >= 0, cell, cells) for cells, cell in codes]

    def leaf_numbers(self, codes: Sequence[Ints]) -> Ints:
        """The leaf of each row in each tree, tree × row; all tests of one feature are looked up together."""
        leaves = np.zeros((len(self.tests), len(codes[0])), dtype=np.int64)
        for (trees, digits), cells in zip(self._digits, codes, strict=True):
            leaves[trees] += digits[:, cells]
        return leaves

    @cached_property
    def _digits(self) -> list[tuple[Ints, Any]]:
        """For each feature the trees that ask it, and what each of its cells adds there to the number of a leaf."""
        return [self._digits_of(place, feature.cells + 1) for place, feature in enumerate(self.features)]

    def _digits_of(self, place: int, cells: int) -> tuple[Ints, Any]:
        """Those of one feature; a leaf's number has at most 12 digits, so 16 bits hold it."""
        trees = np.flatnonzero((self.tests == place).any(axis=1))
        digits = np.zeros((len(trees), cells), dtype=np.int16)
        for test in range(self.tests.shape[1]):
            asked = np.flatnonzero(self.tests[trees, test] == place)
            digit = np.int16(1 << (self.tests.shape[1] - 1 - test))
            digits[asked] += self.sides[trees[asked], test, :cells].astype(np.int16) * digit
        return trees, digits


def require_sides(shape: Sequence[int]) -> None:
    """Refuses trees · tests · cells that would take more memory than their leaves."""
    if prod(shape) > MOST_SIDES:
        rule = f"must be at most {MOST_SIDES:,}: trees, tests of a tree and values of the widest feature, multiplied"
        raise bad("sides", rule, prod(shape), "Plant fewer trees, or leave out the feature with the most values.")


def _parse_cells(public: Any) -> Feature:
    feature = Feature.parse(public)
    if feature.is_number:
        raise bad("features", "must be described by cells", public, "Give size, values or edges.")
    return feature


def _whole(numbers: Any, name: str) -> Ints:
    if type(numbers) is not np.ndarray or numbers.dtype.kind not in "iub":
        raise bad(name, "must be an array of whole numbers", type(numbers).__name__, "Give a numpy array.")
    return numbers


class Leaves:
    """M·C·2^d counts: by tree, then by class, then by leaf."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        self.length(public)
        features = Trees.parse(public).features
        if len(columns) != len(features) + 1:
            rule = f"must be {len(features)}, one for each feature, and the class"
            raise bad("columns", rule, [column.name for column in columns], "Name the class last.")
        for feature, column in zip((*features, _parse_cells(public["target"])), columns, strict=True):
            feature.require(column)

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        require_keys(public, ("features", "target", "tests", "sides"), ("rows",))
        trees = Trees.parse(public)
        return len(trees.tests) * _parse_cells(public["target"]).cells * trees.leaves

    def per_row(self, public: Public) -> int:
        """As `Kernel.per_row`."""
        return self.length(public)

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: a row lies in one leaf of each tree."""
        trees, rows = len(Trees.parse(public).tests), min(_rows(public), limit.rows)
        touched, squared = trees * rows, Fraction(trees * rows**2)
        if limit.relation is Relation.ADD_REMOVE:
            most_touched = Fraction(min(touched, self.length(public)))
            return Sensitivity(most_touched, Fraction(touched), squared, Fraction(rows), limit.relation)
        both = Fraction(min(2 * touched, self.length(public)))
        return Sensitivity(both, Fraction(2 * touched), 2 * squared, Fraction(rows), limit.relation)

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """As `Kernel.__call__`."""
        *names, target = chunk.columns
        trees, answer = Trees.parse(public), Feature.parse(public["target"])
        codes, classes = _codes(chunk, public, trees, names), answer.codes(chunk.columns[target])
        counted = (classes >= 0) & _among_first(chunk, _rows(public))
        own, first = [code[counted] for code in codes], classes[counted] * trees.leaves
        size = answer.cells * trees.leaves
        starts = np.arange(len(trees.tests))[:, None] * size
        counts = np.zeros(len(starts) * size, dtype=np.int64)
        for begin in range(0, len(first), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            places = trees.leaf_numbers([code[part] for code in own]) + (starts + first[part])
            counts += np.bincount(places.ravel(), minlength=len(counts))
        return counts


def _rows(public: Public) -> int:
    return amounts.count(public.get("rows", 1), "rows", 1, MOST_ROWS)


def _among_first(chunk: UnitRows, rows: int) -> Any:
    """Whether a row is one of the first `rows` of its unit."""
    return np.arange(chunk.size) - chunk.starts[chunk.unit_of_row] < rows


def _codes(chunk: UnitRows, public: Public, trees: Trees, names: Sequence[str]) -> list[Ints]:
    """The cells of the chunk's rows; a chunk that is passed over again remembers them."""
    description = description_of([public["features"], list(names)])
    remembered = chunk.remembered.get("cells")
    if remembered is None or remembered[0] != description:
        chunk.remembered["cells"] = remembered = (description, trees.codes(chunk.columns, names))
    codes: list[Ints] = remembered[1]
    return codes


LEAVES = Leaves()
