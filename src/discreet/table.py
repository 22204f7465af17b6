"""Table: schema, engine and ledger of one dataset; what the rooms take.

people.toml             public facts          people.ledger     what was spent
people.*.prepared       typed, capped rows    people.key        the key of hashes and snapshots
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from discreet import exact
from discreet.answer.answer import Answer
from discreet.answer.compose import recalled, shown
from discreet.answer.quote import Quote, quoted
from discreet.answer.stored import packed
from discreet.bounded import Bounded
from discreet.engine import Engine, Limits
from discreet.errors import MetadataError, SourceUnavailable, bad
from discreet.gate import Order, disclose, handed_out
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger import second
from discreet.ledger.head import default_place
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusal import down
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.standing import Standing
from discreet.metadata import Metadata
from discreet.privacy.cost import Cost
from discreet.query.bound import Draft, bound
from discreet.query.canonical import canonical, meaning
from discreet.query.canonical import spelt as spelt_json
from discreet.query.compile.exacts import Exacts, gathered
from discreet.query.compile.statements import statements
from discreet.query.explain import unit
from discreet.query.first_form import first_digest, first_key
from discreet.query.nodes import Question
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

    def __init__(
        self,
        metadata: Metadata,
        toml: Path,
        *,
        frame: Any = None,
        limits: Limits | None = None,
        second_ledger: str | None = None,
    ) -> None:
        self.metadata, self.toml = metadata, toml
        self._second, self._entered = second_ledger, dict[str, str]()
        self._frame, self._limits = frame, limits or metadata.limits or Limits()
        self._engine: Engine | None = None
        self._ledger: Ledger | None = None
        self._drafts: dict[str, Draft] = {}

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
        """The question, bounded by this table's own public facts."""
        asked = canonical(question)  # not the value: 1 and True are equal in Python and two constants here
        if asked not in self._drafts:
            draft = bound(question, self.schema)
            self._drafts = {asked: draft, canonical(draft.question): draft}  # the last one: planned, quoted and asked
        return self._drafts[asked]

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
        planned = plan(draft, epsilon=epsilon, delta=small, level=near)
        return planned if delta is None else replace(planned, typed_delta=small)

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

    def charged_snapshot(self, progress: Progress | None = None) -> str:
        """The snapshot that will be charged for; refused where another ledger stands over the same rows."""
        prepared, identity = self.engine.prepare(progress), self.engine.identity()
        if identity != self._entered:
            second.enter(self.ledger_path, identity, lambda: self.ledger, self.schema.name, why=self._second)
            self._entered = identity
        if prepared.carried and not set(prepared.carried) <= set(self.ledger.carried(prepared.snapshot)):
            self.ledger.carry(prepared.snapshot, prepared.carried)
        return prepared.snapshot

    def ask(self, made: Plan, *, analyst: str | None = None, progress: Progress | None = None) -> Answer:
        """Charge, compute, add noise, store, hand out; or the stored answer again, for nothing."""
        self.require_own(made.draft.schema)
        self.require_known(analyst)
        draft = self.draft(made.draft.question)  # from this table's facts: the gate compares the plan's noise with it
        made = replace(made, draft=draft)
        order = self.order(made, analyst, self.charged_snapshot(progress))
        known = self.shared(order.key) or self.first_stored(made, order)
        if known is not None:
            return self.handed(*known, made, replayed=True, analyst=analyst)

        parts = [need.part for need in draft.needs]
        asked = statements(
            draft.schema, draft.cells, draft.question.where, draft.caps, parts
        )  # refused before a charge

        def compute() -> Exacts:
            return gathered(asked, self.engine.run([one.sql for one in asked], order.snapshot), draft.cells)

        bounded = Bounded(compute, draft.sensitivity)
        disclosed = disclose(self.ledger, order, made.joint, bounded, pack=partial(packed, made))
        return self.handed(disclosed.stored, disclosed.receipt.name, made, replayed=disclosed.replayed, analyst=analyst)

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
        return self.stored(key) if self.budget.share_answers else None

    def stored(self, key: str) -> tuple[bytes, str] | None:
        """What is stored under a key, and its receipt."""
        if self.standing() is None:
            return None
        stored, receipt = self.ledger.stored(key), self.ledger.receipt(key)
        return None if stored is None or receipt is None else (handed_out(stored), receipt.name)

    def first_stored(self, made: Plan, order: Order) -> tuple[bytes, str] | None:
        """An answer that was stored under the key of the first ledgers, and its receipt."""
        facts = {
            "analyst": None if self.budget.share_answers else order.analyst,
            "question": first_digest(made.draft.question),
            "epsilon": str(made.epsilon),
            "delta": str(made.delta),
            "level": str(made.level),
            "relation": str(self.schema.relation),
            "schema": self.schema.hash,
        }
        return self.first_of(lambda snapshot: first_key(facts | {"snapshot": snapshot}), order.snapshot)

    def first_of(self, key: Callable[[str], str], snapshot: str) -> tuple[bytes, str] | None:
        """What is stored under the key of one of the ids that the first versions gave this content."""
        older = () if self.standing() is None else self.ledger.carried(snapshot)
        return next((known for name in older if (known := self.stored(key(name))) is not None), None)

    def recalled(self, stored: bytes, receipt: str, *, analyst: str | None) -> Answer:
        """A stored answer without its question at hand: the one that was charged, if the public facts still stand."""
        answer = recalled(stored, self.draft, schema=self.schema.hash)
        return replace(answer, receipt=receipt, replayed=True, remaining=self.remaining(analyst))

    def handed(self, stored: bytes, receipt: str, made: Plan, *, replayed: bool, analyst: str | None) -> Answer:
        """A stored answer as its reader gets it: estimated, worded and sorted today, from the numbers released then."""
        answer = shown(stored, made.draft, made.level)
        return replace(answer, receipt=receipt, replayed=replayed, remaining=self.remaining(analyst))

    def order(self, made: Plan, analyst: str | None, snapshot: str) -> Order:
        """Who pays for what; the key names all that an equal answer must share."""
        digest = hashlib.sha256(meaning(made.draft.question).encode()).hexdigest()
        key = self.key({"question": digest}, made.epsilon, made.typed_delta, analyst=analyst, snapshot=snapshot)
        memo = {"question": digest, "text": spelt(made.draft.question)[:_LONGEST_MEMO]}
        return Order(made.draft.path, memo, key, analyst, made.epsilon, made.delta, snapshot)

    def key(
        self,
        wanted: Mapping[str, Any],
        epsilon: Fraction,
        delta: Fraction | None,
        *,
        analyst: str | None,
        snapshot: str,
    ) -> str:
        """The replay key: what is wanted, for how much, of which rows and by whom; nothing of how it is done.

        What was not typed is left out, δ too: a better planner or another default asks for the same thing.
        """
        facts = {
            **wanted,
            "epsilon": str(epsilon),
            "delta": None if delta is None else str(delta),
            "schema": self.schema.hash,
            "snapshot": snapshot,
            "analyst": None if self.budget.share_answers else analyst,
        }
        given = {name: fact for name, fact in facts.items() if fact is not None}
        return hashlib.sha256(f"discreet key 2 {spelt_json(given)}".encode()).hexdigest()

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
