"""Optimised unary response: a bit for each value, 1 with probability ½ for the true value and q for any other.

    q = 1/(e^ε + 1) rounded up to T/2³²,   ratio = (1 − q)/q        Wang et al. (2017); with other bits RAPPOR (2014)

A report has a bit for each value, so ⌈k/8⌉ bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import real
from discreet.local.bits import biased_words, bit_of, bit_totals, bytes_of_words, has_spare_bits
from discreet.local.keep import require_fine
from discreet.local.words import SIDES, Bytes, WordList, coins
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source

_BLOCK = 1 << 12  # reports that are drawn together


@dataclass(frozen=True)
class UnaryCode:
    """`no` = T, the threshold of every bit but the true one, whose threshold is 2³¹."""

    size: int
    no: int

    @property
    def yes(self) -> int:
        return SIDES // 2

    @property
    def report_bytes(self) -> int:
        return -(-self.size // 8)

    @property
    def ratio(self) -> Fraction:
        return Fraction(SIDES - self.no, self.no)

    @property
    def outputs(self) -> int:
        return int(2**self.size)

    @property
    def truth(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def lie(self) -> Fraction:
        return Fraction(self.no, SIDES)

    @property
    def widest_support(self) -> int:
        return self.size

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        reports = np.empty((answers.size, self.report_bytes), dtype=np.uint8)
        for start in range(0, answers.size, _BLOCK):
            reports[start : start + _BLOCK] = self._draw_block(answers[start : start + _BLOCK], source)
        return reports

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words, one for each value in turn."""
        report = 0
        for value in range(self.size):
            report |= words.coin(self.yes if value == answer else self.no) << value
        return report.to_bytes(self.report_bytes, "little")

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        for report in range(self.outputs):
            ones = (report & ~(1 << answer)).bit_count()
            chance = self.truth * self.lie**ones * (1 - self.lie) ** (self.size - 1 - ones)
            yield report.to_bytes(self.report_bytes, "little"), chance

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows have no bit beyond the last value's."""
        return ~has_spare_bits(reports, self.size)

    def counts(self, reports: Bytes) -> Ints:
        """How many reports have each bit set."""
        return bit_totals(reports, self.size)

    def supports(self, counts: Ints) -> Ints:
        """A report supports the values whose bits are set."""
        return counts

    def support_of(self, reports: Bytes, value: int) -> Bools:
        """Which reports have that value's bit set."""
        return bit_of(reports, value)

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        return {"kind": "unary", "size": self.size, "yes": self.yes, "no": self.no, "bytes": self.report_bytes}

    def _draw_block(self, answers: Ints, source: Source) -> Bytes:
        width = -(-self.size // 64)
        words = biased_words(self.no, answers.size * width, source).reshape(answers.size, width)
        if self.size % 64:
            words[:, -1] &= np.uint64((1 << self.size % 64) - 1)
        rows, places, shifts = np.arange(answers.size), answers // 64, (answers % 64).astype(np.uint64)
        words[rows, places] &= ~(np.uint64(1) << shifts)
        words[rows, places] |= coins(self.yes, answers.size, source).astype(np.uint64) << shifts
        return bytes_of_words(words, self.report_bytes)


def unary_code(epsilon: Fraction, size: int) -> UnaryCode:
    """Unary response with the least T that ε allows: ⌈2³²/(e^ε + 1)⌉."""
    require_fine(epsilon, Fraction(2))
    return UnaryCode(size, real.floor(lambda: 1 / (real.ball(epsilon).exp() + 1), 32) + 1)
