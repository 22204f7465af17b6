"""`dp.learn.load`: a fitted estimator from the file of a model."""

from importlib import import_module
from typing import Any

from discreet.errors import bad
from discreet.learn.estimators.base import Estimator
from discreet.learn.saved import file

ESTIMATORS = {  # by the name of the learner and its loss, where it has several
    ("naive bayes", None): "counts.NaiveBayes",
    ("additive", None): "counts.AdditiveClassifier",
    ("gaussian naive bayes", None): "counts.GaussianNaiveBayes",
    ("random forest", None): "counts.RandomForest",
    ("decision tree", None): "counts.DecisionTree",
    ("linear", "logistic"): "linear.LogisticRegression",
    ("linear", "hinge"): "linear.LinearClassifier",
    ("linear", "huber"): "linear.LinearRegression",
}


def load(path: Any) -> Any:
    """The fitted estimator in a file; it has its options and no price, so that nobody fits it again unawares."""
    fit = file.read(path)
    home = ESTIMATORS.get((fit.facts.learner, fit.facts.options.get("loss")))
    if home is None:
        fix = "Predict with it on the command line, or use a newer Discreet."
        raise bad("model", "must be of a learner that has an estimator", fit.facts.learner, fix)
    module, _, name = home.partition(".")
    kind: type[Estimator] = getattr(import_module(f"discreet.learn.estimators.{module}"), name)
    privacy = fit.privacy
    options = {"relation": str(privacy.relation), "max_rows": privacy.max_rows}
    return kind.from_options(fit.facts.options, **options)._adopted(fit)
