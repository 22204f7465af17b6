"""`people.learn(estimator, target=…)`: an estimator's options, fitted to a dataset behind its gate."""

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.estimators.base import Estimator
from discreet.learn.task import Learning, LearnQuote, learning
from discreet.query.nodes import Expr
from discreet.table import Table

_OWN = ("epsilon", "delta", "rho", "ledger", "bounds", "values", "classes", "target_bounds")


@dataclass(frozen=True, eq=False)
class Task:
    """A fit that has not run yet; `quote` costs nothing, `fit` is charged once."""

    estimator: Estimator
    learning: Learning

    def quote(self, **price: Any) -> LearnQuote:
        """Price, noise and what would remain; takes epsilon, delta or rho, and analyst."""
        return self.learning.quote(**price)

    def fit(self, *, progress: Progress | None = None, **price: Any) -> Any:
        """A fitted copy of the estimator; the same question again gives the same model for nothing."""
        fitted: Estimator = clone(self.estimator)
        return fitted._adopted(self.learning.fit(progress=progress, **price))

    def __repr__(self) -> str:
        return f"<{self.estimator!r}: .quote(epsilon=1) costs nothing, .fit(epsilon=1) is charged once>"


def task_of(table: Table, estimator: Any, *, target: str, features: Any = None, where: Expr | None = None) -> Task:
    """The task of fitting that estimator; refused if it carries what the dataset gives."""
    if isinstance(estimator, type) and issubclass(estimator, Estimator):
        name = estimator.__name__
        raise bad("estimator", "must be an estimator with its options, not its class", name, f"Write {name}().")
    if not isinstance(estimator, Estimator):
        fix = "Give one of dp.learn, such as dp.learn.NaiveBayes()."
        raise bad("estimator", "must be one of dp.learn", type(estimator).__name__, fix)
    carried = [name for name in _OWN if getattr(estimator, name, None) is not None]
    if carried:
        rule = f"must not carry {', '.join(carried)}"
        fix = "Give the price to quote and fit; public facts and ledger are the dataset's."
        raise bad("estimator", rule, type(estimator).__name__, fix)
    learner, rows = estimator.learner(), estimator.max_rows
    return Task(estimator, learning(table, learner, target, features, max_rows=rows, where=where))
