"""Inner loops of the fits that go from the top down, compiled; each (parent, cell) is worked on alone, in turn.

Import this module inside functions only: it loads Numba.
"""

import numpy as np
from numba import njit

from discreet.ndarrays import Bools, Floats, Ints

PARTS = 2.0**20  # remainders are compared in these parts of one, so that the last bits of a float decide no tie


@njit(cache=True, nogil=True)
def falling(keys: Floats) -> Ints:
    """The numbers 0, 1, … in the order of falling keys, of equals the lower number first."""
    return np.argsort(-keys, kind="mergesort")


@njit(cache=True, nogil=True)
def simplex_rows(child: Ints, values: Floats, variance: Floats, fits: Ints) -> None:
    """Into `fits`, whose first row is given: children of each place and cell by `simplex`, parents first."""
    places, cells = values.shape
    wide = variance.shape[1] > 1
    for place in range(places):
        start, count = child[place], child[place + 1] - child[place]
        if count == 0:
            continue
        mean, spread = np.empty(count), np.empty(count)
        for cell in range(cells):
            if fits[place, cell] == 0:
                continue
            for i in range(count):
                mean[i] = values[start + i, cell]
                spread[i] = variance[start + i, cell if wide else 0]
            shares = simplex(mean, spread, fits[place, cell])
            for i in range(count):
                fits[start + i, cell] = shares[i]


@njit(cache=True, nogil=True)
def simplex(values: Floats, variance: Floats, total: int) -> Ints:
    """Whole x ≥ 0 of sum `total`, by largest remainder from arg min ∑ (x − e)²/v over x ≥ 0 of that sum; 0 where v = 0.

    The real solution is x = max(0, e − λv); the places with x > 0 are the first ones by falling e/v: e/v > λ.
    """
    size = len(values)
    keys = np.empty(size)
    for i in range(size):
        keys[i] = values[i] / variance[i] if variance[i] > 0 else -np.inf
    order = falling(keys)
    sum_values, sum_variance, dual, count = 0.0, 0.0, 0.0, 0
    for i in order:
        if variance[i] == 0:
            break
        next_dual = (sum_values + values[i] - total) / (sum_variance + variance[i])
        if count > 0 and values[i] <= next_dual * variance[i]:
            break
        sum_values += values[i]
        sum_variance += variance[i]
        dual, count = next_dual, count + 1
    fits, units, remainder = np.zeros(size, np.int64), total, np.full(size, -1.0)
    for i in order[:count]:
        real = max(0.0, values[i] - dual * variance[i])
        whole = np.floor(real + 0.5 / PARTS)
        fits[i] = int(whole)
        units -= int(whole)
        remainder[i] = np.floor((real - whole) * PARTS + 0.5)
    return with_rest(fits, units, order, falling(remainder), count)


@njit(cache=True, nogil=True)
def with_rest(fits: Ints, rest: int, order: Ints, by_remainder: Ints, count: int) -> Ints:
    """The fits with what is `left` given to the largest remainders, one each."""
    if 0 <= rest <= count:
        for i in by_remainder[:rest]:
            fits[i] += 1
        return fits
    if rest > 0:  # from here on: only where floats are coarser than one
        fits[order[0]] += rest
        return fits
    for i in order[:count]:
        removed = min(-rest, fits[i])
        fits[i] -= removed
        rest += removed
    return fits


@njit(cache=True, nogil=True)
def chebyshev_rows(child: Ints, noisy: Ints, scale: int, allowed: Bools, fits: Ints) -> None:
    """Into `fits`, whose first row is given: children of each place and cell by `chebyshev`, parents first.

    `allowed` has a row for each place, or none if all are.
    """
    places, cells = noisy.shape
    for place in range(places):
        start, stop = child[place], child[place + 1]
        targets, who = np.empty(stop - start, np.int64), np.empty(stop - start, np.int64)
        for cell in range(cells):
            if start == stop or fits[place, cell] == 0:
                continue
            count = 0
            for place_below in range(start, stop):
                if len(allowed) == 0 or allowed[place_below, cell]:
                    targets[count], who[count] = noisy[place_below, cell], place_below
                    count += 1
            shares = chebyshev(targets[:count], scale, fits[place, cell])
            for i in range(count):
                fits[who[i], cell] = shares[i]


