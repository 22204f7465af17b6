"""A model tried on rows behind the gate: which rows count, their target, what the model says, and their group.

All that is refused is refused from arguments and public facts, when the trial is made.  What is computed here stays
behind the gate until a metric has made counts of it and these have noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import BadValue, bad
from discreet.kernel.rows import UnitRows
from discreet.learn.fit import Fit
from discreet.learn.input.column import ModelColumn, model_column
from discreet.ndarrays import Floats, Ints
from discreet.query.nodes import Expr, UnitIn
from discreet.relation import Relation
from discreet.schema import Schema
from discreet.schema.words import suggestion


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with a target: its class or its number, the model's scores, and the group; −1 for none."""

    target: Any
    scores: Floats
    group: Ints

    @property
    def predicted(self) -> Ints:
        """The class that the model gives each row."""
        places: Ints = np.argmax(self.scores, axis=1).astype(np.int64)
        return places


@dataclass(frozen=True, eq=False)
class Trial:
    """A fitted model, and the columns of a table that it is tried on; a unit counts with its first `max_rows` rows."""

    fit: Fit
    schema: Schema
    features: tuple[ModelColumn, ...]
    target: ModelColumn
    max_rows: int = 1
    where: Expr | None = None
    by: ModelColumn | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the model; empty where it predicts a number."""
        return self.fit.plan.subject.classes

    @property
    def columns(self) -> list[str]:
        """What is read, each column once."""
        used = (*self.features, self.target, *(() if self.by is None else (self.by,)))
        return list(dict.fromkeys(column.column for column in used))

    def sensitivity(self, norm: int, touched: int) -> Sensitivity:
        """How far one unit moves numbers to which each row adds amounts of 0 or more, `norm` in all, to so many."""
        cells, size = self.max_rows * touched, self.max_rows * norm
        if self.schema.relation is Relation.ADD_REMOVE:
            return Sensitivity(cells, size, size * size, size, self.schema.relation)  # type: ignore[arg-type]
        return Sensitivity(2 * cells, 2 * size, 2 * size * size, size, self.schema.relation)  # type: ignore[arg-type]

    def predictions(self, rows: UnitRows) -> Scored:
        """The rows that count, with what the model says of each."""
        counts = np.arange(rows.size) - rows.starts[rows.unit_of_row] < self.max_rows
        target = self._target(rows.columns[self.target.column])
        counts &= ~np.isnan(target) if self.target.is_number else target >= 0
        cells = {name: column[counts] for name, column in rows.columns.items()}
        theirs = self.fit.plan.subject.features
        encoded = {
            their.name: _translated(cells[own.column], own, their)
            for own, their in zip(self.features, theirs, strict=True)
        }
        width, size = max(len(self.classes), 1), int(counts.sum())
        scores = self.fit.scores(encoded) if size else np.zeros((0, width))
        if scores.shape != (size, width):
            raise ValueError
        group = np.full(size, -1) if self.by is None else self.by.codes(cells[self.by.column], 2)
        return Scored(target[counts], scores, group)

    def _target(self, cells: Any) -> Any:
        theirs = self.fit.plan.subject.target
        return cells if self.target.is_number else theirs.codes(_translated(cells, self.target, theirs), 2)

    @cached_property
    def knowledge(self) -> str:
        """What is known of the persons that the model was trained on, in a sentence."""
        subject = self.fit.plan.subject
        if not _is_same_table(subject.schema, self.schema):
            return "The model was trained on another table; whether these persons were in it is not known here."
        if are_apart(subject.where, self.where):
            return "The model was not trained on these persons."
        return "The model was trained on persons among these, so it looks better here than on others."


def _is_same_table(model: Schema, table: Schema) -> bool:
    """Whether a model's schema is the table's, or what a file keeps of it: the columns that the model uses."""
    named = (model.name, model.unit, model.relation) == (table.name, table.unit, table.relation)
    return named and all(column in table.columns for column in model.columns)


def _translated(cells: Any, own: ModelColumn, theirs: ModelColumn) -> Any:
    """Cells of a table's column as the model's column has them: places in one list of values as places in another."""
    if not own.is_coded or own.values == theirs.values:
        return cells
    return np.append(theirs.encoded(np.array(own.values, dtype=object)), -1)[cells]


def are_apart(where: Expr | None, other: Expr | None) -> bool:
    """Whether two conditions are parts of the units without a unit in common."""
    if not isinstance(where, UnitIn) or not isinstance(other, UnitIn):
        return False
    return where.end <= other.first or other.end <= where.first


def trial_of(
    schema: Schema,
    model: Any,
    *,
    target: str | None = None,
    max_rows: Any = 1,
    where: Expr | None = None,
    by: str | None = None,
) -> Trial:
    """The trial of a model on a table; refused where a column is missing or of another kind than the model's.

    Columns are found by the model's names for them; `target` names the one that the model calls otherwise.
    """
    fit = getattr(model, "fit_", model)
    if not isinstance(fit, Fit):
        raise bad("model", "must be a fitted estimator of dp.learn", type(model).__name__, "Fit it first.")
    subject = fit.plan.subject
    features = tuple(_like(schema, feature) for feature in subject.features)
    goal = _like(schema, subject.target, target)
    if sorted(map(str, goal.values or ())) != sorted(map(str, subject.classes)):
        raise bad("target", "must have the classes of the model", goal.values, "Score a model of this target.")
    rows = amounts.count(max_rows, "max_rows", 1, schema.max_rows if schema.unit is not None else 1)
    return Trial(fit, schema, features, goal, rows, where, None if by is None else _groups(schema, by))


def _like(schema: Schema, theirs: ModelColumn, name: str | None = None) -> ModelColumn:
    """The table's column with the name of the model's, if cells of one can be read as cells of the other."""
    own = _column(schema, theirs.name, "model") if name is None else _column(schema, name, "target")
    if own.is_number != theirs.is_number or own.is_coded != theirs.is_coded:
        rule = f"must have a column {theirs.name!r} of the kind that it was trained with"
        raise bad("table", rule, own.to_json(), "Declare it alike, or train the model on this table.")
    return own


def _groups(schema: Schema, by: Any) -> ModelColumn:
    column = _column(schema, by, "by")
    if column.is_number or not 2 <= len(column.values or ()) <= 100:
        fix = "Name a column with public values, such as by='sex'."
        raise bad("by", "must be a column with 2 to 100 public values", by, fix)
    return column


def _column(schema: Schema, name: Any, argument: str) -> ModelColumn:
    column = schema.find(name) if isinstance(name, str) else None
    if column is None:
        raise _unknown(schema, name, argument)
    return model_column(column)


def _unknown(schema: Schema, name: Any, argument: str) -> BadValue:
    similar = suggestion(name, [column.name for column in schema.columns]) if isinstance(name, str) else None
    fix = f"Did you mean {similar!r}?" if similar else "Name a declared column."
    return bad(argument, "must name declared columns", name, fix)


def require_class(trial: Trial, positive: Any) -> int:
    """The place of the class that counts as positive; of two classes the second unless another is named."""
    classes = trial.classes
    if len(classes) < 2:
        fix = "Score it by metric='r2'."
        raise bad("model", "must predict classes", "a number", fix)
    if positive is None and len(classes) == 2:
        return 1
    places: Mapping[Any, int] = {value: place for place, value in enumerate(classes)}
    if positive is None or positive not in places:
        raise bad("positive", f"must be one of {', '.join(map(str, classes))}", positive, "Name one of the classes.")
    return places[positive]
