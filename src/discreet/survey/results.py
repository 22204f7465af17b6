"""Estimate every question from its tally, of everyone and of each group, and say what the numbers rest on.

An estimate whose ± exceeds 1, or of a number its range, says nothing and is refused, with the reason in its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import NotAnswerable, bad
from discreet.local import face
from discreet.local.crossing import crossed_estimate
from discreet.local.estimate import Estimate, Row
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import ValueProtocol
from discreet.local.reports import Tally
from discreet.privacy.cost import Approx
from discreet.survey.collected import INVENTED, Collected, read_collected, read_pairs
from discreet.survey.question import Protocol, Question
from discreet.survey.spec import Survey


@dataclass(frozen=True)
class Terms:
    """What estimates are of, the level of their intervals, and whether they are moved into their range."""

    of: str = "population"
    level: Any = "0.95"
    project: str | None = None


@dataclass(frozen=True)
class Result:
    """The estimate of one question in one group, or the reason why there is none."""

    question: str
    text: str
    group: str | None
    reports: int
    rejected: int
    estimate: Estimate | None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Rows with their ±, or the reason."""
        rows = [] if self.estimate is None else [row.to_json() | {"moe": radius(row)} for row in self.estimate]
        named = {"question": self.question, "text": self.text, "group": self.group}
        counted = {"reports": self.reports, "rejected": self.rejected}
        return {**named, **counted, "rows": [_plain_value(row) for row in rows], "refused": self.reason}


@dataclass(frozen=True)
class Results:
    """The results of all questions, and the sentences that belong to them."""

    survey: Survey
    terms: Terms
    results: tuple[Result, ...]
    caveats: tuple[str, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)  # submissions that the server did not take
    is_invented: bool = False
    shuffled: Approx | None = None
    slip_epsilon: Fraction | None = None  # of a whole slip, where people tossed coins instead of using the page

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def epsilon(self) -> Fraction:
        """What all that one person handed in costs them."""
        return self.survey.epsilon if self.slip_epsilon is None else self.slip_epsilon

    def to_json(self) -> dict[str, Any]:
        """All of it as programs read it."""
        behind = None if self.shuffled is None else _promise(self.shuffled)
        return {
            "title": self.survey.title,
            "survey": self.survey.digest,
            "epsilon": amounts.float_up(self.epsilon),
            "of": self.terms.of,
            "level": float(amounts.inner_probability(self.terms.level, "level")),
            "invented": self.is_invented,
            "shuffled": behind,
            "refused_by_server": dict(self.refused),
            "estimates": [result.to_json() for result in self.results],
        }


def radius(row: Row) -> float:
    """The ±: the longer side of the interval."""
    return max(row.high - row.estimate, row.estimate - row.low)


def estimate_file(survey: Survey, path: Path, terms: Terms, *, by: str | None = None) -> Results:
    """The estimates of everyone, or of each group, from a store or a Parquet file."""
    collected = read_collected(survey, path, by=by)
    if all(tally.reports == 0 for tally in collected.tallies.values()):
        raise bad("reports", "must have at least one that is valid", 0, "Collect reports first.")
    parts: Mapping[Any, Mapping[str, Tally]] = {None: collected.tallies} if by is None else collected.by_group
    results = [
        result_of(question, tallies[question.name], terms, group)
        for question in survey.questions
        for group, tallies in parts.items()
    ]
    caveats = (*_impossible(survey, parts, terms.level), *_caveats(survey, terms, collected))
    return Results(survey, terms, tuple(results), caveats, dict(collected.refused), collected.is_invented)


def estimate_counts(survey: Survey, yes: Any, people: Any, terms: Terms, *, name: str | None = None) -> Results:
    """The estimate from slips on paper: of so many people, so many ticked the last value after two coins."""
    question = _paper_question(survey, name)
    n = amounts.whole(people, "of", 1, 10**9, such_as=1000)
    ticked = amounts.whole(yes, "yes", 0, n, such_as=min(412, n))
    coins = face.two_coins()
    own = question.values if question.required else question.values[:-1]
    protocol = ValueProtocol(coins.name, own, coins.code, coins.why)
    tally = Tally(protocol.code, own, np.array([n - ticked, ticked]), n)
    result = _result(question, protocol, tally, terms, None)
    caveats = [
        "The counts are of slips: each person tossed two fair coins, "
        f"ε = {amounts.text_up(coins.epsilon)} for each question."
    ]
    whole = coins.epsilon * len(survey.questions)
    if whole > survey.epsilon:
        caveats.append(f"A whole slip costs more than the survey's own ε = {amounts.text_up(survey.epsilon)}.")
    return Results(survey, terms, (result,), tuple(caveats), slip_epsilon=whole)


def estimate_cross(survey: Survey, path: Path, names: str, terms: Terms) -> Results:
    """The share of each pair of values of two questions, from the two reports of each person."""
    first, second = _crossed_questions(survey, names)
    if terms.of != "population" or terms.project is not None:
        given = f"of {terms.of}, project {terms.project}"
        raise bad("cross", "gives unbiased shares of the population alone", given, "Leave --of and --project out.")
    left, right, missing = read_pairs(survey, path, first, second)
    protocols = [question.protocol for question in (first, second)]
    estimate = crossed_estimate(protocols[0], protocols[1], left, right, terms.level)  # type: ignore[arg-type]
    text = f"{first.text} × {second.text}"
    result = Result(names, text, None, estimate.people, estimate.rejected + missing, estimate)
    if max(map(radius, estimate)) > 1:
        result = _refused_result(result)
    collected = read_collected(survey, path)
    caveats = _caveats(survey, terms, collected)
    return Results(survey, terms, (result,), caveats, dict(collected.refused), collected.is_invented)


