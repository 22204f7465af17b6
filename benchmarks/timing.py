"""What running time says about a single draw: the rank correlation of |noise| and seconds.

    .venv/bin/python -m benchmarks timing

Spearman's ρ over N single draws has a standard error of 1/√(N − 1) when the two are independent.
"""

import time
from collections.abc import Callable

import numpy as np

from discreet import noise
from discreet.ndarrays import Ints

N = 20_000
_WARM = 200
DRAWS: dict[str, Callable[[], Ints]] = {
    "discrete_laplace(10, 1)": lambda: noise.discrete_laplace(10, 1),
    "rounded_gaussian(10, 1)": lambda: noise.rounded_gaussian(10, 1),
    "discrete_gaussian(10, 1)": lambda: noise.discrete_gaussian(10, 1),
}


def timed(draw: Callable[[], Ints], n: int) -> tuple[Ints, Ints]:
    """|noise| and nanoseconds of n single draws."""
    size, spent = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(-_WARM, n):
        start = time.perf_counter_ns()
        value = draw()
        end = time.perf_counter_ns()
        if i >= 0:
            size[i], spent[i] = abs(int(value[0])), end - start
    return size, spent


def correlation(size: Ints, spent: Ints) -> float:
    """Spearman's ρ, ties at their mean rank."""
    from scipy.stats import spearmanr

    return float(spearmanr(size, spent).statistic)


def main(n: int = N) -> dict[str, float]:
    """Prints ρ, its standard error and the median time for each kind of draw; returns the ρ's."""
    figures = {}
    for name, draw in DRAWS.items():
        size, spent = timed(draw, n)
        figures[name] = correlation(size, spent)
        error = 1 / (n - 1) ** 0.5
        print(f"{name:26} N = {n}: ρ = {figures[name]:+.4f} ± {error:.4f}, median {np.median(spent) / 1000:.0f} µs")
    return figures


if __name__ == "__main__":
    main()
