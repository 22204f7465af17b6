"""How far a release is from the exact table: for benchmarks and tests on *public* data only.

Every number here is computed from exact counts without noise.  On private data it must never be published, shown or
used to choose a method: it would tell what the release protects.
"""

from dataclasses import dataclass

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.release import check
from discreet.release.check import Violations
from discreet.release.tree import Tree


@dataclass(frozen=True)
class Measures:
    """The error of one level.

    l1                ∑ |released − exact| over places and cells
    mean_l1           l1 / places of the level
    largest           max |released − exact|
    emd               ∑ |C_released − C_exact|, C the sums of a place's cells from the first on: cells as ordered sizes
    false_positives   of the cells that are exactly 0, the share released as something else; 0 if there is none
    violations        what breaks a rule on this level
    """

    level: str
    l1: float
    mean_l1: float
    largest: float
    emd: float
    false_positives: float
    violations: Violations


def measures(
    tree: Tree,
    exact: Ints,
    released: check.Table,
    *,
    total: int | None = None,
    leaf_totals: Ints | None = None,
    allowed: Bools | None = None,
) -> tuple[Measures, ...]:
    """The error of each level, from the top down, of public data: **never to be published for private data**.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> low = measures(tree, np.array([[5, 0], [2, 0], [3, 0]]), np.array([[5, 0], [1, 1], [4, -1]]))[1]
    >>> low.l1, low.mean_l1, low.largest, low.emd, low.false_positives
    (4.0, 2.0, 1.0, 2.0, 1.0)
    """
    if exact.shape != released.shape:
        raise bad("exact", f"must have the shape {released.shape} of the release", exact.shape, "Compare equal tables.")
    broken = check.by_level(tree, released, total=total, leaf_totals=leaf_totals, allowed=allowed)
    return tuple(
        _measured(name, exact[tree.places(level)], released[tree.places(level)], broken[level])
        for level, name in enumerate(tree.levels)
    )


def _measured(level: str, exact: Ints, released: check.Table, broken: Violations) -> Measures:
    off = np.asarray(released - exact, dtype=np.float64)
    empty = exact == 0
    l1 = float(np.abs(off).sum())
    return Measures(
        level=level,
        l1=l1,
        mean_l1=l1 / len(off),
        largest=float(np.abs(off).max(initial=0)),
        emd=float(np.abs(np.cumsum(off, axis=1)).sum()),
        false_positives=float(np.sum(empty & (released != 0)) / max(1, int(empty.sum()))),
        violations=broken,
    )
