"""How far people who do not follow the protocol can move an estimate.

A report adds (1 − q)/(p − q) to the sum of a value that it supports and −q/(p − q) to that of any other, so a report
that is chosen instead of drawn moves an estimate by at most 1/(n(p − q)).
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet.local.code import ValueCode


@dataclass(frozen=True)
class Poisoned:
    """The largest moves that so many liars can cause."""

    liars: int
    people: int
    per_value: float  # of the estimated share of one value
    in_sum: float  # of the estimated shares of any set of values, added up

    @property
    def words(self) -> str:
        """Both in a sentence."""
        return (
            f"{self.liars:,} of {self.people:,} people who send what they like move the share of a value by at most "
            f"{self.per_value:.4g}, and several shares together by at most {self.in_sum:.4g}."
        )


@dataclass(frozen=True)
class PoisonedMean:
    """The largest move of a mean that so many liars can cause."""

    liars: int
    people: int
    move: float

    @property
    def words(self) -> str:
        """It in a sentence."""
        return (
            f"{self.liars:,} of {self.people:,} people who send what they like move the mean by at most "
            f"{self.move:.4g}."
        )


def poison(code: ValueCode, liars: int, people: int) -> Poisoned:
    """m/(n(p − q)) for one value, and as often as a report can support values for several."""
    per_value = Fraction(liars, people) / (code.truth - code.lie)
    return Poisoned(liars, people, float(per_value), float(per_value * code.widest_support))


def disobedience(code: ValueCode, part: Fraction, share: Fraction) -> tuple[float, float]:
    """part·((1 − q)/(p − q) − f) and part·(−q/(p − q) − f): all of them support the value, or none does."""
    gain = code.truth - code.lie
    return float(part * ((1 - code.lie) / gain - share)), float(part * (-code.lie / gain - share))
