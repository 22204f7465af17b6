"""Claims of vectors side by side, as tables of features are released, and of the noise on a pass of a kernel.

An input is a tuple of vectors, in the order of the mechanism's names.  Pairs of a pass are what the kernel itself gives
on neighbouring tables of two or three rows.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.claim import Claim
from discreet.audit.trial import Pair
from discreet.bounded import RowLimit, Sensitivity, cells
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
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
    own = kernel_of("risk").sensitivity(_PASS, RowLimit(3))
    noise = additive.gaussian_share(own, Fraction(1, 2), Fraction(1, 4))
    yield Claim("gradient-pass", additive.gaussian_share, noise, tuple(_passes()))


# --- a pass of descent -----------------------------------------------------------------------------------------------

_PASS: Mapping[str, Any] = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 10}, {"size": 2}],
    "target": {"size": 2},
    "weights": np.array([2**22, 2**22, 0, 2**22]),  # slopes near 1
    "centre": np.array([0, 100, 512, 512]),
    "norm": Fraction(5, 4),
    "rows": 3,
}
_PERSON, _OTHER, _FAR = (5, 0, 0), (0, 1, 1), (10, 1, 0)


def _passes() -> Iterator[Pair]:
    """One person more: alone, beside others, at the end of the range, and with three rows."""
    for table, person in (
        ((), [_FAR]),
        (([_PERSON], [_OTHER]), [_FAR]),
        (([_FAR], [_FAR]), [_OTHER]),
        (([_PERSON],), [_FAR, _FAR, _FAR]),
    ):
        yield _pass_sum(list(table)), _pass_sum([*table, person])


def _pass_sum(units: list[list[tuple[int, int, int]]]) -> tuple[int, ...]:
    """What the kernel gives on these persons' rows: a number, a code and a class."""
    rows = [row for unit in units for row in unit]
    starts = np.cumsum([0, *map(len, units)])[: len(units)].astype(np.int64)
    kinds = zip("xzy", (np.float64, np.int64, np.int64), strict=True)
    columns = {name: np.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(kinds)}
    sums = kernel_of("risk")(UnitRows(columns, starts, len(rows)), _PASS)
    return tuple(sums.tolist())
