"""Plan a survey: how many people must answer for a ± at 95 %, with protection and without.

    people = ⌈z²·v/precision²⌉      z = 1.959964,   v   n times the variance of the estimate, noise and sampling,
                                                       at the worst share; without protection ¼, for a share of ½

Of a number the precision is a share of its range, and the worst people are half at each end or all in the middle.
Where each person is asked one question by chance, so many must be asked each: people times the number of questions.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import ValueProtocol, exact_variance
from discreet.local.response_code import ResponseCode, response_code
from discreet.local.trusts import Comparison, comparison
from discreet.survey.question import Protocol, Question
from discreet.survey.spec import Survey

Z = Fraction("1.959964")
LEVEL = Fraction(95, 100)
DISOBEDIENT, LIARS = Fraction(5, 100), 10
NO_SHUFFLER = (
    "The survey's own server is no shuffler: it sees token, time and address. A shuffled ε counts only for reports "
    "that an independent shuffler hands on."
)
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_PEOPLE = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
_MOST_PEOPLE = 10**9
_PLACES = 32  # of a number's range, where its noise is looked at


@dataclass(frozen=True)
class Need:
    """What one question needs, and what its protocol withstands."""

    question: Question
    plain: int  # people without protection
    people: int  # people with it
    worst_share: Fraction | None  # of a value; None for a number
    precision: Fraction  # a share, or in units of the number
    words: str  # what a report says about its person
    disobeyed: tuple[float, float] | None  # moves of a share by people who do not toss their coins
    poisoned: str  # what liars can do

    def to_json(self) -> dict[str, Any]:
        """The need as programs read it."""
        protocol = self.question.protocol
        moves = None if self.disobeyed is None else {"up": self.disobeyed[0], "down": self.disobeyed[1]}
        return {
            "question": self.question.name,
            "text": self.question.text,
            "method": protocol.name,
            "why": protocol.why,
            "epsilon": amounts.float_up(protocol.epsilon),
            "report_bytes": self.question.report_bytes,
            "precision": float(self.precision),
            "people_without_protection": self.plain,
            "people": self.people,
            "worst_share": None if self.worst_share is None else float(self.worst_share),
            "words": self.words,
            "disobeyed": moves,
            "poisoned": self.poisoned,
        }


@dataclass(frozen=True)
class Design:
    """The needs of all questions and the prices of other trusts, for as many people as the largest need."""

    survey: Survey
    needs: tuple[Need, ...]
    trusts: Comparison

    @property
    def people(self) -> int:
        """How many must answer, so that every question has about its ±."""
        return max(need.people for need in self.needs)

    def to_json(self) -> dict[str, Any]:
        """All of it as programs read it."""
        return {
            "title": self.survey.title,
            "survey": self.survey.digest,
            "epsilon": amounts.float_up(self.survey.epsilon),
            "mode": self.survey.mode,
            "why": self.survey.why,
            "level": float(LEVEL),
            "people": self.people,
            "people_without_protection": max(need.plain for need in self.needs),
            "questions": [need.to_json() for need in self.needs],
            "trusts": self.trusts.to_json(),
        }


@dataclass(frozen=True)
class Curves:
    """What protection costs: how many times the curator's ± that of phones is, and n times variances by share."""

    epsilon: float
    people: tuple[int, ...]
    factors: tuple[float, ...]
    shares: tuple[float, ...]
    plain: tuple[float, ...]
    protected: tuple[float, ...]


def curves(plan: Design) -> Curves:
    """The factor over numbers of people, and the variance over true shares of a yes at the whole ε."""
    epsilon = plan.survey.epsilon
    factors = tuple(comparison(epsilon, n, plan.trusts.rows[1].delta).factor for n in _PEOPLE)
    shares = [Fraction(place, 50) for place in range(51)]
    code = response_code(epsilon, 2)
    return Curves(
        float(epsilon),
        _PEOPLE,
        factors,
        tuple(map(float, shares)),
        tuple(float(share * (1 - share)) for share in shares),
        tuple(float(exact_variance(code, share, 1, "population")) for share in shares),
    )


def design_of(survey: Survey, precision: Any, delta: Any = "1e-6") -> Design:
    """What every question needs for ± `precision` points of 100."""
    points = amounts.positive(precision, "precision")
    if points >= 100:
        raise bad("precision", "must be below 100 points", precision, "Give a number such as 3.")
    needs = tuple(_need(survey, question, points / 100) for question in survey.questions)
    people = max(need.people for need in needs)
    if people > _MOST_PEOPLE:
        fix = f"Give a larger one, or a larger epsilon than {amounts.text_up(survey.epsilon)}."
        raise bad("precision", f"must need at most {_MOST_PEOPLE:,} people", precision, fix)
    return Design(survey, needs, comparison(survey.epsilon, people, amounts.delta(delta)))


def people_needed(variance: Fraction, precision: Fraction) -> int:
    """⌈z²·v/precision²⌉.

    >>> people_needed(Fraction(1, 4), Fraction(3, 100)), people_needed(Fraction(1), Fraction(3, 100))
    (1068, 4269)
    """
    return math.ceil(Z**2 * variance / precision**2)


def worst_variance(protocol: Protocol) -> tuple[Fraction, Fraction | None]:
    """n times the largest variance of an estimate, of a number in units of its range; and the share that has it."""
    if isinstance(protocol, ValueProtocol):
        p, q = protocol.code.truth, protocol.code.lie
        share = min(max((_HALF - q) / (p - q), Fraction(0)), Fraction(1))  # where half of the reports support the value
        return exact_variance(protocol.code, share, 1, "population"), share
    steps = protocol.code.steps
    places = {round(Fraction(steps * place, _PLACES)) for place in range(_PLACES + 1)}
    largest = max(protocol.code.variance(x) + (x - Fraction(steps, 2)) ** 2 for x in places)
    return largest / steps**2, None


def report_words(protocol: Protocol) -> str:
    """What a single report says about its person."""
    if isinstance(protocol, NumberProtocol):
        low, high = amounts.text_of(protocol.low), amounts.text_of(protocol.high)
        return f"A report is a range, or the word high or low, drawn by chance: each can come from {low} and {high}."
    lie, truth = (_of_hundred(chance) for chance in (protocol.code.lie, protocol.code.truth))
    if isinstance(protocol.code, ResponseCode) and len(protocol.values) == 2:
        return f"Of 100 who truly say {protocol.values[0]}, {lie} send {protocol.values[1]}."
    return f"Of 100 who hold a value, {truth} send a report that supports it; of 100 who do not, {lie} do so too."


def _need(survey: Survey, question: Question, precision: Fraction) -> Need:
    variance, share = worst_variance(question.protocol)
    times = len(survey.questions) if question.is_sampled else 1
    people = times * people_needed(variance, precision)
    protocol, asked = question.protocol, people // times
    if isinstance(protocol, NumberProtocol):
        width = protocol.high - protocol.low
        return Need(
            question,
            people_needed(_QUARTER, precision),
            people,
            None,
            precision * width,
            report_words(protocol),
            None,
            protocol.poisoned(min(LIARS, asked), asked).words,
        )
    return Need(
        question,
        people_needed(_QUARTER, precision),
        people,
        share,
        precision,
        report_words(protocol),
        protocol.disobeyed(DISOBEDIENT, _HALF),
        protocol.poisoned(min(LIARS, asked), asked).words,
    )


def _of_hundred(chance: Fraction) -> str:
    """27, or with a decimal where a whole number would be 0 or 100."""
    rounded = f"{100 * float(chance):.0f}"
    return rounded if rounded not in ("0", "100") else f"{100 * float(chance):.2g}"
