"""The request of one charge, and the protocol of payers that accept it."""

from dataclasses import dataclass
from typing import Any, Protocol

from discreet.ledger.standing import Receipt
from discreet.privacy.cost import Cost


@dataclass(frozen=True)
class ChargeRequest:
    """One charge: its replay key, where in the splits it counts, public words, who asks, the typed (ε, δ), which rows.

    Without a typed ε the cost's own is taken, where it has one.  `request` names what a run is to do, and not on which
    rows, so that an interrupted run is found again after its source has changed.
    """

    key: str
    path: Any = ()
    memo: Any = ""
    analyst: str | None = None
    epsilon: Any = None
    delta: Any = None
    snapshot: str = ""
    request: str = ""


class Payer(Protocol):
    """What the gate charges: a ledger, a purse of one, or `Unbooked`, which is charged nowhere and says so."""

    def charge(self, request: ChargeRequest, cost: Cost) -> Receipt:
        """A durable reservation, or a refusal that spends nothing."""

    def commit(self, receipt: Receipt, answer: bytes) -> None:
        """Store what was released; only then may it be handed out."""

    def fail(self, receipt: Receipt) -> None:
        """Record that an attempt gave nothing; the charge stays."""

    def stored(self, key: str) -> bytes | None:
        """The bytes once stored under a key, None where there are none."""
