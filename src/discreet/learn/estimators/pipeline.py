"""`dp.learn.make_pipeline`: a scikit-learn pipeline in which nothing reads rows without a charge.

A scaler or an encoder that is fitted to rows takes their means, ranges or categories into the model, and no noise
covers these.  Bounds and public values do the same work here: every learner scales by them itself.
"""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as _make
from sklearn.preprocessing import FunctionTransformer

from discreet.errors import BadValue, bad
from discreet.learn.estimators.base import Estimator


class PrivatePipeline(Pipeline):  # type: ignore[misc]
    """A pipeline of functions on single rows and, at its end, an estimator of dp.learn."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """As `Pipeline.fit`; refused where a step would read rows for nothing."""
        require_priced(step for _, step in self.steps)
        return super().fit(X, y, **params)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """As `Pipeline.fit_predict`, with the same check."""
        require_priced(step for _, step in self.steps)
        return super().fit_predict(X, y, **params)

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """As `Pipeline.fit_transform`, with the same check."""
        require_priced(step for _, step in self.steps)
        return super().fit_transform(X, y, **params)

    @property
    def privacy_(self) -> Any:
        """The promise of the last step; what its features were made of is not covered."""
        return self.steps[-1][1].privacy_


def make_pipeline(*steps: Any) -> PrivatePipeline:
    """A pipeline of FunctionTransformer steps, each acting on single rows, and an estimator of dp.learn at the end."""
    require_priced(steps)
    return PrivatePipeline(_make(*steps).steps)


def require_priced(steps: Any) -> None:
    """Refuses steps that are fitted to rows outside the gate."""
    listed = list(steps)
    if not listed or not isinstance(listed[-1], Estimator):
        given = type(listed[-1]).__name__ if listed else "nothing"
        raise bad("pipeline", "must end with an estimator of dp.learn", given, "End it with dp.learn.NaiveBayes(…).")
    for step in listed[:-1]:
        if step not in (None, "passthrough") and type(step) is not FunctionTransformer:
            raise _refusal_of(step)


def _refusal_of(step: Any) -> BadValue:
    rule = "must hold no step that is fitted to rows: what it learns has no price"
    fix = "Leave it out and give bounds=… or values=…; a function of single rows goes into FunctionTransformer."
    return bad("pipeline", rule, type(step).__name__, fix)
