"""Loops over a tree of places, compiled: price curves in float64.

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
def sort_by_price(prices: Floats, slopes: Floats, spare_prices: Floats, spare_slopes: Floats, runs: Ints) -> None:
    """Pairs (price, slope) in order of price, in place: the runs that are there already, merged two by two."""
    many, count, start = len(prices), 0, 0
    while start < many:
        end = start + 1
        while end < many and prices[end - 1] <= prices[end]:
            end += 1
        while end < min(many, start + _SHORT):
            price, slope, at = prices[end], slopes[end], end
            while at > start and prices[at - 1] > price:
                prices[at], slopes[at] = prices[at - 1], slopes[at - 1]
                at -= 1
            prices[at], slopes[at] = price, slope
            end += 1
        runs[count] = start
        count += 1
        start = end
    runs[count] = many
    swapped = False
    while count > 1:
        kept = 0
        for run in range(0, count, 2):
            left, right = runs[run], runs[run + 1]
            middle, end, start = right, runs[min(run + 2, count)], left
            for at in range(left, end):
                if left < middle and (right >= end or prices[left] <= prices[right]):
                    spare_prices[at], spare_slopes[at] = prices[left], slopes[left]
                    left += 1
                else:
                    spare_prices[at], spare_slopes[at] = prices[right], slopes[right]
                    right += 1
            runs[kept] = start
            kept += 1
        runs[kept] = many
        prices, spare_prices = spare_prices, prices
        slopes, spare_slopes = spare_slopes, slopes
        swapped, count = not swapped, kept
    if swapped:
        for at in range(many):
            spare_prices[at], spare_slopes[at] = prices[at], slopes[at]


@njit(cache=True, nogil=True)
def curves(
    child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints, longest: int
) -> tuple[Floats, Floats, Floats]:
    """For each (slot, cell) the demand X(μ) of its children at the price μ: prices of the breakpoints, amounts there,
    slopes from there on.  X is 0 before the first breakpoint.  The top keeps no curve: it is asked at one price only.

    A child with curve (μ, X, b) asks at the price λ = μ + 2w·(X − ñ), with slope b/(1 + 2w·b); a leaf from
    λ = −2w·ñ on with slope 1/2w.  Jumps of slopes are formed without subtracting the sheared slopes.
    """
    cells = noisy.shape[1]
    prices, amounts, slopes = np.empty(starts[-1]), np.empty(starts[-1]), np.empty(starts[-1])
    spare_prices, spare_slopes = np.empty(longest), np.empty(longest)
    runs = np.empty(longest // _SHORT + 3, np.int64)
    for place in range(len(child) - 2, 0, -1):
        if slot[place] < 0:
            continue
        for cell in range(cells):
            key = slot[place] * cells + cell
            start, end = starts[key], starts[key + 1]
            at = start
            for below in range(child[place], child[place + 1]):
                if not free[below, cell]:
                    continue
                double, measured = 2.0 * weights[below], noisy[below, cell] / scale
                if slot[below] < 0:
                    prices[at], slopes[at] = -double * measured, 1 / double
                    at += 1
                    continue
                before, key = 0.0, slot[below] * cells + cell
                for j in range(starts[key], starts[key + 1]):
                    after = slopes[j]
                    prices[at] = prices[j] + double * (amounts[j] - measured)
                    slopes[at] = (after - before) / ((1 + double * after) * (1 + double * before))
                    before = after
                    at += 1
            sort_by_price(prices[start:end], slopes[start:end], spare_prices, spare_slopes, runs)
            amount, slope = 0.0, 0.0
            for j in range(start, end):
                if j > start:
                    amount += slope * (prices[j] - prices[j - 1])
                slope += slopes[j]
                amounts[j], slopes[j] = amount, slope
    return prices, amounts, slopes


@njit(cache=True, nogil=True)
def asked(
    price: float, measured: float, weight: float, prices: Floats, amounts: Floats, slopes: Floats
) -> tuple[float, float, float]:
    """What a place with this curve below it asks for at the price λ, how steeply, and the price μ below it.

    In the piece from breakpoint i on: μ = μᵢ + (λ − λᵢ)/(1 + 2w·bᵢ) and x = Xᵢ + bᵢ·(μ − μᵢ), λᵢ = μᵢ + 2w·(Xᵢ − ñ).
    """
    double, low, high = 2 * weight, 0, len(prices)
    while low < high:
        middle = (low + high) // 2
        if prices[middle] + double * (amounts[middle] - measured) <= price:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0.0, 0.0, -np.inf
    at = low - 1
    sheared = 1 + double * slopes[at]
    further = (price - (prices[at] + double * (amounts[at] - measured))) / sheared
    return amounts[at] + slopes[at] * further, slopes[at] / sheared, prices[at] + further


@njit(cache=True, nogil=True)
def asked_below_top(
    price: float, cell: int, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints,
    starts: Ints, prices: Floats, amounts: Floats, slopes: Floats,
) -> tuple[float, float]:  # fmt: skip
    """What the children of the top ask for at a price, and how steeply."""
    amount, slope, cells = 0.0, 0.0, noisy.shape[1]
    for below in range(child[0], child[1]):
        if not free[below, cell]:
            continue
        weight, measured = float(weights[below]), noisy[below, cell] / scale
        if slot[below] >= 0:
            key = slot[below] * cells + cell
            part = slice(starts[key], starts[key + 1])
            more = asked(price, measured, weight, prices[part], amounts[part], slopes[part])
            amount += more[0]
            slope += more[1]
        elif price >= -2 * weight * measured:
            amount += max(0.0, measured + price / (2 * weight))
            slope += 1 / (2 * weight)
    return amount, slope


@njit(cache=True, nogil=True)
def prices_below_top(
    total: float, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints,
    prices: Floats, amounts: Floats, slopes: Floats, found: Floats,
) -> None:  # fmt: skip
    """Into `found`, which is −∞: the price μ below the top in each cell, where all cells of the top together ask for
    the total at one price λ; with a negative total λ = 0.

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
                    last += prices[end] + 2.0 * weights[below] * amounts[end]
                found[cell] = max(found[cell], last)
    first, moved = True, True
    while moved:
        missing, steep = total, 0.0
        for cell in range(cells):
            if found[cell] > -np.inf:
                amount, slope = asked_below_top(
                    found[cell], cell, child, slot, free, noisy, scale, weights, starts, prices, amounts, slopes
                )
                rest[cell] = double * (noisy[0, cell] / scale - amount) - found[cell]
                sheared[cell] = 1 + double * slope
                missing -= amount + slope / sheared[cell] * rest[cell]
                steep += slope / sheared[cell]
        price = missing / steep if total > 0 else 0.0
        moved = False
        for cell in range(cells):
            if found[cell] > -np.inf:
                step = (price + rest[cell]) / sheared[cell]
                if first or step < -(2.0**-50) * abs(found[cell]):
                    found[cell] += step
                    moved = True
        first = False


@njit(cache=True, nogil=True)
def handed_down(
    table: Floats, child: Ints, slot: Ints, free: Bools, noisy: Ints, scale: int, weights: Ints, starts: Ints,
    prices: Floats, amounts: Floats, slopes: Floats,
) -> None:  # fmt: skip
    """Into `table`, whose top row holds the prices below the top: the leaves at their prices, and above them sums."""
    places, cells = noisy.shape
    for place in range(places):
        for below in range(child[place], child[place + 1]):
            weight, inner = float(weights[below]), slot[below]
            for cell in range(cells):
                price, measured = table[place, cell], noisy[below, cell] / scale
                if inner < 0:
                    open_here = free[below, cell] and price > -np.inf
                    table[below, cell] = max(0.0, measured + price / (2 * weight)) if open_here else 0.0
                else:
                    start, end = starts[inner * cells + cell], starts[inner * cells + cell + 1]
                    table[below, cell] = asked(
                        price, measured, weight, prices[start:end], amounts[start:end], slopes[start:end]
                    )[2]
    for place in range(places - 1, -1, -1):
        if slot[place] >= 0:
            for cell in range(cells):
                value = 0.0
                for below in range(child[place], child[place + 1]):
                    value += table[below, cell]
                table[place, cell] = value
