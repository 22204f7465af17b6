"""Count the worlds without listing them: a dynamic program over classes in the order of their values.

A state is what the tables know of the persons so far: how many, and for each table its members, their sum and, for a
median, the lower middle value under each number of members that is possible, or the members beyond its ends.  Each
class of m kinds adds j persons in C(m + j − 1, j) ways.  States are rows of an array, and equal rows are added up after
each class.
"""

from collections.abc import Sequence
from itertools import product
from math import ceil, comb, floor, prod

import numpy as np

from discreet.attack.consistent.classes import Classes, classes_of
from discreet.attack.consistent.published import Published, Universe
from discreet.ndarrays import Bools, Ints

MOST_STATES = 150_000
_WIDTH = 4  # columns of a state for each table
_NONE, _DONE = -1, -2  # of a lower middle value, as an offset from the least value: not reached yet; settled


def counted_worlds(who: Universe, tables: Sequence[Published], most_states: int = MOST_STATES) -> int | None:
    """How many worlds fit every table; None where there are too many states to count them so.

    Condition: tables that have sums or medians all have them of one column.
    """
    if len({table.of for table in tables if table.of is not None}) > 1 or who.worlds >= 2**62:
        return None
    classes = classes_of(tables, len(who.kinds))
    value = np.max(np.where(classes.members, classes.values, np.iinfo(np.int64).min), axis=1, initial=0)
    value = np.where(classes.members.any(axis=1), value, 0)
    followers = [_Follower(table, place, value[classes.members[:, place]]) for place, table in enumerate(tables)]
    states = _first_states(tables, who.persons, most_states)
    if states is None:
        return None
    ways = np.ones(len(states), dtype=np.int64)
    order = np.argsort(value, kind="stable")
    for step, place in enumerate(order):
        following = None if step + 1 == len(order) else int(value[order[step + 1]])
        states, ways = _with_class(who, classes, followers, (states, ways), int(place), (int(value[place]), following))
        if len(states) > most_states:
            return None
    return int(ways.sum())


def _first_states(tables: Sequence[Published], persons: int, most_states: int) -> Ints | None:
    """Nobody yet, once for each way to choose the number of members of every group with a median; None if too many.

    The number of one group is chosen once, from what all tables of that group admit.
    """
    groups = {table.members.tobytes(): range(0) for table in tables if table.has_middle}
    for group in groups:
        ends = [table.count for table in tables if table.count is not None and table.members.tobytes() == group]
        groups[group] = range(
            max(1, *(ceil(low) for low, _ in ends)), min(persons, *(floor(high) for _, high in ends)) + 1
        )
    if prod(map(len, groups.values())) > most_states:
        return None
    chosen = np.array(list(product(*groups.values())), dtype=np.int64).reshape(
        prod(map(len, groups.values())), len(groups)
    )
    states = np.zeros((len(chosen), 1 + _WIDTH * len(tables)), dtype=np.int64)
    for place, table in enumerate(tables):
        states[:, 3 + _WIDTH * place] = _NONE
        if table.has_middle:
            states[:, 4 + _WIDTH * place] = chosen[:, list(groups).index(table.members.tobytes())]
    return states


def _with_class(
    who: Universe,
    classes: Classes,
    followers: "Sequence[_Follower]",
    before: tuple[Ints, Ints],
    place: int,
    values: tuple[int, int | None],
) -> tuple[Ints, Ints]:
    """The states after a class, which adds nobody up to everybody who is left; impossible ones are dropped."""
    kinds, (value, following) = len(classes.kinds[place]), values
    states, ways = before
    every_state, every_way = [], []
    for persons in range(who.persons + 1):
        room = states[:, 0] + persons <= who.persons
        if not room.any():
            break
        after, chance = states[room].copy(), ways[room] * comb(kinds + persons - 1, persons)
        after[:, 0] += persons
        kept = np.ones(len(after), dtype=bool)
        for follower in followers:
            if persons and classes.members[place, follower.place]:
                kept &= follower.add(after, value, persons)
            kept &= follower.possible(after, who.persons, following)
        if following is None:
            kept &= after[:, 0] == who.persons
        every_state.append(after[kept])
        every_way.append(chance[kept])
    return _added_up(np.concatenate(every_state), np.concatenate(every_way))


