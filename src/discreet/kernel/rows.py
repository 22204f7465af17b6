"""Rows of whole units as numpy arrays: a chunk of a pass, or all rows that a view hands to a mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ndarrays import Ints


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Every row of some units, unit after unit; `starts` says where each unit's rows begin.

    Numbers, dates (days) and datetimes (seconds since 1970) are float64 in the column's own unit, booleans 0.0 and 1.0;
    an empty cell is NaN.  A number without bounds may be infinite.  Categories are int64, the place among the column's
    public values; an empty cell is −1.  Columns come in the order in which they were asked for.

    >>> rows = UnitRows({"age": np.array([30.0, 31.0, 7.0])}, np.array([0, 2]), 3)
    >>> rows.units, rows.unit_of_row.tolist()
    (2, [0, 0, 1])
    """

    columns: Mapping[str, NDArray[Any]]
    starts: Ints
    size: int
    remembered: dict[str, Any] = field(default_factory=dict, repr=False)  # what a kernel made of it in an earlier pass

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.starts)

    @cached_property
    def unit_of_row(self) -> NDArray[np.intp]:
        """For each row the number of its unit."""
        return np.repeat(np.arange(self.units, dtype=np.intp), np.diff(self.starts, append=self.size))
