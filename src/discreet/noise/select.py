"""Choose an index with probability exactly proportional to e^(−rate·gap).

Weights become whole numbers with a certified floor and ceiling, low[i] ≤ 2⁴⁰·e^(−rate·gap[i]) < high[i].  A uniform
real x on [0, 2^b), 2^b at least their sum, picks the index between whose cumulative weights it lies; x beyond the sum
is drawn anew.  If floors and ceilings disagree about x (odds of some 2⁻²⁰ for a million candidates) more digits of x
and of every weight decide.
"""

from fractions import Fraction

import numpy as np
from flint import arb

from discreet import real
from discreet.ndarrays import Ints
from discreet.noise.bernoulli import bernoulli_exp, exponents
from discreet.noise.digits import Digits
from discreet.noise.powers import exp_minus
from discreet.noise.source import Source

_WEIGHT_BITS = 40
_MOST = 1 << 21  # candidates: 2²¹·2⁴⁰ < 2⁶²


def exponential_choice(gaps: Ints, rate: Fraction, n: int, source: Source, times: Ints | None = None) -> Ints:
    """n independent indices i with P[i] ∝ times[i]·exp(−rate·gaps[i]), for gaps ≥ 0 with a least gap of 0.

    `times[i]` ≥ 1 is the number of equal candidates that index i stands for; 1 without `times`.
    """
    multiplicity = np.ones(gaps.size, dtype=np.int64) if times is None else times
    if int(multiplicity.sum()) > _MOST:
        raise ArithmeticError("at most 2²¹ candidates")
    # γ̃ errs by γ·2⁻⁵¹ ≤ 2⁻⁴⁵ where it matters (γ ≤ 48), the exponential by 2⁻⁴²: one unit of 2⁻⁴⁰ each way is ample.
    weight = np.floor(exp_minus(exponents(gaps, rate)) * 2.0**_WEIGHT_BITS).astype(np.int64)
    low, high = np.cumsum(multiplicity * np.maximum(weight - 1, 0)), np.cumsum(multiplicity * (weight + 2))
    bits = int(high[-1]).bit_length()
    chosen = np.empty(n, dtype=np.int64)
    unsettled = np.arange(n)
    while unsettled.size:
        x = (source.words(unsettled.size) >> np.uint64(64 - bits)).view(np.int64)
        index = np.searchsorted(high, x, side="right")  # high[index−1] ≤ x < high[index]
        clear = (index < gaps.size) & (x + 1 <= low[np.minimum(index, gaps.size - 1)])
        above_sum = x >= high[-1]
        chosen[unsettled[clear]] = index[clear]
        redraw = [unsettled[above_sum]]
        for i in np.flatnonzero(~clear & ~above_sum):
            exact = _draw_certified(gaps, rate, Digits(int(x[i]), bits), bits, source, multiplicity)
            if exact is None:
                redraw.append(unsettled[i : i + 1])
            else:
                chosen[unsettled[i]] = exact
        unsettled = np.concatenate(redraw)
    return chosen


def _draw_certified(
    gaps: Ints, rate: Fraction, x: Digits, bits: int, source: Source, times: Ints | None = None
) -> int | None:
    """The slow twin: the index by certified weights, None if x lies beyond their sum."""
    multiplicity = [1] * gaps.size if times is None else times.tolist()
    values, where = np.unique(gaps, return_inverse=True)
    while True:
        with real.precision(x.bits + 64):
            weights = [real.exp(-rate * int(v))() for v in values]
            place = x.ball() * arb(2) ** (bits - _WEIGHT_BITS)
            cumulative = arb(0)
            for index, value in enumerate(where):
                cumulative += weights[value] * multiplicity[index]
                if place < cumulative:
                    return index
                if not place >= cumulative:
                    break
            else:
                return None
        x.grow(source)


def first_flipped(gaps: Ints, rate: Fraction, source: Source) -> int:
    """Permute-and-flip: in random order, the first index whose coin of bias e^(−rate·gap) falls heads.

    All coins are independent of the order, so the first head in a random order is a uniform choice among the heads; the
    candidate with gap 0 is always one (McKenna & Sheldon 2020).
    """
    heads = np.flatnonzero(bernoulli_exp(gaps, rate, source))
    return int(heads[uniform_below(heads.size, source)])


def uniform_below(n: int, source: Source) -> int:
    """A whole number 0 … n−1, each equally likely."""
    return int(uniforms(n, 1, source)[0])


def uniforms(below: int, n: int, source: Source) -> Ints:
    """n whole numbers 0 … below−1, each equally likely, for 1 ≤ below ≤ 2⁶³; larger ones are drawn anew."""
    if below == 1:
        return np.zeros(n, dtype=np.int64)
    bits = (below - 1).bit_length()
    x = (source.words(n) >> np.uint64(64 - bits)).view(np.int64)
    too_large = np.flatnonzero(x >= below)
    if too_large.size:
        x[too_large] = uniforms(below, too_large.size, source)
    return x
