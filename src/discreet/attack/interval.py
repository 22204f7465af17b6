"""95 % intervals of what an attack achieved, over its own trials."""

import math

from discreet.audit.bounds import lower_end, upper_end
from discreet.ndarrays import Floats

_EACH_SIDE = 0.025
_NORMAL = 1.959963984540054  # Φ⁻¹(0.975)


def share_interval(hits: int, trials: int, *, each_side: float = _EACH_SIDE) -> tuple[float, float]:
    """The ends for a chance that was seen `hits` times in `trials` independent ones (Clopper & Pearson 1934).

    The chance lies beyond each of them with probability `each_side` at most.

    >>> low, high = share_interval(731, 1000)
    >>> round(low, 3), round(high, 3)
    (0.702, 0.758)
    """
    return lower_end(hits, trials, each_side), upper_end(hits, trials, each_side)


def mean_interval(values: Floats, *, least: float = -math.inf, greatest: float = math.inf) -> tuple[float, float]:
    """Mean ± 1.96·s/√n, for n ≥ 2 independent values between `least` and `greatest`; rough below some thirty of them.

    >>> import numpy as np
    >>> mean_interval(np.array([1.0, 1.0, 1.0]), greatest=1)
    (1.0, 1.0)
    """
    mean = float(values.mean())
    half = _NORMAL * float(values.std(ddof=1)) / len(values) ** 0.5
    return max(mean - half, least), min(mean + half, greatest)
