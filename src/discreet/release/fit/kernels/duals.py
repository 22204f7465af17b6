"""Loops over a tree of places, compiled: dual curves in float64.

Import this module inside functions only: it loads Numba.  Places are numbered from the top, so that going backwards
meets children before their parents.  `slot[i]` numbers the places that have children, from the top; −1 for a leaf.
One thread works through the places in their order: the results are functions of the inputs.
"""

import numpy as np
from numba import njit

from discreet.ndarrays import Bools, Floats, Ints

_SHORT = 16  # up to here insertion beats merging and partition


@njit(cache=True, nogil=True)
def count_free(child: Ints, slot: Ints, free: Bools, size: Ints) -> None:
    """Into `size`, which is 0: how many leaves below each (slot, cell) are free.

    `free` has the leaves filled in; on the way up every other place becomes free that has a free leaf below.
    """
    cells = free.shape[1]
    for place in range(len(child) - 2, -1, -1):
        if slot[place] < 0:
            continue
        for below in range(child[place], child[place + 1]):
            for cell in range(cells):
                if free[below, cell]:
                    free[place, cell] = True
                    size[slot[place], cell] += size[slot[below], cell] if slot[below] >= 0 else 1


@njit(cache=True, nogil=True)
def sort_by_dual(duals: Floats, slopes: Floats, spare_duals: Floats, spare_slopes: Floats, runs: Ints) -> None:
    """Pairs (dual, slope) in order of dual, in place: the runs that are there already, merged two by two."""
    length, count, start = len(duals), 0, 0
    while start < length:
        end = start + 1
        while end < length and duals[end - 1] <= duals[end]:
            end += 1
        while end < min(length, start + _SHORT):
            dual, slope, index = duals[end], slopes[end], end
            while index > start and duals[index - 1] > dual:
                duals[index], slopes[index] = duals[index - 1], slopes[index - 1]
                index -= 1
            duals[index], slopes[index] = dual, slope
            end += 1
        runs[count] = start
        count += 1
        start = end
    runs[count] = length
    swapped = False
    while count > 1:
        merged = 0
        for run in range(0, count, 2):
            left, right = runs[run], runs[run + 1]
            middle, end, start = right, runs[min(run + 2, count)], left
            for index in range(left, end):
                if left < middle and (right >= end or duals[left] <= duals[right]):
                    spare_duals[index], spare_slopes[index] = duals[left], slopes[left]
                    left += 1
                else:
                    spare_duals[index], spare_slopes[index] = duals[right], slopes[right]
                    right += 1
            runs[merged] = start
            merged += 1
        runs[merged] = length
        duals, spare_duals = spare_duals, duals
        slopes, spare_slopes = spare_slopes, slopes
        swapped, count = not swapped, merged
    if swapped:
        for index in range(length):
            spare_duals[index], spare_slopes[index] = duals[index], slopes[index]


