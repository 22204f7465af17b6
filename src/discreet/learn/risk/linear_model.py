"""The model of released weights: lines over centred and clipped rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.kernel.encode import UNIT, Design, Encoding
from discreet.kernel.risk import WEIGHT, whole_weights
from discreet.kernel.rows import UnitRows
from discreet.learn.probabilities import softmax
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Weights on centred and clipped rows, a line for each class, or one."""

    subject: Subject
    loss: str
    described: Mapping[str, Any]
    lines: Floats  # line × column

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`."""
        names = [feature.name for feature in self.subject.features]
        size = len(columns[names[0]])
        rows = UnitRows({name: columns[name] for name in names}, np.arange(size), size)
        design = Design.of(rows, Encoding.parse(self.described), names)
        raw = [design.lines(whole_weights(line)) * design.clipping / (UNIT * WEIGHT) for line in self.lines]
        if self.loss == "huber":
            low, high = float(self.subject.target.low), float(self.subject.target.high)
            return low + (np.stack(raw, axis=1) + 1) / 2 * (high - low)
        if self.loss == "softmax":
            return softmax(np.stack(raw, axis=1))
        return softmax(np.stack([0 * raw[0], raw[0]], axis=1))

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        return {"weights": self.lines.tolist(), "centre": (self.described["centre"] / UNIT).tolist()}
