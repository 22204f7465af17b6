"""Persons of a table divided by a keyed hash: those that models are trained on, and those that they are tried on.

A unit's part depends on its own id alone, so a unit is in one part, and under add-remove what is asked of one part
costs those in the other nothing.  Proof page: docs/proofs/learn/heldout/split.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import bad
from discreet.learn.heldout.fairness import Fairness, fairness, quote_fairness
from discreet.learn.heldout.score import Score, quote_score, score
from discreet.learn.heldout.trial import unit_plural
from discreet.learn.heldout.trial_quote import TrialQuote
from discreet.query.nodes import UnitIn
from discreet.relation import Relation
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.learn.estimators.task import Task

_FINEST = 10**6


@dataclass(frozen=True, eq=False)
class Side:
    """Some of the persons of a table; what is asked of them is charged to them alone where that is sound."""

    table: Table
    name: str
    where: UnitIn

    @property
    def share(self) -> Fraction:
        """Which share of all persons it has, on average."""
        return self.where.end - self.where.first

    def learn(self, estimator: Any, *, target: str, features: Iterable[str] | None = None) -> "Task":
        """A model of `target` to be quoted and fitted to these persons; as `Dataset.learn`."""
        from discreet.learn.estimators.task import task_of

        names = None if features is None else list(features)
        return task_of(self.table, estimator, target=target, features=names, where=self.where)

    def score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> Score:
        """How well a fitted model predicts these persons: accuracy, auc, log_loss or r2, charged once."""
        return score(self.table, model, metric=metric, epsilon=epsilon, where=self.where, **options)

    def quote_score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> TrialQuote:
        """What that score would cost, and its ± for `at_size` persons; free."""
        return quote_score(self.table, model, metric=metric, epsilon=epsilon, where=self.where, **options)

    def fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> Fairness:
        """How well it predicts each group of these persons, charged once."""
        return fairness(self.table, model, by=by, epsilon=epsilon, where=self.where, **options)

    def quote_fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> TrialQuote:
        """What these rates would cost, and their ± for `at_size` persons each; free."""
        return quote_fairness(self.table, model, by=by, epsilon=epsilon, where=self.where, **options)

    def __repr__(self) -> str:
        own = "alone" if self.table.schema.relation is Relation.ADD_REMOVE else "as to the whole table"
        return (
            f"<{self.name} of {self.table.schema.name}: {amounts.text_of(100 * self.share)} of 100, chosen by a keyed "
            f"hash; what is asked of them is charged to them {own}>"
        )


def split(table: Table, test: Any) -> tuple[Side, Side]:
    """The persons to train on and the held-out persons, who are about `test` of all."""
    share = amounts.inner_probability(test, "test")
    if _FINEST % share.denominator:
        raise bad("test", "must have at most six decimals", test, 'Give, for example, test="0.2".')
    cut = 1 - share
    units = unit_plural(table.schema)
    training = Side(table, f"training {units}", UnitIn(Fraction(0), cut))
    return training, Side(table, f"held-out {units}", UnitIn(cut, Fraction(1)))
