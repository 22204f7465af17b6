"""From noisy counts of leaves to how much each leaf speaks for each class; free, for it reads released numbers only.

Down each tree, level by level, P(class | node) is shrunk to that of the parent: a node over z leaves, each with noise
of standard deviation s, is given 0.5·s·√z + 1 pseudo-counts.  What all leaves say is shortened by what noise alone
would say: few rows and much noise make a model that says little.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.kernel.leaves import Trees
from discreet.learn.probabilities import normalised, softmax
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints

_PSEUDO = 0.5
_BLOCK = 2**19  # numbers that are looked up at once
_LEAST_PRIOR = 0.01  # of a class
_LEAST_SIGNAL = 0.05


def leaf_logs(counts: Floats, deviation: float) -> tuple[Floats, Floats]:
    """The prior π of the classes, and ln(P(class | leaf)/π), from counts by tree, class and leaf."""
    trees, classes, leaves = counts.shape
    spread = deviation * np.sqrt(leaves / trees)  # of a class's total
    totals = np.maximum(counts.sum(axis=2).mean(axis=0), 0.0) + spread + 1
    prior = np.clip(totals / totals.sum(), _LEAST_PRIOR, 1 - _LEAST_PRIOR)
    prior /= prior.sum()
    rates = np.broadcast_to(prior[None, :, None], (trees, classes, 1))
    below = leaves
    while below > 1:
        below //= 2
        nodes = np.maximum(counts.reshape(trees, classes, leaves // below, below).sum(axis=3), 0.0)
        pseudo = _PSEUDO * deviation * np.sqrt(below) + 1
        rates = (nodes + pseudo * np.repeat(rates, 2, axis=2)) / (nodes.sum(axis=1, keepdims=True) + pseudo)
    logs: Floats = (np.log(rates) - np.log(prior)[None, :, None]) * _signal(counts, deviation, prior)
    return prior, logs


def _signal(counts: Floats, deviation: float, prior: Floats) -> float:
    """How much of what leaves say is more than noise: the factor of James & Stein (1961) over all trees, at the best of
    their levels, and never 0, so that the order of scores remains."""
    differences = counts - prior[:, None] * counts.sum(axis=1, keepdims=True)
    variance = deviation**2 * float(((1 - prior) ** 2 + (len(prior) - 1) * prior**2).sum())
    best, cells = _LEAST_SIGNAL, 1
    while differences.shape[2] > 1:
        chi_squared = float((differences**2).sum()) / max(cells * variance, 1e-9)
        expected = len(differences) * differences.shape[2]
        best = max(best, 1 - expected / max(chi_squared, 1e-9))
        differences, cells = differences[:, :, ::2] + differences[:, :, 1::2], 2 * cells
    return best


@dataclass(frozen=True, eq=False)
class LeafModel:
    """ln π + emphasis · the average over trees of what a row's leaf says: the softmax of it are the probabilities."""

    subject: Subject
    trees: Trees
    prior: Floats
    logs: Floats  # tree × class × leaf
    emphasis: float = 1.0

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; an empty cell goes to the side that the test gives it."""
        names = [feature.name for feature in self.subject.features]
        codes = self.trees.codes({name: np.asarray(columns[name]) for name in names}, names)
        lines = np.zeros((len(codes[0]), len(self.prior)))
        logs, trees = np.ascontiguousarray(self.logs.swapaxes(1, 2)), np.arange(len(self.logs))[:, None]
        block = max(_BLOCK // (len(trees) * len(self.prior)), 1)
        for begin in range(0, len(lines), block):
            part = slice(begin, begin + block)
            lines[part] = logs[trees, self.trees.leaf_numbers([code[part] for code in codes])].sum(axis=0)
        return softmax(np.log(self.prior) + lines * (self.emphasis / len(self.logs)))

    def parameters(self) -> dict[str, Any]:
        """As `Model.parameters`."""
        names = [feature.name for feature in self.subject.features]
        asked = [[names[feature] for feature in tests] for tests in self.trees.tests.tolist()]
        return {"prior": self.prior.tolist(), "tests": asked, "leaves": self.trees.leaves}

    def importances(self) -> Floats:
        """How much the tests of a feature move what leaves say, as a share of all features'.

        A test moves it by half the mean difference between the leaves on its two sides: squared, averaged over classes
        and added up over trees.
        """
        moved = np.zeros(len(self.trees.features))
        trees, classes, leaves = self.logs.shape
        for test, features in enumerate(self.trees.tests.T):
            pairs = self.logs.reshape(trees, classes, 2**test, 2, leaves >> (test + 1))
            halves = (pairs[:, :, :, 1] - pairs[:, :, :, 0]).mean(axis=(2, 3)) / 2
            np.add.at(moved, features, (halves**2).mean(axis=1))
        return normalised(moved)


def leaf_model(subject: Subject, trees: Trees, counts: Any, deviation: float, emphasis: float = 1.0) -> LeafModel:
    """The model of released counts by tree, class and leaf."""
    shape = (len(trees.tests), len(subject.classes), trees.leaves)
    prior, logs = leaf_logs(np.asarray(counts, dtype=np.float64).reshape(shape), deviation)
    return LeafModel(subject, trees, prior, logs, emphasis)
