"""Add up chunks, each one checked, so that no sum wraps around and only whole steps leave."""

from collections.abc import Iterable

import numpy as np

from discreet.kernel.contract import MOST_STEPS, MOST_UNITS, Kernel, Public
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints


def sum_of_chunks(kernel: Kernel, chunks: Iterable[UnitRows], public: Public) -> Ints:
    """Σ over chunks; ValueError where a kernel gives anything but its number of int64, each within its room."""
    length, units = kernel.length(public), 0
    total = np.zeros(length, dtype=np.int64)
    for chunk in chunks:
        part = kernel(chunk, public)
        units += chunk.units
        if type(part) is not np.ndarray or part.dtype != np.int64 or part.shape != (length,) or units > MOST_UNITS:
            raise ValueError
        if length and max(int(part.max()), -int(part.min())) > MOST_STEPS * chunk.units:
            raise ValueError
        total += part
    return total
