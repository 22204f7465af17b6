"""Estimators from noisy counts."""

from dataclasses import dataclass
from typing import Any

from discreet.learn.counts.additive import AdditiveLearner
from discreet.learn.counts.gaussian_bayes import GaussianBayesLearner
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.counts.shape_functions import shapes_figure
from discreet.learn.estimators.base import Classifier
from discreet.learn.input.column import bins_of
from discreet.learn.trees.forest import ForestLearner, forest_of
from discreet.learn.trees.tree import TreeLearner, tree_of
from discreet.ndarrays import Floats


@dataclass(kw_only=True, eq=False, repr=False)
class _WeighedClassifier(Classifier):
    """What a fitted classifier has that can weigh its features."""

    @property
    def feature_importances_(self) -> Floats:
        """A share for each feature, adding up to 1: how much the scores of classes vary with it.

        It follows from released numbers and costs nothing; `importances` of the model has the formula.
        """
        model: Any = self._own_fit().model
        importances: Floats = model.importances()
        return importances


@dataclass(kw_only=True, eq=False, repr=False)
class _ShapeClassifier(_WeighedClassifier):
    """What a fitted sum of shapes has."""

    bins: int | None = None

    def plot(self, label: Any = None) -> Any:
        """A picture of every feature's shape: how far each cell moves the score of a class, by default the last."""
        return shapes_figure(self._own_fit(), label)


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(_ShapeClassifier):
    """Naive Bayes from one noisy table for each feature."""

    def learner(self) -> NaiveBayesLearner:
        """As `Estimator.learner`."""
        return NaiveBayesLearner(None if self.bins is None else bins_of(self.bins))


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveClassifier(_ShapeClassifier):
    """A sum of one shape for each feature, in three stages of noisy counts and gradients."""

    def learner(self) -> AdditiveLearner:
        """As `Estimator.learner`."""
        return AdditiveLearner(None if self.bins is None else bins_of(self.bins))


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(_WeighedClassifier):
    """A forest of public trees with noisy leaves; how many and how deep they are follows from the price."""

    trees: int | None = None
    depth: int | None = None

    def learner(self) -> ForestLearner:
        """As `Estimator.learner`."""
        return forest_of(self.trees, self.depth)


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTree(_WeighedClassifier):
    """One tree: noisy tables choose its tests, then its leaves are counted with noise."""

    depth: int | None = None

    def learner(self) -> TreeLearner:
        """As `Estimator.learner`."""
        return tree_of(self.depth)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNaiveBayes(Classifier):
    """Naive Bayes from noisy means and variances of numbers, and noisy tables of categories."""

    def learner(self) -> GaussianBayesLearner:
        """As `Estimator.learner`."""
        return GaussianBayesLearner()