@njit(cache=True, nogil=True)
def curves(
    child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints, longest: int
) -> tuple[Floats, Floats, Floats]:
    """For each (slot, cell) the demand X(μ) of its children at the dual μ: duals of the breakpoints, amounts there,
    slopes from there on.  X is 0 before the first breakpoint.  The top keeps no curve: it is asked at one dual only.

    A child with curve (μ, X, b) asks at the dual λ = μ + 2w·(X − ñ), with slope b/(1 + 2w·b); a leaf from
    λ = −2w·ñ on with slope 1/2w.  Jumps of slopes are formed without subtracting the sheared slopes.
    """
    cells = noisy.shape[1]
    duals, amounts, slopes = np.empty(starts[-1]), np.empty(starts[-1]), np.empty(starts[-1])
    spare_duals, spare_slopes = np.empty(longest), np.empty(longest)
    runs = np.empty(longest // _SHORT + 3, np.int64)
    for place in range(len(child) - 2, 0, -1):
        if slot[place] < 0:
            continue
        for cell in range(cells):
            key = slot[place] * cells + cell
            start, end = starts[key], starts[key + 1]
            index = start
            for below in range(child[place], child[place + 1]):
                if not free[below, cell]:
                    continue
                double, measured = 2.0 * weights[below], noisy[below, cell] / scale
                if slot[below] < 0:
                    duals[index], slopes[index] = -double * measured, 1 / double
                    index += 1
                    continue
                before, key = 0.0, slot[below] * cells + cell
                for j in range(starts[key], starts[key + 1]):
                    after = slopes[j]
                    duals[index] = duals[j] + double * (amounts[j] - measured)
                    slopes[index] = (after - before) / ((1 + double * after) * (1 + double * before))
                    before = after
                    index += 1
            sort_by_dual(duals[start:end], slopes[start:end], spare_duals, spare_slopes, runs)
            amount, slope = 0.0, 0.0
            for j in range(start, end):
                if j > start:
                    amount += slope * (duals[j] - duals[j - 1])
                slope += slopes[j]
                amounts[j], slopes[j] = amount, slope
    return duals, amounts, slopes


@njit(cache=True, nogil=True)
def demand(
    dual: float, measured: float, weight: float, duals: Floats, amounts: Floats, slopes: Floats
) -> tuple[float, float, float]:
    """What a place with this curve below it asks for at the dual λ, how steeply, and the dual μ below it.

    In the piece from breakpoint i on: μ = μᵢ + (λ − λᵢ)/(1 + 2w·bᵢ) and x = Xᵢ + bᵢ·(μ − μᵢ), λᵢ = μᵢ + 2w·(Xᵢ − ñ).
    """
    double, low, high = 2 * weight, 0, len(duals)
    while low < high:
        middle = (low + high) // 2
        if duals[middle] + double * (amounts[middle] - measured) <= dual:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0.0, 0.0, -np.inf
    index = low - 1
    sheared = 1 + double * slopes[index]
    further = (dual - (duals[index] + double * (amounts[index] - measured))) / sheared
    return amounts[index] + slopes[index] * further, slopes[index] / sheared, duals[index] + further


@njit(cache=True, nogil=True)
def demand_below_top(
    dual: float, cell: int, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints,
    starts: Ints, duals: Floats, amounts: Floats, slopes: Floats,
) -> tuple[float, float]:  # fmt: skip
    """What the children of the top ask for at a dual, and how steeply."""
    amount, slope, cells = 0.0, 0.0, noisy.shape[1]
    for below in range(child[0], child[1]):
        if not free[below, cell]:
            continue
        weight, measured = float(weights[below]), noisy[below, cell] / scale
        if slot[below] >= 0:
            key = slot[below] * cells + cell
            part = slice(starts[key], starts[key + 1])
            more = demand(dual, measured, weight, duals[part], amounts[part], slopes[part])
            amount += more[0]
            slope += more[1]
        elif dual >= -2 * weight * measured:
            amount += max(0.0, measured + dual / (2 * weight))
            slope += 1 / (2 * weight)
    return amount, slope


@njit(cache=True, nogil=True)
def duals_below_top(
    total: float, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints,
    duals: Floats, amounts: Floats, slopes: Floats, result: Floats,
) -> None:  # fmt: skip
    """Into `found`, which is −∞: the dual μ below the top in each cell, where all cells of the top together ask for
    the total at one dual λ; with a negative total λ = 0.

    Newton's method on μ + 2w·(X(μ) − ñ) = λ, all cells at once, from the last breakpoint on: X is convex, so the
    first step may go up and every later one goes down, until none does.
    """
    cells, double = noisy.shape[1], 2.0 * weights[0]
    rest, sheared = np.empty(cells), np.empty(cells)
    for cell in range(cells):
        for below in range(child[0], child[1]):
            if free[below, cell]:
                last = -2.0 * weights[below] * (noisy[below, cell] / scale)
                if slot[below] >= 0:
                    end = starts[slot[below] * cells + cell + 1] - 1
                    last += duals[end] + 2.0 * weights[below] * amounts[end]
                result[cell] = max(result[cell], last)
    first, moved = True, True
    while moved:
        missing, steep = total, 0.0
        for cell in range(cells):
            if result[cell] > -np.inf:
                amount, slope = demand_below_top(
                    result[cell], cell, child, slot, free, noisy, scale, weights, starts, duals, amounts, slopes
                )
                rest[cell] = double * (noisy[0, cell] / scale - amount) - result[cell]
                sheared[cell] = 1 + double * slope
                missing -= amount + slope / sheared[cell] * rest[cell]
                steep += slope / sheared[cell]
        dual = missing / steep if total > 0 else 0.0
        moved = False
        for cell in range(cells):
            if result[cell] > -np.inf:
                step = (dual + rest[cell]) / sheared[cell]
                if first or step < -(2.0**-50) * abs(result[cell]):
                    result[cell] += step
                    moved = True
        first = False


@njit(cache=True, nogil=True)
def hand_down(
    table: Floats, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints,
    duals: Floats, amounts: Floats, slopes: Floats,
) -> None:  # fmt: skip
    """Into `table`, whose top row holds the duals below the top: the leaves at their duals, and above them sums."""
    places, cells = noisy.shape
    for place in range(places):
        for below in range(child[place], child[place + 1]):
            weight, inner = float(weights[below]), slot[below]
            for cell in range(cells):
                dual, measured = table[place, cell], noisy[below, cell] / scale
                if inner < 0:
                    open_here = free[below, cell] and dual > -np.inf
                    table[below, cell] = max(0.0, measured + dual / (2 * weight)) if open_here else 0.0
                else:
                    start, end = starts[inner * cells + cell], starts[inner * cells + cell + 1]
                    table[below, cell] = demand(
                        dual, measured, weight, duals[start:end], amounts[start:end], slopes[start:end]
                    )[2]
    for place in range(places - 1, -1, -1):
        if slot[place] >= 0:
            for cell in range(cells):
                value = 0.0
                for below in range(child[place], child[place + 1]):
                    value += table[below, cell]
                table[place, cell] = value
