"""pure-ldp's clients and servers: one Python call per report on either side, since there is no vector call."""

import warnings
from collections.abc import Callable
from typing import Any

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, FastLHServer, LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from benchmarks.serve import Draw, Laws, serve

warnings.filterwarnings("ignore", message=".*has only aggregated small amounts")
_EPSILON = 1.0
_MANY, _POOL = 1024, 1000


def _round_trip(client: Any, server: Any, size: int) -> Draw:
    """Reports of so many people about values in turn, each one aggregated; then the estimate of a value."""

    def draw(n: int) -> range:
        server.reset()
        for person in range(n):
            server.aggregate(client.privatise(person % size))
        server.estimate(0, suppress_warnings=True)
        return range(server.n)

    return draw


def _ready(client: Callable[..., Any], server: Callable[..., Any], size: int, **how: Any) -> Callable[[str], Draw]:
    mapped = {"d": size, "index_mapper": lambda value: value, **how}
    return lambda scale: _round_trip(client(_EPSILON, **mapped), server(_EPSILON, **mapped), size)


def _hadamard(scale: str) -> Draw:
    """Hadamard response, whose client is given the server's hashes."""
    server = HadamardResponseServer(_EPSILON, _MANY, index_mapper=lambda value: value)
    client = HadamardResponseClient(_EPSILON, _MANY, server.get_hash_funcs(), index_mapper=lambda value: value)
    return _round_trip(client, server, _MANY)


LAWS: Laws = {
    "binary": _ready(DEClient, DEServer, 2),
    "k-ary": _ready(DEClient, DEServer, _MANY),
    "hashed": _ready(LHClient, LHServer, _MANY, use_olh=True),
    "hashed by a pool": _ready(FastLHClient, FastLHServer, _MANY, k=_POOL, use_olh=True),
    "hadamard": _hadamard,
    "unary": _ready(UEClient, UEServer, _MANY, use_oue=True),
}

if __name__ == "__main__":
    serve(LAWS)
