"""A continuous variable cut into cells, uniform in each but for a small part that is known exactly.

Let f(z) = exp(−E(z)), E(z) = αz + βz²/2 for z ≥ 0, a decreasing log-concave density up to a factor: the exponential
(α, β) = (1, 0) and half the normal (0, 1).  With cells [jh, (j+1)h) and w(j) = f(jh), propose

    sure j    with mass ∝ w(j+1)          z = h(j + V), V uniform: always kept
    maybe j   with mass ∝ w(j) − w(j+1)   kept iff w(j+1) + Y·(w(j) − w(j+1)) < f(h(j + V)), Y uniform; else all anew

The kept z has density ∝ w(j+1) + (w(j) − w(j+1))·P[kept | V] = f(z): exactly the density f, and Σ w(j) is the only sum
needed.  All sure cells come first, so that a table of 16-bit cells of the proposal decides 98 of 100 draws at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
from flint import arb

from discreet import real
from discreet.ndarrays import Floats, Words
from discreet.noise.digits import Digits
from discreet.noise.source import Source

H = Fraction(1, 64)  # the width of a cell; finer means fewer "maybe" and more thresholds
TABLE_BITS = 16
_TABLED_EXPONENT = 56  # cells with E > 56 hold less than 2⁻⁸⁰ and are left to the digits
_THRESHOLD_BITS = 64


@dataclass(frozen=True)
class Cells:
    """The density exp(−αz − βz²/2) on z ≥ 0."""

    alpha: int
    beta: int

    def exponent(self, z: arb) -> arb:
        return self.alpha * z + self.beta * z * z / 2

    def weight(self, j: int) -> arb:
        """w(j) = f(jh)."""
        return (-self.exponent(arb(j) / H.denominator)).exp()


EXPONENTIAL = Cells(1, 0)
NORMAL = Cells(0, 1)


@dataclass(frozen=True)
class Tables:
    """The certified numbers by which the fast path draws a proposal."""

    count: int  # sure cells 0 … count−1, then their tail, then maybe cells 0 … count−1, then theirs
    thresholds: Words  # ⌊2⁶⁴ · cumulative mass⌋ between them, without 0 and 1
    sure_cell: Floats  # per 16-bit cell of the proposal: j of the one sure cell that fills it, else NaN
    ratio: Floats  # w(j+1)/w(j), correctly rounded


@cache
def tables(cells: Cells) -> Tables:
    """Thresholds of the cumulative masses, and the 16-bit cells that no threshold divides."""
    count = _table_size(cells)
    with real.precision(256):
        weights = [cells.weight(j) for j in range(count + 1)]
        thresholds = np.array([_floor64(end) for end in _cumulative(cells, weights)], dtype=np.uint64)
        ratio = np.array([float(next_weight / weight) for weight, next_weight in pairwise(weights)])
    shift = _THRESHOLD_BITS - TABLE_BITS
    first = np.arange(1 << TABLE_BITS, dtype=np.uint64) << np.uint64(shift)
    last = first + np.uint64((1 << shift) - 1)
    part = np.searchsorted(thresholds, first, side="left")
    undivided = (part == np.searchsorted(thresholds, last, side="right")) & (part < count)
    return Tables(count, thresholds, np.where(undivided, part.astype(np.float64), np.nan), ratio)


def _table_size(cells: Cells) -> int:
    """The first j with E(jh) ≥ 56, counted in whole numbers: E(jh) = (2αj·64 + βj²)/(2·64²)."""
    per = H.denominator
    j = 1
    while 2 * cells.alpha * j * per + cells.beta * j * j < _TABLED_EXPONENT * 2 * per * per:
        j += 1
    return j


def _cumulative(cells: Cells, weights: list[arb]) -> Iterator[arb]:
    """The upper ends of sure 0 … count−1, sure tail, maybe 0 … count−1, as shares of the total."""
    share = 1 / (sum(weights[:-1], start=arb(0)) + _tail(cells, len(weights) - 1))
    sure = arb(0)
    for weight in weights[1:]:
        sure += weight
        yield sure * share
    all_sure = 1 - share  # all sure mass: Σ w(j+1) = Σ w(j) − w(0)
    yield all_sure
    for weight in weights[1:]:
        yield all_sure + (1 - weight) * share  # Σ w(i) − w(i+1) over i ≤ j telescopes


def _tail(cells: Cells, count: int) -> arb:
    """Σ w(j) over j ≥ count.

    For the exponential a geometric series.  Otherwise terms up to 2·count are added and the remainder lies between 0
    and the geometric series of its first ratio, since w(j+1)/w(j) falls with j.
    """
    if cells.beta == 0:
        return cells.weight(count) / (1 - cells.weight(1))
    weight, next_weight = cells.weight(2 * count), cells.weight(2 * count + 1)
    remainder = arb(0).union(weight / (1 - next_weight / weight))
    return sum((cells.weight(j) for j in range(count, 2 * count)), start=remainder)


def _floor64(share: arb) -> int:
    floor = (share * arb(2) ** _THRESHOLD_BITS).floor().unique_fmpz()
    if floor is None:
        raise ArithmeticError("256 bits did not settle a threshold of 64")
    return int(floor)


def locate(cells: Cells, uniform: Digits, source: Source) -> tuple[int, bool]:
    """The cell j of the proposal and whether it is sure, by drawing digits; the slow path of `tables`."""
    count = tables(cells).count
    while True:
        with real.precision(2 * uniform.bits + 128):
            u = uniform.ball()
            weights = [cells.weight(j) for j in range(count + 1)]
            for part, end in enumerate(_cumulative(cells, weights)):
                if u < end and part != count:
                    return (part, True) if part < count else (part - count - 1, False)
                if not u >= end:
                    break
        # An end inside the ball needs more digits, a tail more cells, and the sum of all weights both.  Another table's
        # length of cells cuts the tail by 2⁸⁰ or more, which outruns 64 digits.
        count += tables(cells).count
        uniform.grow(source)


def is_kept(cells: Cells, j: int, v: Digits, y: Digits, source: Source, *, mirrored: bool) -> bool:
    """Whether a proposal in maybe-cell j at the offset v is kept, by drawing digits."""
    while True:
        with real.precision(2 * max(v.bits, y.bits) + 128):
            offset = 1 - v.ball() if mirrored else v.ball()
            low, high = cells.weight(j + 1), cells.weight(j)
            need = low + y.ball() * (high - low)
            have = (-cells.exponent(real.ball(H) * (j + offset))).exp()
            if need < have:
                return True
            if need >= have:
                return False
        v.grow(source)
        y.grow(source)
