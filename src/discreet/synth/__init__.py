"""Synthetic tables: invented rows, drawn from noisy counts of a private table.

`people.synthesize()` gives a task; `load` reads the file of a table that was built; `small_database` is the mechanism
of the lectures, exact and for small universes, and `small_plan` says its price and bounds for nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.synth.saved.file import load
    from discreet.synth.small.build import small_database
    from discreet.synth.small.plan import small_plan

__all__ = ["load", "small_database", "small_plan"]
_HOMES = {
    "load": "discreet.synth.saved.file",
    "small_database": "discreet.synth.small.build",
    "small_plan": "discreet.synth.small.plan",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.synth' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
