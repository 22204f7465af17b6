"""A question of a survey: its text, its values and the protocol that its answers go through."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import ValueProtocol
from discreet.local.reports import Tally
from discreet.local.words import Bytes, WordList
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import Source

SILENCE = "no answer"
ASKED, NOT_ASKED = 1, 0  # the first byte of a report where each person is asked one question by chance
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
            "low": _decimal(self.protocol.low) if is_number else None,  # type: ignore[union-attr]
            "step": _decimal(self.protocol.step) if is_number else None,  # type: ignore[union-attr]
            "required": self.required,
            "protocol": dict(self.protocol.code.to_json()),
        }


def _decimal(number: Fraction) -> str:
    return amounts.text_of(number)
