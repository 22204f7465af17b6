"""Discreet: answers about everyone, secrets about no one.

>>> import discreet as dp
>>> dp.noise.discrete_laplace(10, size=3).shape
(3,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import attack, audit, deep, learn, local, noise, synth
    from discreet.answer.answer import Answer
    from discreet.bounded import Sensitivity
    from discreet.dataset import Dataset
    from discreet.dataset import open_dataset as open
    from discreet.errors import BadValue, BudgetExceeded, DiscreetError, NotAnswerable, NotPriced, Refuted
    from discreet.privacy import odds
    from discreet.query.form.words import (
        bins,
        case,
        col,
        correlation,
        count,
        count_distinct,
        covariance,
        greatest,
        least,
        lit,
        max,
        mean,
        median,
        min,
        mode,
        quantile,
        stddev,
        sum,
        top_k,
        variance,
        when,
    )
    from discreet.relation import Relation
    from discreet.schema.limits import Limits

__all__ = [
    "Answer",
    "BadValue",
    "BudgetExceeded",
    "Dataset",
    "DiscreetError",
    "Limits",
    "NotAnswerable",
    "NotPriced",
    "Refuted",
    "Relation",
    "Sensitivity",
    "attack",
    "audit",
    "bins",
    "case",
    "col",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "deep",
    "greatest",
    "learn",
    "least",
    "lit",
    "local",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "noise",
    "odds",
    "open",
    "quantile",
    "stddev",
    "sum",
    "synth",
    "top_k",
    "variance",
    "when",
]

_HOMES = {  # a name is fetched when first used, so that importing Discreet costs nothing (PEP 562)
    name: home
    for home, names in {
        "discreet.answer.answer": "Answer",
        "discreet.attack": "attack",
        "discreet.audit": "audit",
        "discreet.bounded": "Sensitivity",
        "discreet.dataset": "Dataset open",
        "discreet.deep": "deep",
        "discreet.errors": "BadValue BudgetExceeded DiscreetError NotAnswerable NotPriced Refuted",
        "discreet.learn": "learn",
        "discreet.local": "local",
        "discreet.noise": "noise",
        "discreet.privacy.odds": "odds",
        "discreet.query.form.words": "bins case col correlation count count_distinct covariance greatest least lit "
        "max mean median min mode quantile stddev sum top_k variance when",
        "discreet.relation": "Relation",
        "discreet.schema.limits": "Limits",
        "discreet.synth": "synth",
    }.items()
    for name in names.split()
}
_THERE = {"open": "open_dataset"}  # what a name is called at home, where it is not the same


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if home.__name__.endswith(f".{name}") else getattr(home, _THERE.get(name, name))


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
