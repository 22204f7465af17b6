"""A payer without a ledger: nothing is durable, no budget refuses, and every receipt says so.

For rows that nobody protects through this machine's ledgers, such as arrays handed to an estimator.  Whoever uses it
keeps account of the cost.
"""

import threading

from discreet.errors import Conflict, bad
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.standing import Receipt
from discreet.privacy.cost import Cost, Together, require_cost

NOWHERE = "charged nowhere"


class Unbooked:
    """What was charged and released, in memory.

    >>> from discreet.privacy.cost import Pure
    >>> payer = Unbooked()
    >>> receipt = payer.charge(ChargeRequest("k"), Pure(1))
    >>> payer.commit(receipt, b"42")
    >>> receipt.name, payer.stored("k"), payer.charge(ChargeRequest("k"), Pure(1)).stored
    ('charged nowhere', b'42', True)
    """

    def __init__(self) -> None:
        self._charged: list[tuple[str, Cost]] = []
        self._answers: dict[str, bytes] = {}
        self._lock = threading.Lock()

    @property
    def cost(self) -> Cost:
        """All that was charged so far; a failed attempt stays charged."""
        return Together(tuple(cost for _, cost in self._charged))

    def charge(self, request: ChargeRequest, cost: Cost) -> Receipt:
        """As `Payer.charge`; never refused for its price."""
        with self._lock:
            number = next((n for n, (key, _) in enumerate(self._charged, 1) if key == request.key), 0)
            if number and request.key in self._answers:
                return Receipt(number, NOWHERE, request.key, 1, stored=True)
            self._charged.append((request.key, require_cost(cost)))
            return Receipt(len(self._charged), NOWHERE, request.key, 1, stored=False)

    @property
    def receipt(self) -> Receipt:
        """What a run shows in place of a purse's receipt."""
        return Receipt(0, NOWHERE, "", 1, stored=False)

    def end(self, how: str, why: str = "") -> None:
        """As `Purse.end`: there is nothing to close."""

    def commit(self, receipt: Receipt, answer: bytes) -> None:
        """As `Payer.commit`."""
        with self._lock:
            if not 1 <= receipt.number <= len(self._charged) or self._charged[receipt.number - 1][0] != receipt.key:
                raise bad("receipt", "must come from this payer", receipt.number, "Use what charge returned.")
            if self._answers.setdefault(receipt.key, answer) != answer:
                what, why = "There is an answer already.", "One charge has one answer."
                raise Conflict(what, why, "Hand out the stored one.")

    def fail(self, receipt: Receipt) -> None:
        """As `Payer.fail`: the charge stays, and a retry is charged anew."""

    def stored(self, key: str) -> bytes | None:
        """As `Payer.stored`."""
        return self._answers.get(key)
