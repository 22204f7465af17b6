"""The side of a peer that synthesises: a coded table comes as a NumPy file, synthetic codes go out as another.

NumPy only, for any environment.  The file has `codes`, one row a line, and `sizes`, the number of codes of each column.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """A coded table, its public sizes, (ε, δ) and a seed, for peers that take one."""

    codes: Any
    sizes: tuple[int, ...]
    epsilon: float
    delta: float
    seed: int


Make = Callable[[], Any]  # the synthetic codes: what is timed
Method = Callable[[Task], Make]  # what stands ready before the clock starts


def serve(methods: Mapping[str, Method], arguments: list[str]) -> None:
    """`FILE RESULT METHOD EPSILON DELTA SEED`: writes the codes to RESULT, prints CPU seconds as JSON."""
    import numpy as np

    warnings.simplefilter("ignore")
    path, result, method = arguments[:3]
    with np.load(path) as file:
        codes, sizes = file["codes"], tuple(int(size) for size in file["sizes"])
    make = methods[method](Task(codes, sizes, float(arguments[3]), float(arguments[4]), int(arguments[5])))
    started = time.process_time()
    synthetic = np.asarray(make()).astype(np.int64)
    seconds = time.process_time() - started
    np.save(result, synthetic)
    print(json.dumps({"seconds": seconds, "rows": len(synthetic)}), file=sys.stdout)
