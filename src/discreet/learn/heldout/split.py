"""Persons of a table divided by a keyed hash: those that models are trained on, and those that they are tried on.

A unit's part depends on its own id alone, so a unit is in one part, and under add-remove what is asked of one part
costs those in the other nothing.  Proof page: docs/proofs/learn/heldout/split.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from discreet import amounts
from discreet.errors import BadValue, bad, fixed_by
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

    def learn(self, estimator: Any, *, target: str, features: str | Iterable[str] | None = None) -> "Task":
        """A model of `target` to be quoted and fitted to these persons; as `Dataset.learn`."""
        from discreet.learn.estimators.task import task_of

        return task_of(self.table, estimator, target=target, features=features, where=self.where)

    def score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> Score:
        """How well a fitted model predicts these persons: accuracy, auc, log_loss or r2, charged once."""
        return score(self.table, model, metric=metric, epsilon=epsilon, **self._with_part(options))

    def quote_score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> TrialQuote:
        """What that score would cost, and its ± for `at_size` persons; free."""
        return quote_score(self.table, model, metric=metric, epsilon=epsilon, **self._with_part(options))

    def fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> Fairness:
        """How well it predicts each group of these persons, charged once."""
        return fairness(self.table, model, by=by, epsilon=epsilon, **self._with_part(options))

    def quote_fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> TrialQuote:
        """What these rates would cost, and their ± for `at_size` persons each; free."""
        return quote_fairness(self.table, model, by=by, epsilon=epsilon, **self._with_part(options))

    def _with_part(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a trial of these persons."""
        if "where" in options:
            raise BadValue(f"where is given by the {self.name}.", "They are a part of the table.", "Leave it out.")
        return {**options, "where": self.where}

    def __repr__(self) -> str:
        own = "alone" if self.table.schema.relation is Relation.ADD_REMOVE else "as to the whole table"
        return (
            f"<{self.name} of {self.table.schema.name}: {amounts.text_of(100 * self.share)} of 100, chosen by a keyed "
            f"hash; what is asked of them is charged to them {own}>"
        )


AnySide = TypeVar("AnySide", bound=Side)


def split(table: Table, test: Any, kind: type[AnySide] = Side) -> tuple[AnySide, AnySide]:  # type: ignore[assignment]
    """The persons to train on and the held-out persons, who are about `test` of all."""
    with fixed_by(_share_fix(test)):
        share = amounts.inner_probability(test, "test")
    if _FINEST % share.denominator:
        raise bad("test", "must have at most six decimals", test, 'Give, for example, test="0.2".')
    cut = 1 - share
    units = unit_plural(table.schema)
    training = kind(table, f"training {units}", UnitIn(Fraction(0), cut))
    return training, kind(table, f"held-out {units}", UnitIn(cut, Fraction(1)))


def _share_fix(test: Any) -> str:
    """What to give in place of a share that is none: of a number of 100 the share that it was meant as."""
    try:
        percent = amounts.decimal(test, "test")
    except BadValue:
        percent = Fraction(0)
    if 1 <= percent < 100:
        return (
            f"Give it as a share: {amounts.exact_text(percent / 100)} holds out {amounts.exact_text(percent)} of 100."
        )
    return "Give a share such as 0.2."
