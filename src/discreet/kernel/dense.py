"""Encoded rows as a matrix, for what needs products of columns; block by block, since a matrix is larger than codes."""

import numpy as np

from discreet.kernel.encode import UNIT, Design
from discreet.ndarrays import Floats


def dense_rows(design: Design, part: slice) -> Floats:
    """Rows of the design in whole steps, centred and not yet clipped: a row for each row, a column for each column."""
    encoding = design.encoding
    size = len(design.share[part])
    matrix, row = np.zeros((size, encoding.width)), np.arange(size)
    if encoding.first:
        matrix[:, 0] = encoding.intercept
    for crossed in design.crossed:
        shape = [cells + 1 for _, cells in crossed.spans]
        for (first, cells), codes in zip(crossed.spans, np.unravel_index(crossed.codes[part], shape), strict=True):
            has_cell = codes < cells
            matrix[row[has_cell], first + codes[has_cell]] = UNIT
    for column, numbers in design.numbers:
        matrix[:, column] = numbers[part]
    matrix -= encoding.centre
    return matrix
