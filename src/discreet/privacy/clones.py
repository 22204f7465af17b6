"""The hockey-stick curve of the clones pair, from above: what shuffling is priced by.

One unit's report hides among C others that could have been its own (its clones):

    C ~ Bin(n−1, c),  A ~ Bin(C, ½),  Δ ~ Bern(E/(E+1)),  P = (A+Δ, C−A+1−Δ),  Q = (A+1−Δ, C−A+Δ)

with n the reports received, c the clone rate and E = e^ε₀.  P and Q are mirror images, so one direction is both.
Given m = C+1, and for a threshold t = e^ε, Pr[P=(a, m−a)] − t·Pr[Q=(a, m−a)] = Bin(m, ½)(a)·L(a) with

    L(a) = 2·((a/m)·(E−1)·(1+t) − (tE−1)) / (E+1)

so only terms with L(a) > 0, all at a > m/2, are added; nothing cancels between terms.
Proof page: docs/proofs/privacy/amplify.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import real
from discreet.amounts import float_up

if TYPE_CHECKING:
    from discreet.ndarrays import Floats

_MOST_ROWS = 256
_MOST_REPORTS = 10**8  # more reports than this count as this many: a report fewer is only ever worse
_TAIL_SHARE = Fraction(1, 2**20)  # τ/δ
_ROUNDINGS = 1 + 2.0**-30  # covers (1 + 2⁻⁵³)^(2²²): every product and sum below takes fewer roundings
_LINE_ERROR = 2.0**-48  # |computed L − L| ≤ 32·2⁻⁵³·(1 + t)


@dataclass(frozen=True)
class Clones:
    """The pair: E = `ratio` ≥ 1, clone rate `rate` in [0, 1], n = `reports`; both floats count as exact numbers."""

    ratio: float
    rate: float
    reports: int


@dataclass(frozen=True)
class Sheet:
    """What no threshold changes: rows of Bin(m, ½) upper halves, the chance of each row, and the mass cut off."""

    pair: Clones
    chances: "Floats"  # of C + 1 lying in the block that starts at m
    sizes: "Floats"  # m, the first of its block
    places: "Floats"  # a, per row
    masses: "Floats"  # Bin(m, ½)(a), per row
    cut: float


def sheet(pair: Clones, least: Fraction) -> Sheet:
    """The pair's tables for δ ≥ `least`, with at most 2⁻¹⁷·least of mass cut off.

    C is kept within h of its mean μ with h² = 2x(v + h/3), x = ln(1/τ), v its variance: Pr[C ≥ μ+h] and Pr[C ≤ μ−h]
    are each ≤ τ (Bernstein).  a is kept up to m/2 + √(mx/2): beyond lies ≤ τ of Bin(m, ½) (Hoeffding), where L ≤ 2.
    A fifth τ covers underflow, the +1 in h the floats it is made of.  Rows share a block's first m: one clone more is
    post-processing, so a row with fewer is an upper bound.
    """
    import numpy as np

    others = min(pair.reports, _MOST_REPORTS) - 1
    tail = float(least * _TAIL_SHARE)
    depth = -math.log(tail) * (1 + 1e-9)
    mean, variance = others * pair.rate, others * pair.rate * (1 - pair.rate) + 1e-9
    reach = depth / 3 + math.sqrt(depth**2 / 9 + 2 * depth * variance) + 1
    first, last = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    masses = _binomial(others, pair.rate, first, last)
    width = -(-len(masses) // _MOST_ROWS)
    starts = np.arange(0, len(masses), width)
    sizes = (first + starts + 1).astype(np.float64)
    places, rows = _upper_halves(sizes, depth)
    return Sheet(pair, np.add.reduceat(masses, starts), sizes, places, rows, float_up(5 * Fraction(tail)))


def delta(table: Sheet, threshold: float) -> float:
    """An upper bound on δ at e^ε = `threshold` ≥ 1: Σ_m Pr[C+1=m]·Σ_a Bin(m, ½)(a)·max(L(a), 0), tails added.

    >>> table = sheet(Clones(3.0, 1 / 3, 1), Fraction(1, 10**6))   # no clones: (E − t)/(E + 1)
    >>> 0.25 <= delta(table, 2.0) < 0.2501
    True
    """
    import numpy as np

    ratio, t = table.pair.ratio, threshold
    line = 2 * (table.places / table.sizes[:, None] * ((ratio - 1) * (1 + t)) - (t * ratio - 1)) / (ratio + 1)
    rows = np.einsum("ij,ij->i", table.masses, np.maximum(line + _LINE_ERROR * (1 + t), 0.0))
    return (float(table.chances @ rows) + table.cut) * _ROUNDINGS


def _upper_halves(sizes: "Floats", depth: float) -> "tuple[Floats, Floats]":
    """For each m: a = ⌈m/2⌉, ⌈m/2⌉+1, …, and Bin(m, ½)(a), by the ratio (m−a)/(a+1) from a certified first mass."""
    import numpy as np

    columns = math.ceil(math.sqrt(float(sizes[-1]) * depth / 2)) + 2
    places = np.ceil(sizes / 2)[:, None] + np.arange(columns, dtype=np.float64)
    steps = np.ones_like(places)
    steps[:, 0] = [_mass(m, Fraction(1, 2), (m + 1) // 2) for m in map(int, sizes)]
    steps[:, 1:] = np.maximum(sizes[:, None] - places[:, :-1], 0.0) / places[:, 1:]
    masses: Floats = np.cumprod(steps, axis=1, dtype=np.float64)
    return places, masses


def _binomial(trials: int, rate: float, first: int, last: int) -> "Floats":
    """Bin(trials, rate)(k) for k = first … last, within the stated roundings, from a certified mass at the mode."""
    import numpy as np

    exact = Fraction(rate)
    if exact in (0, 1):
        return np.array([1.0 if k == trials * rate else 0.0 for k in range(first, last + 1)])
    mode = min(max(math.floor((trials + 1) * exact), first), last)
    odds = float(exact / (1 - exact))
    k = np.arange(first, last + 1, dtype=np.float64)
    up = (trials - k[mode - first : -1]) / k[mode - first + 1 :] * odds
    down = k[mode - first : 0 : -1] / (trials - k[mode - first : 0 : -1] + 1) / odds
    top = _mass(trials, exact, mode)
    return np.concatenate([np.cumprod(down)[::-1] * top, [top], np.cumprod(up) * top])


def _mass(trials: int, rate: Fraction, hits: int) -> float:
    """Bin(trials, rate)(hits), certified, rounded up."""

    def ball() -> Any:
        from flint import arb

        logs = arb(trials + 1).lgamma() - arb(hits + 1).lgamma() - arb(trials - hits + 1).lgamma()
        return (logs + hits * real.ball(rate).log() + (trials - hits) * real.ball(1 - rate).log()).exp()

    return float_up(real.upper(ball, 192))
