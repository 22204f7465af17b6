"""A purse: a cost set aside once for an adaptive algorithm, whose charges must fit inside (inside.py says when)."""

from typing import TYPE_CHECKING, Any

from discreet.privacy.cost import Cost

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Receipt


class Purse:
    """A sub-ledger: its charges are durable entries of their own and cost nothing more, as long as they fit."""

    def __init__(self, ledger: "Ledger", receipt: "Receipt") -> None:
        self._ledger, self.receipt = ledger, receipt

    def charge(
        self, path: Any, cost: Cost, memo: Any, key: str, *, epsilon: Any = None, delta: Any = None
    ) -> "Receipt":
        """A reservation inside the purse, or BudgetExceeded; keys are the ledger's, so name the run in them."""
        return self._ledger.charge_part(self.receipt, path, cost, memo, key, epsilon=epsilon, delta=delta)

    def commit(self, receipt: "Receipt", answer: bytes) -> None:
        """As `Ledger.commit`."""
        self._ledger.commit(receipt, answer)

    def fail(self, receipt: "Receipt") -> None:
        """As `Ledger.fail`."""
        self._ledger.fail(receipt)

    def stored(self, key: str) -> bytes | None:
        """As `Ledger.stored`."""
        return self._ledger.stored(key)
