"""Wrong on purpose: an audit that lets one of these pass is worth nothing."""

from functools import cache

from discreet.audit.mutants import additive, keys, prices, release, response, select, sources, sparse
from discreet.audit.mutants.planted import Drawn, Planted, Proven, caught

__all__ = ["Drawn", "Planted", "Proven", "caught", "mutants"]


@cache
def mutants() -> tuple[Planted, ...]:
    """Every planted bug."""
    rooms = (additive, select, response, sparse, keys, sources, prices, release)
    return tuple(bug for room in rooms for bug in room.planted())
