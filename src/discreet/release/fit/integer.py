"""The whole-number table nearest to noisy counts that adds up over a tree: exact, without tables over all counts.

The program is that of duals.py with x in whole numbers.  Near the real optimum x* each place gets the window
⌊x*⌋ − W … ⌊x*⌋ + 1 + W, cut at 0.  Inside the windows the convex merge is exact: a place takes the units of its
children in order of their marginal costs, which are integers.  If no value of the result lies at an end of its window
other than the 0 that all counts have, no cycle of unit steps can lower the cost, and the result is the optimum over all
whole numbers; otherwise the windows that were touched are widened.  Nothing rests on the accuracy of x*.  Time and
memory are linear in the cells for windows of one width.  Proof: docs/proofs/release/fit/integer.md.
"""

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.fit.duals import FitInput, fit_input, real_table
from discreet.release.tree import Tree

_FIRST_WINDOW, _WIDER = 2, 4
_ROOM = 2**62  # all sums of marginals stay below


def fit(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
) -> Ints:
    """The table of whole numbers with least Σ_r w_r Σ_s (x_{r,s} − ñ_{r,s}/scale)², among all that add up.

    Arguments as in duals.projection.  Of several optima the one is taken in which the top is least, and then at each
    place a lower child gets the unit in question first.  The program is that of Fioretto, Van Hentenryck & Zhu 2021.

    >>> from discreet.release.tree import from_edges
    >>> fit(from_edges([("US", "GA"), ("US", "MI")]), [[2], [3], [0]], [1, 1, 1]).tolist()
    [[2], [2], [0]]
    """
    inputs = fit_input(tree, noisy, weights, scale=scale, total=total, allowed=allowed)
    return whole_table(inputs, real_table(inputs))


def whole_table(inputs: FitInput, real: Floats) -> Ints:
    """The nearest whole-number table, looked for around a real one; the nearer that is, the less work."""
    windows = np.full(len(inputs.tree), _FIRST_WINDOW)
    while True:
        _require_room(inputs, real, windows)
        table, touched = _within(inputs, real, windows)
        if not touched.any():
            return table
        windows[touched] *= _WIDER


def _within(inputs: FitInput, real: Floats, windows: Ints) -> tuple[Ints, Bools]:
    """The optimum within the windows, and which places touch an end of theirs: all, if no table lies within."""
    from discreet.release.fit.kernels import windows as kernels

    cells, inner = inputs.noisy.shape[1], np.flatnonzero(inputs.slot >= 0)
    low, high = np.zeros((len(inner), cells), dtype=np.int64), np.zeros((len(inner), cells), dtype=np.int64)
    sizes = np.repeat(2 * windows[inner] + 1, cells)
    starts = (np.cumsum(sizes) - sizes).reshape(len(inner), cells)
    rise = np.empty(int(sizes.sum()), dtype=np.int64)
    units = np.concatenate([[0], np.cumsum(2 * windows + 1)])
    buffer = np.empty(int(np.diff(units[inputs.tree.child]).max()), dtype=np.int64)
    facts = (inputs.tree.child, inputs.slot, inputs.free, real, inputs.noisy, inputs.scale, inputs.weights, windows)
    table, everywhere = np.full(inputs.noisy.shape, -1), np.ones(len(windows), dtype=np.bool_)
    if not kernels.rises(*facts, starts, low, high, rise, buffer):
        return table, everywhere
    steps = np.arange(2 * windows[0] + 1)
    if len(inner):
        top = _top(inputs, low[0], high[0], rise[starts[0][:, None] + steps])
    else:
        below = np.floor(real[0]).astype(np.int64)
        lowest = np.where(inputs.free[0], np.maximum(0, below - windows[0]), 0)
        highest = np.where(inputs.free[0], below + 1 + windows[0], 0)
        top = _top(inputs, lowest, highest, np.zeros((cells, len(steps)), dtype=np.int64))
    if top is None:
        return table, everywhere
    table[0], touched = top, ~everywhere
    kernels.split_values(table, touched, *facts, starts, low, high, rise)
    return table, touched


def _top(inputs: FitInput, low: Ints, high: Ints, rise: Ints) -> Ints | None:
    """The value of each cell at the top: without a total the units that lower the cost, else the cheapest so many."""
    steps = np.arange(rise.shape[1])
    own = 2 * (inputs.scale * (low[:, None] + steps) - inputs.noisy[0][:, None]) + inputs.scale
    cost, here = rise + inputs.weights[0] * own, steps < (high - low)[:, None]
    if inputs.total is None:
        return np.asarray(low + np.count_nonzero(here & (cost < 0), axis=1))
    more = inputs.total - int(low.sum())
    cell = np.nonzero(here)[0]
    if not 0 <= more <= len(cell):
        return None
    bought = cell[np.argsort(cost[here], kind="stable")[:more]]
    values: Ints = low + np.bincount(bought, minlength=len(low))
    return values


def _require_room(inputs: FitInput, real: Floats, windows: Ints) -> None:
    """A marginal sums w·(2·(scale·v − ñ) + scale) along one path; it must not leave 64 bits, whatever is chosen."""
    highest = int(real.max()) + int(windows.max()) + 2
    widest = max(int(inputs.noisy.max()), -int(inputs.noisy.min()))
    marginal = inputs.tree.depth * int(inputs.weights.max()) * (2 * (inputs.scale * highest + widest) + inputs.scale)
    if marginal >= _ROOM or highest + int(windows.sum()) + len(inputs.tree) >= _ROOM:
        fix = "Divide all weights by their common factor, or use a smaller scale."
        raise bad("weights", "times counts times levels must stay below 2⁶²", f"about {marginal:.1e}", fix)
