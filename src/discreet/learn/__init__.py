"""Models learnt from tables through the gate, as scikit-learn estimators and as tasks on a dataset.

input/              cells and columns, as declared, in arrays or in a file
subject             the public facts of features and target, and which rows of a unit count
price               ε, (ε, δ) or ρ, and the noise that a share of it buys
learner, learners   learner → plan → released numbers → model · all learners by name
steps, fit, task    what is measured through the gate; a whole fit, from a dataset or from arrays; quoted first
privacy             what a fitted model promises
counts/             naive Bayes, Gaussian naive Bayes and the additive classifier, from tables and sums by class
trees/              the decision tree and the forest, from counts of leaves
risk/               linear models: descent, output and objective perturbation, second moments
saved/              a model's file, the fit made again from it, its card and what verifies it
heldout/            persons divided by a keyed hash; how well a model predicts those held out, and each group
estimators/         the scikit-learn face, the only part that imports scikit-learn
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "AdditiveClassifier": "estimators.counts",
    "DecisionTree": "estimators.counts",
    "GaussianNaiveBayes": "estimators.counts",
    "LinearClassifier": "estimators.linear",
    "LinearRegression": "estimators.linear",
    "LogisticRegression": "estimators.linear",
    "NaiveBayes": "estimators.counts",
    "RandomForest": "estimators.counts",
    "fairness_curve": "estimators.curve",
    "load": "estimators.loading",
    "make_pipeline": "estimators.pipeline",
    "verify": "saved.verification",
}

__all__ = [
    "AdditiveClassifier",
    "DecisionTree",
    "GaussianNaiveBayes",
    "LinearClassifier",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "RandomForest",
    "fairness_curve",
    "load",
    "make_pipeline",
    "verify",
]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"discreet.learn has no {name!r}")
    try:
        return getattr(import_module(f"discreet.learn.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
    raise ImportError("discreet.learn needs scikit-learn: install discreet[learn]")
