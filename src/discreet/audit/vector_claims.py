"""Claims of vectors side by side, as tables of features are released.

An input is a tuple of vectors, in the order of the mechanism's names.
"""

from collections.abc import Iterator
from fractions import Fraction

from discreet.audit.claim import Claim
from discreet.audit.trial import Pair
from discreet.bounded import Sensitivity, cells
from discreet.mechanism import additive
from discreet.mechanism.vectors import Vectors, vectors
from discreet.relation import Relation

HALF, SIGMA = Fraction(1, 2), Fraction(1)
_ONE_MORE: tuple[Pair, ...] = (
    (((0, 0), (0, 0, 0)), ((1, 0), (1, 0, 0))),  # a row in one cell of each table
    (((4, 0), (0, 3, 1)), ((4, 1), (0, 3, 2))),
    (((9, 9), (6, 6, 6)), ((9, 9), (6, 6, 7))),  # one table has no cell for it
    (((2, 3), (5, 0, 0)), ((3, 3), (5, 0, 1))),
)
_ONE_OTHER: tuple[Pair, ...] = (
    (((1, 0), (1, 0, 0)), ((0, 1), (0, 1, 0))),
    (((4, 0), (0, 3, 1)), ((3, 1), (0, 3, 1))),
    (((9, 9), (6, 6, 6)), ((8, 10), (7, 6, 5))),
)


def two_tables(own: Sensitivity, *, pure: bool) -> Vectors:
    """Two tables at half of the price each: ε = 1, or σ = 1."""
    if pure:
        return vectors({name: additive.laplace(own, HALF) for name in ("a", "b")})
    return vectors({name: additive.gaussian_share(own, SIGMA, HALF) for name in ("a", "b")})


def family() -> Iterator[Claim]:
    """All claims of this module."""
    single, other = cells(1, 1), cells(2, 1, Relation.REPLACE_ONE)
    for pure, law in ((True, "laplace"), (False, "gaussian")):
        yield Claim(f"vectors-{law}", vectors, two_tables(single, pure=pure), _ONE_MORE, _ONE_MORE)
        replaced = two_tables(other, pure=pure)
        yield Claim(f"vectors-{law}-replace-one", vectors, replaced, _ONE_OTHER, _ONE_OTHER)
