"""The paper form of a survey: a slip to print, on which each person randomises with two tosses of a coin."""

from base64 import b64encode
from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from html import escape
from typing import Any

from discreet import amounts, errors
from discreet.inert import visible, visible_lines
from discreet.local import face
from discreet.survey.page import asset, filled
from discreet.survey.spec import Survey


def slip(survey: Survey) -> str:
    """The HTML of one slip with the survey's questions, which needs no script and makes no request.

    Heads gives the true answer, tails a fair toss between both, so Pr[yes | yes] = ¾, Pr[yes | no] = ¼ and each
    question costs ln 3 (Warner 1965 in the two-coin form).  Refused where a question is not required, since no coin
    hides a blank; where it has more than two answers; and where all questions together cost more than the survey's ε.
    """
    compiled = survey.compiled
    questions = compiled["questions"]
    for question in questions:
        _require_two_answers(question)
    cost, limit = _slip_epsilon(len(questions)), Fraction(compiled["epsilon"])
    if cost > limit:
        fix = f'Set epsilon = "{amounts.text_up(cost, 5)}", or ask fewer questions.'
        rule = f"must be at least ln 3 for each question of a slip, {amounts.text_up(cost, 5)} in all"
        raise errors.bad("epsilon", rule, limit, fix)
    style = asset("slip.css")
    contact = f"Questions: {compiled['contact']}" if compiled["contact"] else ""
    parts = {
        "digest": b64encode(sha256(style.encode()).digest()).decode(),
        "title": escape(visible(compiled["title"])),
        "style": style,
        "consent": escape(visible_lines(compiled["consent"])),
        "questions": "\n".join(map(_question, questions)),
        "guarantee": _guarantee(len(questions)),
        "contact": escape(visible(contact)),
    }
    return filled(asset("slip.html"), parts)


def _require_two_answers(question: Mapping[str, Any]) -> None:
    name, values = f"question {question['name']}", question["values"]
    if not question["required"]:
        rule = "must be required on a slip, where a blank is seen as it is and no coin hides it"
        raise errors.bad(name, rule, "required = false", "Write required = true, or ask it on the page.")
    if len(values) != 2:
        fix = "Ask it on the page, or give it two values."
        raise errors.bad(name, "must have two answers on a slip of two coins", len(values), fix)


def _question(question: Mapping[str, Any]) -> str:
    """A question with two boxes."""
    boxes = (f'<p><span class="box"></span>{escape(visible(value))}</p>' for value in question["values"])
    text = f'<p class="text">{escape(visible(question["text"]))}</p>'
    return "\n".join(['<div class="question">', text, *boxes, "</div>"])


def _slip_epsilon(count: int) -> Fraction:
    """The ε of so many questions: ln 3 each, rounded up."""
    return count * face.two_coins().epsilon


def _guarantee(count: int) -> str:
    """The sentence about the ε of the whole slip."""
    epsilon = "ε = ln 3" if count == 1 else f"ε = {count} · ln 3 ≤ {amounts.text_up(_slip_epsilon(count), 5)}"
    ratio = f"at most {3**count} times less likely"
    return f"The whole slip has {epsilon}: its ticks are {ratio} under any other true answers."
