"""Invent people who answer a survey, with shares that are known; their reports are randomised like real ones.

    q1=0.02           of two values: the share of the last, the rest has the other
    q2=a:0.5,b:0.3    of several values: these shares, the rest evenly among the others
    hours=8           of a number: a binomial number of steps above low with that mean

Answers come from a public generator that a seed repeats; the randomness of reports is always the system's.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.local.number_protocol import NumberProtocol
from discreet.local.words import Bytes
from discreet.ndarrays import Ints
from discreet.noise import public
from discreet.survey.question import Question
from discreet.survey.spec import Survey

MOST_PEOPLE = 10**8
_PAIR = re.compile(r":\s*([0-9.eE+-]+)\s*(?:,|$)")


@dataclass(frozen=True)
class Truth:
    """The shares of a question's values, or the mean of a number; those of the invented people, in expectation."""

    shares: tuple[Fraction, ...] = ()
    mean: Fraction | None = None

    def to_json(self, question: Question) -> dict[str, float]:
        """By value, or under "mean"; without one a number is uniform."""
        if isinstance(question.protocol, NumberProtocol):
            middle = (question.protocol.low + question.protocol.high) / 2
            return {"mean": float(middle if self.mean is None else self.mean)}
        return {value: float(share) for value, share in zip(question.values, self.shares, strict=True)}


@dataclass(frozen=True)
class Simulation:
    """Randomised reports of invented people, by question, and the group of each."""

    reports: Mapping[str, Bytes]
    groups: Mapping[str, Sequence[str]]
    truths: Mapping[str, Truth]


def simulate(survey: Survey, people: Any, truth: Iterable[str] = (), seed: Any = None) -> Simulation:
    """Draw answers of so many people and randomise them; people belong to the groups in turn."""
    n = amounts.whole(people, "people", 1, MOST_PEOPLE, such_as=10_000)
    start = None if seed is None else amounts.whole(seed, "seed", 0, 2**63 - 1, such_as=7)
    truths = truths_of(survey, truth)
    chance = public.generator(start)
    answers = {q.name: draw_answers(q, truths[q.name], n, chance) for q in survey.questions}
    groups = {}
    if survey.groups is not None:
        name, values = survey.groups
        groups[name] = [values[person % len(values)] for person in range(n)]
    return Simulation(survey.draw(answers), groups, truths)


def truths_of(survey: Survey, typed: Iterable[str]) -> dict[str, Truth]:
    """The truth of every question: as typed, else uniform."""
    truths = {question.name: _uniform(question) for question in survey.questions}
    names = set()
    for text in typed:
        name, equals, value = text.partition("=")
        question = survey.question(name.strip())
        if not equals or question is None:
            rule = f"must be QUESTION=SHARE for one of {', '.join(truths)}"
            raise bad("truth", rule, text, "Write, for example: --truth q1=0.02")
        if question.name in names:
            raise bad("truth", "must be given once for a question", text, "Put all shares after one --truth.")
        names.add(question.name)
        truths[question.name] = _truth(question, value.strip())
    return truths


def draw_answers(question: Question, truth: Truth, people: int, chance: public.Generator) -> Ints:
    """The answer of each invented person: the index of a value, or steps above low."""
    if isinstance(question.protocol, NumberProtocol):
        steps = question.protocol.code.steps
        if truth.mean is None:
            return chance.integers(0, steps + 1, people)
        share = (truth.mean - question.protocol.low) / (question.protocol.step * steps)
        return chance.binomial(steps, float(share), people)
    weights = np.array([float(share) for share in truth.shares])
    return chance.choice(len(weights), people, p=weights / weights.sum())


def _uniform(question: Question) -> Truth:
    size = len(question.values)
    return Truth(tuple([Fraction(1, size)] * size)) if size else Truth()


def _truth(question: Question, text: str) -> Truth:
    if isinstance(question.protocol, NumberProtocol):
        return Truth(mean=_mean(question, question.protocol, text))
    own = question.values if question.required else question.values[:-1]  # without silence
    if ":" not in text:
        if len(own) != 2:
            fix = f"Write, for example: --truth {question.name}={own[0]}:0.5"
            raise bad("truth", f"must name values of {question.name!r}, which has {len(own)}", text, fix)
        share = amounts.probability(text, "truth")
        return _spread(question, {own[0]: 1 - share, own[1]: share}, text)
    return _spread(question, _named_shares(question, text), text)


def _named_shares(question: Question, text: str) -> dict[str, Fraction]:
    """The shares of values in `a:0.5,b:0.3`; a value may hold commas and colons itself."""
    shares: dict[str, Fraction] = {}
    start = 0
    for match in _PAIR.finditer(text):
        value = text[start : match.start()].strip()
        start = match.end()
        if value not in question.values or value in shares:
            listed = ", ".join(question.values[:5])
            raise bad("truth", f"must name each value of {question.name!r} once", value, f"Values are {listed} …")
        shares[value] = amounts.probability(match[1], "truth")
    if start != len(text) or not shares:
        fix = f"Write, for example: --truth {question.name}={question.values[0]}:0.5"
        raise bad("truth", "must be values with their shares", text, fix)
    return shares


def _spread(question: Question, shares: Mapping[str, Fraction], text: str) -> Truth:
    """The shares, and what they leave of 1 evenly among the other values."""
    rest, others = 1 - sum(shares.values(), Fraction(0)), len(question.values) - len(shares)
    if rest < 0 or (rest > 0 and not others):
        rule = "must have shares that add up to 1" if not others else "must have shares that add up to at most 1"
        raise bad("truth", rule, text, f"Write, for example: --truth {question.name}={question.values[0]}:0.5")
    return Truth(tuple(shares[value] if value in shares else rest / others for value in question.values))


def _mean(question: Question, protocol: NumberProtocol, text: str) -> Fraction:
    mean = amounts.decimal(text, "truth")
    if not protocol.low <= mean <= protocol.high:
        bounds = f"{amounts.text_of(protocol.low)} and {amounts.text_of(protocol.high)}"
        fix = f"Write, for example: --truth {question.name}={amounts.text_of((protocol.low + protocol.high) / 2)}"
        raise bad("truth", f"must be a mean between {bounds}", text, fix)
    return mean
