"""k-ary response: the true value with probability t, else any of the k values alike.

    P[v | v] = p = t + (1 − t)/k,   P[v | x] = q = (1 − t)/k,   p/q = 1 + k·t/(1 − t)

k = 2 and t = ½ are the lectures' two fair coins: heads, the truth; tails, what a second coin says.  Warner (1965) for
k = 2, Kairouz, Bonawitz & Ramage (2016) for k values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.local.keep import keep_ratio, keep_threshold
from discreet.local.words import (
    BLOCK,
    SIDES,
    Bytes,
    WordList,
    bytes_of,
    coins,
    histogram,
    numbers_of,
    uniforms,
    width_of,
)
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source


@dataclass(frozen=True)
class ResponseCode:
    """`keep` = T, the threshold of the coin that keeps the truth.

    >>> two_fair_coins().truth, two_fair_coins().lie, two_fair_coins().ratio
    (Fraction(3, 4), Fraction(1, 4), Fraction(3, 1))
    """

    size: int
    keep: int

    @property
    def report_bytes(self) -> int:
        return width_of(self.size)

    @property
    def ratio(self) -> Fraction:
        return keep_ratio(self.keep, Fraction(self.size))

    @property
    def outputs(self) -> int:
        return self.size

    @property
    def truth(self) -> Fraction:
        return Fraction(self.keep, SIDES) + self.lie

    @property
    def lie(self) -> Fraction:
        return Fraction(SIDES - self.keep, SIDES * self.size)

    @property
    def widest_support(self) -> int:
        return 1

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        reports = np.empty((answers.size, self.report_bytes), dtype=np.uint8)
        for start in range(0, answers.size, BLOCK):
            block = answers[start : start + BLOCK]
            kept = coins(self.keep, block.size, source)
            others = uniforms(self.size, block.size, source)
            drawn = np.where(kept, block.astype(others.dtype), others)
            reports[start : start + BLOCK] = bytes_of(drawn, self.report_bytes)
        return reports

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words: a coin, then a uniform value."""
        kept, other = words.coin(self.keep), words.uniform(self.size)
        return (answer if kept else other).to_bytes(self.report_bytes, "little")

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        for value in range(self.size):
            yield value.to_bytes(self.report_bytes, "little"), self.truth if value == answer else self.lie

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows name a value."""
        return numbers_of(reports) < self.size

    def counts(self, reports: Bytes) -> Ints:
        """How many reports name each value."""
        return histogram(reports, self.size)

    def supports(self, counts: Ints) -> Ints:
        """A report supports the value that it names."""
        return counts

    def support_of(self, reports: Bytes, value: int) -> Bools:
        """Which reports name that value."""
        supported: Bools = numbers_of(reports) == value
        return supported

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        return {"kind": "response", "size": self.size, "keep": self.keep, "bytes": self.report_bytes}


def two_fair_coins() -> ResponseCode:
    """The lectures' survey: T = 2³¹, ratio exactly 3."""
    return ResponseCode(2, SIDES // 2)


def response_code(epsilon: Fraction, size: int) -> ResponseCode:
    """k-ary response with the largest T that ε allows."""
    return ResponseCode(size, keep_threshold(epsilon, Fraction(size)))