def _added_up(states: Ints, ways: Ints) -> tuple[Ints, Ints]:
    """Each state once, with the ways of its copies in sum."""
    if not len(states):
        return states, ways
    widths = states.max(axis=0) - states.min(axis=0) + 1
    if float(np.prod(widths.astype(np.float64))) < 2**62:  # one whole number a state, which sorts far faster than rows
        scale = np.concatenate([[1], np.cumprod(widths[:-1])])
        keys = (states - states.min(axis=0)) @ scale
        order = np.argsort(keys, kind="stable")
        is_new = np.concatenate([[True], np.diff(keys[order]) != 0])
    else:
        order = np.lexsort(states.T)
        is_new = np.concatenate([[True], (np.diff(states[order], axis=0) != 0).any(axis=1)])
    starts = np.flatnonzero(is_new)
    return states[order[starts]], np.add.reduceat(ways[order], starts)


class _Follower:
    """What a state knows of one table: members, sum, the middle or the members beyond, and how many it will have."""

    def __init__(self, table: Published, place: int, values: Ints) -> None:
        self.table, self.place, self.columns = table, place, slice(1 + _WIDTH * place, 1 + _WIDTH * (place + 1))
        self.least, self.greatest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        self.needs_sum = table.total is not None or table.mean is not None
        self.needs_count = table.count is not None or table.mean is not None or table.median is not None

    def add(self, states: Ints, value: int, persons: int) -> Bools:
        """Add persons of that value to every state, in place; whether each can still be."""
        mine, table = states[:, self.columns], self.table
        kept = np.ones(len(mine), dtype=bool)
        before = mine[:, 0].copy()
        if self.needs_count:
            mine[:, 0] += persons
        if self.needs_sum:
            mine[:, 1] += value * persons
        if table.median is None:
            return kept
        low, high = table.median
        if not table.has_middle:  # members below the low end count one, above the high end a thousand
            if mine[0:1, 2].size:
                mine[mine[:, 2] == _NONE, 2] = 0
            mine[:, 2] += persons * (int(value < ceil(low)) + 1000 * int(value > floor(high)))
            return kept
        first, second = (mine[:, 3] + 1) // 2, mine[:, 3] // 2 + 1  # ranks of the middle, one for an odd number
        lower = (before < first) & (first <= mine[:, 0])
        mine[lower, 2] = value - self.least
        upper = (before < second) & (second <= mine[:, 0])
        both = mine[:, 2] + self.least + value
        kept &= ~upper | ((both >= ceil(2 * low)) & (both <= floor(2 * high)))
        mine[upper, 2] = _DONE
        return kept

    def possible(self, states: Ints, persons: int, following: int | None) -> Bools:
        """Whether persons to come, all of at least the following value, can still meet the table's numbers."""
        mine, table = states[:, self.columns], self.table
        left = np.zeros(len(mine), dtype=np.int64) if following is None else persons - states[:, 0]
        kept = np.ones(len(mine), dtype=bool)
        least, greatest = mine[:, 0], mine[:, 0] + left
        if table.count is not None:
            kept &= (mine[:, 0] <= floor(table.count[1])) & (greatest >= ceil(table.count[0]))
            least = np.maximum(least, ceil(table.count[0]))
            greatest = np.minimum(greatest, floor(table.count[1]))
        if table.has_middle:
            kept &= (mine[:, 0] <= mine[:, 3]) & (mine[:, 3] <= greatest)
            least = greatest = mine[:, 3]
        if self.needs_sum and self.least >= 0:
            next_value = self.greatest if following is None else max(following, self.least)
            lowest = mine[:, 1] + (least - mine[:, 0]) * next_value
            highest = mine[:, 1] + np.maximum(greatest - mine[:, 0], 0) * self.greatest
            kept &= self._sums_fit(lowest, highest, greatest, least)
        elif self.needs_sum and following is None:
            kept &= self._sums_fit(mine[:, 1], mine[:, 1], mine[:, 0], mine[:, 0])
        if table.median is not None and not table.has_middle:
            below, above = np.maximum(mine[:, 2], 0) % 1000, np.maximum(mine[:, 2], 0) // 1000
            kept &= (2 * below <= greatest + 2 * table.ranks) & (2 * above <= greatest + 2 * table.ranks)
        elif table.median is not None and following is not None:
            waiting = mine[:, 2] >= 0
            kept &= ~waiting | (mine[:, 2] + self.least + following <= floor(2 * table.median[1]))
        return kept

    def _sums_fit(self, lowest: Ints, highest: Ints, greatest: Ints, least: Ints) -> Bools:
        kept = np.ones(len(lowest), dtype=bool)
        if self.table.total is not None:
            low, high = self.table.total
            kept &= (lowest <= floor(high)) & (highest >= ceil(low))
        if self.table.mean is not None:
            low, high = self.table.mean
            kept &= lowest * high.denominator <= np.maximum(high.numerator * greatest, high.numerator * least)
            kept &= highest * low.denominator >= np.minimum(low.numerator * least, low.numerator * greatest)
        return kept
