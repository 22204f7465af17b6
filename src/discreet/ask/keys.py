"""The request of a question, whose facts make its replay key, and the key that the first ledgers used."""

import hashlib

from discreet.query.canonical import meaning
from discreet.query.first_form import first_digest, first_key
from discreet.query.plan import Plan
from discreet.query.readable import question_text
from discreet.request import Request
from discreet.table import Table

_LONGEST_MEMO = 40_000


def request_of(plan: Plan, analyst: str | None) -> Request:
    """What is asked of the table; the facts name the question's meaning."""
    question = plan.draft.question
    digest = hashlib.sha256(meaning(question).encode()).hexdigest()
    memo = {"question": digest, "text": question_text(question)[:_LONGEST_MEMO]}
    return Request({"question": digest}, plan.terms, analyst, plan.draft.path, memo)


def older_key(table: Table, plan: Plan, analyst: str | None, snapshot: str) -> str:
    """The key under which the first ledgers stored such an answer."""
    facts = {
        "analyst": None if table.budget.share_answers else analyst,
        "question": first_digest(plan.draft.question),
        "epsilon": str(plan.terms.epsilon),
        "delta": str(plan.terms.delta),
        "level": str(plan.terms.level),
        "relation": str(table.schema.relation),
        "schema": table.schema.hash,
        "snapshot": snapshot,
    }
    return first_key(facts)
