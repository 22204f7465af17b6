"""k-anonymous tables: groups of at least k rows with one range of ages and of zip codes each (LeFevre et al. 2006).

The rows are cut at the median of the column with the wider spread, and again, while both halves have k rows or more.
"""

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints


def groups(columns: Floats, k: int) -> Ints:
    """The number of each row's group; `columns` has a row for each person and a column for each public trait.

    >>> groups(np.array([[1.0], [9.0], [2.0], [8.0]]), 2).tolist()
    [0, 1, 0, 1]
    """
    if not 1 <= k <= len(columns):
        raise bad("k", f"must be between 1 and the {len(columns)} rows", k, "Give a smaller k.")
    spread = np.ptp(columns, axis=0)
    scaled = columns / np.where(spread > 0, spread, 1)
    labels = np.zeros(len(columns), dtype=np.int64)
    for number, rows in enumerate(_smallest_groups(scaled, np.arange(len(columns)), k)):
        labels[rows] = number
    return labels


def _smallest_groups(columns: Floats, rows: Ints, k: int) -> list[Ints]:
    """The rows in groups of at least k that cannot be cut further."""
    part = columns[rows]
    for column in np.argsort(-np.ptp(part, axis=0), kind="stable"):
        is_low = part[:, column] <= np.median(part[:, column])
        if k <= is_low.sum() <= len(rows) - k:
            return _smallest_groups(columns, rows[is_low], k) + _smallest_groups(columns, rows[~is_low], k)
    return [rows]
