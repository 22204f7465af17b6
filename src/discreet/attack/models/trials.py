"""Medians with 95 % intervals, and lists of numbers that a caller hands over."""

from typing import Any

import numpy as np

from discreet.attack.given import numbers
from discreet.errors import bad_private
from discreet.ndarrays import Floats

_EACH_SIDE = 0.025


def middle_interval(values: Any) -> tuple[float, float]:
    """An interval of the median from order statistics, of 95 % or more; all the values where they are fewer than six.

    P[the median lies below the k-th smallest of n] = P[Bin(n, ½) < k].
    """
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    skipped = max(int(binom.ppf(_EACH_SIDE, len(ordered), 0.5)) - 1, 0)
    return float(ordered[skipped]), float(ordered[len(ordered) - 1 - skipped])


def vector(values: Any, name: str, length: int | None = None) -> Floats:
    """A list of finite numbers, of that length; refused otherwise."""
    line = numbers(values, name, dimensions=1)
    if length is not None and len(line) != length:
        raise bad_private(name, f"must have {length} numbers", "Give one for each row, or one for each weight.")
    return line
