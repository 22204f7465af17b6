"""Counts, sums and sums of squares by class: Σ over units of their rows, one block of numbers for each class.

    1                 the row itself
    x, 2x² − 1        for a feature that is a number, scaled to −1 … 1
    1 in its cell     for a feature with cells; none for an empty one

all in steps of 2⁻¹⁰.  2x² − 1 lies within −1 … 1 as x does, while x² would use half of that range: so a mean square has
half the noise.  A unit counts with its first `rows` rows.  With N numbers, q features with cells, and A = 1 + 2N + q, a
unit of r rows moves, in units of 1:

                   l0           l1      l2²                              linf
    add-remove     A·r          A·r     A·r²                             r
    replace-one    2·A·r        2·A·r   max(2·A, 5.15·N + 2·q)·r²        2·r, r without numbers

Columns are the features (`encode`), and last the class; a row without a class adds 0.  Parameters: `features`,
`target`, `rows`.  Proof page: docs/proofs/kernel.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import Public, require_keys
from discreet.kernel.encode import MOST_FEATURES, MOST_ROWS, UNIT, Feature
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints
from discreet.relation import Relation
from discreet.schema import Column

_FURTHEST = Fraction(103, 20)  # of (x − x')² + (2x² − 2x'²)², rounded, in squared units


@dataclass(frozen=True, eq=False)
class Block:
    """What one class is described by, and the rows of a unit that count."""

    features: tuple[Feature, ...]
    target: Feature
    rows: int

    @classmethod
    def parse(cls, public: Public) -> "Block":
        """From the parameters."""
        require_keys(public, ("features", "target"), ("rows",))
        described, target = public["features"], Feature.parse(public["target"])
        if not isinstance(described, list) or not 1 <= len(described) <= MOST_FEATURES:
            raise bad("features", f"must be a list of 1 to {MOST_FEATURES}", type(described).__name__, "List them.")
        features = tuple(map(Feature.parse, described))
        if target.is_number or any(feature.table is not None for feature in features):
            raise bad("target", "must have cells, and features no tables", "another", "Describe it by its values.")
        return cls(features, target, amounts.count(public.get("rows", 1), "rows", 1, MOST_ROWS))

    @property
    def numbers(self) -> int:
        """How many features are numbers."""
        return sum(feature.is_number for feature in self.features)

    @property
    def width(self) -> int:
        """How many numbers a class has."""
        return 1 + sum(2 if feature.is_number else feature.cells for feature in self.features)

    @property
    def touched(self) -> int:
        """How many of them one row moves."""
        return 1 + self.numbers + len(self.features)


class ClassMoments:
    """For each class its block: the count, then feature by feature."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        block = Block.parse(public)
        if len(columns) != len(block.features) + 1:
            rule = f"must be {len(block.features)}, one for each feature, and the class"
            raise bad("columns", rule, [column.name for column in columns], "Name the class last.")
        for feature, column in zip((*block.features, block.target), columns, strict=True):
            feature.require(column)

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        block = Block.parse(public)
        return block.target.cells * block.width

    def per_row(self, public: Public) -> int:
        """As `Kernel.per_row`."""
        return self.length(public)

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: rows of a unit may be equal, so their norms add up."""
        block, length = Block.parse(public), self.length(public)
        rows, touched = min(block.rows, limit.rows), block.touched
        l1, squared = Fraction(touched * rows * UNIT), Fraction((rows * UNIT) ** 2)
        if limit.relation is Relation.ADD_REMOVE:
            moved = Fraction(min(touched * rows, length))
            return Sensitivity(moved, l1, touched * squared, Fraction(rows * UNIT), limit.relation)
        within = _FURTHEST * block.numbers + 2 * (len(block.features) - block.numbers)
        linf = Fraction((2 if block.numbers else 1) * rows * UNIT)
        moved = Fraction(min(2 * touched * rows, length))
        return Sensitivity(moved, 2 * l1, max(Fraction(2 * touched), within) * squared, linf, limit.relation)

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """As `Kernel.__call__`."""
        *names, target = chunk.columns
        block = Block.parse(public)
        classes = block.target.codes(chunk.columns[target])
        number = np.arange(chunk.size) - chunk.starts[chunk.unit_of_row]
        counted = (classes >= 0) & (number < block.rows)
        own, cells = classes[counted], block.target.cells
        parts = [np.bincount(own, minlength=cells)[:, None] * UNIT]
        for feature, name in zip(block.features, names, strict=True):
            column = chunk.columns[name][counted]
            if feature.is_number:
                steps = scaled_steps(feature, column)
                parts += [_class_sums(own, cells, part) for part in (steps, squares(steps))]
            else:
                codes = feature.codes(column)
                codes = own * (feature.cells + 1) + np.where(codes >= 0, codes, feature.cells)
                counts = np.bincount(codes, minlength=cells * (feature.cells + 1)).reshape(cells, -1)
                parts.append(counts[:, :-1] * UNIT)
        return np.concatenate(parts, axis=1).astype(np.int64).ravel()


def scaled_steps(feature: Feature, column: Any) -> Floats:
    """A number from −1 to 1 in whole steps, also where its scale is a logarithm's from 0 to 1."""
    steps = feature.numbers(column)
    return 2 * steps - UNIT if feature.is_log else steps


def squares(steps: Floats) -> Floats:
    """2x² − 1 in whole steps."""
    return np.rint((2 * steps * steps - UNIT**2) / UNIT)


def _class_sums(classes: Ints, cells: int, steps: Floats) -> Ints:
    """Σ of the steps by class; sums of whole numbers below 2⁵³, which doubles add exactly."""
    return np.bincount(classes, weights=steps, minlength=cells).astype(np.int64)[:, None]


CLASS_MOMENTS = ClassMoments()
