"""The worker of this project's own local protocols: encode, aggregate and estimate, at ε = 1."""

from typing import Any

import numpy as np

from benchmarks.serve import Draw, Laws, serve
from discreet.local import binary, hashed, kary, subset, unary

_MANY, _SOME, _PEOPLE = 1024, 12, 4_000_000


def _round_trip(protocol: Any) -> Draw:
    """Reports of so many people about values in turn, and their estimate; answers stand ready."""
    answers = np.arange(_PEOPLE) % len(protocol.values)

    def draw(n: int) -> range:
        if n > _PEOPLE:
            raise ValueError(f"at most {_PEOPLE} answers stand ready")
        tally = protocol.aggregate(protocol.encode(answers[:n]))
        protocol.estimate(tally)
        return range(tally.reports)

    return draw


LAWS: Laws = {
    "binary": lambda scale: _round_trip(binary(scale)),
    "k-ary": lambda scale: _round_trip(kary(scale, _MANY)),
    "hashed": lambda scale: _round_trip(hashed(scale, _MANY)),
    "subset": lambda scale: _round_trip(subset(scale, _SOME)),
    "unary": lambda scale: _round_trip(unary(scale, _MANY)),
}

if __name__ == "__main__":
    serve(LAWS)
