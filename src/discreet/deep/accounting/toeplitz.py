"""Noise whose prefix sums stay small: the banded inverse square root of the matrix of prefix sums.

    r_j    coefficients of (1 − x)^½: 1, −1/2, −1/8, −1/16 …, of which the first `bands` are used, as floats
    C      the lower-triangular Toeplitz matrix of 1/(Σ_j r_j x^j): what is released is C·G + z for sums G and noise z
    C⁻¹    has r_0 … r_{bands−1} on its diagonals: a released sequence v gives the noisy sums Σ_j r_j v_{t−j}

The entries of C are not negative and fall below the diagonal, whatever `bands` is, so the worst participation is known
(docs/proofs/deep/accounting/stream.md).  Henzinger & Upadhyay 2023; Kalinin & Lampert 2024.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet import amounts
from discreet.ndarrays import Floats

_UNIT = Fraction(1, 2**53)
_DIGITS = 12
_MOST_CHOSEN = 256  # bands that are chosen without being asked for: each keeps two copies of the gradient
_NEAR_BEST = 1.05


@lru_cache(maxsize=32)
def coefficients(bands: int) -> tuple[float, ...]:
    """r_0 … r_{bands−1}, each the float nearest to it: r_j = −binom(2j, j)/(4^j·(2j − 1)).

    >>> coefficients(4)
    (1.0, -0.5, -0.125, -0.0625)
    """
    values, ways = [1.0], 1
    for j in range(1, bands):
        ways = ways * 2 * (2 * j - 1) // j  # binom(2j, j)
        values.append(-(ways / (4**j * (2 * j - 1))))
    return tuple(values)


@lru_cache(maxsize=8)
def mixing(bands: int, steps: int) -> Floats:
    """The first column of C, each entry within `_mixing_error` of it, relatively.

    >>> mixing(3, 3).tolist()
    [1.0, 0.5, 0.375]
    """
    reversed_tail = -np.array(coefficients(bands)[:0:-1])
    column = np.zeros(steps + bands - 1)
    column[bands - 1] = 1.0
    for t in range(bands, steps + bands - 1):
        column[t] = reversed_tail @ column[t - bands + 1 : t]
    first = column[bands - 1 :]
    first.flags.writeable = False
    return first


@lru_cache(maxsize=8)
def participation(bands: int, steps: int, separation: int, times: int) -> Floats:
    """Σ of the columns 0, b, 2b … of C, `times` of them, b = `separation`: how the largest contribution spreads."""
    column, total = mixing(bands, steps), np.zeros(steps)
    for start in range(0, min(steps, separation * times), separation):
        total[start:] += column[: steps - start]
    total.flags.writeable = False
    return total


def sensitivity(bands: int, steps: int, separation: int, times: int, first: int | None = None) -> Fraction:
    """How far one person moves C·G in Frobenius norm, per clip, in the first `first` rows; 12 digits, rounded up.

    She takes part at most `times`, at steps at least `separation` apart.

    >>> sensitivity(1, 100, 25, 4)
    Fraction(2, 1)
    """
    rows = steps if first is None else first
    weights = participation(bands, steps, separation, times)[:rows]
    square = Fraction(float(weights @ weights))
    # the entries err by `_mixing_error`; sums of `times` columns, squares and their sum add one rounding a term
    error = 2 * _mixing_error(bands, steps) + (2 * times + rows + 4) * _UNIT
    exact = square if bands == 1 else square * (1 + 2 * error)
    return Fraction(amounts.rounded_up(root_above(exact), _DIGITS))


def root_above(square: Fraction) -> Fraction:
    """√square, exactly where rational, else rounded up at the 80th binary digit."""
    shifted = math.ceil(square * 4**80)
    root = math.isqrt(shifted)
    return Fraction(root if root * root == shifted else root + 1, 2**80)


def _mixing_error(bands: int, steps: int) -> Fraction:
    """A bound on the relative error of `mixing`: all terms are positive, so an entry inherits the worst error of those
    before it and adds at most `bands` + 1 roundings."""
    return Fraction(5, 4) * steps * (bands + 1) * _UNIT


def prefix_error(bands: int, steps: int, separation: int, times: int) -> float:
    """The root of the mean squared error of all prefix sums, for noise of 1 per unit of sensitivity.

    >>> round(prefix_error(1, 1024, 1024, 1), 1), prefix_error(256, 1024, 1024, 1) < 3.1
    (22.6, True)
    """
    weights = participation(bands, steps, separation, times)
    partial = np.cumsum(np.array(coefficients(min(bands, steps))))
    sums = np.concatenate([partial, np.full(steps - partial.size, partial[-1])])
    return float(np.sqrt(np.mean(np.cumsum(sums * sums)) * (weights @ weights)))


def best_bands(steps: int, separation: int, times: int) -> int:
    """The fewest of 1, 2, 3, 4, 6, 8, 12 … 256 bands with an error within 5 % of the least of them."""
    ladder = sorted({size for i in range(9) for size in (2**i, 3 * 2**i // 2) if size <= min(steps, _MOST_CHOSEN)})
    errors = [prefix_error(bands, steps, separation, times) for bands in ladder]
    return next(bands for bands, error in zip(ladder, errors, strict=True) if error <= _NEAR_BEST * min(errors))
