"""A run: an adaptive algorithm that spends one purse step by step and survives being killed anywhere.

    request       identifies the run: it says what is to be done and not on which rows
    step          a charge in the purse, keyed by run and name: a stored step keeps its bytes, another is drawn again
    done          a charge that costs nothing; its bytes are the result, and the purse ends
    abandon       the purse ends without a result; what was set aside stays spent

The rows are those of the state that the run began with, however the source changed.  Training is a run of blocks of
steps: nothing of a block is shown before the block is stored.  Proof page: docs/proofs/run.md.
"""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from discreet.bounded import Bounded
from discreet.engine.protocol import View
from discreet.errors import bad
from discreet.gate import Disclosed, disclose, handed_out
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.purse import Purse
from discreet.ledger.unbooked import Unbooked
from discreet.mechanism.promise import Mechanism
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import FREE

Exact = TypeVar("Exact")
Gate = Callable[..., Disclosed]  # `disclose`, or a function of its arguments that calls it
_DONE = "done"


class Run:
    """One purse and one view of the rows.  Steps may be taken by any number of processes; each is stored once."""

    def __init__(
        self, purse: Purse | Unbooked, view: Callable[[], View], path: Any = (), gate: Gate = disclose
    ) -> None:
        self._purse, self._open, self._path, self._gate = purse, view, path, gate
        self._view: View | None = None

    @property
    def view(self) -> View:
        """The rows, opened when a step first needs them: a finished run reads none."""
        if self._view is None:
            self._view = self._open()
        return self._view

    @property
    def receipt(self) -> str:
        """The receipt of the purse."""
        return self._purse.receipt.name

    def step(
        self,
        name: str,
        mechanism: Mechanism,
        bounded: Bounded[Exact],
        *,
        pack: Callable[[Any], bytes],
        source: Source = SYSTEM,
    ) -> bytes:
        """What the step released: stored before it is seen, and the same bytes whenever the run is taken up again."""
        if name == _DONE:
            raise bad("name", "is that of the result", name, "Call the step something else.")
        return self._gate(self._purse, self._request(name), mechanism, bounded, pack=pack, source=source).stored

    def done(self, result: bytes) -> Disclosed:
        """The result, made from what steps released and public facts alone; the run is found no more, but replayed."""
        request = self._request(_DONE)
        receipt = self._purse.charge(request, FREE)
        if not receipt.stored:
            self._purse.commit(receipt, result)
        self._purse.end(_DONE)
        self.close()
        return Disclosed(handed_out(self._purse.stored(request.key) or b""), self._purse.receipt, receipt.stored)

    def result(self) -> bytes | None:
        """The result of a run that is done; None while it is under way."""
        stored = self._purse.stored(self._request(_DONE).key)
        if stored is None:
            return None
        self._purse.end(_DONE)  # whoever stored it may have died before
        return handed_out(stored)

    def abandon(self, why: str = "") -> None:
        """No further step: an equal request begins a new run with a charge of its own."""
        self._purse.end("abandoned", why)
        self.close()

    def close(self) -> None:
        """Let go of the rows; the run stays open in the ledger."""
        if self._view is not None:
            self._view.close()
            self._view = None

    def _request(self, name: str) -> ChargeRequest:
        digest = hashlib.sha256(f"discreet step {self._purse.receipt.name} {name}".encode()).hexdigest()
        return ChargeRequest(digest, self._path, memo=name)
