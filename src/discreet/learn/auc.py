"""The area under the ROC curve from a noisy histogram, class × bin of the predicted probability.

    AUC = P(a person of the class scores above one of the rest), ties counting half = xᵀK y / (N₁ N₀)

x and y are the counts of the class and of the rest by bin, K[b, c] is 1 for c < b and ½ for c = b.  Bins are public and
even in ln p/(1 − p) from −8 to 8, so that they are narrow where a rare class lies.  For a guess θ, noise alone is left
of xᵀ(K − θ) y at the exact θ; its variance is taken from the noisy counts, which makes it larger on average.
Proof page: docs/proofs/learn/score.md.
"""

from fractions import Fraction

import numpy as np

from discreet.learn.interval import Estimate, estimate_of, hull, width_factor
from discreet.ndarrays import Bools, Floats, Ints

BINS = 96
_FURTHEST = 8  # ln p/(1 − p) of the outermost bins


def edges(bins: int) -> Floats:
    """The probabilities between the bins."""
    inner: Floats = 1 / (1 + np.exp(-np.linspace(-_FURTHEST, _FURTHEST, bins + 1)[1:-1]))
    return inner


def histogram(is_class: Bools, probability: Floats, bins: int = BINS) -> Ints:
    """The counts of the rest by bin, then those of the class; a probability on an edge lies below it."""
    places = np.searchsorted(edges(bins), probability)  # NaN lies in the last
    return np.bincount(is_class.astype(np.int64) * bins + places, minlength=2 * bins).astype(np.int64)


def auc_estimate(noisy: Ints, *, variance: float, level: Fraction, is_population: bool, rows: int = 1) -> Estimate:
    """The area that the noisy counts give, and those that are possible.

    About the population the variance is larger by A(1 − A)/min(N₁, N₀), the most it can be (Birnbaum & Klose 1957).
    """
    rest, own = np.split(noisy.astype(np.float64), 2)
    total_rest, total_own = float(rest.sum()), float(own.sum())
    below = np.cumsum(rest) - rest / 2  # K y
    above = own.sum() - np.cumsum(own) + own / 2  # Kᵀ x
    pairs, wins = total_rest * total_own, float(own @ below)
    squares = (
        below @ below + above @ above,
        -2 * (total_rest * below.sum() + total_own * above.sum()),
        len(own) * (total_rest**2 + total_own**2),
    )
    drawn = rows * pairs**2 / max(min(total_rest, total_own), 1.0) if is_population else 0.0

    def accepts(areas: Floats) -> Bools:
        noise = squares[0] + areas * squares[1] + areas**2 * squares[2]  # |K y − θN₀|² + |Kᵀx − θN₁|²
        spread = np.sqrt(np.maximum(variance * noise + drawn * areas * (1 - areas), 0.0))
        accepted: Bools = np.abs(wins - areas * pairs) <= width_factor(level) * spread
        return accepted

    if total_rest <= 0 or total_own <= 0:
        return Estimate(None, 0.0, 1.0)
    value = min(max(wins / pairs, 0.0), 1.0)
    return estimate_of(value, *hull(accepts, value))
