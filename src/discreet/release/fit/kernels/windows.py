"""Loops over a tree of places, compiled: windows of whole numbers and their marginal costs, in int64.

Import this module inside functions only: it loads Numba.  Places, `slot` and threads as in duals.py; a place that is
not `free` is always 0.  In `rise` the units of (slot, cell) start at `at[slot, cell]`.
"""

import numpy as np
from numba import njit

from discreet.ndarrays import Bools, Floats, Ints

_SHORT = 16  # up to here sorting beats partition


@njit(cache=True, nogil=True)
def sort_part(values: Ints, start: int, end: int) -> None:
    """values[start:end] in order, in place (Shell 1959 with the gaps 1, 4, 13, 40, …); it is short."""
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for position in range(start + gap, end):
            value, index = values[position], position
            while index >= start + gap and values[index - gap] > value:
                values[index] = values[index - gap]
                index -= gap
            values[index] = value
        gap //= 3


@njit(cache=True, nogil=True)
def put_in_rank(values: Ints, count: int, first: int, last: int) -> None:
    """Of the first `many` values those of rank first … last − 1 at their places, in order; smaller ones before.

    Partition around the median of three (Hoare 1961), for the first rank and then for the last.
    """
    left, right = 0, count
    for rank in (first, last - 1):
        rounds = 0
        while right - left > _SHORT and rounds < 64:
            a, b, c = values[left + (right - left) // 4], values[(left + right) // 2], values[right - 1]
            pivot = max(min(a, b), min(max(a, b), c))
            low, high = left, right - 1
            while low <= high:
                while values[low] < pivot:
                    low += 1
                while values[high] > pivot:
                    high -= 1
                if low <= high:
                    values[low], values[high] = values[high], values[low]
                    low += 1
                    high -= 1
            if rank <= high:
                right = high + 1
            elif rank >= low:
                left = low
            else:
                left, right = rank, rank
            rounds += 1
        sort_part(values, left, right)
        left, right = first, count
    sort_part(values, first, last)


@njit(cache=True, nogil=True)
def rises(
    child: Ints, slot: Ints, free: Bools, real: Floats, noisy: Ints, scale: int, weights: Ints, window: Ints,
    starts: Ints, low: Ints, high: Ints, rise: Ints, buffer: Ints,
) -> bool:  # fmt: skip
    """Bottom up, for each (slot, cell): the values low … high it may take, and what each unit more costs below it, in
    `rise` from `at[slot, cell]` on.

    Of the children's marginals, in order, the j-th is the cost of the unit from Σ low + j on.  False if no value is
    left.  A marginal of the place itself is w·(2·(scale·v − ñ) + scale), in units of 1/scale of the objective.
    """
    places, cells = noisy.shape
    for place in range(places - 1, -1, -1):
        own = slot[place]
        for cell in range(cells if own >= 0 else 0):
            base, top, units = 0, 0, 0
            for below in range(child[place], child[place + 1]):
                if not free[below, cell]:
                    continue
                inner = slot[below]
                start, stop = ends(below, cell, inner, real, window, low, high)
                step = 2 * scale * weights[below]
                cost = weights[below] * (2 * (scale * start - noisy[below, cell]) + scale)
                for j in range(stop - start):
                    buffer[units] = cost if inner < 0 else cost + rise[starts[inner, cell] + j]
                    cost += step
                    units += 1
                base += start
                top += stop
            floor = int(np.floor(real[place, cell]))
            start, stop = max(base, floor - window[place]), min(top, floor + 1 + window[place])
            if start > stop:
                return False
            if start < stop:
                put_in_rank(buffer, units, start - base, stop - base)
            low[own, cell], high[own, cell] = start, stop
            for j in range(stop - start):
                rise[starts[own, cell] + j] = buffer[start - base + j]
    return True


@njit(cache=True, nogil=True)
def ends(place: int, cell: int, inner: int, real: Floats, window: Ints, low: Ints, high: Ints) -> tuple[int, int]:
    """The least and the largest value that a free place may take."""
    if inner >= 0:
        return low[inner, cell], high[inner, cell]
    floor = int(np.floor(real[place, cell]))
    return max(0, floor - window[place]), floor + 1 + window[place]


@njit(cache=True, nogil=True)
def value_below(
    limit: int, place: int, cell: int, slot: Ints, real: Floats, noisy: Ints, scale: int, weights: Ints, window: Ints,
    starts: Ints, low: Ints, high: Ints, rise: Ints,
) -> int:  # fmt: skip
    """How far a free place goes as long as the next unit costs less than the limit."""
    inner = slot[place]
    start, stop = ends(place, cell, inner, real, window, low, high)
    value, cost = start, weights[place] * (2 * (scale * start - noisy[place, cell]) + scale)
    while value < stop and (cost if inner < 0 else cost + rise[starts[inner, cell] + value - start]) < limit:
        cost += 2 * scale * weights[place]
        value += 1
    return value


@njit(cache=True, nogil=True)
def split_values(
    table: Ints, touched: Bools, child: Ints, slot: Ints, free: Bools, real: Floats, noisy: Ints, scale: int,
    weights: Ints, window: Ints, starts: Ints, low: Ints, high: Ints, rise: Ints,
) -> None:  # fmt: skip
    """Top down from the values in the top row: each place hands its children the units that cost least, a lower
    child first among equals.

    A place is touched where a value lies at an end of its own window that is not the 0 of counts.  With a value at
    the low end nothing is known about its children, and they stay below 0 as they were given.
    """
    places, cells = noisy.shape
    for place in range(places):
        own, first, end = slot[place], child[place], child[place + 1]
        for cell in range(cells):
            value, floor = table[place, cell], int(np.floor(real[place, cell]))
            if value < 0:
                continue
            lowest = value == floor - window[place] and value > 0
            if free[place, cell] and (lowest or value == floor + 1 + window[place]):
                touched[place] = True
            if own < 0 or lowest:
                continue
            bottom = low[own, cell]
            limit = rise[starts[own, cell] + value - bottom - 1] if value > bottom else -(2**63) + 1
            for below in range(first, end):
                table[below, cell] = 0
                if free[below, cell]:
                    table[below, cell] = value_below(
                        limit, below, cell, slot, real, noisy, scale, weights, window, starts, low, high, rise
                    )
                    value -= table[below, cell]
            for below in range(first, end):
                if value > 0 and free[below, cell]:
                    more = value_below(
                        limit + 1, below, cell, slot, real, noisy, scale, weights, window, starts, low, high, rise
                    )
                    value -= more - table[below, cell]
                    table[below, cell] = more
