"""The gate: the only place where private becomes public, always in one order.

    charge (durable) → compute → add noise → store (durable) → hand out what was stored

A refusal before the charge costs nothing and has read nothing.  After it, whatever fails, the charge stays, the failure
is recorded and counted, and the reply is one and the same: what went wrong may depend on rows.  The same key gives the
same bytes again, for nothing.  Proof pages: docs/proofs/ledger.md, docs/proofs/query.md.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from discreet.bounded import Bounded
from discreet.errors import IntegrityError, bad, engine_failed
from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import Receipt
from discreet.mechanism.promise import Mechanism
from discreet.noise.source import SYSTEM, Source

Exact = TypeVar("Exact")


@dataclass(frozen=True)
class Order:
    """Who pays for what: where in the splits, the public words, the replay key, the typed (ε, δ) and the snapshot."""

    path: tuple[tuple[str, str], ...]
    memo: Any
    key: str
    analyst: str | None
    epsilon: Fraction
    delta: Fraction
    snapshot: str


@dataclass(frozen=True)
class Disclosed:
    """What was stored and may be seen; `replayed` if it was there already."""

    stored: bytes
    receipt: Receipt
    replayed: bool


def disclose(
    ledger: Ledger,
    order: Order,
    mechanism: Mechanism,
    bounded: Bounded[Exact],
    *,
    finish: Callable[[Any], bytes],
    source: Source = SYSTEM,
) -> Disclosed:
    """The noisy answer as bytes; `finish` turns what the mechanism released into them and sees nothing else."""
    if not mechanism.sensitivity.covers(bounded.sensitivity):
        raise bad("mechanism", "must cover the sensitivity of what it is given", type(mechanism).__name__, "Plan anew.")
    receipt = ledger.charge(
        order.path,
        mechanism.cost,
        order.memo,
        order.key,
        analyst=order.analyst,
        epsilon=order.epsilon,
        delta=order.delta,
        snapshot=order.snapshot,
    )
    if not receipt.stored:
        _answer(ledger, receipt, lambda: finish(mechanism(bounded.compute(), source)))
    stored = ledger.stored(order.key)
    if stored is None:
        raise IntegrityError("An answer that was stored is gone.", "The ledger was changed meanwhile.", "Verify it.")
    return Disclosed(stored, receipt, receipt.stored)


def _answer(ledger: Ledger, receipt: Receipt, answer: Callable[[], bytes]) -> None:
    """The answer stored, or the failure counted.

    What went wrong on private values may depend on them, so it is one fixed reply with nothing of the cause attached.
    """
    made: bytes | None = None
    try:
        with contextlib.suppress(Exception):
            made = answer()
        if made is not None:
            ledger.commit(receipt, made)
            return
    except BaseException:  # an interrupt too: when it comes is the caller's choice, so it must not be free
        ledger.fail(receipt)
        raise
    ledger.fail(receipt)
    raise engine_failed()
