"""From noisy numbers to whole tables that add up, one method a module; all of it sees released numbers only."""

from typing import Protocol

from discreet.ndarrays import Bools, Ints
from discreet.release.tree import Tree


class Fit(Protocol):
    """A method for counts: the function `fit` of integer, topdown, chebyshev, rounding and leaf_totals.

    It returns a whole table, 0 or more, in which each place is the sum of its children.  `noisy` (places, cells) counts
    in parts of 1/scale; `weights` (places,) are whole numbers ∝ 1/variance; `total` is the sum of the top's cells, None
    where it is not held to one; `allowed` (leaves, cells) is False where a cell must be 0.
    """

    def __call__(
        self,
        tree: Tree,
        noisy: Ints,
        weights: Ints,
        *,
        scale: int = 1,
        total: int | None = None,
        allowed: Bools | None = None,
    ) -> Ints: ...
