"""A survey as a value: what is asked, the ε of the whole questionnaire, and the integers that its page works from.

    split      every question is answered, each with its share of ε; the shares add up
    sampled    each person is asked one question by chance, with the whole ε; the other reports are constants

Every submission has a report for every question, always of the same length.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad_private
from discreet.local.number_protocol import NumberProtocol
from discreet.local.words import Bytes, WordList, uniforms, words
from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM, Source
from discreet.survey.question import Question

VERSION = 1
_IDENTITY = ("v", "consent", "epsilon", "mode", "every", "wave", "questions")  # the keys that make a survey another one


@dataclass(frozen=True)
class Survey:
    """What `survey.toml` says, compiled; `why` says how the mode was chosen."""

    title: str
    consent: str
    contact: str
    mode: str  # "split" or "sampled"
    why: str
    every: str  # "once", or "day": the first report is sent again each day
    opens: date | None
    closes: date | None
    groups: tuple[str, tuple[str, ...]] | None  # a public column of invitations and its values
    questions: tuple[Question, ...]
    wave: str = ""  # sets this survey apart from another one that asks the same

    @property
    def epsilon(self) -> Fraction:
        """Of a whole submission, computed from the integers that run."""
        each = [question.protocol.epsilon for question in self.questions]
        return max(each) if self.mode == "sampled" else sum(each, Fraction(0))

    @cached_property
    def compiled(self) -> dict[str, Any]:
        """What page and server work from: texts, and thresholds as whole numbers over 2³²."""
        return {
            "v": VERSION,
            "title": self.title,
            "consent": self.consent,
            "contact": self.contact,
            "epsilon": amounts.text_up(self.epsilon, 6),
            "mode": self.mode,
            "every": self.every,
            "wave": self.wave,
            "opens": None if self.opens is None else self.opens.isoformat(),
            "closes": None if self.closes is None else self.closes.isoformat(),
            "groups": None if self.groups is None else {self.groups[0]: list(self.groups[1])},
            "questions": [question.to_json() for question in self.questions],
        }

    @cached_property
    def canonical(self) -> bytes:
        """`compiled` as bytes that are the same everywhere."""
        return _canonical(self.compiled)

    @cached_property
    def identity(self) -> bytes:
        """What is asked and what people agree to, as bytes: title, contact, dates and groups may change beside it."""
        return _canonical({key: self.compiled[key] for key in _IDENTITY})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of `identity`: the survey's id, by which a browser knows that it has drawn its report already."""
        return hashlib.sha256(self.identity).hexdigest()

    def question(self, name: str) -> Question | None:
        """The question of that name."""
        return next((question for question in self.questions if question.name == name), None)

    def encode_with(self, answers: Mapping[str, int], words: Iterable[int]) -> dict[str, bytes]:
        """The submission that those 32-bit words give."""
        drawn = WordList(words)
        if set(answers) != {question.name for question in self.questions}:
            fix = "Give the index of a value for every question."
            raise bad_private("answers", "must be an index for each question", fix)
        indices = {question.name: _index(answers[question.name], question) for question in self.questions}
        chosen = drawn.uniform(len(self.questions)) if self.mode == "sampled" else None
        return {
            question.name: question.report(indices[question.name], drawn, asked=chosen in (None, place))
            for place, question in enumerate(self.questions)
        }

    def encode(self, answers: Mapping[str, int]) -> dict[str, bytes]:
        """A submission with randomness of the operating system; it is drawn once and sent as often as needed."""
        return self.encode_with(answers, _system_words())

    def draw(self, answers: Mapping[str, Ints], source: Source = SYSTEM) -> dict[str, Bytes]:
        """Submissions of many people, for simulations: a row of bytes for each, by question."""
        people = len(next(iter(answers.values())))
        chosen = uniforms(len(self.questions), people, source) if self.mode == "sampled" else np.zeros(people)
        return {
            question.name: question.draw(answers[question.name], chosen == place, source)
            for place, question in enumerate(self.questions)
        }


def _canonical(table: Mapping[str, Any]) -> bytes:
    return json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _index(answer: Any, question: Question) -> int:
    """The answer as a Python int, since the integers of NumPy have no bytes of a chosen length."""
    is_index = isinstance(answer, int | np.integer) and not isinstance(answer, bool)
    if not is_index or not 0 <= answer < question.protocol.code.size:
        what = "a number of steps" if isinstance(question.protocol, NumberProtocol) else "the index of a value"
        raise bad_private(f"the answer to {question.name!r}", f"must be {what}", "Give a whole number in its range.")
    return int(answer)


def _system_words() -> Iterator[int]:
    while True:
        yield from map(int, words(64, SYSTEM))
