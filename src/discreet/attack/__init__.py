"""Attacks on what was published, with and without privacy: each a function that returns a `Result`."""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {  # name of the function -> module below this package; imported when first used; sorted
    "anonymous": "linking.anonymous",
    "attribute": "models.attribute",
    "averaging": "reconstruction.averaging",
    "canary": "models.canary",
    "differencing": "reconstruction.differencing",
    "gradient": "models.gradient",
    "linkage": "linking.linkage",
    "membership": "models.membership",
    "missing_row": "models.missing_row",
    "ratings": "linking.ratings",
    "shame": "reconstruction.shame",
    "subset_sums": "reconstruction.subset_sums",
    "vectors": "models.vectors",
    "worlds": "consistent.left",
}

__all__ = [
    "anonymous",
    "attribute",
    "averaging",
    "canary",
    "differencing",
    "gradient",
    "linkage",
    "membership",
    "missing_row",
    "ratings",
    "shame",
    "subset_sums",
    "vectors",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.attack' has no attribute {name!r}")
    return getattr(import_module(f"discreet.attack.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
