"""Estimators from noisy counts."""

from typing import Any

from discreet.learn.counts.additive import AdditiveLearner
from discreet.learn.counts.gaussian_bayes import GaussianBayesLearner
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.counts.shape_functions import shapes_figure
from discreet.learn.estimators.base import Classifier
from discreet.learn.input.column import bins_of
from discreet.learn.trees.forest import ForestLearner, forest_of
from discreet.learn.trees.tree import TreeLearner, tree_of


class _ShapeClassifier(Classifier):
    """What a fitted sum of shapes has."""

    def plot(self, label: Any = None) -> Any:
        """A picture of every feature's shape: how far each cell moves the score of a class, by default the last."""
        return shapes_figure(self._own_fit(), label)


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


class RandomForest(Classifier):
    """A forest of public trees with noisy leaves; how many and how deep they are follows from the price."""

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
        trees: int | None = None,
        depth: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.max_rows = bounds, values, classes, max_rows
        self.trees, self.depth = trees, depth

    def learner(self) -> ForestLearner:
        """As `Estimator.learner`."""
        return forest_of(self.trees, self.depth)


class DecisionTree(Classifier):
    """One tree: noisy tables choose its tests, then its leaves are counted with noise."""

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
        depth: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.max_rows = bounds, values, classes, max_rows
        self.depth = depth

    def learner(self) -> TreeLearner:
        """As `Estimator.learner`."""
        return tree_of(self.depth)


class GaussianNaiveBayes(Classifier):
    """Naive Bayes from noisy means and variances of numbers, and noisy tables of categories."""

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
    ) -> None:
        self.epsilon, self.delta, self.rho, self.relation, self.ledger = epsilon, delta, rho, relation, ledger
        self.bounds, self.values, self.classes, self.max_rows = bounds, values, classes, max_rows

    def learner(self) -> GaussianBayesLearner:
        """As `Estimator.learner`."""
        return GaussianBayesLearner()