def result_of(question: Question, tally: Tally, terms: Terms, group: str | None) -> Result:
    """The estimate of a question in a group."""
    return _result(question, question.protocol, tally, terms, group)


def _result(question: Question, protocol: Protocol, tally: Tally, terms: Terms, group: str | None) -> Result:
    if tally.reports < 1:
        reason = "There are no valid reports."
        return Result(question.name, question.text, group, 0, tally.rejected, None, reason)
    estimate = protocol.estimate(tally, terms.level, terms.of, _projection(protocol, terms.project))
    result = Result(question.name, question.text, group, tally.reports, tally.rejected, estimate)
    width = float(protocol.high - protocol.low) if isinstance(protocol, NumberProtocol) else 1.0
    free = estimate if terms.project is None else protocol.estimate(tally, terms.level, terms.of)
    return _refused_result(result, width) if max(map(radius, free)) > width else result


def _refused_result(result: Result, width: float = 1.0) -> Result:
    reports = "1 report is" if result.reports == 1 else f"{result.reports:,} reports are"
    reason = f"± exceeds {width:g}: {reports} too few."
    return Result(result.question, result.text, result.group, result.reports, result.rejected, None, reason)


def _projection(protocol: Protocol, project: str | None) -> str | None:
    """A mean is clipped where shares are put on the simplex."""
    return "clip" if isinstance(protocol, NumberProtocol) and project == "simplex" else project


def _impossible(survey: Survey, parts: Mapping[Any, Mapping[str, Tally]], level: Any) -> tuple[str, ...]:
    """A sentence where a whole interval of the population lies outside what can be: chance alone does that rarely."""
    names = [
        question.name
        for question in survey.questions
        for tallies in parts.values()
        if tallies[question.name].reports
        for row in question.protocol.estimate(tallies[question.name], level)
        if not _overlaps(row, *_range(question.protocol))
    ]
    if not names:
        return ()
    listed = ", ".join(dict.fromkeys(names))
    return (
        f"An interval of {listed} lies wholly outside of what is possible. Either the reports were made for another "
        "survey file, or many people did not follow the protocol, or chance was unkind.",
    )


def _overlaps(row: Row, low: float, high: float) -> bool:
    return row.low <= high and row.high >= low


def _range(protocol: Protocol) -> tuple[float, float]:
    """What a share or a mean can be."""
    return (float(protocol.low), float(protocol.high)) if isinstance(protocol, NumberProtocol) else (0.0, 1.0)


def _caveats(survey: Survey, terms: Terms, collected: Collected) -> tuple[str, ...]:
    tallies = collected.tallies.values()
    rejected = sum(tally.rejected for tally in tallies)
    refused = sum(collected.refused.values())
    sentences = {
        INVENTED: collected.is_invented,
        f"{rejected:,} reports cannot have been drawn by the survey's protocol and are left out.": rejected,
        f"The server did not take {refused:,} submissions: {_reasons(collected.refused)}.": refused,
        f"{collected.misplaced:,} people have reports to none or to several questions, though each is asked one; they "
        "are left out.": collected.misplaced,
        f"{collected.ungrouped:,} people belong to no group of the survey and are in no row.": collected.ungrouped,
        "The file does not say which survey it belongs to: everything here holds if it is this one.": (
            not collected.is_stamped
        ),
        "Respondents are those who were asked this question, one person in "
        f"{len(survey.questions)} by chance.": survey.mode == "sampled" and terms.of == "respondents",
        "Estimates and intervals were moved into their range, so they are biased.": terms.project is not None,
        "Each interval has its level by itself; of many, some miss.": True,
    }
    return tuple(sentence for sentence, applies in sentences.items() if applies)


def _reasons(refused: Any) -> str:
    return ", ".join(f"{reason} {number:,}" for reason, number in refused.items() if number)


def _paper_question(survey: Survey, name: str | None) -> Question:
    if name is None and len(survey.questions) > 1:
        listed = ", ".join(question.name for question in survey.questions)
        raise bad("question", "must be given with --yes where there are several", None, f"Name one of {listed}.")
    question = survey.questions[0] if name is None else _question(survey, name)
    answers = len(question.values) - (not question.required)
    if answers != 2:
        fix = "Count on paper what has two answers."
        raise bad("question", "must have two values to be asked with two coins", question.name, fix)
    return question


def _question(survey: Survey, name: str) -> Question:
    question = survey.question(name)
    if question is None:
        listed = ", ".join(question.name for question in survey.questions)
        raise bad("question", "must be one of the survey", name, f"Name one of {listed}.")
    return question


def _crossed_questions(survey: Survey, names: str) -> tuple[Question, Question]:
    parts = [name.strip() for name in names.split(",")]
    if len(parts) != 2 or parts[0] == parts[1]:
        raise bad("cross", "must be two questions with a comma between", names, "Write, for example: --cross q1,q2")
    first, second = (_question(survey, name) for name in parts)
    if survey.mode == "sampled":
        why = "Each person is asked one question by chance, so nobody has reports to two."
        fix = 'Set mode = "split" in the survey before it starts.'
        raise NotAnswerable("Two answers cannot be crossed in a sampled survey.", why, fix)
    for question in (first, second):
        if not isinstance(question.protocol, ValueProtocol):
            raise bad("cross", "must be of questions with values", question.name, "Cross two that have values.")
    return first, second


def _promise(cost: Approx) -> dict[str, float]:
    return {"epsilon": amounts.float_up(cost.epsilon), "delta": amounts.float_up(cost.delta)}


def _plain_value(row: dict[str, Any]) -> dict[str, Any]:
    """A pair of values as a list, as JSON has it."""
    return row | {"value": list(row["value"]) if isinstance(row["value"], tuple) else row["value"]}
