"""mbi's estimation and sampling of what MST and AIM measured: its package has no mechanism of its own.

The measurements are those of this project's twins, which draw them before the clock starts.  Fitted are 1,000 steps of
mirror descent in double precision, compilation included.
"""

import sys
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import mbi  # noqa: E402  it warns of single precision when imported first

from benchmarks import synth_aim, synth_mst  # noqa: E402
from benchmarks.synth_fit import Measurement, total_of  # noqa: E402
from benchmarks.synth_price import rho_of  # noqa: E402
from benchmarks.synth_serve import Make, Method, Task, serve  # noqa: E402
from benchmarks.synth_tree import Clique  # noqa: E402

STEPS = 1000


def _mst(task: Task) -> Make:
    draw = np.random.default_rng(task.seed)
    measured = synth_mst.measure(task.codes, task.sizes, rho_of(task.epsilon, task.delta), draw)

    def make() -> Any:
        return synth_mst.split_rare(measured, _rows(measured.sizes, measured.measurements, task.seed), draw)

    return make


def _aim(task: Task) -> Make:
    draw = np.random.default_rng(task.seed)
    measurements = synth_aim.measure(task.codes, task.sizes, rho_of(task.epsilon, task.delta), draw)
    return lambda: _rows(task.sizes, measurements, task.seed)


def _rows(sizes: tuple[int, ...], measurements: Mapping[Clique, Measurement], seed: int) -> Any:
    """The fit of the measurements and rows drawn from it, as many as the noisy total."""
    np.random.seed(seed)  # mbi draws rows from NumPy's global generator
    names = [f"c{column}" for column in range(len(sizes))]
    domain = mbi.Domain.fromdict(dict(zip(names, sizes, strict=True)))
    linear = [_linear(names, each) for each in measurements.values()]
    total = total_of(measurements.values())
    model = mbi.estimation.MirrorDescent().estimate(domain, linear, known_total=total, iters=STEPS)
    rows = model.synthetic_data(rows=round(total)).to_dict()
    return np.column_stack([rows[name] for name in names])


def _linear(names: list[str], each: Measurement) -> Any:
    """Cells may differ in their noise: each is scaled to a deviation of 1."""
    scales = np.sqrt(each.weights.ravel())
    clique = tuple(names[column] for column in each.clique)
    return mbi.LinearMeasurement(each.counts.ravel() * scales, clique, 1.0, mbi.WeightedQuery(scales))


METHODS: dict[str, Method] = {"MST": _mst, "AIM": _aim}

if __name__ == "__main__":
    serve(METHODS, sys.argv[1:])
