"""Group sizes by matching groups instead of adding counts, in the style of Kuo et al. (2018); here to compare with.

Public: the number of groups of every leaf.  In each place the noisy cumulative counts are made monotone in absolute
values, which gives whole counts n_s with the right number of groups.  From the top down the groups of a parent, in
order of size, are matched with those of its children in order of size; the two sizes of a group are averaged by

    1/variance = w·n_s    w = weight of the place, n_s = number of groups of that estimated size there

and the children go on with the averages.  In the end every leaf has its sizes and the other places are sums of leaves.

Simpler than in the paper: sizes are rounded after each average, groups of one place and size share one variance, and
only the estimator by cumulative counts is built, not the one by sorted sizes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from discreet.ndarrays import Floats, Ints
from discreet.release.fit.cumulative import require_cumulative, totals_of
from discreet.release.tree import Tree, tree_sums


class Sizes(NamedTuple):
    """Of places, by size: how many groups, and the precision of the size of each of them."""

    counts: Ints
    precision: Floats


def fitted(tree: Tree, noisy: Ints, weights: Ints, leaf_totals: Ints) -> Ints:
    """Counts of groups by size: whole, ≥ 0, each place the sum of its children, each leaf with its number of groups.

    `noisy` has the cumulative counts, a row for each place and a column for each size 0 … N.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> noisy = np.array([[1, 4, 5], [2, 1, 2], [0, 3, 3]])
    >>> fitted(tree, noisy, np.array([1, 1, 1]), np.array([2, 3])).tolist()
    [[1, 3, 1], [1, 0, 1], [0, 3, 0]]
    """
    require_cumulative(tree, noisy)
    totals = totals_of(tree, leaf_totals)
    middle = np.clip(medians(noisy[:, :-1]), 0, totals[:, None])
    counts = np.diff(np.hstack([middle, totals[:, None]]), axis=1, prepend=0)
    precision = (weights[:, None] * counts).astype(np.float64)
    for parent in np.flatnonzero(np.diff(tree.child) > 0):
        rows = slice(int(tree.child[parent]), int(tree.child[parent + 1]))
        above, below = Sizes(counts[parent], precision[parent]), Sizes(counts[rows], precision[rows])
        counts[rows], precision[rows] = matched(above, below)
    table: Ints = tree_sums(tree, counts[tree.leaves]).astype(np.int64)
    return table


def matched(above: Sizes, below: Sizes) -> Sizes:
    """The children's sizes after their groups met those of the parent, smallest with smallest.

    Both sides are cut into pieces in which all groups of the parent have one size and all of the children another; a
    piece that ends inside a size is shared out among the children in proportion to what they have left of it.
    """
    ends_above, ends_below = np.cumsum(above.counts), np.cumsum(below.counts.sum(axis=0))
    cuts = np.unique(np.concatenate([ends_above, ends_below]))
    lengths = np.diff(cuts, prepend=0)
    cuts, lengths = cuts[lengths > 0], lengths[lengths > 0]
    counts, summed_variance = np.zeros_like(below.counts), np.zeros_like(below.precision)
    left, children = below.counts.copy(), np.arange(len(below.counts))
    parents, sizes = np.searchsorted(ends_above, cuts), np.searchsorted(ends_below, cuts)
    for parent, size, length in zip(parents, sizes, lengths, strict=True):
        groups = shared_out(int(length), left[:, size])
        left[:, size] -= groups
        known = below.precision[:, size] + above.precision[parent]
        share = np.divide(above.precision[parent], known, out=np.zeros_like(known), where=known > 0)
        new = np.rint(size + share * (parent - size)).astype(np.int64)
        counts[children, new] += groups
        summed_variance[children, new] += np.divide(groups, known, out=np.zeros_like(known), where=known > 0)
    precision = np.divide(counts, summed_variance, out=np.zeros_like(summed_variance), where=summed_variance > 0)
    return Sizes(counts, precision)


def shared_out(units: int, among: Ints) -> Ints:
    """Whole parts of `units` ≤ ∑ among in proportion to `among`, none above it: largest remainders, lower number first.

    >>> shared_out(4, np.array([3, 3, 1])).tolist()
    [2, 2, 0]
    """
    whole = int(among.sum())
    parts = np.array([units * int(count) // whole for count in among], dtype=np.int64)
    rests = np.array([units * int(count) % whole for count in among], dtype=object)
    fullest = sorted(range(len(among)), key=lambda child: (-rests[child], child))[: units - int(parts.sum())]
    parts[fullest] += 1
    return parts


# --- monotone rows in absolute values ---------------------------------------------------------------------------------


def medians(rows: Ints) -> Ints:
    """Non-decreasing rows of whole numbers nearest in absolute values: ⌊(least + greatest such row)/2⌋.

    The set of the nearest rows is convex and has a least and a greatest element; the middle, rounded down, belongs to
    it too (docs/proofs/release/fit/cumulative.md).

    >>> medians(np.array([[1, 3, 2, 4], [9, 0, 0, 1]])).tolist()
    [[1, 2, 2, 4], [0, 0, 0, 1]]
    """
    values = np.ascontiguousarray(rows, dtype=np.int64)
    least, flipped = np.empty_like(values), np.empty_like(values)
    _lower_medians(values, least)
    _lower_medians(np.ascontiguousarray(-values[:, ::-1]), flipped)
    return (least - flipped[:, ::-1]) // 2


@njit(nogil=True)
def _lower_medians(rows: Ints, fits: Ints) -> None:
    """Into `fits`: per row the least of the non-decreasing rows nearest in absolute values.

    A heap holds the points where the slope of f(v) = least cost so far with the last value ≤ v changes; its top is the
    least minimiser of f.  Going back, each value is that minimiser or the value after it, whichever is smaller.
    """
    count, width = rows.shape
    heap = np.empty(width + 1, np.int64)
    for row in range(count):
        size = 0
        for cell in range(width):
            value = rows[row, cell]
            size = _push(heap, size, value)
            if heap[0] > value:
                _replace_top(heap, size, value)
            fits[row, cell] = heap[0]
        for cell in range(width - 2, -1, -1):
            fits[row, cell] = min(fits[row, cell], fits[row, cell + 1])


@njit(nogil=True)
def _push(heap: Ints, size: int, value: int) -> int:
    """Put the value into the max-heap and return its new size."""
    index = size
    while index > 0 and heap[(index - 1) // 2] < value:
        heap[index] = heap[(index - 1) // 2]
        index = (index - 1) // 2
    heap[index] = value
    return size + 1


@njit(nogil=True)
def _replace_top(heap: Ints, size: int, value: int) -> None:
    """Put the value in the place of the top of the max-heap."""
    index = 0
    while True:
        below = 2 * index + 1
        if below + 1 < size and heap[below + 1] > heap[below]:
            below += 1
        if below >= size or heap[below] <= value:
            break
        heap[index] = heap[below]
        index = below
    heap[index] = value
