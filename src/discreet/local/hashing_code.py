"""Linear hashing over GF(g): a uniform seed a, sent as it is, and the symbol ⟨a, x⟩ through g-ary response.

    P[symbol = ⟨a, v⟩ | v] = p = t + (1 − t)/g,    P[symbol = ⟨a, v⟩ | x ≠ v] = q = 1/g exactly, over a

because ⟨a, x⟩ = ⟨a, v⟩ has probability 1/g for every pair of values.  So estimates are unbiased for every set of
answers, which a pool of random hashes is not.  g = 2 is the one-bit Hadamard form; g ≈ e^ε + 1 has the variance of
optimal local hashing (Wang et al. 2017).  A report is seed·g + symbol: 12 bits for 1,024 values at g = 4.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.local.field import Field, Symbols, digits_of, field
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

LARGEST_CELLS = 2**24  # counters of an aggregate: seeds times symbols
_TABLE = 2**22  # inner products that are looked up instead of computed


@dataclass(frozen=True)
class HashedCode:
    """`keep` = T, the threshold of the coin that keeps the symbol."""

    size: int
    order: int
    keep: int

    @property
    def field(self) -> Field:
        return field(self.order)

    @property
    def digits(self) -> int:
        return digits_of(self.order, self.size)

    @property
    def seeds(self) -> int:
        return int(self.order**self.digits)

    @property
    def outputs(self) -> int:
        return self.seeds * self.order

    @property
    def report_bytes(self) -> int:
        return width_of(self.outputs)

    @property
    def ratio(self) -> Fraction:
        return keep_ratio(self.keep, Fraction(self.order))

    @property
    def truth(self) -> Fraction:
        return Fraction(self.keep, SIDES) + Fraction(SIDES - self.keep, SIDES * self.order)

    @property
    def lie(self) -> Fraction:
        return Fraction(1, self.order)

    @property
    def widest_support(self) -> int:
        return self.size  # seed 0 with symbol 0 supports every value

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        reports = np.empty((answers.size, self.report_bytes), dtype=np.uint8)
        for start in range(0, answers.size, BLOCK):
            block = answers[start : start + BLOCK]
            seeds = uniforms(self.seeds, block.size, source)
            kept = coins(self.keep, block.size, source)
            symbols = np.where(kept, self._inner(seeds, block), uniforms(self.order, block.size, source))
            drawn = seeds * np.uint32(self.order) + symbols.astype(np.uint32)
            reports[start : start + BLOCK] = bytes_of(drawn, self.report_bytes)
        return reports

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words: a seed, a coin, a uniform symbol."""
        seed, kept, other = words.uniform(self.seeds), words.coin(self.keep), words.uniform(self.order)
        own = int(self.field.inner(np.array(seed), np.array(answer), self.digits))  # always: time must not tell `kept`
        symbol = own if kept else other
        return (seed * self.order + symbol).to_bytes(self.report_bytes, "little")

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        other = Fraction(SIDES - self.keep, SIDES * self.order)
        symbols = self.field.inner(np.arange(self.seeds), np.array(answer), self.digits)
        for cell in range(self.outputs):
            seed, symbol = divmod(cell, self.order)
            chance = self.truth if symbols[seed] == symbol else other
            yield cell.to_bytes(self.report_bytes, "little"), chance / self.seeds

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows are a seed and a symbol."""
        return numbers_of(reports) < self.outputs

    def counts(self, reports: Bytes) -> Ints:
        """How many reports have each seed and symbol."""
        return histogram(reports, self.outputs)

    def supports(self, counts: Ints) -> Ints:
        """For each value the reports whose symbol is the value's under their seed."""
        if self.size * self.seeds > self.digits * self.order ** (self.digits + 2):
            return self.field.sums_along_lines(counts, self.digits)[: self.size]
        seeds = np.arange(self.seeds)
        symbols = (self.field.inner(seeds, np.array(value), self.digits) for value in range(self.size))
        return np.array([counts[seeds * self.order + own].sum() for own in symbols])

    def support_of(self, reports: Bytes, value: int) -> Bools:
        """Which reports have the value's symbol under their seed."""
        seeds, symbols = np.divmod(numbers_of(reports), self.order)
        return np.equal(self._inner(seeds, np.full(seeds.size, value)), symbols)

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        return {
            "kind": "hashed",
            "size": self.size,
            "field": self.order,
            "polynomial": self.field.polynomial,
            "digits": self.digits,
            "keep": self.keep,
            "bytes": self.report_bytes,
        }

    def _inner(self, seeds: NDArray[np.unsignedinteger], answers: Ints) -> Symbols:
        """⟨seed, answer⟩ for each pair."""
        if self.seeds * self.size > _TABLE:
            return self.field.inner(seeds.astype(np.int64), answers.astype(np.int64), self.digits)
        return np.take(self._products, seeds * np.uint32(self.size) + answers.astype(np.uint32))

    @cached_property
    def _products(self) -> Symbols:
        """⟨seed, answer⟩ at seed·size + answer."""
        return self.field.inner(np.arange(self.seeds)[:, None], np.arange(self.size), self.digits).ravel()


def hashed_code(epsilon: Fraction, size: int, order: int) -> HashedCode:
    """Linear hashing with the largest T that ε allows."""
    if order ** (digits_of(field(order).order, size) + 1) > LARGEST_CELLS:
        fix = "Give a smaller field, or fewer values."
        raise bad("field", "must leave at most 2²⁴ pairs of seed and symbol for so many values", order, fix)
    return HashedCode(size, order, keep_threshold(epsilon, Fraction(order)))
