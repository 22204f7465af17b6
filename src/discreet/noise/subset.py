"""A uniform choice of so many members from each of many groups.

Every member draws a word, and the members with the smallest words are chosen.  Given that no two words of a group are
equal, their order is a uniform permutation; a group with two equal words draws all of them anew.
"""

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source


def uniform_subsets(sizes: Ints, largest: int, source: Source) -> Bools:
    """Which members are chosen, group after group: all of a group of up to `largest`, else a uniform subset of so many.

    >>> from discreet.noise.source import SYSTEM
    >>> uniform_subsets(np.array([2, 5, 0]), 3, SYSTEM).astype(int).sum()
    np.int64(5)
    """
    ends = np.cumsum(sizes)
    chosen = np.ones(int(ends[-1]) if ends.size else 0, dtype=np.bool_)
    crowded = np.flatnonzero(sizes > largest)
    while crowded.size:
        members = _members(ends[crowded] - sizes[crowded], sizes[crowded])
        group = np.repeat(np.arange(crowded.size), sizes[crowded])
        words = source.words(members.size)
        order = np.lexsort((words, group))  # groups stay in their places, each with its smallest word first
        ranks = np.arange(members.size) - np.repeat(np.cumsum(sizes[crowded]) - sizes[crowded], sizes[crowded])
        chosen[members[order]] = ranks < largest
        ordered = words[order]
        equal = (ordered[1:] == ordered[:-1]) & (group[1:] == group[:-1])
        crowded = crowded[np.unique(group[1:][equal])]
    return chosen


def _members(starts: Ints, sizes: Ints) -> Ints:
    """The places of all members of groups that begin at `starts`, group after group."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
