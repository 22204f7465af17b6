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
    counts = np.diff(tree.child)
    children = np.concatenate([np.tile(counts[tree.places(level)], n) for level in range(tree.depth)])
    parent = np.concatenate([np.full(n, -1), np.repeat(np.arange(children.size), children)])
    child = n + np.concatenate([[0], np.cumsum(children)])
    names = [name for level in range(tree.depth) for name in tree.names[tree.places(level)] * n]
    return Tree(tree.levels, tuple(names), parent, n * tree.first, child)


def draw_measurements(mechanism: Measurement, exact: Any, n: int, source: Source) -> Ints:
    """n outputs on one input, a run a row: all numbers of the first place, of the second, …"""
    tree, leaves = mechanism.tree, np.asarray(exact, dtype=np.int64)
    leaf_level = tree.level[tree.leaves]
    tiled = np.concatenate([np.tile(leaves[leaf_level == level], (n, 1)) for level in range(tree.depth)])
    wide = replace(mechanism, tree=forest(tree, n))
    noisy = wide(tiled, source)
    return np.hstack([noisy[wide.tree.places(level)].reshape(n, -1) for level in range(tree.depth)])


@dataclass(frozen=True)
class StandIn:
    """Stands in for the noise of one level and marginal: returns `number` everywhere, or the exact numbers if None."""

    number: int | None

    def __call__(self, exact: Ints, source: Source) -> Ints:
        return exact if self.number is None else np.full_like(exact, self.number)


_FAR = 2**50  # beyond every count, so that none is taken for the number of a mechanism


def exact_layout(mechanism: Measurement, exact: Any) -> tuple[Ints, Ints]:
    """The exact numbers as the mechanism's own code orders them, and for each the index of the noise that it gets.

    Refused where a number is not the output of one of them: it has no noise, or noise of an unknown law.
    """
    leaves = np.asarray(exact, dtype=np.int64)
    sizes = [len(level) for level in mechanism.mechanisms]
    starts = np.cumsum([_FAR, *sizes]).tolist()
    silent: Any = tuple((StandIn(None),) * size for size in sizes)
    numbered: Any = tuple(tuple(map(StandIn, range(start, start + n))) for start, n in zip(starts, sizes, strict=False))
    numbers, marked = (replace(mechanism, mechanisms=stand_in)(leaves, SYSTEM) for stand_in in (silent, numbered))
    noise_index = marked.reshape(-1) - _FAR
    if np.abs(numbers).max() >= _FAR or noise_index.min() < 0 or noise_index.max() >= sum(sizes):
        raise TypeError("no exact law is known: a number must be the output of one of the measurement's mechanisms")
    return numbers.reshape(-1), noise_index
