"""Write a question's released numbers for the ledger; read them back with the plan they were drawn under."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import envelope
from discreet.envelope import Envelope, Part
from discreet.ndarrays import Ints
from discreet.query.bound import Draft
from discreet.query.explain import words
from discreet.query.joint import Joint, Measured, Released
from discreet.query.nodes import Question
from discreet.query.parts import Present
from discreet.query.plan import Plan
from discreet.query.readable import question_text
from discreet.query.tags import TAGS
from discreet.terms import Terms

KIND = "question"


def to_bytes(plan: Plan, released: Released) -> bytes:
    """The bytes to store: the question, its plan, the released keys, and each part's noisy integers and law."""
    draft = plan.draft
    facts = {
        "question": TAGS.plain(draft.question),
        "text": question_text(draft.question),
        "told": words(plan),
        "schema": draft.schema.hash,
        "labels": [TAGS.plain(list(column)) for column in zip(*released.keys, strict=True)],
        "groups": len(released.keys),
        "recipes": TAGS.plain(draft.recipes),
        "epsilon": str(plan.terms.epsilon),
        "delta": str(plan.terms.delta),
        "why": plan.why,
        "most": plan.joint.max_groups,
    }
    parts = tuple(
        Part(TAGS.plain(measured.part), _law(measured), _numbers(measured.part, released)) for measured in plan.measured
    )
    return Envelope(KIND, envelope.version(), facts, parts).to_bytes()


def _law(measured: Measured) -> dict[str, Any]:
    share = None if measured.epsilon is None else str(measured.epsilon)
    return {
        "sensitivity": TAGS.plain(measured.sensitivity),
        "mechanism": TAGS.plain(measured.mechanism),
        "epsilon": share,
    }


def _measured_part(part: Part) -> Measured:
    law, share = part.law, part.law["epsilon"]
    return Measured(
        TAGS.value(part.tally),
        TAGS.value(law["sensitivity"]),
        TAGS.value(law["mechanism"]),
        None if share is None else Fraction(share),
    )


def _numbers(part: Any, released: Released) -> Ints:
    """A part's integers; none for the selection of keys, of which only the keys are released."""
    if isinstance(part, Present):
        return np.zeros(0, dtype=np.int64)
    return released.parts[part]


def read_envelope(stored: bytes) -> Envelope:
    """The stored bytes as an envelope; refused if they are not of a question."""
    return envelope.from_bytes(stored, KIND)


def stored_question(sealed: Envelope) -> Question:
    """The question as it was asked when it was charged."""
    question: Question = TAGS.value(sealed.facts["question"])
    return question


def stored_plan(sealed: Envelope, draft: Draft, level: Fraction) -> tuple[Plan, Released]:
    """The plan that was charged, in the names and clauses of `draft` and at `level`, and what it released.

    `draft` is of the same question and schema.  Recipes, shares and laws are those of the day of the charge: today's
    planner may choose others.
    """
    measured = tuple(_measured_part(part) for part in sealed.parts)
    facts = sealed.facts
    drawn_under = replace(draft, recipes=TAGS.value(facts["recipes"]))
    joint = Joint(measured, facts["most"])
    plan = Plan(drawn_under, joint, Terms(Fraction(facts["epsilon"]), Fraction(facts["delta"]), level), facts["why"])
    columns = [TAGS.value(column) for column in facts["labels"]]
    keys = tuple(zip(*columns, strict=True)) if columns else ((),) * facts["groups"]
    numbers: dict[Any, Ints] = {
        promise.part: part.values
        for promise, part in zip(measured, sealed.parts, strict=True)
        if not isinstance(promise.part, Present)
    }
    return plan, Released(keys, numbers)
