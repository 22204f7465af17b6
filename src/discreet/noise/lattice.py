"""Arrays of exact integer noise ⌊scale·Z + offset⌋ for a continuous Z whose digits are drawn as needed.

Three stages; each passes what it could not prove to the next, with all digits drawn so far:

1. one 64-bit word a draw: 16 digits pick a cell by table, 40 digits place V, and floats give the integer if the
   interval [x, x + scale·h·2⁻⁴⁰], widened by the rounding error, holds no lattice boundary (about 98 of 100);
2. the proposal gets 64 digits and the keep-or-redraw coin 53;
3. one at a time, certified balls and as many digits as it takes.

Rounding: with t = j·2⁴⁰ + V exact below 2⁵³, x = fl(fl(t·c) + offset) errs by at most (|x| + 2)·2⁻⁵¹, c being the
correctly rounded scale·h·2⁻⁴⁰.  A draw whose cell is unknown is NaN, and NaN proves nothing.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet import real
from discreet.ndarrays import Bools, Floats, Ints, Words
from discreet.noise.cells import TABLE_BITS, Cells, H, is_kept, locate, tables
from discreet.noise.digits import Digits, floor_of
from discreet.noise.powers import MARGIN, exp_minus
from discreet.noise.source import Source

PLACE_BITS = 40
LARGEST = 2**63 - 2  # so that −1 − K and |K| stay within 64 bits too
_CHUNK = 1 << 13  # the arrays of one chunk stay in a core's cache
FEWEST = 1 << 10  # small requests are cut from a batch, so that their time does not tell which stage they took
_REACH = 57  # no tabled cell lies beyond z = 57
_TINY = Fraction(1, 2**30)  # below this scale ⌊scale·Z⌋ is 0 for all but a vanishing share
_PLACE = np.uint64((1 << PLACE_BITS) - 1)
_TWO_TO_52 = np.uint64(0x4330000000000000)  # the bits of the float 2⁵²: or-ing m < 2⁵² into them gives 2⁵² + m
_COIN_MARGIN = 2.0**-34

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Rounding:
    """K = ⌊scale·Z + offset⌋; `sides` is 1 for Z ≥ 0 and 2 for Z of either sign."""

    cells: Cells
    sides: int
    scale: Fraction
    offset: Fraction

    per_place: float = field(init=False)  # scale·h·2⁻⁴⁰, correctly rounded: what one unit of the 40-digit place moves x
    margin: float = field(init=False)  # a bound on the rounding error of x in every tabled cell

    def __post_init__(self) -> None:
        # Not `cached_property`: in Python 3.11 that holds a lock, and a fork may copy it while held.
        object.__setattr__(self, "per_place", float(self.scale * H / 2**PLACE_BITS))
        object.__setattr__(self, "margin", float(self.scale * _REACH + 2) * 2.0**-51)


def draw_rounded(rounding: Rounding, n: int, source: Source) -> Ints:
    """n independent draws."""
    out = np.empty(max(n, FEWEST), dtype=np.int64)
    doubtful, words = [], []
    for start in range(0, out.size, _CHUNK):
        chunk = out[start : start + _CHUNK]
        fresh = source.words(chunk.size)
        unproven = np.flatnonzero(~_fill_by_table(rounding, fresh, chunk))
        doubtful.append(unproven + start)
        words.append(fresh[unproven])
    unsettled = np.concatenate(doubtful)
    out[unsettled], refused = _draw_doubtful(rounding, np.concatenate(words), source)
    redraw = unsettled[refused & (unsettled < n)]  # a refused proposal is drawn anew from the first digit
    if redraw.size:
        out[redraw] = draw_rounded(rounding, redraw.size, source)
    return out[:n]


def _fill_by_table(rounding: Rounding, words: Words, out: Ints) -> Bools:
    """Stage 1: write the integers by table into `out`; which of them are proven."""
    index = (words >> np.uint64(64 - TABLE_BITS)).view(np.int64)
    return _fill_floors(rounding, _lookup(rounding.cells, rounding.sides)[index], words, out)


def _fill_floors(rounding: Rounding, base: Floats, words: Words, out: Ints) -> Bools:
    """Write ⌊scale·h·(cell + V) + offset⌋ into `out`; where it is proven.  `base` is cell·2⁴⁰ − 2⁵²: sums are exact."""
    bits = words & _PLACE
    bits |= _TWO_TO_52
    x = bits.view(np.float64)
    x += base
    x *= rounding.per_place
    x += float(rounding.offset)
    floor = np.floor(x)
    x -= floor
    proven: Bools = x > rounding.margin
    if rounding.sides == 1 and rounding.offset == 0 and rounding.scale < _TINY:
        proven |= floor == 0  # scale·Z ≥ 0 has no boundary below 0 to fall under
    proven &= x < 1 - rounding.margin - rounding.per_place
    with np.errstate(invalid="ignore"):
        np.copyto(out, floor, casting="unsafe")
    return proven


def _draw_doubtful(rounding: Rounding, words: Words, source: Source) -> tuple[Ints, Bools]:
    """Stage 2: integers and refusals by 64 digits of the proposal and 53 of the coin; stage 3 settles the others."""
    t = tables(rounding.cells)
    sign_bits = rounding.sides - 1
    mirrored: Bools = (words >> np.uint64(63)).astype(bool) & (sign_bits == 1)
    further = source.words(words.size)
    top = (words << np.uint64(sign_bits)) & np.uint64((1 << 64) - (1 << (48 + sign_bits)))
    proposal = top | (further >> np.uint64(16 - sign_bits))
    part = np.searchsorted(t.thresholds, proposal, side="right")
    located = (part == 0) | (t.thresholds[part - 1] != proposal)
    located &= (part != t.count) & (part != 2 * t.count + 1)
    maybe = part > t.count
    j = np.where(maybe, part - t.count - 1, part) % t.count
    coin = source.words(words.size)
    keep, clear = _keep_by_floats(rounding.cells, j, mirrored, words, coin)
    keep |= ~maybe
    noise = np.empty(words.size, dtype=np.int64)
    proven = _fill_floors(rounding, _shifted(np.where(mirrored, -1.0 - j, j)), words, noise)
    settled = located & (clear | ~maybe) & (proven | ~keep)
    for i in np.flatnonzero(~settled):
        cell = (int(j[i]), not maybe[i]) if located[i] else locate(rounding.cells, Digits(int(proposal[i]), 64), source)
        v, y = Digits(int(words[i] & _PLACE), PLACE_BITS), Digits(int(coin[i]), 64)
        exact = draw_certified(rounding, *cell, v, y, source, mirrored=bool(mirrored[i]))
        keep[i], noise[i] = exact is not None, exact or 0
    return noise, ~keep


def _keep_by_floats(cells: Cells, j: Index, mirrored: Bools, words: Words, coin: Words) -> tuple[Bools, Bools]:
    """Whether q + Y(1 − q) < f(h(j+V))/f(jh), q = w(j+1)/w(j), and whether the floats prove it.

    The exponent h·V·(α + βh(j + V/2)) moves by less than 0.2·2⁻⁴⁰ over the digits of V still unknown, and the
    remaining errors are MARGIN and a few roundings: 2⁻³⁴ is ample.
    """
    h = float(H)
    v = (words & _PLACE).astype(np.float64) * 2.0**-PLACE_BITS
    v = np.where(mirrored, 1.0 - v, v)
    have = exp_minus(h * v * (cells.alpha + cells.beta * h * (j + v / 2)))
    q = tables(cells).ratio[j]
    need = q + (coin >> np.uint64(11)).astype(np.float64) * 2.0**-53 * (1 - q)
    return need < have, np.abs(need - have) > _COIN_MARGIN + MARGIN


def draw_certified(
    rounding: Rounding, j: int, sure: bool, v: Digits, y: Digits, source: Source, *, mirrored: bool
) -> int | None:
    """Stage 3, and with `locate` the slow twin of the others: the integer by certified digits, None if refused."""
    if not sure and not is_kept(rounding.cells, j, v, y, source, mirrored=mirrored):
        return None
    cell = -1 - j if mirrored else j

    def x() -> arb:
        return real.ball(rounding.scale * H) * (cell + v.ball()) + real.ball(rounding.offset)

    return max(-LARGEST, min(LARGEST, floor_of(x, v, source)))


@cache
def _lookup(cells: Cells, sides: int) -> Floats:
    """The 16-bit table; with two sides its first digit is the sign, and z < 0 lies in the cell −1 − j."""
    table = tables(cells).sure_cell
    if sides == 2:
        pairs = np.where(table[::2] == table[1::2], table[::2], np.nan)
        table = np.concatenate([pairs, -1.0 - pairs])
    return _shifted(table)


def _shifted(cell: Floats) -> Floats:
    """cell·2⁴⁰ − 2⁵²: exact, for whole |cell| < 2¹²."""
    return cell * 2.0**PLACE_BITS - 2.0**52
