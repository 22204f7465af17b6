"""Request: what a room asks of a table, its replay key, and the charge it asks for."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import bad
from discreet.ledger import account as accounts
from discreet.ledger.payer import ChargeRequest
from discreet.query.canonical import canonical_json
from discreet.schema import Budget, Schema
from discreet.terms import Terms

_OWN = {"epsilon", "delta", "schema", "analyst", "snapshot", "attempt", "rows_ledger"}  # facts that every key has


@dataclass(frozen=True)
class Request:
    """The facts of a measurement, the terms it may take, who asks, and the part of the table that it counts in.

    `facts` are JSON.  Two requests with equal facts, ε, δ, analyst and snapshot share one stored answer.  The level of
    the terms is not compared: it decides only how the stored numbers are shown.  `memo` is text for people.
    """

    facts: Mapping[str, Any]
    terms: Terms
    analyst: str | None = None
    path: accounts.Path = ()
    memo: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reserved = sorted(_OWN & set(self.facts))
        if reserved:
            rule = f"must have other names than {', '.join(sorted(_OWN))}"
            raise bad("facts", rule, ", ".join(reserved), "Rename them: the key holds what is called so already.")

    def key(self, prefix: str, schema: Schema, budget: Budget, **more: str) -> str:
        """A hash of the facts, the price, the schema and the analyst; the plan is not in it.

        A δ that nobody typed is the table's default and is left out, so that another default gives the same key.
        """
        typed = self.terms.typed_delta
        facts = {
            **self.facts,
            "epsilon": str(self.terms.epsilon),
            "delta": None if typed is None else str(typed),
            "schema": schema.hash,
            "analyst": None if budget.share_answers else self.analyst,
            **more,
        }
        present = {name: fact for name, fact in facts.items() if fact is not None}
        return hashlib.sha256(f"discreet {prefix} {canonical_json(present)}".encode()).hexdigest()

    def charge(self, key: str, snapshot: str, run: str = "") -> ChargeRequest:
        """The charge to ask for under that key, on that state of the rows; `run` is the key of a run."""
        memo, terms = dict(self.memo), self.terms
        return ChargeRequest(key, self.path, memo, self.analyst, terms.epsilon, terms.delta, snapshot, run)
