"""Kernels that the package does not ship, put into the closed table of this process and, at their start, of workers."""

import sys
import time
import types
from pathlib import Path

import numpy as np

from discreet.bounded import Sensitivity
from discreet.kernel import contract

HOME = "discreet.kernel.trial"


class Counting:
    """Units and rows: what a test can count itself."""

    def require(self, public, columns):
        pass

    def length(self, public):
        return 2

    def per_row(self, public):
        return 2

    def sensitivity(self, public, limit):
        return Sensitivity(2, 1 + limit.rows, 1 + limit.rows**2, limit.rows, limit.relation)

    def __call__(self, chunk, public):
        return np.array([chunk.units, chunk.size], dtype=np.int64)


class Failing(Counting):
    def __call__(self, chunk, public):
        raise RuntimeError(f"zq7canary {next(iter(chunk.columns.values()))[0]}")


class Slow(Counting):
    def __call__(self, chunk, public):
        time.sleep(60)


class Floating(Counting):
    def __call__(self, chunk, public):
        return np.zeros(2)


class Long(Counting):
    def __call__(self, chunk, public):
        return np.zeros(3, dtype=np.int64)


class Far(Counting):
    def __call__(self, chunk, public):
        return np.array([0, -(2**30) * chunk.units - 1])


KERNELS = {
    "counting": Counting(),
    "failing": Failing(),
    "slow": Slow(),
    "floating": Floating(),
    "long": Long(),
    "far": Far(),
}


def install(put=dict.__setitem__):
    """Every trial kernel in the table."""
    module = types.ModuleType(HOME)
    module.__dict__.update(KERNELS)
    put(sys.modules, HOME, module)
    for name in KERNELS:
        put(contract.KERNELS, name, f"{HOME}:{name}")


def customize(folder):
    """A folder for PYTHONPATH from which every new worker installs them."""
    tests = Path(__file__).parents[1]
    text = f"import sys\nsys.path.append({str(tests)!r})\nfrom kernel import trial\ntrial.install()\n"
    (folder / "sitecustomize.py").write_text(text)
    return str(folder)
