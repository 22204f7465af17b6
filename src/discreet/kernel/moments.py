"""Second moments: Σ over units of their rows' xxᵀ, the upper triangle row by row, each unit's clipped in l2.

Parameters: `features`, how many columns; `clip` and `step`, `rounding` (see `clip`); `centre`, `scale` and `intercept`
(see `design`).  A row with an empty cell adds 0.
"""

from collections.abc import Sequence

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel import design
from discreet.kernel.clip import Clip
from discreet.kernel.contract import Public, require_keys
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.schema import Column

MOST_FEATURES = 512


class Moments:
    """d columns, with the intercept, give d(d + 1)/2 numbers: xᵢxⱼ for i ≤ j."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        design.require_numbers(columns)
        if self._width(public) - bool(public.get("intercept", False)) != len(columns):
            raise bad("features", "must be the number of columns", public["features"], f"Write: {len(columns)}.")

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        width = self._width(public)
        return width * (width + 1) // 2

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: by the clipping alone, however many rows a unit has."""
        return Clip.parse(public).sensitivity(self.length(public), limit.relation, acute=True)

    def __call__(self, chunk: UnitRows, public: Public, coins: Source) -> Ints:
        """As `Kernel.__call__`."""
        with np.errstate(all="ignore"):
            x = design.features(chunk, tuple(chunk.columns), public, design.complete(chunk))
            pairs = [design.unit_sums(chunk, x[i] * x[j]) for i in range(len(x)) for j in range(i, len(x))]
        return Clip.parse(public).total(pairs, coins)

    def _width(self, public: Public) -> int:
        require_keys(public, ("features", "clip", "step"), ("rounding", *design.SHAPING))
        features = amounts.count(public["features"], "features", 1, MOST_FEATURES)
        design.require_shaping(public, features)
        return features + bool(public.get("intercept", False))


MOMENTS = Moments()
