"""Lower bounds on ε: what a mechanism surely costs, beside what it claims to cost."""

from importlib import import_module
from typing import Any

_HOMES = {  # name of the function -> module below this package; imported when first used
    "mechanism": "callables",
    "membership": "members",
    "release": "plans",
    "survey": "plans",
    "synthesis": "synth_plan",
}

__all__ = ["mechanism", "membership", "release", "survey", "synthesis"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.audit' has no attribute {name!r}")
    return getattr(import_module(f"discreet.audit.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
