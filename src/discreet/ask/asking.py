"""Asking: a question about a table, from its draft to its answer, by the contract of rooms alone.

draft   the parts to measure, and how far one unit moves them     terms   ε, δ and the level of the ±
plan    shares of ε, mechanisms and cost                          quote   price and ± beforehand
ask     charge, compute, add noise, store, hand out
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from discreet import amounts
from discreet.answer import compose
from discreet.answer.answer import Answer
from discreet.answer.quote import Quote, quote_of
from discreet.answer.stored import to_bytes
from discreet.ask.keys import older_key, request_of
from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.query import explain
from discreet.query.bound import Draft, draft_of
from discreet.query.form.frame import Frame
from discreet.query.nodes import Question
from discreet.query.plan import Plan, plan_of
from discreet.query.sql import NO_OPTIONS, Options
from discreet.query.target import least_epsilon
from discreet.table import Table
from discreet.terms import Terms

Error = Mapping[str, Any] | float | None  # the ± to reach, of each column or of the only one


@dataclass(frozen=True)
class Asking:
    """A question about a dataset that is not asked yet: see price and error first, then `ask`."""

    table: Table
    form: Question | Frame
    options: Options = NO_OPTIONS

    @cached_property
    def draft(self) -> Draft:
        """The question bounded by the table's public facts; refused where it cannot be answered privately."""
        return draft_of(self.form.question if isinstance(self.form, Frame) else self.form, self.table.schema)

    def terms(self, *, epsilon: Any = None, error: Error = None, delta: Any = None, level: Any = None) -> Terms:
        """The terms as given here, else as the SQL text says, else by default; an error gives the least ε for it."""
        if epsilon is None and error is None:
            epsilon = self.options.epsilon
        if (epsilon is None) == (error is None):
            fix = "Give one of them: epsilon=1, or error={'n': 15}."
            raise bad("epsilon", "or error must be given, and not both", epsilon, fix)
        delta = self.options.delta if delta is None else delta
        if error is None:
            return self.table.terms(epsilon, delta, level)
        largest = self.table.terms(amounts.MAX_EPSILON, delta, level)
        widths = dict(error) if isinstance(error, dict) else {"": error}
        return replace(largest, epsilon=least_epsilon(self.draft, widths, largest))

    def plan(self, *, epsilon: Any = None, error: Error = None, delta: Any = None, level: Any = None) -> Plan:
        """How the question would be answered at that price.  It costs nothing and reads no row."""
        return plan_of(self.draft, self.terms(epsilon=epsilon, error=error, delta=delta, level=level))

    def quote(
        self,
        *,
        epsilon: Any = None,
        error: Error = None,
        delta: Any = None,
        level: Any = None,
        at_size: int | None = None,
        analyst: str | None = None,
    ) -> Quote:
        """Cost, ± and what would remain of the budget.  It costs nothing and reads no row."""
        plan = self.plan(epsilon=epsilon, error=error, delta=delta, level=level)
        remaining = self.table.remaining(analyst)
        after = self.table.remaining_after(plan.cost, plan.terms, analyst=analyst, path=plan.draft.path)
        return self.table.stamped(quote_of(plan, remaining=remaining, remaining_after=after, at_size=at_size))

    def ask(
        self,
        *,
        epsilon: Any = None,
        error: Error = None,
        delta: Any = None,
        level: Any = None,
        analyst: str | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Charge, compute, add noise, store, hand out; the same question again gives the same answer for nothing."""
        self.table.require_analyst(analyst)
        plan = self.plan(epsilon=epsilon, error=error, delta=delta, level=level)  # mechanisms and cost
        with closing(self.table.view(progress)) as view:  # one state of the rows
            bounded = view.tally(plan.draft.tally)  # refused here, before the charge; read after it
            disclosed = self.table.disclose(
                request_of(plan, analyst),  # who pays, and the facts of the replay key
                view,
                plan.joint,
                bounded,
                pack=partial(to_bytes, plan),
                older_key=partial(older_key, self.table, plan, analyst),
            )
        answer = compose.answer_to(
            disclosed.stored, plan.draft, plan.terms.level
        )  # estimates and ± of the stored bytes
        return with_receipt(answer, self.table, disclosed.receipt.name, analyst, replayed=disclosed.replayed)

    def explain(self, *, epsilon: Any = 1, delta: Any = None, level: Any = None) -> str:
        """How the question would be answered, in words: caps, sensitivity, mechanism, scale, split."""
        return "\n".join(explain.words(self.plan(epsilon=epsilon, delta=delta, level=level)))

    def __repr__(self) -> str:
        return f"<question about {self.table.schema.name}: .quote(epsilon=1) costs nothing, .ask(epsilon=1) answers>"


def stored_answer(table: Table, stored: bytes, receipt: str, *, analyst: str | None) -> Answer:
    """The answer that a charge stored, without its question at hand; bounded anew if the public facts still stand."""
    answer = compose.recalled_answer(
        stored, lambda question: draft_of(question, table.schema), schema=table.schema.hash
    )
    return with_receipt(answer, table, receipt, analyst, replayed=True)


def with_receipt(answer: Answer, table: Table, receipt: str, analyst: str | None, *, replayed: bool) -> Answer:
    """The answer with its receipt and what remains of the budget."""
    answer = replace(answer, receipt=receipt, replayed=replayed, remaining=table.remaining(analyst))
    return table.stamped(answer)
