"""Models learnt from tables through the gate, as scikit-learn estimators and as tasks on a dataset.

column, subject     the public facts of features and target
price               ε, (ε, δ) or ρ, and the noise that a share of it buys
learner             learner → plan → released numbers → model
steps, fit          what is measured through the gate; a whole fit, from a dataset or from arrays
naive_bayes, …      the learners · learners  all of them by name
file, rebuild       a model's file: facts and released numbers, and the fit made again from them
verification, card  what a file states, recomputed · what a model is and promises, in words
part, score, fairness   persons divided by a keyed hash; how well models predict those held out, and each group
scored, metrics, auc, group_rates, interval, trial_gate   what is counted of predictions, with noise, and its intervals
estimators/         their scikit-learn face, the only part that imports scikit-learn
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
    "verify": "verification",
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"discreet.learn has no {name!r}")
    try:
        return getattr(import_module(f"discreet.learn.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
    raise ImportError("discreet.learn needs scikit-learn: install discreet[learn]")
