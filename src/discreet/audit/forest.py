"""Many runs of a measurement in one call: n copies of its tree side by side are a forest, which its own code measures.

    level l of the forest    level l of the first copy, of the second, …; so the children of a place still lie together

Every place of every copy gets noise of its own, so n copies of one input are n independent runs.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM, Source
from discreet.release.measure import Measurement
from discreet.release.tree import Tree


def forest(tree: Tree, n: int) -> Tree:
    """n copies of the tree."""
    own = np.diff(tree.child)
    children = np.concatenate([np.tile(own[tree.places(level)], n) for level in range(tree.depth)])
    parent = np.concatenate([np.full(n, -1), np.repeat(np.arange(children.size), children)])
    child = n + np.concatenate([[0], np.cumsum(children)])
    names = [name for level in range(tree.depth) for name in tree.names[tree.places(level)] * n]
    return Tree(tree.levels, tuple(names), parent, n * tree.first, child)


def measured(mechanism: Measurement, exact: Any, n: int, source: Source) -> Ints:
    """n outputs on one input, a run a row: all numbers of the first place, of the second, …"""
    tree, leaves = mechanism.tree, np.asarray(exact, dtype=np.int64)
    at = tree.level[tree.leaves]
    tiled = np.concatenate([np.tile(leaves[at == level], (n, 1)) for level in range(tree.depth)])
    wide = replace(mechanism, tree=forest(tree, n))
    noisy = wide(tiled, source)
    return np.hstack([noisy[wide.tree.places(level)].reshape(n, -1) for level in range(tree.depth)])


@dataclass(frozen=True)
class Filled:
    """Stands in for the noise of one level and marginal: the same number everywhere, or what is there as it is."""

    number: int | None

    def __call__(self, exact: Ints, source: Source) -> Ints:
        return exact if self.number is None else np.full_like(exact, self.number)


_FAR = 2**50  # beyond every count, so that none is taken for the number of a mechanism


def placed(mechanism: Measurement, exact: Any) -> tuple[Ints, Ints]:
    """The exact numbers as the mechanism's own code lays them out, and which of its mechanisms gives each its noise.

    Refused where a number is not what one of them gave: it is without noise, or its noise is of no known law.
    """
    leaves = np.asarray(exact, dtype=np.int64)
    each = [len(level) for level in mechanism.mechanisms]
    starts = np.cumsum([_FAR, *each]).tolist()
    silent: Any = tuple((Filled(None),) * many for many in each)
    numbered: Any = tuple(tuple(map(Filled, range(start, start + n))) for start, n in zip(starts, each, strict=False))
    numbers, which = (replace(mechanism, mechanisms=stand_in)(leaves, SYSTEM) for stand_in in (silent, numbered))
    own = which.reshape(-1) - _FAR
    if np.abs(numbers).max() >= _FAR or own.min() < 0 or own.max() >= sum(each):
        raise TypeError("no exact law is known: a number must be the output of one of the measurement's mechanisms")
    return numbers.reshape(-1), own
