"""Inner loops over the rows of a table, compiled; each row is worked on alone, so nothing depends on threads.

Import this module inside functions only: it loads Numba.
"""

import numpy as np
from numba import njit

from discreet.ndarrays import Bools, Floats, Ints


@njit(cache=True, nogil=True)
def pool_adjacent_violators(rows: Floats, lowest: float, highest: Floats, fits: Floats) -> None:
    """Into `fits`: per row the non-decreasing row nearest in squares, cut to lowest … highest of the row.

    A stack holds blocks (mean, size, end); a new entry joins the block before it as long as that block's mean is
    larger.
    """
    count, width = rows.shape
    mean, size, end = np.empty(width), np.empty(width), np.empty(width, np.int64)
    for row in range(count):
        top = -1
        for cell in range(width):
            block_mean, block_size = rows[row, cell], 1.0
            while top >= 0 and mean[top] >= block_mean:
                joined_size = size[top] + block_size
                block_mean += (mean[top] - block_mean) * (size[top] / joined_size)
                block_size = joined_size
                top -= 1
            top += 1
            mean[top], size[top], end[top] = block_mean, block_size, cell + 1
        start = 0
        for block in range(top + 1):
            value = min(max(mean[block], lowest), highest[row])
            for cell in range(start, end[block]):
                fits[row, cell] = value
            start = end[block]


@njit(cache=True, nogil=True)
def on_simplex(rows: Floats, allowed: Bools, totals: Floats, fits: Floats) -> None:
    """Into `fits`: per row the nearest x ≥ 0 with Σ x = the row's total and x = 0 where it is not allowed.

    x = max(0, row − shift); the shift is found by taking out the cells it would make negative until none is left
    (Michelot 1986).  Every row must have an allowed cell or the total 0.
    """
    count, width = rows.shape
    active = np.empty(width, np.bool_)
    for row in range(count):
        open_cells = 0
        for cell in range(width):
            active[cell] = allowed[row, cell]
            open_cells += active[cell]
        shift, open_before = 0.0, -1
        while open_cells != open_before and open_cells > 0:
            open_before, over = open_cells, 0.0
            for cell in range(width):
                if active[cell]:
                    over += rows[row, cell]
            shift = (over - totals[row]) / open_cells
            for cell in range(width):
                if active[cell] and rows[row, cell] <= shift:
                    if open_cells == 1:
                        break
                    active[cell] = False
                    open_cells -= 1
        for cell in range(width):
            fits[row, cell] = max(0.0, rows[row, cell] - shift) if active[cell] else 0.0


# --- whole curves ----------------------------------------------------------------------------------------------------

NEAR = 1e-6  # reals this close to a whole number count as it


@njit(cache=True, nogil=True)
def hand_down(child: Ints, curves: Floats, limits: Ints, table: Ints) -> None:
    """Into `table`, whose first row is given: whole non-decreasing rows, each place the sum of its children in every
    cell, none above its limit, close to the `curves`; a parent's units go to its children in order of size."""
    width = curves.shape[1]
    for parent in range(len(child) - 1):
        first, last = child[parent], child[parent + 1]
        if first < last:
            targets = np.empty((last - first, width))
            bend_curves(curves[first:last], table[parent], targets)
            deal_units(targets, table[parent], limits[first:last], table[first:last])


@njit(cache=True, nogil=True)
def bend_curves(curves: Floats, whole_sums: Ints, targets: Floats) -> None:
    """Into `targets`: the curves read at those points of their sum, between cells too, where it is `whole_sums`."""
    count, width = curves.shape
    sums = np.zeros(width + 1)
    for row in range(count):
        for cell in range(width):
            sums[cell + 1] += curves[row, cell]
    piece = 0  # the piece of the sum between cell at − 1 and cell at
    for cell in range(width):
        while piece < width and sums[piece + 1] < whole_sums[cell]:
            piece += 1
        over = whole_sums[cell] - sums[min(piece, width)]
        for row in range(count):
            if piece == width:  # more units than the curves have
                share = curves[row, -1] / sums[width] if sums[width] > 0 else 1 / count
                targets[row, cell] = curves[row, -1] + over * share
            else:
                before = curves[row, piece - 1] if piece > 0 else 0.0
                rise = sums[piece + 1] - sums[piece]
                share_of_rise = over / rise if rise > 0 else 1.0
                targets[row, cell] = before + share_of_rise * (curves[row, piece] - before)


@njit(cache=True, nogil=True)
def deal_units(targets: Floats, whole_sums: Ints, limits: Ints, table: Ints) -> None:
    """Into `table`: rows that add up to `whole_sums`, each entry less than 1 from its target, non-decreasing.

    Cell after cell: what a row needs to reach ⌊target⌋, then one unit each, up to ⌈target⌉, to the rows that will need
    it first (earliest deadline).
    """
    count, width = targets.shape
    have, due, key, order = np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty(count), np.arange(count)
    dealt = 0
    for cell in range(width):
        units = whole_sums[cell] - dealt
        dealt = whole_sums[cell]
        for row in range(count):
            lacks = min(units, min(np.int64(np.floor(targets[row, cell] + NEAR)), limits[row]) - have[row])
            if lacks > 0:
                have[row] += lacks
                units -= lacks
        if units > 0:
            for row in range(count):
                while due[row] < width and targets[row, due[row]] < have[row] + 1 - NEAR:
                    due[row] += 1
                open_now = have[row] < limits[row] and targets[row, cell] > have[row] + NEAR
                key[row] = due[row] - (targets[row, cell] - have[row]) if open_now else np.inf
            for index in range(count // 2 - 1, -1, -1):
                _sift_down(order, key, index)
            while units > 0 and key[order[0]] < np.inf:
                have[order[0]] += 1
                units -= 1
                key[order[0]] = np.inf
                _sift_down(order, key, 0)
        for row in range(count):
            extra = min(units, limits[row] - have[row])  # not 0 only where rounding errors left something over
            have[row] += extra
            units -= extra
            table[row, cell] = have[row]


@njit(cache=True, nogil=True)
def _sift_down(order: Ints, key: Floats, index: int) -> None:
    """The entry at a place of the heap moved down until no smaller key, or equal key of a lower row, is below it."""
    row = order[index]
    while True:
        below = 2 * index + 1
        if below + 1 < len(order) and _before(key, order[below + 1], order[below]):
            below += 1
        if below >= len(order) or not _before(key, order[below], row):
            break
        order[index] = order[below]
        index = below
    order[index] = row


@njit(cache=True, nogil=True)
def _before(key: Floats, row: int, other: int) -> bool:
    return key[row] < key[other] or (key[row] == key[other] and row < other)
