"""The worker of this project's own samplers."""

from benchmarks.serve import Laws, serve
from discreet import noise

LAWS: Laws = {
    "discrete Laplace": lambda scale: lambda n: noise.discrete_laplace(scale, n),
    "rounded Gaussian": lambda scale: lambda n: noise.rounded_gaussian(scale, n),
    "discrete Gaussian": lambda scale: lambda n: noise.discrete_gaussian(scale, n),
    "discrete Laplace, singly": lambda scale: lambda n: [noise.discrete_laplace(scale, 1) for _ in range(n)],
}

if __name__ == "__main__":
    serve(LAWS)
