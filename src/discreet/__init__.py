"""Discreet: answers about everyone, secrets about no one.

>>> import discreet as dp
>>> dp.noise.discrete_laplace(10, size=3).shape
(3,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import noise
    from discreet.bounded import Sensitivity
    from discreet.errors import BadValue, DiscreetError, NotPriced, Refuted
    from discreet.privacy import odds
    from discreet.relation import Relation

__all__ = [
    "BadValue",
    "DiscreetError",
    "NotPriced",
    "Refuted",
    "Relation",
    "Sensitivity",
    "noise",
    "odds",
]

_HOMES = {  # a name is fetched when first used, so that importing Discreet costs nothing (PEP 562)
    "BadValue": "discreet.errors",
    "DiscreetError": "discreet.errors",
    "NotPriced": "discreet.errors",
    "Refuted": "discreet.errors",
    "Relation": "discreet.relation",
    "Sensitivity": "discreet.bounded",
    "noise": "discreet.noise",
    "odds": "discreet.privacy.odds",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if home.__name__.endswith(f".{name}") else getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
