"""What right guesses prove about ε: a lower bound from one run, for every mechanism and every guesser.

m persons are in by fair coins; of r of them somebody who sees the output says "in" or "out", and v times is right.

    P[v or more right] ≤ min over i ≥ 1 of  P[Bin(r, e^ε/(1 + e^ε)) > v − i] + m·δ/((1 + e^ε)·i)

for every (ε, δ)-DP mechanism.  The setting is that of Steinke, Nasr & Jagielski (2023); the term of δ is derived on
docs/proofs/deep/audit.md and compared there with the exact worst case of small m, found by linear programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.real import ball, upper

STEP = Fraction(1, 1000)  # bounds are multiples of this
_LARGEST = 20_000  # in steps
_EXCESSES = (1, 2, 4, 8, 16, 32)  # which i are tried: each gives a true bound


@dataclass(frozen=True)
class Guesses:
    """How many guesses there were, and how many of them were right."""

    count: int
    right: int


def chance_of(guesses: Guesses, persons: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """How likely so many right guesses, or more, are at most under (ε, δ); rounded up.

    >>> chance_of(Guesses(1, 1), 1, Fraction(0), Fraction(0))
    Fraction(1, 2)
    """
    count, right = guesses.count, guesses.right

    def tail(least: int) -> arb:
        odds = ball(epsilon).exp()
        return (odds / (1 + odds)).beta_lower(arb(least), arb(count - least + 1), 1)

    def bound(excess: int) -> arb:
        leak = persons * ball(delta) / ((1 + ball(epsilon).exp()) * excess)
        return tail(right - excess + 1) + leak

    bounds = [upper(lambda i=i: bound(i)) for i in _EXCESSES if i <= right]  # type: ignore[misc]
    return min([Fraction(1), *bounds])


def least_epsilon(guesses: Guesses, persons: int, delta: Fraction, alpha: Fraction) -> Fraction:
    """The largest ε under which so many right guesses are rarer than alpha, rounded down; 0 where there is none.

    If an ε is refuted, so is every smaller one, since a smaller ε implies a larger one.

    >>> least_epsilon(Guesses(100, 95), 1000, Fraction(1, 10**5), Fraction(5, 100))
    Fraction(271, 125)
    """
    low, high = 0, _LARGEST + 1  # in steps: refuted, and not known to be
    if chance_of(guesses, persons, Fraction(0), delta) > alpha:
        return Fraction(0)
    while high - low > 1:
        middle = (low + high) // 2
        if chance_of(guesses, persons, middle * STEP, delta) <= alpha:
            low = middle
        else:
            high = middle
    return low * STEP


def best_of(tries: Sequence[Guesses], persons: int, delta: Fraction, alpha: Fraction) -> tuple[Guesses, Fraction]:
    """The try that proves most, and what it proves: each is tested at an equal part of alpha (Bonferroni)."""
    bounds = [(guesses, least_epsilon(guesses, persons, delta, alpha / len(tries))) for guesses in tries]
    return max(bounds, key=lambda bound: bound[1])
