"""Asking: from a question to its answer, by the contract of rooms alone.

draft      what is measured, and how far one unit moves it          terms   ε, δ and the level of the ±
quote      price and ± beforehand, from public facts                ask     charge, compute, noise, store, hand out
recalled   a stored answer without its question at hand
"""

import hashlib
import weakref
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from discreet import amounts
from discreet.answer import compose
from discreet.answer.answer import Answer
from discreet.answer.quote import Quote, quoted
from discreet.answer.stored import packed
from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.query.bound import Draft, bound
from discreet.query.canonical import canonical, meaning
from discreet.query.first_form import first_digest, first_key
from discreet.query.nodes import Question
from discreet.query.plan import Plan
from discreet.query.readable import spelt
from discreet.query.sql import Options
from discreet.query.target import least_epsilon
from discreet.request import Request
from discreet.table import Table
from discreet.terms import Terms

_LONGEST_MEMO = 40_000
_drafts: "weakref.WeakKeyDictionary[Table, dict[str, Draft]]" = weakref.WeakKeyDictionary()


def draft(table: Table, question: Question) -> Draft:
    """The question, bounded by the table's own public facts; the last one is kept: it is planned, quoted and asked."""
    asked = canonical(question)  # not the value: 1 and True are equal in Python and two constants here
    kept = _drafts.get(table, {})
    if asked not in kept:
        bounded = bound(question, table.schema)
        kept = _drafts[table] = {asked: bounded, canonical(bounded.question): bounded}
    return kept[asked]


def terms(
    table: Table,
    draft: Draft,
    options: Options,
    *,
    epsilon: Any = None,
    error: Any = None,
    delta: Any = None,
    level: Any = None,
) -> Terms:
    """What the question may take: as typed, else as its text says, else by the table's default.

    Where a ± is wanted, ε is the least that reaches it.
    """
    if epsilon is None and error is None:
        epsilon = options.epsilon
    if (epsilon is None) == (error is None):
        fix = "Give one of them: epsilon=1, or error={'n': 15}."
        raise bad("epsilon", "or error must be given, and not both", epsilon, fix)
    delta = options.delta if delta is None else delta
    if epsilon is not None:
        return table.terms(epsilon, delta, level)
    most, wanted = (
        table.terms(amounts.MAX_EPSILON, delta, level),
        dict(error) if isinstance(error, dict) else {"": error},
    )
    return replace(most, epsilon=least_epsilon(draft, wanted, most))


def quote(table: Table, plan: Plan, *, analyst: str | None = None, at_size: int | None = None) -> Quote:
    """Cost, ± and what would remain: nothing is spent and no row is read."""
    after = table.remaining_after(plan.cost, plan.terms, analyst=analyst, path=plan.draft.path)
    return quoted(plan, remaining=table.remaining(analyst), remaining_after=after, at_size=at_size)


def ask(table: Table, plan: Plan, *, analyst: str | None = None, progress: Progress | None = None) -> Answer:
    """The answer: charged, noisy, stored; the same question again gives the same answer for nothing."""
    table.require_own(plan.draft.schema)
    table.require_known(analyst)
    plan = replace(plan, draft=draft(table, plan.draft.question))  # own facts: the gate compares the noise with them
    with closing(table.view(progress)) as view:
        bounded = view.tally(plan.draft.tally)  # refused here, before the charge; read after it
        disclosed = table.disclose(
            request(plan, analyst),
            view,
            plan.joint,
            bounded,
            pack=partial(packed, plan),
            older_key=partial(older_key, table, plan, analyst),
        )
    answer = compose.shown(disclosed.stored, plan.draft, plan.terms.level)
    return _handed(answer, table, disclosed.receipt.name, analyst, replayed=disclosed.replayed)


def request(plan: Plan, analyst: str | None) -> Request:
    """What is asked of the table; the facts name the question's meaning."""
    question = plan.draft.question
    digest = hashlib.sha256(meaning(question).encode()).hexdigest()
    memo = {"question": digest, "text": spelt(question)[:_LONGEST_MEMO]}
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


def recalled(table: Table, stored: bytes, receipt: str, *, analyst: str | None) -> Answer:
    """A stored answer without its question at hand: the one that was charged, if the public facts still stand."""
    answer = compose.recalled(stored, partial(draft, table), schema=table.schema.hash)
    return _handed(answer, table, receipt, analyst, replayed=True)


def _handed(answer: Answer, table: Table, receipt: str, analyst: str | None, *, replayed: bool) -> Answer:
    return replace(answer, receipt=receipt, replayed=replayed, remaining=table.remaining(analyst))
