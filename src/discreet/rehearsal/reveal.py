"""The true cause of a failure behind the gate, for a rehearsal: its rows are invented, so a cause betrays nobody.

The gate stays as it is and hides every cause.  What is handed to it is watched: the computation, the mechanism and the
packing note what they raise.  When the gate gives its fixed reply, the noted exception is raised in its place, with its
own traceback.  Only `Rehearsal` and its runs watch, and they have no way to any rows but invented ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.bounded import Bounded
from discreet.errors import EngineFailed
from discreet.gate import Disclosed, disclose
from discreet.ledger.ledger import LONGEST_ANSWER
from discreet.ledger.payer import ChargeRequest, Payer
from discreet.mechanism.promise import Mechanism
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import Cost

Result = TypeVar("Result")
Pack = Callable[[Any], bytes]
Causes = dict[str, Exception]  # by the key of the charge: a stored failure is told again as it was


@dataclass(frozen=True)
class _Watched:
    """A mechanism that notes what it raises."""

    sensitivity: Any
    cost: Cost
    draw: Callable[[Any, Source], Any]

    def __call__(self, exact: Any, source: Source) -> Any:
        return self.draw(exact, source)


class Watch:
    """What was raised first inside what is watched."""

    def __init__(self) -> None:
        self.cause: Exception | None = None

    def over(self, action: Callable[..., Result]) -> Callable[..., Result]:
        """The action, its exception noted on the way."""

        def watched(*arguments: Any) -> Result:
            try:
                return action(*arguments)
            except Exception as error:
                self.cause = self.cause or error
                raise

        return watched

    def bounded(self, computation: Bounded[Any]) -> Bounded[Any]:
        """The same computation, watched."""
        return Bounded(self.over(computation.compute), computation.sensitivity, computation.proof)

    def mechanism(self, promise: Mechanism, bounded: Bounded[Any]) -> Mechanism:
        """The same promise, watched; one that the gate will refuse is left as it is, so that its name is told."""
        if not promise.sensitivity.covers(bounded.sensitivity):
            return promise
        return _Watched(promise.sensitivity, promise.cost, self.over(promise))

    def pack(self, packing: Pack) -> Pack:
        """The same packing, watched; what the ledger would not take is said in words."""
        return self.over(lambda released: _required_bytes(packing(released)))


def revealing(
    causes: Causes,
    payer: Payer,
    request: ChargeRequest,
    mechanism: Mechanism,
    bounded: Bounded[Any],
    *,
    pack: Pack,
    source: Source = SYSTEM,
) -> Disclosed:
    """What `gate.disclose` gives; in place of its fixed reply the exception that led to it is raised."""
    watch = Watch()
    watched, computation = watch.mechanism(mechanism, bounded), watch.bounded(bounded)
    try:
        return disclose(payer, request, watched, computation, pack=watch.pack(pack), source=source)
    except EngineFailed as fixed:
        reply = fixed
    cause = watch.cause or causes.get(request.key)
    if cause is None:
        raise reply
    causes[request.key] = cause
    raise cause  # here, where nothing is being handled: its own chain of causes stays as it was


def _required_bytes(packed: Any) -> bytes:
    if not isinstance(packed, bytes):
        raise TypeError(f"pack must give bytes, and gave {type(packed).__name__}")
    if len(packed) > LONGEST_ANSWER:
        raise ValueError(f"pack must give at most {LONGEST_ANSWER:,} bytes, and gave {len(packed):,}")
    return packed
