"""e^(−x) for arrays, by additions and multiplications alone, with a proven error.

    e^(−x) = e^(−i/64) · e^(−r),   i = ⌊64x⌋,   r = x − i/64 in [0, 1/64)

The first factor is a table, each entry within 2⁻⁵² of its ball; the second is its Taylor polynomial of degree 5, whose
remainder is at most (1/64)⁶/6! < 2⁻⁴⁵.  Each of the 12 roundings is at most 2⁻⁵³ of a number ≤ 1.  Beyond x = 48 the
result is 0 and the truth below 2⁻⁶⁹.  So |result − e^(−x)| < 2⁻⁴² = MARGIN for every float x ≥ 0.  Library exponentials
promise no bound.
"""

from functools import cache

import numpy as np

from discreet import real
from discreet.ndarrays import Floats

MARGIN = 2.0**-42
_PER_UNIT = 64
_LAST = 48 * _PER_UNIT
_TAYLOR = (-1 / 120, 1 / 24, -1 / 6, 1 / 2, -1.0, 1.0)


def exp_minus(x: Floats) -> Floats:
    """e^(−x) within MARGIN, for x ≥ 0.

    >>> bool(abs(exp_minus(np.array([1.0]))[0] - 0.36787944117144233) < MARGIN)
    True
    """
    r = np.minimum(x, _LAST / _PER_UNIT)
    index = (r * _PER_UNIT).astype(np.intp)
    r -= index * (1 / _PER_UNIT)
    power = r * _TAYLOR[0]
    for coefficient in _TAYLOR[1:-1]:
        power += coefficient
        power *= r
    power += _TAYLOR[-1]
    power *= _table()[index]
    return power


@cache
def _table() -> Floats:
    with real.precision(128):
        powers = [float((-real.ball(i) / _PER_UNIT).exp()) for i in range(_LAST)]
    return np.array([*powers, 0.0])
