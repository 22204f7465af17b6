"""A whole number with a law that is known by its cumulative probabilities, certified to as many digits as it takes."""

from collections.abc import Callable

from discreet.noise.digits import Digits, below
from discreet.noise.source import Source
from discreet.real import Real


def inverse_draw(cumulative: Callable[[int], Real], source: Source) -> int:
    """The least k ≥ 1 with U < cumulative(k): k has the probability cumulative(k) − cumulative(k − 1) exactly.

    >>> from fractions import Fraction
    >>> from discreet import real
    >>> from discreet.noise.source import SYSTEM
    >>> inverse_draw(lambda k: lambda: real.ball(Fraction(k, 6)), SYSTEM) in range(1, 7)
    True
    """
    uniform, k = Digits(), 1
    while not below(uniform, cumulative(k), source):
        k += 1
    return k
