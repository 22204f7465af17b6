"""Dataset: the thin face.  It forwards to the rooms and holds nothing of its own."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import metadata
from discreet.amounts import text_of
from discreet.ask.asking import Asking
from discreet.ask.building import Building
from discreet.engine import Limits
from discreet.engine.protocol import Progress
from discreet.errors import NotAnswerable
from discreet.ledger.standing import Standing
from discreet.query import explain
from discreet.query.form.frame import Frame
from discreet.query.sql import Options, parse_sql
from discreet.rehearsal import Rehearsal
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.deep.table.part import Part
    from discreet.learn.estimators.task import Task
    from discreet.learn.heldout.fairness import Fairness
    from discreet.learn.heldout.score import Score
    from discreet.learn.heldout.trial_quote import TrialQuote
    from discreet.release.face import Releasing
    from discreet.synth.task import SynthTask


class Dataset:
    """A private table behind its gate; printing it shows public facts and never a row."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def table(self) -> Table:
        """What the rooms take."""
        return self._table

    def sql(self, text: str) -> Asking:
        """The question that an SQL text asks."""
        statement = parse_sql(text)
        _require_unit(statement.options, self._table)
        asking = Asking(self._table, statement.question, statement.options)
        _ = asking.draft  # refused here and now, where the text is
        return asking

    def where(self, *conditions: Any) -> Building:
        """A question about rows for which all conditions hold."""
        return self._frame().where(*conditions)

    def group_by(self, *keys: Any, **named_keys: Any) -> Building:
        """A question with an answered row for each value of the keys."""
        return self._frame().group_by(*keys, **named_keys)

    def agg(self, **outputs: Any) -> Building:
        """A question about the whole table: `name=aggregate` for each column."""
        return self._frame().agg(**outputs)

    def _frame(self) -> Building:
        return Building(self._table, Frame(self._table.schema.name))

    def release(
        self,
        hierarchy: str | None = None,
        *,
        by: str | Iterable[str] = (),
        count: str = "units",
        groups: str | None = None,
        largest: int | None = None,
        marginals: Iterable[Iterable[str]] | None = None,
    ) -> "Releasing":
        """Tables over a tree of places that add up: counts of units or rows by public columns, or sizes of groups."""
        from discreet.release.face import releasing

        question = releasing(
            self._table, hierarchy=hierarchy, by=by, count=count, groups=groups, largest=largest, marginals=marginals
        )
        return self._table.stamped(question)

    def learn(self, estimator: Any, *, target: str, features: str | Iterable[str] | None = None) -> "Task":
        """A model of `target` by an estimator of `dp.learn`, to be quoted and fitted; it carries no budget itself."""
        from discreet.learn.estimators.task import task_of

        return task_of(self._table, estimator, target=target, features=features)

    def synthesize(self, columns: Sequence[str] | None = None, **options: Any) -> "SynthTask":
        """A synthetic table like this one, to be quoted and built; it carries no price itself.

        `options` are method, max_cells, zeros and rows, and `children`, another dataset with rows of the same units
        under a name for it: {"visits": visits}.
        """
        from discreet.synth.task import require_names, task_of

        require_names(options)
        if isinstance(options.get("children"), Mapping):
            named = options["children"].items()
            options["children"] = {name: getattr(child, "_table", child) for name, child in named}
        return task_of(self._table, columns=columns, **options)

    def train(
        self,
        trainer: Any,
        *,
        target: str,
        features: str | Iterable[str] | None = None,
        bins: Any = None,
        **options: Any,
    ) -> Any:
        """The net of a `dp.deep.Trainer`, trained on all persons: charged once, and the same training again is free.

        The net gets codes of the features, as `dp.deep.cells` counts them, and learns a class of `target` or its
        number scaled to −1 … 1.  `options` are `analyst` and `progress`.
        """
        from discreet.deep.table.train import train

        return train(self._table, trainer, target=target, features=features, bins=bins, **options)

    def split(self, *, test: Any) -> "tuple[Part, Part]":
        """The persons to train on and the held-out persons, about `test` of all, divided by a keyed hash."""
        from discreet.deep.table.part import Part
        from discreet.learn.heldout.split import split

        return split(self._table, test, Part)

    def score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> "Score":
        """How well a fitted model predicts all persons: accuracy, auc, log_loss or r2, charged once.

        The result says whether the model may have been trained on them; `split` holds some out.
        """
        from discreet.learn.heldout.score import score

        return score(self._table, model, metric=metric, epsilon=epsilon, **options)

    def quote_score(self, model: Any, *, metric: str, epsilon: Any, **options: Any) -> "TrialQuote":
        """What that score would cost, and its ± for `at_size` persons; free."""
        from discreet.learn.heldout.score import quote_score

        return quote_score(self._table, model, metric=metric, epsilon=epsilon, **options)

    def fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> "Fairness":
        """How well a fitted model predicts each group of all persons, charged once."""
        from discreet.learn.heldout.fairness import fairness

        return fairness(self._table, model, by=by, epsilon=epsilon, **options)

    def quote_fairness(self, model: Any, *, by: str, epsilon: Any, **options: Any) -> "TrialQuote":
        """What these rates would cost, and their ± for `at_size` persons each; free."""
        from discreet.learn.heldout.fairness import quote_fairness

        return quote_fairness(self._table, model, by=by, epsilon=epsilon, **options)

    @property
    def budget(self) -> Standing | None:
        """Where the ledger stands; None before the first charge."""
        return self._table.standing()

    def prepare(self, progress: Progress | None = None) -> str:
        """The snapshot of the prepared table; questions prepare it by themselves."""
        return self._table.prepare(progress)

    def close(self) -> None:
        """Stop the engine and let go of the ledger."""
        self._table.close()

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        schema, left = self._table.schema, self._table.remaining()
        columns = ", ".join(f"{column.name} ({column.type})" for column in schema.columns)
        rehearsed = "REHEARSAL on invented rows: " if isinstance(self._table, Rehearsal) else ""
        return (
            f"<{rehearsed}dataset {schema.name}: {columns}; protects each {explain.unit(schema)}; "
            f"epsilon {left['epsilon']} of {text_of(Fraction(self._table.budget.epsilon))} left>"
        )


def open_dataset(
    path: str | Path,
    *,
    table: Any = None,
    limits: Limits | None = None,
    second_ledger: str | None = None,
    rehearsal: bool = False,
) -> Dataset:
    """The dataset that a TOML describes; `table` takes a pandas, Polars or Arrow table in place of its source.

    `second_ledger` is the reason why these rows have two ledgers, which both then record: without one, rows that
    another ledger stands over are refused.

    With `rehearsal` the rows are invented from the metadata and the ledger is thrown away: neither `table` nor the
    source is looked at, nothing is charged, failures show their cause, and all that comes out is stamped.
    """
    toml = Path(path)
    facts = metadata.load(toml)
    if rehearsal:
        return Dataset(Rehearsal(facts, toml, limits=limits))
    return Dataset(Table(facts, toml, frame=table, limits=limits, second_ledger=second_ledger))


def _require_unit(options: Options, table: Table) -> None:
    """A unit named in the question must be the one that is protected."""
    key = explain.unit(table.schema)
    if options.unit is not None and options.unit.casefold() != key.casefold():
        why = f"The ledger protects each {key}; a question cannot choose another unit."
        raise NotAnswerable(
            f"privacy_unit_column must be {key}.", why, f"Write: privacy_unit_column={key}, or leave it out."
        )
