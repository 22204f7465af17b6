"""A question of a survey: its text, its values and the protocol that its answers go through."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import ValueProtocol
from discreet.local.reports import Tally
from discreet.local.words import Bytes, WordList
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source

SILENCE = "no answer"
ASKED, NOT_ASKED = 1, 0  # the first byte of a report where each person is asked one question by chance
MOST_DIGITS = 15  # before and after the point of a number that people type
Protocol = ValueProtocol | NumberProtocol


@dataclass(frozen=True)
class Question:
    """Answers are indices of values, or steps above `low`; every report has the same length."""

    name: str
    text: str
    protocol: Protocol
    required: bool
    is_sampled: bool

    @property
    def values(self) -> tuple[str, ...]:
        """The texts to choose from; none for a number."""
        return self.protocol.values if isinstance(self.protocol, ValueProtocol) else ()

    @property
    def report_bytes(self) -> int:
        """The length of every report, with the byte that says whether this question was asked."""
        return self.protocol.report_bytes + self.is_sampled

    def is_report(self, report: bytes) -> bool:
        """Whether the protocol can have drawn it."""
        if not isinstance(report, bytes) or len(report) != self.report_bytes:
            return False
        return bool(self.valid(np.frombuffer(report, dtype=np.uint8).reshape(1, -1))[0])

    def valid(self, reports: Bytes) -> Bools:
        """Which rows the protocol can have drawn."""
        if not self.is_sampled:
            return self.protocol.code.is_report(reports)
        asked, content = reports[:, 0] == ASKED, reports[:, 1:]
        silent = (reports[:, 0] == NOT_ASKED) & ~content.any(axis=1)
        valid: Bools = (asked & self.protocol.code.is_report(np.ascontiguousarray(content))) | silent
        return valid

    def tally(self, reports: Bytes) -> Tally:
        """The tally of reports of people who were asked; what cannot have been drawn is rejected."""
        if not self.is_sampled:
            return self.protocol.aggregate(reports)
        valid = self.valid(reports)
        asked = reports[valid & (reports[:, 0] == ASKED)][:, 1:]
        return replace(self.protocol.aggregate(np.ascontiguousarray(asked)), rejected=int(len(reports) - valid.sum()))

    def report(self, answer: int, words: WordList, *, asked: bool) -> bytes:
        """The report of those words; of a question that is not asked a constant of the same length."""
        if not asked:
            return bytes(self.report_bytes)
        return bytes([ASKED] * self.is_sampled) + self.protocol.code.report(answer, words)

    def draw(self, answers: Ints, asked: Bools, source: Source) -> Bytes:
        """A report for each person."""
        if not self.is_sampled:
            return self.protocol.code.draw(answers, source)
        reports = np.zeros((answers.size, self.report_bytes), dtype=np.uint8)
        reports[asked, 0] = ASKED
        reports[asked, 1:] = self.protocol.code.draw(answers[asked], source)
        return reports

    def to_json(self) -> Mapping[str, Any]:
        """All that a page or a server in another language needs."""
        is_number = isinstance(self.protocol, NumberProtocol)
        return {
            "name": self.name,
            "text": self.text,
            "values": list(self.values),
            "low": plain_text(self.protocol.low, "low") if is_number else None,  # type: ignore[union-attr]
            "step": plain_text(self.protocol.step, "step") if is_number else None,  # type: ignore[union-attr]
            "required": self.required,
            "protocol": dict(self.protocol.code.to_json()),
        }


def is_plain(number: Fraction) -> bool:
    """Whether the number is a decimal with at most 15 digits before and 15 after the point.

    >>> is_plain(Fraction(1, 8)), is_plain(Fraction(1, 7)), is_plain(Fraction(10) ** 15)
    (True, False, False)
    """
    scale = Fraction(10) ** MOST_DIGITS
    return (number * scale).denominator == 1 and abs(number) < scale


def plain_text(number: Fraction, name: str) -> str:
    """The number in digits and a point, exactly, as pages read it.

    >>> plain_text(Fraction(-1, 8), "low"), plain_text(Fraction(1, 10**7), "step"), plain_text(Fraction(2500), "low")
    ('-0.125', '0.0000001', '2500')
    """
    if not is_plain(number):
        rule = f"must be a decimal with at most {MOST_DIGITS} digits before and {MOST_DIGITS} after the point"
        raise bad(name, rule, str(number), "Give a number such as 1 or '0.25'.")
    digits = str(abs(int(number * 10**MOST_DIGITS))).zfill(MOST_DIGITS + 1)
    sign, whole, part = "-" * (number < 0), digits[:-MOST_DIGITS], digits[-MOST_DIGITS:].rstrip("0")
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
