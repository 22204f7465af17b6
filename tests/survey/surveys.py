"""Surveys that several tests ask."""

from typing import Any

from discreet.survey.reading import survey_of
from discreet.survey.spec import Survey

YES_NO = {"text": "Did you ever dodge a tax?", "values": ["no", "yes"], "required": True, "method": "binary"}
PARTY = {"text": "Party?", "values": ["a", "b", "c, d"]}
HOURS = {"text": "Hours of sleep?", "low": 0, "high": 24, "step": 1, "required": True}
TAX_TOML = """\
title = "Tax"
epsilon = "1"
[groups]
region = ["North", "South"]
[questions.q1]
text = "Did you ever dodge a tax?"
values = ["no", "yes"]
method = "binary"
required = true
"""


def tax(**facts: Any) -> Survey:
    """One yes-or-no question at ε = 1, and two regions."""
    groups = {"region": ["North", "South"]}
    return survey_of({"title": "Tax", "epsilon": "1", "groups": groups, "questions": {"q1": YES_NO}, **facts})


def coins() -> Survey:
    """One question with two fair coins."""
    return survey_of({"title": "Coins", "questions": {"q1": YES_NO | {"method": "two coins"}}})


def mixed(mode: str = "split", epsilon: str = "3") -> Survey:
    """A yes or no, three values with silence, and a number."""
    questions = {"q1": YES_NO, "q2": PARTY, "hours": HOURS}
    return survey_of({"title": "Mixed", "epsilon": epsilon, "mode": mode, "questions": questions})
