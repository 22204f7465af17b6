"""Groups of cells of one column, chosen from its noisy counts: what pairs are measured on.

    ordered     neighbouring cells join until a group holds 1/B of the total; a cell that holds as much is a group alone
    unordered   the largest cells are groups of their own, all others one group

B = 0.8·(N·μ)^⅓, the number of groups at which the noise of a pair and what is lost inside its cells are about equal.
Cells join only within one profile of structural zeros.  Coarsening follows from released numbers: it costs nothing.
"""

import numpy as np

from discreet.ndarrays import Floats, Ints

GROUPS = 0.8
LEAST = 2
MOST_GROUPS = 2**10  # of one column: two columns are counted together in one pass
_SPIKES = 8  # groups that large cells and the empty one add where LEAST are asked for


def most_groups(total: float, mu: float) -> int:
    """B: how many groups a column gets at most, but for spikes."""
    count = round(GROUPS * max(total * mu, 0.0) ** (1 / 3))
    return max(LEAST, int(count))


def most_least_groups(profiles: Ints, *, is_ordered: bool) -> int:
    """How many groups a column can have where `LEAST` are asked for, whatever its counts: what its profiles need.

    Of cells in order every change of profile begins a group.  At most two hold half of the total or more, which begin
    and end a group each; any other group that ends holds more than a quarter; and the empty cell is a group.
    """
    kinds = 1 + int((np.diff(profiles[:-1]) != 0).sum()) if is_ordered else len(np.unique(profiles[:-1]))
    return min(len(profiles), kinds + _SPIKES)


def grouped(shares: Floats, count: int, *, is_ordered: bool, profiles: Ints) -> Ints:
    """The group of each cell of a column, by noisy shares; the last cell is the empty one, a group alone.

    An empty cell that nobody seems to have joins a group of its profile, where there is any.
    """
    divided = _neighbours if is_ordered else _largest_alone
    groups = divided(shares[:-1], count, profiles[:-1])
    alike = np.flatnonzero(profiles[:-1] == profiles[-1])
    last = groups[alike[-1]] if shares[-1] <= 0 and len(alike) else groups.max(initial=-1) + 1
    return np.append(groups, last).astype(np.int64)


def _neighbours(shares: Floats, count: int, profiles: Ints) -> Ints:
    groups = np.zeros(len(shares), dtype=np.int64)
    goal, group, held = 1 / count, 0, 0.0
    for cell in range(1, len(shares)):
        held += shares[cell - 1]
        is_other = profiles[cell] != profiles[cell - 1]
        beside_spike = shares[cell - 1] >= goal or (held > 0 and shares[cell] >= goal)
        if is_other or beside_spike or (held > 0 and held + shares[cell] / 2 > goal):
            group, held = group + 1, 0.0
        groups[cell] = group
    return groups


def _largest_alone(shares: Floats, count: int, profiles: Ints) -> Ints:
    """The largest cells alone; all others together, those of each profile."""
    order = np.argsort(-shares, kind="stable")
    alone = order if len(shares) <= count else order[: max(count - 1, 1)]
    groups = np.full(len(shares), -1, dtype=np.int64)
    groups[np.sort(alone)] = np.arange(len(alone))
    rest = np.flatnonzero(groups < 0)
    groups[rest] = len(alone) + np.unique(profiles[rest], return_inverse=True)[1]
    return groups
