"""The room of deep learning: nets trained by noisy gradients that are clipped person by person.

`dp.deep` needs the extra `deep`; each name is fetched when it is first used.
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "Automatic": "discreet.deep.clipping.rule",
    "clipped_sum": "discreet.deep.clipping.clipped",
    "check": "discreet.deep.modules.check",
    "replaced": "discreet.deep.modules.replaced",
    "plan": "discreet.deep.accounting.plan",
    "tuned": "discreet.deep.training.tuned",
    "stream_plan": "discreet.deep.accounting.stream",
    "Trainer": "discreet.deep.training.trainer",
    "Adam": "discreet.deep.training.optimizer",
    "load": "discreet.deep.saved.file",
    "cells": "discreet.deep.table.cells",
    "table_net": "discreet.deep.table.net",
}
__all__ = [
    "Adam",
    "Automatic",
    "Trainer",
    "cells",
    "check",
    "clipped_sum",
    "load",
    "plan",
    "replaced",
    "stream_plan",
    "table_net",
    "tuned",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_NAMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
    raise ImportError("discreet.deep needs torch: install discreet[deep]")


def __dir__() -> list[str]:
    return __all__
