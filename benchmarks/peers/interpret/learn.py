"""interpret's private explainable boosting at its defaults, δ = 10⁻⁵, told kinds and bounds of the columns.

It takes no list of values: it pays for its own, a tenth of ε for all bins.
"""

import sys
from typing import Any

from interpret.privacy import DPExplainableBoostingClassifier

from benchmarks.learn_serve import Fit, Table, serve


def _boosting(table: Table, epsilon: float) -> Any:
    is_value, ends = table["is_value"], table["ends"]
    model = DPExplainableBoostingClassifier(
        feature_types=["nominal" if value else "continuous" for value in is_value],
        privacy_bounds={place: tuple(pair) for place, pair in enumerate(ends.tolist()) if not is_value[place]},
        epsilon=epsilon,
        delta=1e-5,
        n_jobs=1,
    )
    model.fit(table["train_codes"], table["train_target"])
    return lambda part: model.predict_proba(table[f"{part}_codes"])[:, -1]


MODELS: dict[str, Fit] = {"interpret DP-EBM": _boosting}

if __name__ == "__main__":
    serve(MODELS, sys.argv[1:])
