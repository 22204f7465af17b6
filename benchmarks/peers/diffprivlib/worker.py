"""diffprivlib's mechanisms: one Python call per sample, since there is no vector call."""

from typing import Any

from diffprivlib.mechanisms import GaussianDiscrete, Geometric, Laplace

from benchmarks.serve import Draw, Laws, serve


def _one_by_one(mechanism: Any) -> Draw:
    return lambda n: [mechanism.randomise(0) for _ in range(n)]


def _gaussian(scale: str) -> Draw:
    mechanism = GaussianDiscrete(epsilon=1.0, delta=1e-5, sensitivity=1)
    mechanism._scale = float(scale)  # it takes only (ε, δ), and its search for σ is not what is timed
    return _one_by_one(mechanism)


LAWS: Laws = {
    "Laplace": lambda scale: _one_by_one(Laplace(epsilon=1 / float(scale), sensitivity=1.0)),
    "Geometric": lambda scale: _one_by_one(Geometric(epsilon=1 / float(scale), sensitivity=1)),
    "GaussianDiscrete": _gaussian,
}

if __name__ == "__main__":
    serve(LAWS)
