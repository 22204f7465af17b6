"""How many tables of counts lie within published ranges."""

import math

from discreet.ndarrays import Ints


def log_worlds(low: Ints, high: Ints) -> float:
    """log₁₀ ∏ (high − low + 1): the tables of one area whose every cell lies within its range.

    >>> import numpy as np
    >>> round(log_worlds(np.array([0, 3, 5]), np.array([9, 3, 14])), 6)
    2.0
    """
    return math.fsum(math.log10(int(end) - int(start) + 1) for start, end in zip(low, high, strict=True))
