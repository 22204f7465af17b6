"""Choose an index with probability exactly proportional to times·e^(−rate·gap), for whole numbers `times` of any size.

One uniform U in [0, 1) picks the index i with S(i−1) ≤ U·S < S(i), where S(i) are the cumulative weights and S is their
sum.  Weights are certified balls, and more digits of U and of all weights are taken until one index is left.  So
weights may differ by any factor, which the whole numbers of `select.exponential_choice` cannot.
"""

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from flint import arb

from discreet import real
from discreet.noise.digits import MORE, Digits
from discreet.noise.source import Source


def multiplicity_choice(gaps: Sequence[int], times: Sequence[int], rate: Fraction, n: int, source: Source) -> list[int]:
    """n independent indices i with P[i] ∝ times[i]·e^(−rate·gaps[i]), for gaps ≥ 0, times ≥ 0 and one of them above 0.

    >>> from discreet.noise.source import SYSTEM
    >>> multiplicity_choice([5, 0, 10**30], [0, 10**40, 1], Fraction(1), 2, SYSTEM)
    [1, 1]
    """
    present = [index for index, number in enumerate(times) if number > 0]
    least = min(gaps[index] for index in present)
    listed = [(gaps[index] - least, times[index]) for index in present]
    ends = _ends(listed, rate, 2 * MORE)
    chosen = []
    for _ in range(n):
        uniform = Digits()
        uniform.grow(source)
        place = _place(uniform, ends, 2 * MORE)
        while place is None:
            uniform.grow(source)
            bits = uniform.bits + MORE
            place = _place(uniform, _ends(listed, rate, bits), bits)
        chosen.append(present[place])
    return chosen


def _ends(listed: Sequence[tuple[int, int]], rate: Fraction, bits: int) -> list[arb]:
    """The cumulative weights S(1), S(2), …, as balls."""
    with real.precision(bits):
        return list(accumulate(real.exp(-rate * gap)() * real.ball(number) for gap, number in listed))


def _place(uniform: Digits, ends: Sequence[arb], bits: int) -> int | None:
    """The place that U picks; None while more digits are needed.  All ends are looked at, whichever it is."""
    with real.precision(bits):
        aim = uniform.ball() * ends[-1]
        passed = sum(1 for end in ends[:-1] if aim >= end)
        short = sum(1 for end in ends[:-1] if aim < end)
    return passed if passed + short == len(ends) - 1 else None


def whole_below(n: int, source: Source) -> int:
    """A whole number 0 … n−1 of any size, each equally likely; larger ones are drawn anew.

    >>> from discreet.noise.source import SYSTEM
    >>> whole_below(1, SYSTEM), 0 <= whole_below(10**40, SYSTEM) < 10**40
    (0, True)
    """
    bits = (n - 1).bit_length()
    if bits == 0:
        return 0
    words = -(-bits // MORE)
    while True:
        number = 0
        for word in source.words(words):
            number = (number << MORE) | int(word)
        number >>= words * MORE - bits
        if number < n:
            return number


def place_of(position: int, times: Sequence[int]) -> tuple[int, int]:
    """The index whose run holds that position when each index stands `times` times in a row, and the place in its run.

    >>> place_of(4, [3, 0, 2])
    (2, 1)
    """
    ends = list(accumulate(times))
    index = bisect_right(ends, position)
    return index, position - (ends[index] - times[index])
