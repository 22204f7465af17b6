"""Subset selection: a report is a set of d of the k values, which holds the truth more often than chance would.

    with probability t = T/2³²   uniform among the sets of d values that hold the truth, else among all sets of d
    p = t + (1 − t)·d/k,   q = t·(d − 1)/(k − 1) + (1 − t)·d/k,   ratio 1 + t·(k/d)/(1 − t)

d = 1 is k-ary response.  With d near k/(e^ε + 1), as people grow many, no ε-private way has a smaller worst-case sum of
squared errors (Ye & Barg 2019).  A report has a bit for each value, d of them set, so ⌈k/8⌉ bytes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, exp
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.local.bits import bit_of, bit_totals, bytes_of_words, has_spare_bits, words_of_bytes
from discreet.local.code import mean_noise
from discreet.local.keep import keep_ratio, keep_threshold, require_fine
from discreet.local.words import SIDES, Bytes, WordList, coins, uniforms
from discreet.ndarrays import Bools, Ints, Words
from discreet.noise.source import Source

MOST_VALUES = 256  # above, linear hashing errs nearly as little and is far shorter
_BLOCK = 1 << 13  # reports that are drawn together
_ONE = np.uint64(1)


@dataclass(frozen=True)
class SubsetCode:
    """`chosen` = d, `keep` = T, the threshold of the coin that puts the truth into the set."""

    size: int
    chosen: int
    keep: int

    @property
    def report_bytes(self) -> int:
        return -(-self.size // 8)

    @property
    def ratio(self) -> Fraction:
        return keep_ratio(self.keep, Fraction(self.size, self.chosen))

    @property
    def outputs(self) -> int:
        return comb(self.size, self.chosen)

    @property
    def truth(self) -> Fraction:
        t = Fraction(self.keep, SIDES)
        return t + (1 - t) * Fraction(self.chosen, self.size)

    @property
    def lie(self) -> Fraction:
        t = Fraction(self.keep, SIDES)
        return t * Fraction(self.chosen - 1, self.size - 1) + (1 - t) * Fraction(self.chosen, self.size)

    @property
    def widest_support(self) -> int:
        return self.chosen

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        reports = np.empty((answers.size, self.report_bytes), dtype=np.uint8)
        for start in range(0, answers.size, _BLOCK):
            reports[start : start + _BLOCK] = self._draw_block(answers[start : start + _BLOCK], source)
        return reports

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words: a uniform set by Floyd's rule, a coin, and the member that makes room.

        A uniform set with a uniform member replaced by the truth is uniform among the sets that hold the truth.
        """
        members: list[int] = []
        for last in range(self.size - self.chosen, self.size):
            value = words.uniform(last + 1)
            members.append(last if value in members else value)
        kept, place = words.coin(self.keep), words.uniform(self.chosen)
        if kept and answer not in members:
            members[place] = answer
        return _report(members, self.report_bytes)

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        t = Fraction(self.keep, SIDES)
        other = (1 - t) / self.outputs
        held = other + t / comb(self.size - 1, self.chosen - 1)
        for members in combinations(range(self.size), self.chosen):
            yield _report(members, self.report_bytes), held if answer in members else other

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows have exactly d bits, none of them beyond the last value's."""
        ones = np.bitwise_count(words_of_bytes(reports)).sum(axis=1)
        valid: Bools = (ones == self.chosen) & ~has_spare_bits(reports, self.size)
        return valid

    def counts(self, reports: Bytes) -> Ints:
        """How many sets hold each value."""
        return bit_totals(reports, self.size)

    def supports(self, counts: Ints) -> Ints:
        """A report supports the values of its set."""
        return counts

    def support_of(self, reports: Bytes, value: int) -> Bools:
        """Which sets hold that value."""
        return bit_of(reports, value)

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        numbers = {"size": self.size, "chosen": self.chosen, "keep": self.keep}
        return {"kind": "subset", **numbers, "bytes": self.report_bytes}

    def _draw_block(self, answers: Ints, source: Source) -> Bytes:
        n, rows = answers.size, np.arange(answers.size)
        sets = np.zeros((-(-self.size // 64), n), dtype=np.uint64)
        members = np.empty((self.chosen, n), dtype=np.uint8)
        for place in range(self.chosen):
            last = self.size - self.chosen + place
            values = uniforms(last + 1, n, source).astype(np.uint8)
            values[_holds(sets, rows, values)] = last
            _flip(sets, rows, values)
            members[place] = values
        truths = answers.astype(np.uint8)
        kept, places = coins(self.keep, n, source), uniforms(self.chosen, n, source)
        moved = np.flatnonzero(kept & ~_holds(sets, rows, truths))
        _flip(sets, moved, members[places[moved], moved])
        _flip(sets, moved, truths[moved])
        return bytes_of_words(np.ascontiguousarray(sets.T), self.report_bytes)


def subset_code(epsilon: Fraction, size: int) -> SubsetCode:
    """Subset selection with the d that errs least and the largest T that ε allows."""
    if size > MOST_VALUES:
        fix = "Take hashed, or auto."
        raise bad("values", f"must be at most {MOST_VALUES} for reports that are sets of them", size, fix)
    require_fine(epsilon, Fraction(2))
    ideal = size / (exp(float(epsilon)) + 1)
    sizes = {min(max(1, int(ideal) + step), size - 1) for step in (0, 1)}
    codes = (SubsetCode(size, d, keep_threshold(epsilon, Fraction(size, d))) for d in sorted(sizes))
    return min(codes, key=mean_noise)


def _report(members: Iterable[int], width: int) -> bytes:
    return sum(1 << value for value in members).to_bytes(width, "little")


def _holds(sets: Words, rows: Ints, values: Bytes) -> Bools:
    held: Bools = (sets[values >> 6, rows] >> (values & np.uint8(63)).astype(np.uint64) & _ONE).astype(np.bool_)
    return held


def _flip(sets: Words, rows: Ints, values: Bytes) -> None:
    """Put each value into its set, or take it out."""
    sets[values >> 6, rows] ^= _ONE << (values & np.uint8(63)).astype(np.uint64)
