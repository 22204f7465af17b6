"""Private reports: people randomise at the source, and a server that never sees an answer estimates with intervals.

words, keep         coins and choices from 32-bit words · thresholds that an ε allows, and the ε that they have
code                what a way to randomise is
response_code, subset_code   values: k-ary response · sets of values
hashing_code, unary_code     linear hashing (field.py) · a bit for each value (bits.py)
hybrid, uses        numbers: of a person · of one use
reports, interval, estimate   bytes and tallies · bounds · unbiased estimates
protocol, number_protocol   a code with its values, ε and sentences · face  their constructors
choose, robust, crossing, trusts   the best protocol · liars · two answers at once · local, shuffled and central
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "auto": "face.auto",
    "binary": "face.binary",
    "compare": "trusts.comparison",
    "cross": "crossing.crossed_estimate",
    "hashed": "face.hashed",
    "kary": "face.kary",
    "number": "face.number",
    "subset": "face.subset",
    "two_coins": "face.two_coins",
    "unary": "face.unary",
}

__all__ = ["auto", "binary", "compare", "cross", "hashed", "kary", "number", "subset", "two_coins", "unary"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"discreet.local has no {name!r}")
    module, _, attribute = _HOMES[name].partition(".")
    return getattr(import_module(f"discreet.local.{module}"), attribute)
