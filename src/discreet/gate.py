"""The gate: the only place where private becomes public, always in one order.

    charge (durable) → compute → add noise → store (durable) → hand out what was stored

A refusal before the charge costs nothing and has read nothing.  After it the charge stays, whatever happens:

    rows could not be read       the failure is counted, and one more attempt is allowed; no noise was drawn
    noise was drawn, then broke  a fixed record of failure is stored, and every retry gets that record: no second draw
    could not be stored          counted like the first; one more attempt, and so one more draw
    killed or interrupted        counted like the first: whatever was drawn, nobody has seen any of it

The reply to a failure is one and the same, for what went wrong may depend on rows.  The same key gives the same bytes
again, for nothing.  Proof pages: docs/proofs/ledger.md, docs/proofs/query.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.bounded import Bounded
from discreet.envelope import FAILED
from discreet.errors import IntegrityError, bad, engine_failed
from discreet.ledger.ledger import LONGEST_ANSWER
from discreet.ledger.payer import ChargeRequest, Payer
from discreet.ledger.standing import Receipt
from discreet.mechanism.promise import Mechanism
from discreet.noise.source import SYSTEM, Source

Exact = TypeVar("Exact")


@dataclass(frozen=True)
class Disclosed:
    """What was stored and may be seen; `replayed` if it was there already."""

    stored: bytes
    receipt: Receipt
    replayed: bool


def disclose(
    payer: Payer,
    request: ChargeRequest,
    mechanism: Mechanism,
    bounded: Bounded[Exact],
    *,
    pack: Callable[[Any], bytes],
    source: Source = SYSTEM,
) -> Disclosed:
    """The noisy answer as bytes; `pack` turns what the mechanism released into them and sees nothing else."""
    if not mechanism.sensitivity.covers(bounded.sensitivity):
        raise bad("mechanism", "must cover the sensitivity of what it is given", type(mechanism).__name__, "Plan anew.")
    receipt = payer.charge(request, mechanism.cost)
    if not receipt.stored:
        _answer(payer, receipt, bounded.compute, lambda exact: pack(mechanism(exact, source)))
    stored = payer.stored(request.key)
    if stored is None:
        raise IntegrityError("An answer that was stored is gone.", "The ledger was changed meanwhile.", "Verify it.")
    return Disclosed(handed_out(stored), receipt, receipt.stored)


def handed_out(stored: bytes) -> bytes:
    """The stored bytes; for a record of failure the fixed reply is raised, each time."""
    if stored == FAILED:
        raise engine_failed()
    return stored


def _answer(payer: Payer, receipt: Receipt, compute: Callable[[], Exact], release: Callable[[Exact], bytes]) -> None:
    """Store the answer, or count the failure.

    What went wrong on private values may depend on them, so nothing of the cause is attached to the reply.
    """
    try:
        is_read, exact = _attempt(compute)
        if is_read:
            is_released, answer = _attempt(lambda: _storable(release(exact)))
            payer.commit(receipt, answer if is_released else FAILED)
            return
    except BaseException:  # an interrupt too: when it comes is the caller's choice, so it must not be free
        payer.fail(receipt)
        raise
    payer.fail(receipt)
    raise engine_failed()


def _storable(answer: bytes) -> bytes:
    """The bytes if the ledger accepts them, which must be known before they are committed."""
    if not isinstance(answer, bytes) or len(answer) > LONGEST_ANSWER:
        raise ValueError
    return answer


def _attempt(action: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether the action succeeded, and its result; an interrupt is raised."""
    try:
        return True, action()
    except Exception:  # what it says may depend on rows
        return False, None
