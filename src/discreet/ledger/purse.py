"""A purse: a cost set aside once for an adaptive algorithm, whose charges must fit inside (inside.py says when)."""

from typing import TYPE_CHECKING

from discreet.ledger.payer import ChargeRequest
from discreet.privacy.cost import Cost

if TYPE_CHECKING:
    from discreet.ledger.books import OpenRun
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Receipt


class Purse:
    """A payer inside a ledger: its charges are durable entries and cost nothing more, as long as they fit."""

    def __init__(self, ledger: "Ledger", receipt: "Receipt", run: "OpenRun | None" = None) -> None:
        self._ledger, self.receipt, self.run = ledger, receipt, run

    def charge(self, request: ChargeRequest, cost: Cost) -> "Receipt":
        """A reservation inside the purse, or BudgetExceeded; keys are the ledger's, so name the run in them."""
        return self._ledger.charge_part(self.receipt, request, cost)

    def commit(self, receipt: "Receipt", answer: bytes) -> None:
        """As `Ledger.commit`."""
        self._ledger.commit(receipt, answer)

    def fail(self, receipt: "Receipt") -> None:
        """As `Ledger.fail`."""
        self._ledger.fail(receipt)

    def stored(self, key: str) -> bytes | None:
        """As `Ledger.stored`."""
        return self._ledger.stored(key)

    @property
    def is_open(self) -> bool:
        """Whether something may still be taken."""
        return self._ledger.is_open(self.receipt)

    def end(self, how: str, why: str = "") -> None:
        """As `Ledger.end`."""
        self._ledger.end(self.receipt, how, why)
