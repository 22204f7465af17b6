"""Models learnt from tables through the gate, as scikit-learn estimators and as tasks on a dataset.

column, subject     the public facts of features and target
price               ε, (ε, δ) or ρ, and the noise that a share of it buys
learner             learner → plan → released numbers → model
steps, fit          what is measured through the gate; a whole fit, from a dataset or from arrays
naive_bayes, …      the learners
estimators/         their scikit-learn face, the only part that imports scikit-learn
"""

from importlib import import_module
from typing import Any

_HOMES = {"NaiveBayes": "estimators.counts"}

__all__ = ["NaiveBayes"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"discreet.learn has no {name!r}")
    try:
        return getattr(import_module(f"discreet.learn.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
    raise ImportError("discreet.learn needs scikit-learn: install discreet[learn]")
