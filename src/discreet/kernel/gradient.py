"""Gradients: Σ over units of the gradient of their loss at public weights, each unit's clipped in l2.

    linear     ½(x·w − y)²                gradient (x·w − y)·x
    logistic   log(1 + e^(x·w)) − y·x·w   gradient (σ(x·w) − y)·x, for y in 0 … 1

Columns are the features and, last, the target y.  Parameters: `model`; `weights`, one a feature and with an intercept
one more, its own last; `clip` and `step`, `rounding` (see `clip`); `centre`, `scale` and `intercept` (see `design`).
A row with an empty cell adds 0.
"""

from collections.abc import Sequence

import numpy as np

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel import design
from discreet.kernel.clip import Clip
from discreet.kernel.contract import Public, require_keys
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints
from discreet.noise.powers import exp_minus
from discreet.noise.source import Source
from discreet.schema import Column

MODELS = ("linear", "logistic")
MOST_WEIGHTS = 4096
_FAR = 48.0  # from here on e^(−x) is 0


class Gradient:
    """A number for each weight."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        design.require_numbers(columns)
        count = self.length(public) - bool(public.get("intercept", False)) + 1
        if len(columns) != count:
            rule = f"must be {count}: one for each weight of a feature, and the target"
            raise bad("columns", rule, [column.name for column in columns], "Give as many weights as features.")
        if public["model"] == "logistic" and not _is_share(columns[-1]):
            rule, fix = "must lie within 0 and 1 by its bounds", "Declare it boolean, or with bounds = [0, 1]."
            raise bad(f"target {columns[-1].name!r}", rule, columns[-1].bounds, fix)

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        require_keys(public, ("model", "weights", "clip", "step"), ("rounding", *design.SHAPING))
        if public["model"] not in MODELS:
            raise bad("model", "must be 'linear' or 'logistic'", public["model"], "Give one of the two.")
        weights = design.vector(public["weights"], "weights").size
        intercept = bool(public.get("intercept", False))
        if not 1 + intercept <= weights <= MOST_WEIGHTS:
            rule = f"must be {1 + intercept} to {MOST_WEIGHTS} numbers"
            raise bad("weights", rule, weights, "Give one a feature, and one for the intercept.")
        design.require_shaping(public, weights - intercept)
        return weights

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: by the clipping alone, however many rows a unit has."""
        return Clip.parse(public).sensitivity(self.length(public), limit.relation)

    def __call__(self, chunk: UnitRows, public: Public, coins: Source) -> Ints:
        """As `Kernel.__call__`."""
        *names, target = chunk.columns
        weights = design.vector(public["weights"], "weights")
        with np.errstate(all="ignore"):
            is_complete = design.complete(chunk)
            x = design.features(chunk, names, public, is_complete)
            line = np.zeros(chunk.size)
            for feature, weight in zip(x, weights.tolist(), strict=True):
                line += feature * weight
            expected = line if public["model"] == "linear" else _logistic(line)
            off = np.where(is_complete, expected - chunk.columns[target], 0.0)
            sums = [design.unit_sums(chunk, off * feature) for feature in x]
        return Clip.parse(public).total(sums, coins)


def _logistic(line: Floats) -> Floats:
    """1/(1 + e^(−x)) within 2⁻⁴⁰, by operations that are rounded one by one; NaN stays."""
    power = exp_minus(np.where(np.isnan(line), 0.0, np.minimum(np.abs(line), _FAR)))
    return np.where(np.isnan(line), line, np.where(line >= 0, 1.0, power) / (1.0 + power))


def _is_share(column: Column) -> bool:
    lattice = column.lattice
    return lattice is not None and lattice.low >= 0 and lattice.high * lattice.step <= 1


GRADIENT = Gradient()
