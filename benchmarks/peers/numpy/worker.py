"""NumPy's generators: continuous, seedable and not fit for privacy; the speed of an insecure draw."""

import numpy as np

from benchmarks.serve import Laws, serve

_GENERATOR = np.random.default_rng()

LAWS: Laws = {
    "laplace": lambda scale: lambda n: _GENERATOR.laplace(0.0, float(scale), n),
    "normal": lambda scale: lambda n: _GENERATOR.normal(0.0, float(scale), n),
}

if __name__ == "__main__":
    serve(LAWS)
