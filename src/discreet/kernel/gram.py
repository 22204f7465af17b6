"""Second moments of encoded rows and a target, exact: what least squares needs of a table.

    5·Σxᵢ²    7·Σxᵢxⱼ for i < j    m·Σy·xᵢ        the upper triangle row by row, then the last d numbers

x is a row in whole steps, clipped to the norm and cut toward 0, y the target scaled to ± 1 in whole steps.  7/5 is just
below √2, so a row's numbers have the norm √(25‖x‖⁴ + m²y²‖x‖²) at most, and off-diagonal moments get less noise than
diagonal ones.  Rows of a unit that counts with k of them are divided by √k, so the unit's numbers are at most as long.
A row without its target adds 0.  Products and sums are whole numbers below 2⁵³: a matrix product of doubles is exact,
in whatever order it adds.

Columns are the features and, last, the target.  Parameters: `target`, `balance` (m), and those of `encode`.

Proof page: docs/proofs/learn/risk/adassp.md.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import MOST_STEPS, Public, require_keys
from discreet.kernel.dense import dense_rows
from discreet.kernel.encode import UNIT, Encoding, Feature, design_of
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.relation import Relation
from discreet.schema import Column

DIAGONAL, BESIDE = 5, 7
MOST_NORM = isqrt(MOST_STEPS // DIAGONAL) // UNIT
_OPTIONAL = ("intercept", "centre", "rows")


class Gram:
    """d columns give d(d + 1)/2 + d numbers."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        self.length(public)
        if len(columns) < 2:
            raise bad("columns", "must be features and the target", len(columns), "Name the target last.")
        Encoding.parse(public).require(columns[:-1])
        Feature.parse(public["target"]).require(columns[-1])

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        require_keys(public, ("features", "target", "norm", "balance"), _OPTIONAL)
        encoding = Encoding.parse(public)
        if encoding.norm > MOST_NORM * UNIT:
            raise bad("norm", f"must be at most {MOST_NORM}", public["norm"], "Clip rows to less.")
        balance = amounts.count(public["balance"], "balance", 1, 2**10)
        if balance * UNIT * encoding.norm > MOST_STEPS:
            raise bad("balance", "must be smaller", balance, f"Give, for example, {DIAGONAL}.")
        if not Feature.parse(public["target"]).is_number:
            raise bad("target", "must be a number", "classes", "Describe it by low and high.")
        return encoding.width * (encoding.width + 1) // 2 + encoding.width

    def per_row(self, public: Public) -> int:
        """As `Kernel.per_row`."""
        return self.length(public)

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: l2² = 25R⁴ + m²B²R², and under replace-one 2·25R⁴ + 4·m²B²R²."""
        encoding, length = Encoding.parse(public), self.length(public)
        square, balance = encoding.norm**2, int(public["balance"]) * UNIT
        moments, answers = (DIAGONAL * square) ** 2, balance**2 * square
        touched = min(encoding.touched * min(encoding.rows, limit.rows), encoding.width)
        l0 = touched * (touched + 1) // 2 + touched
        l1 = isqrt(l0 * (moments + answers)) + 1
        linf = max(DIAGONAL * square, balance * encoding.norm)
        if limit.relation is Relation.ADD_REMOVE:
            return Sensitivity(Fraction(l0), Fraction(l1), Fraction(moments + answers), Fraction(linf), limit.relation)
        squared = Fraction(2 * moments + 4 * answers)
        return Sensitivity(Fraction(min(2 * l0, length)), Fraction(2 * l1), squared, Fraction(2 * linf), limit.relation)

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """As `Kernel.__call__`."""
        *names, target = chunk.columns
        design, cells = design_of(chunk, public, names), chunk.columns[target]
        with np.errstate(all="ignore"):
            root = np.where(np.isnan(cells), 0.0, np.sqrt(design.share))
            rows = np.trunc(dense_rows(design, slice(None)) * (design.clipping * root)[:, None])
            answers = np.where(root > 0, np.trunc(Feature.parse(public["target"]).numbers(cells) * root), 0.0)
        products = (rows.T @ rows).astype(np.int64)
        first, second = np.triu_indices(len(products))
        triangle = products[first, second] * np.where(first == second, DIAGONAL, BESIDE)
        return np.concatenate([triangle, (rows.T @ answers).astype(np.int64) * int(public["balance"])])


GRAM = Gram()
