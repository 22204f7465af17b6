"""What a way to randomise is: the contract of codes of values, and what a code of numbers has instead of supports.

A code knows integers alone: answers 0 … size−1, thresholds over 2³², reports of a constant length.  Names of values,
ε in decimals and sentences belong to the protocols (protocol.py, number_protocol.py) that hold a code.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol

from discreet.local.words import Bytes, WordList
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source


class Code(Protocol):
    """One randomised report for each answer, by a law of rational probabilities."""

    @property
    def size(self) -> int: ...  # answers are 0 … size−1

    @property
    def report_bytes(self) -> int: ...  # the same for every answer

    @property
    def ratio(self) -> Fraction: ...  # the largest of P[report | answer]/P[report | another answer]

    @property
    def outputs(self) -> int: ...  # how many reports there are

    def draw(self, answers: Ints, source: Source) -> Bytes: ...

    def report(self, answer: int, words: WordList) -> bytes: ...

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]: ...

    def is_report(self, reports: Bytes) -> Bools: ...  # which rows could have been drawn

    def counts(self, reports: Bytes) -> Ints: ...  # what estimates need; those of two sets of reports add up

    def to_json(self) -> Mapping[str, Any]: ...  # all that another language needs


class ValueCode(Code, Protocol):
    """A report supports some of the values: each its own answer with probability p, any other with probability q."""

    @property
    def truth(self) -> Fraction: ...  # p

    @property
    def lie(self) -> Fraction: ...  # q

    @property
    def widest_support(self) -> int: ...  # the values that a report can support at most

    def supports(self, counts: Ints) -> Ints: ...  # for each value, how many of the reports support it

    def support_of(self, reports: Bytes, value: int) -> Bools: ...  # which reports support that value


def mean_noise(code: ValueCode) -> Fraction:
    """n times the noise variance of an estimated share, averaged over the values; exact."""
    p, q = code.truth, code.lie
    return q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q) / code.size
