"""Shares of trials with 95 % intervals, and arrays that a caller hands over."""

from typing import Any

import numpy as np

from discreet.audit.bounds import lower_end, upper_end
from discreet.errors import bad_private
from discreet.ndarrays import Floats

_EACH_SIDE = 0.025


def interval(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a probability by Clopper & Pearson (1934), from independent trials.

    >>> [round(end, 3) for end in interval(200, 200)]
    [0.982, 1.0]
    """
    return lower_end(hits, trials, _EACH_SIDE), upper_end(hits, trials, _EACH_SIDE)


def middle_interval(values: Any) -> tuple[float, float]:
    """An interval of the median from order statistics, of 95 % or more; all the values where they are fewer than six.

    P[the median lies below the k-th smallest of n] = P[Bin(n, ½) < k].
    """
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    skipped = max(int(binom.ppf(_EACH_SIDE, len(ordered), 0.5)) - 1, 0)
    return float(ordered[skipped]), float(ordered[len(ordered) - 1 - skipped])


def matrix(rows: Any, name: str) -> Floats:
    """A table of finite numbers, a row a line; refused otherwise, without a word of what is in it."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise bad_private(name, "must be a table of finite numbers", "Give a list of rows of one length each.")
    return table


def vector(values: Any, name: str, length: int | None = None) -> Floats:
    """A list of finite numbers, of that length; refused otherwise."""
    try:
        line = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        line = np.zeros((0, 0))
    if line.ndim != 1 or line.size == 0 or not np.isfinite(line).all():
        raise bad_private(name, "must be a list of finite numbers", "Give them one after the other.")
    if length is not None and len(line) != length:
        raise bad_private(name, f"must have {length} numbers", "Give one for each row, or one for each weight.")
    return line
