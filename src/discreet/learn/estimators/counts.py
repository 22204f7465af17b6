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
        """A share for each feature: how much the scores of classes vary with it.

        Shares add up to 1, or are all 0 where no feature says anything.  They follow from released numbers and cost
        nothing; `importances` of the model has the formula.
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
    """Naive Bayes from one noisy table of counts, class by cell, for each feature.

    It needs no δ; with one, noise has the law with the smaller variance.  Noise is exact, on whole numbers.

    bins                   into how many cells a number is cut; without it the noise decides, from 16 to 128
    classes                the public classes; `Estimator` has the parameters and attributes that all share
    feature_importances_   a share for each feature, of a fitted model

    >>> bayes = NaiveBayes(epsilon=1, bounds=(0, 100), classes=["no", "yes"]).fit([[20], [80]], ["no", "yes"])
    >>> bayes.predict_proba([[50]]).shape
    (1, 2)
    """

    def learner(self) -> NaiveBayesLearner:
        """As `Estimator.learner`."""
        return NaiveBayesLearner(None if self.bins is None else bins_of(self.bins))


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveClassifier(_ShapeClassifier):
    """A sum of one shape for each feature, in three stages of noisy counts and gradients.

    It needs a δ, or ρ.  Noise is exact, on whole numbers.  What correlated features both say is counted less often
    than by naive Bayes, which counts it twice.

    bins                   into how many cells a number is cut; without it the noise decides, from 16 to 128
    classes                the public classes; `Estimator` has the parameters and attributes that all share
    feature_importances_   a share for each feature, of a fitted model

    >>> additive = AdditiveClassifier(epsilon=1, delta="1e-6", bounds=(0, 100), classes=["no", "yes"])
    >>> additive.fit([[20], [80]], ["no", "yes"]).classes_.tolist()
    ['no', 'yes']
    """

    def learner(self) -> AdditiveLearner:
        """As `Estimator.learner`."""
        return AdditiveLearner(None if self.bins is None else bins_of(self.bins))


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(_WeighedClassifier):
    """A forest of trees whose tests are public and whose leaves are counted with noise.

    It needs no δ; with one, noise has the law with the smaller variance.  Noise is exact, on whole numbers.  The tests
    are planted without a look at the rows, so only the leaves cost.

    trees                  how many; without it 30 with Laplace noise and 100 with Gaussian noise
    depth                  how many tests each tree asks; without it the noise decides
    classes                the public classes; `Estimator` has the parameters and attributes that all share
    feature_importances_   a share for each feature, of a fitted model

    >>> forest = RandomForest(epsilon=1, trees=10, bounds=(0, 100), classes=["no", "yes"])
    >>> forest.fit([[20], [80]], ["no", "yes"]).predict([[50]]).shape
    (1,)
    """

    trees: int | None = None
    depth: int | None = None

    def learner(self) -> ForestLearner:
        """As `Estimator.learner`."""
        return forest_of(self.trees, self.depth)


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTree(_WeighedClassifier):
    """One tree: noisy tables choose its tests, then its leaves are counted with noise.

    It needs no δ; with one, noise has the law with the smaller variance.  Noise is exact, on whole numbers.  All leaves
    of a level share a test.

    depth                  how many tests it asks at most; without it the noise decides
    classes                the public classes; `Estimator` has the parameters and attributes that all share
    feature_importances_   a share for each feature, of a fitted model

    >>> tree = DecisionTree(epsilon=1, depth=2, bounds=(0, 100), classes=["no", "yes"])
    >>> tree.fit([[20], [80]], ["no", "yes"]).predict([[50]]).shape
    (1,)
    """

    depth: int | None = None

    def learner(self) -> TreeLearner:
        """As `Estimator.learner`."""
        return tree_of(self.depth)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNaiveBayes(Classifier):
    """Naive Bayes from noisy means and variances of numbers, and noisy tables of categories.

    It needs no δ; with one, noise has the law with the smaller variance.  Noise is exact, on whole numbers.

    classes   the public classes; `Estimator` has the parameters and attributes that all share

    >>> bayes = GaussianNaiveBayes(epsilon=1, bounds=(0, 100), classes=["no", "yes"])
    >>> bayes.fit([[20], [80]], ["no", "yes"]).predict_proba([[50]]).shape
    (1, 2)
    """

    def learner(self) -> GaussianBayesLearner:
        """As `Estimator.learner`."""
        return GaussianBayesLearner()
