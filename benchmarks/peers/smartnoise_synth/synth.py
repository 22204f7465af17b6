"""SmartNoise's MST and AIM on a table of categories, whose lists of values it reads from the rows themselves.

AIM has pairs for its workload, its default, and a model of `MODEL_MIB`; what it draws is without a seed.
"""

import contextlib
import sys
from typing import Any

import numpy as np
import pandas as pd
from snsynth import Synthesizer

from benchmarks.synth_serve import Make, Method, Task, serve

MODEL_MIB = 1


def _maker(task: Task, name: str, **options: Any) -> Make:
    names = [f"c{column}" for column in range(len(task.sizes))]
    frame = pd.DataFrame(task.codes, columns=names)

    def make() -> Any:
        with contextlib.redirect_stdout(sys.stderr):  # it prints as it goes
            synthesizer = Synthesizer.create(name, epsilon=task.epsilon, delta=task.delta, **options)
            synthesizer.fit(frame, categorical_columns=names, preprocessor_eps=0.0)
            rows = synthesizer.sample(len(frame))
        return np.asarray(pd.DataFrame(rows, columns=names)).astype(np.int64)

    return make


METHODS: dict[str, Method] = {
    "MST": lambda task: _maker(task, "mst"),
    "AIM": lambda task: _maker(task, "aim", max_model_size=MODEL_MIB),
}

if __name__ == "__main__":
    serve(METHODS, sys.argv[1:])
