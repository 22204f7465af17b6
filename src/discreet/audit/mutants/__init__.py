"""Bugs planted on purpose: an audit that does not catch every one of them is worthless."""

from functools import cache

from discreet.audit.mutants import (
    additive,
    deep,
    kernels,
    keys,
    local,
    minimisers,
    prices,
    release,
    response,
    select,
    small,
    sources,
    sparse,
    synth,
    vectors,
)
from discreet.audit.mutants.planted import Drawn, Planted, Proven, audit_bug

__all__ = ["Drawn", "Planted", "Proven", "audit_bug", "mutants"]


@cache
def mutants() -> tuple[Planted, ...]:
    """Every planted bug."""
    trainings = (kernels, minimisers, deep)
    modules = (additive, select, response, sparse, keys, sources, prices, vectors, *trainings, release, local)
    return tuple(bug for module in (*modules, small, synth) for bug in module.bugs())
