"""Coins that fall heads with exactly the stated probability.

A coin of bias p compares a uniform number with p, eight digits at first; one coin in 256 ties and gets 64 digits more,
and one in 2⁷² after that gets as many as it needs, against certified digits of p.
"""

from fractions import Fraction

import numpy as np

from discreet import real
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.digits import Digits, below
from discreet.noise.powers import MARGIN, exp_minus
from discreet.noise.source import Source

_UNIT = 2.0**-53
_STEEPEST = Fraction(2**60)


def coins(bias: real.Real, n: int, source: Source) -> Bools:
    """n coins, each True with probability `bias`, a certified real in [0, 1]."""
    leading = real.floor(bias, 8)
    digits = source.words(-(-n // 8)).view(np.uint8)[:n]
    heads: Bools = digits < leading
    ties = np.flatnonzero(digits == leading)
    if ties.size:
        heads[ties] = _toss_ties(bias, leading, ties.size, source)
    return heads


def _toss_ties(bias: real.Real, leading: int, n: int, source: Source) -> Bools:
    """Coins whose first eight digits equal those of the bias."""
    trailing = np.uint64(real.floor(bias, 72) - (leading << 64))
    digits = source.words(n)
    heads: Bools = digits < trailing
    for i in np.flatnonzero(digits == trailing):
        heads[i] = below(Digits((leading << 64) | int(digits[i]), 72), bias, source)
    return heads


def bernoulli(p: Fraction, n: int, source: Source) -> Bools:
    """n coins of rational bias."""
    return coins(lambda: real.ball(p), n, source)


def bernoulli_exp(gaps: Ints, rate: Fraction, source: Source) -> Bools:
    """A coin of bias exp(−rate·gap) for each gap ≥ 0.

    The float comparison decides only outside |U − e^(−γ̃)| ≤ 2⁻³⁶: with γ = rate·gap, `exponents` moves e^(−γ) by at
    most 2⁻⁵², and `exp_minus` adds at most MARGIN = 2⁻⁴².
    """
    digits = source.words(gaps.size)
    u = (digits >> np.uint64(11)).astype(np.float64) * _UNIT
    p = exp_minus(exponents(gaps, rate))
    heads: Bools = u < p
    for i in np.flatnonzero(np.abs(u - p) <= 64 * MARGIN):
        heads[i] = below(Digits(int(digits[i]), 64), real.exp(-rate * int(gaps[i])), source)
    return heads


def exponents(gaps: Ints, rate: Fraction) -> Floats:
    """γ̃ = rate·gap in floats, within γ·2⁻⁵¹ of it, for gaps ≥ 0.

    A rate above 2⁶⁰ is taken as 2⁶⁰: for a gap of 1 or more either gives e^(−γ) < 2⁻¹⁰⁰⁰, and no product overflows.
    """
    return gaps.astype(np.float64) * float(min(rate, _STEEPEST))
