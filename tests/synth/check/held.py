"""A view of rows that a test holds, for what a check computes behind the gate; its bounds are the kernels' own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.bounded import Bounded, RowLimit
from discreet.kernel.contract import kernel_of, plain
from discreet.kernel.rows import UnitRows


@dataclass(frozen=True)
class HeldView:
    """Units, each a list of rows, each a list of cells in the order of `names`, as a view hands them out."""

    units: Any
    names: Any
    limit: RowLimit

    def chunk(self, columns):
        rows = [row for unit in self.units for row in unit]
        sizes = [len(unit) for unit in self.units]
        starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        cells = {name: np.array([row[self.names.index(name)] for row in rows]) for name in columns}
        return UnitRows(cells, starts, len(rows))

    def sum(self, kernel, columns, public, *, where=None):
        parsed = plain(public)
        implementation = kernel_of(kernel)
        length, bound = implementation.length(parsed), implementation.sensitivity(parsed, self.limit)
        if not any(self.units):
            return Bounded(lambda: np.zeros(length, dtype=np.int64), bound)
        return Bounded(lambda: implementation(self.chunk(columns), parsed), bound)

    def rows(self, columns, *, where=None):
        return Bounded(lambda: self.chunk(columns), self.limit)