@njit(cache=True, nogil=True)
def chebyshev(noisy: Ints, scale: int, total: int) -> Ints:
    """Whole x ≥ 0 of sum `total` with the least max |scale·x − y|; of these with the fewest x > 0 where y ≤ 0; of these
    with the least ∑ (scale·x − y)²; of these the one that gives most to the lowest numbers."""
    radius = nearest_radius(noisy, scale, total)
    count = len(noisy)
    low, high = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in range(count):
        low[i] = max(0, -((radius - noisy[i]) // scale))
        high[i] = (noisy[i] + radius) // scale
    close_zeros(noisy, high, total, radius)
    # The steps x − 1 → x that add at most scale·price to ∑ (scale·x − y)², for the least price that is enough.
    lower, upper = -2 * radius - scale, 2 * radius + scale
    while lower < upper:
        step_cost = (lower + upper) // 2
        units = 0
        for i in range(count):
            units += min(high[i], max(low[i], (step_cost + 2 * noisy[i] + scale) // (2 * scale)))
        if units >= total:
            upper = step_cost
        else:
            lower = step_cost + 1
    fits, over = np.empty(count, np.int64), -total
    for i in range(count):
        fits[i] = min(high[i], max(low[i], (lower + 2 * noisy[i] + scale) // (2 * scale)))
        over += fits[i]
    for i in range(count - 1, -1, -1):
        if over > 0 and fits[i] > low[i] and scale * (2 * fits[i] - 1) - 2 * noisy[i] == lower:
            fits[i] -= 1
            over -= 1
    return fits


@njit(cache=True, nogil=True)
def close_zeros(noisy: Ints, high: Ints, total: int, radius: int) -> None:
    """Sets `high` to 0 where y ≤ 0, but for as few as `total` needs, those with the largest y, lower numbers first."""
    lower, upper = -radius - 1, 1  # y of the last one left open: the largest with which there is room
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if room_from(noisy, high, middle) >= total:
            lower = middle
        else:
            upper = middle
    if room_from(noisy, high, 1) >= total:
        lower = 1
    room = room_from(noisy, high, lower + 1)
    for i in range(len(noisy)):
        if noisy[i] <= 0 and noisy[i] <= lower:
            if noisy[i] == lower and room < total:
                room += high[i]
            else:
                high[i] = 0


@njit(cache=True, nogil=True)
def room_from(noisy: Ints, high: Ints, lowest: int) -> int:
    """The sum of `high` where y ≥ `lowest` or y > 0."""
    room = 0
    for i in range(len(noisy)):
        if noisy[i] >= lowest or noisy[i] > 0:
            room += high[i]
    return room


@njit(cache=True, nogil=True)
def nearest_radius(noisy: Ints, scale: int, total: int) -> int:
    """The least whole T such that whole x ≥ 0 of sum `total` exist with |scale·x − y| ≤ T everywhere."""
    smallest, held = 0, 0
    for value in noisy:
        smallest = min(smallest, value)
        held += value
    radius = max(-smallest, -((held - scale * total) // len(noisy)))
    step, wrong = 1, radius - 1  # no T below the first one is enough
    while not reaches(noisy, scale, total, radius):
        wrong = radius
        radius += step
        step *= 2
    while radius - wrong > 1:
        middle = (wrong + radius) // 2
        if reaches(noisy, scale, total, middle):
            radius = middle
        else:
            wrong = middle
    return radius


@njit(cache=True, nogil=True)
def reaches(noisy: Ints, scale: int, total: int, radius: int) -> bool:
    """Whether each [y − T, y + T] holds a multiple of scale, 0 or more, and the least and most sum enclose `total`."""
    lowest, highest = 0, 0
    for value in noisy:
        low = max(0, -((radius - value) // scale))
        high = (value + radius) // scale
        if low > high:
            return False
        lowest += low
        highest += high
    return lowest <= total <= highest
