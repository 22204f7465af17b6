"""Estimators from noisy counts."""

from typing import Any

from discreet.learn.additive import AdditiveLearner
from discreet.learn.column import bins_of
from discreet.learn.estimators.base import Classifier
from discreet.learn.naive_bayes import NaiveBayesLearner
from discreet.learn.shapes import shapes_figure


class _ShapeClassifier(Classifier):
    """What a fitted sum of shapes has."""

    def plot(self, label: Any = None) -> Any:
        """A picture of every feature's shape: how far each cell moves the log-odds of a class, by default the last."""
        return shapes_figure(self._fitted(), label)


class NaiveBayes(_ShapeClassifier):
    """Naive Bayes from one noisy table for each feature."""

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        relation: Any = "add-remove",
        ledger: Any = None,
        bounds: Any = None,
        values: Any = None,
        classes: Any = None,
        max_rows: int = 1,
        bins: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.max_rows, self.bins = bounds, values, classes, max_rows, bins

    def learner(self) -> NaiveBayesLearner:
        """As `Estimator.learner`."""
        return NaiveBayesLearner(None if self.bins is None else bins_of(self.bins))


class AdditiveClassifier(_ShapeClassifier):
    """A sum of one shape for each feature, in three stages of noisy counts and gradients."""

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        relation: Any = "add-remove",
        ledger: Any = None,
        bounds: Any = None,
        values: Any = None,
        classes: Any = None,
        max_rows: int = 1,
        bins: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.max_rows, self.bins = bounds, values, classes, max_rows, bins

    def learner(self) -> AdditiveLearner:
        """As `Estimator.learner`."""
        return AdditiveLearner(None if self.bins is None else bins_of(self.bins))
