"""OpenDP's integer noise, by its vector call on a list of zeros: the fastest way in."""

from typing import Any

import opendp.prelude as dp

from benchmarks.serve import Draw, Laws, serve

dp.enable_features("contrib")


def _noise(make: Any, metric: Any, scale: str) -> Draw:
    measurement = make(dp.vector_domain(dp.atom_domain(T=int)), metric, scale=float(scale))
    return lambda n: measurement([0] * n)


def _singly(scale: str) -> Draw:
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=float(scale))
    return lambda n: [measurement(0) for _ in range(n)]


LAWS: Laws = {
    "discrete Laplace": lambda scale: _noise(dp.m.make_laplace, dp.l1_distance(T=int), scale),
    "discrete Gaussian": lambda scale: _noise(dp.m.make_gaussian, dp.l2_distance(T=float), scale),
    "discrete Laplace, singly": _singly,
}

if __name__ == "__main__":
    serve(LAWS)
