"""Test vectors of a survey: answers, words and the reports that every encoder must return for them."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.noise import public
from discreet.survey.spec import Survey

_WORD = 1 << 32
_SPARE = 64  # words beyond the expected number: a choice by rejection fails with probability below ½ each time
_THRESHOLDS = ("keep", "yes", "no", "share", "base", "more")


def vectors(survey: Survey, count: int) -> list[dict[str, Any]]:
    """So many vectors: {"answers": {name: index}, "words": [u32, …], "reports": {name: base64url}}.

    The words come from a public generator, the same on every machine.  An eighth of them is replaced by the ends of
    the range and by thresholds of the survey and their neighbours, where a wrong comparison shows.
    """
    questions = survey.compiled["questions"]
    edges = _edges(questions)
    length = sum(_words_needed(question["protocol"]) for question in questions) + _SPARE
    listed = []
    for index in range(count):
        answers, words = _drawn_inputs(f"vector {index} of {survey.digest}", questions, edges, length)
        reports = survey.encode_with(answers, words)
        listed.append({"answers": answers, "words": words, "reports": {n: _text(b) for n, b in reports.items()}})
    return listed


def _drawn_inputs(
    seed: str, questions: Sequence[Mapping[str, Any]], edges: Sequence[int], length: int
) -> tuple[dict[str, int], list[int]]:
    """Answers to the questions and a list of words, both taken from the seed."""
    picks = (int(word) for word in public.words_of(f"{seed}: answers", len(questions)))
    answers = {q["name"]: pick % _answers(q["protocol"]) for q, pick in zip(questions, picks, strict=True)}
    halves = public.words_of(f"{seed}: words", length)
    words = []
    for half in halves.tolist():
        low, high = half % _WORD, half // _WORD
        words.append(edges[high // 8 % len(edges)] if high % 8 == 0 else low)
    return answers, words


def _answers(protocol: Mapping[str, Any]) -> int:
    """How many answers a question has."""
    return int(protocol["size"]) if "size" in protocol else int(protocol["steps"]) + 1


def _words_needed(protocol: Mapping[str, Any]) -> int:
    """A number of words that suffices but for rejections far beyond the spare ones."""
    match protocol["kind"]:
        case "unary":
            return int(protocol["size"])
        case "subset":
            return 2 * (int(protocol["chosen"]) + 2)
        case "use":  # two geometric counts, each with a mean of at most 2³² / (2³² − more)
            return _SPARE * (1 + _WORD // (_WORD - int(protocol["more"])))
        case _:
            return 8


def _edges(questions: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ends of the range of words, and each threshold of the survey with its neighbour below."""
    thresholds = {int(q["protocol"][name]) for q in questions for name in _THRESHOLDS if name in q["protocol"]}
    around = {edge for threshold in thresholds for edge in (threshold - 1, threshold)}
    return sorted(edge for edge in around | {0, _WORD - 1} if 0 <= edge < _WORD)


def _text(report: bytes) -> str:
    """The report in base64url without padding."""
    return urlsafe_b64encode(report).rstrip(b"=").decode()
