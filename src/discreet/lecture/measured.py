"""Errors over many independent runs of a mechanism, with 95 % intervals."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.lecture.curve import TWO_SIDED_95, Point
from discreet.ndarrays import Floats, Ints

MOST_DRAWS = 4_000_000  # of single people's coins at one point: what bounds its time
MOST_RUNS = 20_000
_BATCH = 1_000_000

Noisy = Callable[[Ints], Floats]  # answers of many people → a number for each of them


def runs_of(n: int, draws: int = MOST_DRAWS) -> int:
    """How often n people are asked anew."""
    return max(30, min(MOST_RUNS, draws // n))


def rms_point(errors: Floats, n: int, epsilon: Fraction, x: float, theory: float) -> Point:
    """The root mean square of independent errors: √(mean of squares), its ends those of the mean of squares."""
    squares = errors.astype(float) ** 2
    mean = float(squares.mean())
    slack = TWO_SIDED_95 * float(squares.std(ddof=1)) / math.sqrt(squares.size)
    low = math.sqrt(max(mean - slack, 0.0))
    return Point(n, float(epsilon), x, theory, math.sqrt(mean), low, math.sqrt(mean + slack))


def mean_point(values: Floats, n: int, epsilon: Fraction, x: float, theory: float) -> Point:
    """The mean of independent values."""
    mean, slack = float(values.mean()), TWO_SIDED_95 * float(values.std(ddof=1)) / math.sqrt(values.size)
    return Point(n, float(epsilon), x, theory, mean, max(mean - slack, 0.0), mean + slack)


def repeated_means(table: Ints, noisy: Noisy, runs: int) -> Floats:
    """The mean over everybody's number, in `runs` surveys in which each person randomises anew."""
    import numpy as np

    at_once = max(1, _BATCH // table.size)
    parts = []
    for start in range(0, runs, at_once):
        count = min(at_once, runs - start)
        parts.append(noisy(np.tile(table, count)).reshape(count, table.size).mean(axis=1))
    means: Floats = np.concatenate(parts)
    return means
