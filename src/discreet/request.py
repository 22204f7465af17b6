"""What a room asks of a table, and how its keys and orders are made; `Run` makes the orders of its steps."""

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

_OWN = {"epsilon", "delta", "schema", "analyst", "snapshot", "attempt"}  # facts that every key has


@dataclass(frozen=True)
class Request:
    """Facts that name what is wanted, the terms it may take, who asks, and the part of the table that it counts in.

    `facts` are JSON and hold all that an equal answer must share, apart from what is named here.  The level of the
    terms is no such fact: it decides how what was released is shown.  `memo` is for people.
    """

    facts: Mapping[str, Any]
    terms: Terms
    analyst: str | None = None
    path: accounts.Path = ()
    memo: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        taken = sorted(_OWN & set(self.facts))
        if taken:
            rule = f"must have other names than {', '.join(sorted(_OWN))}"
            raise bad("facts", rule, ", ".join(taken), "Rename them: the key holds what is called so already.")

    def key(self, what: str, schema: Schema, budget: Budget, **more: str) -> str:
        """A hash of what is wanted, for how much, of which public facts and by whom; nothing of how it is done.

        A δ that nobody typed is the table's default and not in it, so that another default asks for the same thing.
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
        given = {name: fact for name, fact in facts.items() if fact is not None}
        return hashlib.sha256(f"discreet {what} {canonical_json(given)}".encode()).hexdigest()

    def order(self, key: str, snapshot: str, run: str = "") -> ChargeRequest:
        """Who pays for what under that key, on that state of the rows; `run` names the request of a run."""
        memo, terms = dict(self.memo), self.terms
        return ChargeRequest(key, self.path, memo, self.analyst, terms.epsilon, terms.delta, snapshot, run)
