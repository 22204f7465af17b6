"""R² as five counts with noise: what rows add, and how far off the number is.

    (y − ŷ)² and the rest up to 1 · y and 1 − y · (2y − 1)², of each row, with y and ŷ clamped and scaled to 0 … 1

R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)² is a quotient, and where noise may be as large as what it is divided by, it has no value.
Proof page: docs/proofs/learn/heldout/score.md.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.learn.heldout.interval import Estimate, Law, count_estimate, width_factor
from discreet.learn.heldout.trial import Scored
from discreet.ndarrays import Floats, Ints

STEPS = 2**14  # of a square of 1, and of a loss of 1
_HALVINGS, _LARGEST = 40, 10**12  # of a spread that is looked for, and the most persons


@dataclass(frozen=True)
class RSquared:
    """1 − Σ(y − ŷ)²/Σ(y − ȳ)², for numbers clamped to the bounds of the target."""

    low: float
    high: float
    norm, length = 3 * STEPS, 5
    caveat = "The target and what is predicted are clamped to the bounds of the target."

    def counts(self, scored: Scored) -> Ints:
        """As `Metric.counts`."""
        number, predicted = self._scaled(scored.target), self._scaled(scored.scores[:, 0])
        centred = _both((2 * number - 1) ** 2, STEPS)[:1]
        return np.concatenate([_both((number - predicted) ** 2, STEPS), _both(number, STEPS), centred])

    def estimate(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.estimate`: from an interval of each number that hold all at once.

        There is no value where its interval has no lower end, or does not hold it.
        """
        error, right, above, below, square = (float(number) for number in noisy)
        rows = (error + right + above + below) / 2
        radius, double = _radii(rows, law)
        value = _of_sums(max(error, 0.0), square, above - below, rows)
        errors = max(error - radius, 0.0), max(error + radius, 0.0)
        squares = max(square - radius, 0.0), max(square + radius, 0.0)
        middle = max(abs(above - below) - double, 0.0), abs(above - below) + double
        least, largest = rows - double, rows + double
        if least <= 0 or value is None:
            return Estimate(None, float("-inf"), 1.0)
        low = _of_sums(errors[1], squares[0], middle[1], least)
        high = _of_sums(errors[0], squares[1], middle[0], largest)
        upper = 1.0 if high is None else min(high, 1.0)
        if low is None:
            return Estimate(None, float("-inf"), upper)
        return Estimate(value if error >= -radius and low <= value <= upper else None, low, upper)

    def persons(self, noisy: Ints, law: Law) -> Estimate:
        """As `Metric.persons`."""
        return count_estimate(int(noisy[:2].sum()), scale=law.scale, numbers=2, level=law.level, step=STEPS)

    def moe(self, size: int, law: Law) -> float | None:
        """As `Metric.moe`: it depends on how far the target spreads."""
        return None

    def is_told(self, size: int, law: Law, spread: float, mean: float) -> bool:
        """Whether R² gets a value even where all noise is as far off as its interval allows.

        The standard deviation of the target is `spread` of the width of its bounds, and its mean lies at −1 … 1 of
        them.
        """
        radius, double = (noise / STEPS for noise in _radii(size * STEPS, law))
        rows, square = size - 2 * double, size * (4 * spread**2 + mean**2) - 2 * radius
        return rows > 0 and _of_sums(0.0, square, size * abs(mean) + 2 * double, rows) is not None

    def told_spread(self, size: int, law: Law, mean: float) -> float | None:
        """The least spread of a target with that mean whose R² is told where so many count; None where none is."""
        largest = sqrt(1 - mean**2) / 2
        if not self.is_told(size, law, largest, mean):
            return None
        untold, told = 0.0, largest
        for _ in range(_HALVINGS):
            middle = (untold + told) / 2
            untold, told = (untold, middle) if self.is_told(size, law, middle, mean) else (middle, told)
        return told

    def told_size(self, law: Law, spread: float, mean: float) -> int:
        """About how many must count for the R² of a target with that spread and mean to be told."""
        size = 1
        while size < _LARGEST and not self.is_told(size, law, spread, mean):
            size = max(size + 1, size * 17 // 16)
        return size

    def _scaled(self, numbers: Floats) -> Floats:
        scaled: Floats = np.clip(np.nan_to_num((numbers - self.low) / (self.high - self.low), nan=0.5), 0.0, 1.0)
        return scaled


def _radii(rows: float, law: Law) -> tuple[float, float]:
    """How far one noisy number, and the sum or difference of two, may lie off, in steps; `rows` are in steps too."""
    level = 1 - (1 - law.level) / 4  # of the four numbers that the interval is made of
    rounding = max(rows, 0.0) / STEPS / 2  # of each row, by half a step at most
    radius, double = (width_factor(level) * sqrt(2 * k) * law.scale + k * (0.5 + rounding) for k in (1, 2))
    return radius, double


def _of_sums(error: float, square: float, middle: float, rows: float) -> float | None:
    """1 − error/spread; the spread is ¼(Σ(2y − 1)² − (Σ(2y − 1))²/n)."""
    spread = (square - middle**2 / rows) / 4 if rows > 0 else 0.0
    return 1 - error / spread if spread > 0 else None


def _both(shares: Floats, norm: int) -> Ints:
    """Σ of shares within 0 … 1 and Σ of what is left of 1, in steps; each row is rounded by itself."""
    steps = np.floor(np.clip(shares, 0.0, 1.0) * norm + 0.5).astype(np.int64)
    return np.array([steps.sum(), (norm - steps).sum()])
