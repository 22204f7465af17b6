"""A sum of shapes: what each cell of each feature says for each class, added up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learn.probabilities import normalised, softmax
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ShapeModel:
    """Σ over features of a table's entry: for each class a score, whose softmax are the probabilities."""

    subject: Subject
    bins: int
    log_prior: Floats
    shapes: tuple[Floats, ...]  # class × cell
    masses: tuple[Floats, ...] | None = None  # the share of the rows in each cell, where it was released

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; a feature without a cell says nothing."""
        lines: Floats = np.zeros((1, len(self.log_prior))) + self.log_prior
        for feature, shape in zip(self.subject.features, self.shapes, strict=True):
            codes = feature.codes(columns[feature.name], self.bins)
            lines = lines + np.append(shape, np.zeros((len(shape), 1)), axis=1)[:, codes].T
        return softmax(lines)

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        pairs = zip(self.subject.features, self.shapes, strict=True)
        return {
            "prior": np.exp(self.log_prior).tolist(),
            "shapes": {feature.name: shape.tolist() for feature, shape in pairs},
        }

    def importances(self) -> Floats:
        """The variance of a feature's shape over the rows, averaged over classes, as a share of all features'.

        A cell counts by the noisy number of its rows where that was released, as in naive Bayes; otherwise cells count
        alike.
        """
        masses = self.masses or [np.ones(shape.shape[1]) / shape.shape[1] for shape in self.shapes]
        pairs = zip(self.shapes, masses, strict=True)
        return normalised(np.array([_variances(shape, mass).mean() for shape, mass in pairs]))


def _variances(shape: Floats, mass: Floats) -> Floats:
    """The variance of each line over cells of that mass."""
    variances: Floats = (shape - (shape @ mass)[:, None]) ** 2 @ mass
    return variances
