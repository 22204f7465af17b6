"""Thresholds of "keep the truth, else draw from everything": the largest that an ε allows, and the ε that they have.

    report = truth (or the truth's window) with probability t, else uniform;   t = T/2³², T whole
    ratio  = 1 + t·c/(1 − t),   c the outputs divided by those that fit the truth
             c = k for k-ary response, M/w for a window of w among M outputs

T is rounded down and ε is computed from T, rounded up: what runs is the law of the integers, not of the reals.
"""

from fractions import Fraction

from discreet import amounts, real
from discreet.errors import bad
from discreet.local.words import SIDES

_LEAST = 1 << 10  # below it, rounding T would waste more than a thousandth of ε
_DIGITS = 18


def keep_threshold(epsilon: Fraction, spread: Fraction) -> int:
    """⌊2³²·(e^ε − 1)/(e^ε − 1 + c)⌋ for c = `spread`, certified; at most 2³² − 1.

    >>> keep_threshold(Fraction(1), Fraction(2))
    1984778077
    """
    require_fine(epsilon, spread)

    def share() -> object:
        gain = real.ball(epsilon).expm1()
        return gain / (gain + real.ball(spread))

    return min(SIDES - 1, real.floor(share, 32))  # type: ignore[arg-type]


def require_fine(epsilon: Fraction, spread: Fraction) -> None:
    """Refuses an ε whose coin keeps the truth too rarely for 32 bits, or one so large that it protects nobody."""
    if epsilon > 20 or epsilon * SIDES < _LEAST * (spread + epsilon):
        fix = "Give a larger epsilon, at most 20, or fewer values or steps."
        raise bad("epsilon", "must be at most 20, and large enough for coins of 32 bits", amounts.text_of(epsilon), fix)


def keep_ratio(threshold: int, spread: Fraction) -> Fraction:
    """1 + T·c/(2³² − T): the largest ratio between the probabilities of a report under two answers.

    >>> keep_ratio(2**31, Fraction(2))
    Fraction(3, 1)
    """
    return 1 + threshold * spread / (SIDES - threshold)


def epsilon_of(ratio: Fraction) -> Fraction:
    """ln(ratio), rounded up to 18 digits.

    >>> float(epsilon_of(Fraction(3)))
    1.0986122886681098
    """
    return Fraction(amounts.rounded_up(real.upper(lambda: real.ball(ratio).log()), _DIGITS))
