"""Table: schema, engine and ledger of one dataset; what the rooms take.

people.toml       public facts            people.ledger     what was spent
people.prepared   typed, capped rows      people.key        the key of hashes and snapshots
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import exact
from discreet.answer.answer import Answer
from discreet.answer.compose import answered
from discreet.answer.quote import Quote, quoted
from discreet.bounded import Bounded
from discreet.engine import Engine, Limits
from discreet.errors import MetadataError, SourceUnavailable, bad
from discreet.gate import Order, disclose
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger.head import default_place
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusal import down
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.standing import Standing
from discreet.metadata import Metadata
from discreet.privacy.cost import Cost
from discreet.query.bound import Draft, bound
from discreet.query.compile.exacts import Exacts, gathered
from discreet.query.compile.statements import statements
from discreet.query.explain import unit
from discreet.query.joint import Released
from discreet.query.nodes import Question, canonical
from discreet.query.plan import Plan, plan
from discreet.query.readable import spelt
from discreet.query.target import least_epsilon
from discreet.schema import Budget, Schema
from discreet.schema.words import suggestion

DELTA_SHARE = 100  # a question takes a hundredth of the budget's δ unless another is typed
_LONGEST_MEMO = 40_000
Progress = Callable[[str, float], None]


class Table:
    """One private table behind its gate.  Nothing is opened before it is needed."""

    def __init__(self, metadata: Metadata, toml: Path, *, frame: Any = None, limits: Limits | None = None) -> None:
        self.metadata, self.toml = metadata, toml
        self._frame, self._limits = frame, limits or metadata.limits or Limits()
        self._engine: Engine | None = None
        self._ledger: Ledger | None = None

    @property
    def schema(self) -> Schema:
        """The public facts."""
        return self.metadata.schema

    @property
    def budget(self) -> Budget:
        """What the metadata allows; without one nothing is answered."""
        if self.metadata.budget is None:
            what, why = f"{self.toml.name} has no [budget].", "Without one there is no limit to what could be learnt."
            raise MetadataError(what, why, "Add to it:\n[budget]\nepsilon = 3")
        return self.metadata.budget

    @property
    def ledger_path(self) -> Path:
        """Where the ledger lies: beside the metadata."""
        return self.toml.with_suffix(".ledger")

    @property
    def engine(self) -> Engine:
        """The engine on the prepared table; the worker starts with the first question."""
        if self._engine is None:
            source = self._frame if self._frame is not None else self._source()
            folder, name = self.toml.parent, self.toml.stem
            self._engine = Engine(folder, name, self.schema, source, self._limits)
        return self._engine

    def _source(self) -> Path:
        path = self.metadata.source_path
        if path is None:
            fix = f'In {self.toml.name} under [dataset] write: source = "{self.schema.name}.csv"'
            raise SourceUnavailable("No table is named.", "The metadata has no source, and no table was given.", fix)
        return path

    @property
    def opening(self) -> Opening:
        """What the ledger is bound to."""
        budget = self.budget
        rules = Rules(
            filters.budget(budget.epsilon, budget.delta, ceiling=budget.max_delta),
            budget.max_epsilon_per_question,
            budget.max_delta,
            budget.analysts,
        )
        return Opening(self.schema.name, unit(self.schema), self.schema.relation, rules)

    @property
    def ledger(self) -> Ledger:
        """The ledger, made at the first charge."""
        if self._ledger is None:
            fixed = [column.name for column in self.schema.columns if column.fixed_per_unit]
            self._ledger = Ledger.kept(self.ledger_path, self.opening, fixed=fixed)
        return self._ledger

    def standing(self) -> Standing | None:
        """Where the ledger stands; None before the first charge, when all is left."""
        place = self.ledger_path.parent.resolve() / self.ledger_path.name
        there = self._ledger is not None or place.exists() or default_place(place).exists()  # a lost one is missed
        return self.ledger.standing() if there else None

    def remaining(self, analyst: str | None = None) -> dict[str, str]:
        """The largest single pure ε that would still be accepted, and the δ left for questions and for keys."""
        standing = self.standing()
        if standing is None:
            cap = None if analyst is None else self.budget.cap(analyst)
            least = min(x for x in (self.budget.epsilon, cap, self.budget.max_epsilon_per_question) if x is not None)
            whole = self.opening.rules.budget
            left_delta = sum(filters.remaining_delta(whole, accounts.opened(len(whole.orders))), Fraction(0))
            return {"epsilon": exact.shown(least), "delta": down(left_delta)}
        left = self.ledger.remaining((), analyst=analyst)
        delta = standing.remaining_delta + standing.remaining_keys
        return {"epsilon": down(left), "delta": down(delta)}

    # --- asking --------------------------------------------------------------------------------------------------

    def draft(self, question: Question) -> Draft:
        """The question, bounded."""
        return bound(question, self.schema)

    def plan(
        self, draft: Draft, *, epsilon: Any = None, error: Any = None, delta: Any = None, level: Any = None
    ) -> Plan:
        """The question at a price: a typed ε, or the least ε that reaches the wanted ±."""
        near = exact.inner_probability(Fraction(95, 100) if level is None else level, "level")
        small = self.delta(delta)
        if (epsilon is None) == (error is None):
            fix = "Give one of them: epsilon=1, or error={'n': 15}."
            raise bad("epsilon", "or error must be given, and not both", epsilon, fix)
        if epsilon is None:
            epsilon = least_epsilon(draft, _errors(error), delta=small, level=near)
        return plan(draft, epsilon=epsilon, delta=small, level=near)

    def delta(self, typed: Any = None) -> Fraction:
        """A question's δ: as typed, or a hundredth of the budget's."""
        if typed is None:
            return self.budget.delta / DELTA_SHARE
        found = exact.delta(typed, ceiling=self.budget.max_delta)
        if found and not self.budget.delta:
            fix = "Leave it out, or set a budget with a delta: discreet budget set … --delta 1e-7 --why …"
            raise bad("delta", "must be 0 under a budget without a delta", typed, fix)
        return found

    def prepare(self, progress: Progress | None = None) -> str:
        """The snapshot, prepared if it is not yet."""
        return self.engine.prepare(progress).snapshot

    def ask(self, made: Plan, *, analyst: str | None = None, progress: Progress | None = None) -> Answer:
        """Charge, compute, add noise, store, hand out; or the stored answer again, for nothing."""
        self.require_own(made.draft.schema)
        self.require_known(analyst)
        order = self.order(made, analyst, self.prepare(progress))
        shared = self.shared(order.key)
        if shared is not None:
            return self.handed(*shared, replayed=True, analyst=analyst)

        draft, parts = made.draft, [one.part for one in made.measured]
        asked = statements(
            draft.schema, draft.cells, draft.question.where, draft.caps, parts
        )  # refused before a charge

        def compute() -> Exacts:
            return gathered(asked, self.engine.run([one.sql for one in asked], order.snapshot), draft.cells)

        def finish(released: Released) -> bytes:
            return answered(made, released).to_bytes()

        bounded = Bounded(compute, made.joint.sensitivity)
        found = disclose(self.ledger, order, made.joint, bounded, finish=finish)
        return self.handed(found.stored, found.receipt.name, replayed=found.replayed, analyst=analyst)

    def require_own(self, schema: Schema) -> None:
        """Refuses a plan that was made for other public facts: its caps and noise are not those of this table."""
        if schema != self.schema:
            raise bad("plan", "must be made for this table", schema.name, "Plan anew with the dataset that is asked.")

    def require_known(self, analyst: str | None) -> None:
        """Refuses what looks like a misspelt analyst: under no cap, the name would spend the whole budget."""
        listed = [name for name, _ in self.budget.analysts]
        meant = suggestion(analyst, listed) if analyst is not None and analyst not in listed else None
        if meant is not None:
            new = f"discreet budget set … --analyst {analyst}=1 --why …"
            fix = f"Did you mean {meant!r}? For someone new, set a cap: {new}"
            raise bad("analyst", "must be spelt as under [budget.analysts]", analyst, fix)

    def shared(self, key: str) -> tuple[bytes, str] | None:
        """An answer that the curator shares among analysts, and its receipt."""
        if not self.budget.share_answers or self.standing() is None:
            return None
        stored, receipt = self.ledger.stored(key), self.ledger.receipt(key)
        return None if stored is None or receipt is None else (stored, receipt.name)

    def handed(self, stored: bytes, receipt: str, *, replayed: bool, analyst: str | None) -> Answer:
        """A stored answer as its reader gets it."""
        answer = Answer.from_bytes(stored)
        return replace(answer, receipt=receipt, replayed=replayed, remaining=self.remaining(analyst))

    def order(self, made: Plan, analyst: str | None, snapshot: str) -> Order:
        """Who pays for what; the key names all that an equal answer must share."""
        asked = canonical(made.draft.question)
        digest = hashlib.sha256(asked.encode()).hexdigest()
        facts = {
            "analyst": None if self.budget.share_answers else analyst,
            "question": digest,
            "epsilon": str(made.epsilon),
            "delta": str(made.delta),
            "level": str(made.level),
            "relation": str(self.schema.relation),
            "schema": self.schema.hash,
            "snapshot": snapshot,
        }
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        memo = {"question": digest, "text": spelt(made.draft.question)[:_LONGEST_MEMO]}
        return Order(made.draft.path, memo, key, analyst, made.epsilon, made.delta, snapshot)

    def quote(self, made: Plan, *, analyst: str | None = None, at_size: int | None = None) -> Quote:
        """Cost, ± and what would remain: nothing is spent and no row is read."""
        after = self.remaining_after(
            made.cost, epsilon=made.epsilon, delta=made.delta, analyst=analyst, path=made.draft.path
        )
        return quoted(made, remaining=self.remaining(analyst), remaining_after=after, at_size=at_size)

    def remaining_after(
        self, cost: Cost, *, epsilon: Fraction, delta: Fraction, analyst: str | None, path: accounts.Path = ()
    ) -> dict[str, str]:
        """What `remaining` would say after such a charge, whether or not it fits."""
        if self.standing() is None:
            cap = None if analyst is None else self.budget.cap(analyst)
            rest = min(x for x in (self.budget.epsilon, cap) if x is not None) - epsilon
            after = max(min(rest, self.budget.max_epsilon_per_question or rest), Fraction(0))
        else:
            after = self.ledger.remaining_after(path, cost, epsilon=epsilon, delta=delta, analyst=analyst)
        small = max(Fraction(self.remaining(analyst)["delta"]) - delta, Fraction(0))
        return {"epsilon": down(after), "delta": down(small)}

    def close(self) -> None:
        """Stop the worker and let go of the ledger."""
        for part in (self._engine, self._ledger):
            if part is not None:
                part.close()
        self._engine = self._ledger = None


def _errors(error: Any) -> dict[str, Any]:
    return dict(error) if isinstance(error, dict) else {"": error}
