"""A model tried on rows behind the gate: which rows count, their target, what the model says, and their group.

All that is refused is refused from arguments and public facts, when the trial is made.  What is computed here stays
behind the gate until a metric has made counts of it and these have noise.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import BadValue, bad
from discreet.kernel.rows import UnitRows
from discreet.learn.heldout.predictor import Predictor, predictor_of
from discreet.learn.input.column import ModelColumn, model_column
from discreet.learn.privacy import INVENTED
from discreet.learn.subject import no_column
from discreet.ndarrays import Floats, Ints
from discreet.query.explain import unit
from discreet.query.nodes import Expr, UnitIn
from discreet.relation import Relation
from discreet.schema import Schema

_ID = re.compile(r"(_[iI][dD]|(?<=[a-z])I[Dd])$", re.ASCII)  # of person_id, userId and userID


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

    model: Predictor
    schema: Schema
    features: tuple[ModelColumn, ...]
    target: ModelColumn
    max_rows: int = 1
    where: Expr | None = None
    by: ModelColumn | None = None
    is_of_table: bool = False  # the ledger of the table holds the charge of the model

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the model; empty where it predicts a number."""
        return self.model.subject.classes

    @property
    def columns(self) -> list[str]:
        """What is read, each column once."""
        used = (*self.features, self.target, *(() if self.by is None else (self.by,)))
        return list(dict.fromkeys(column.column for column in used))

    @property
    def title(self) -> str:
        """The model as people call it, and what it predicts."""
        return f"{self.model.title} for {self.target.name}"

    @property
    def noun(self) -> str:
        """The word for what is counted, such as persons."""
        return unit_plural(self.schema) if self.max_rows == 1 else "rows"

    def words(self) -> tuple[str, ...]:
        """Whom the model was trained on, who counts, and with which rows, in sentences."""
        rows = "its first row" if self.max_rows == 1 else f"its first {self.max_rows} rows"
        counts = f"Each {unit(self.schema)} counts with {rows} by a keyed hash." if self.schema.max_rows > 1 else ""
        missing = f"Rows without {self.target.name} do not count."
        return tuple(sentence for sentence in (self.knowledge, counts, missing) if sentence)

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
        theirs = self.model.subject.features
        encoded = {
            their.name: _translated(cells[own.column], own, their)
            for own, their in zip(self.features, theirs, strict=True)
        }
        width, size = max(len(self.classes), 1), int(counts.sum())
        scores = self.model.scores(encoded) if size else np.zeros((0, width))
        if scores.shape != (size, width):
            raise ValueError
        group = np.full(size, -1) if self.by is None else self.by.codes(cells[self.by.column], 2)
        return Scored(target[counts], scores, group)

    def _target(self, cells: Any) -> Any:
        theirs = self.model.subject.target
        return cells if self.target.is_number else theirs.codes(_translated(cells, self.target, theirs), 2)

    @cached_property
    def knowledge(self) -> str:
        """What is known of the persons that the model was trained on, in a sentence."""
        subject, units = self.model.subject, unit_plural(self.schema)
        if self.model.privacy.covers == INVENTED:
            return "The model is of a REHEARSAL: it was trained on invented rows."
        if not self.is_of_table:
            return (
                f"The model was not charged to this ledger: whether it was trained on these {units} is not known here."
            )
        if are_apart(subject.where, self.where):
            return f"The model was not trained on these {units}."
        better = "so it may look better here than on others"
        return f"The model was trained on {units} of this table, maybe on these, {better}."


def unit_plural(schema: Schema) -> str:
    """What several of those who are protected are called: by the unit's key, or what stands before its id, where that
    is a word, else units."""
    word = _ID.sub("", unit(schema)).casefold()
    if word.endswith("id") or not (word.isascii() and word.isalpha() and (len(word) > 3 or schema.unit is None)):
        return "units"
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


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

    Columns are looked up by the model's names for them; `target` names the one that the model calls otherwise.
    """
    predictor = predictor_of(model)
    subject = predictor.subject
    _require_names(schema, [feature.name for feature in subject.features])
    features = tuple(_like(schema, feature, feature.name) for feature in subject.features)
    goal = _like(schema, subject.target, _target_name(schema, subject.target.name, target))
    if sorted(map(str, goal.values or ())) != sorted(map(str, subject.classes)):
        classes = ", ".join(map(str, subject.classes)) or "none"
        rule = f"must have the classes of the model, which are {classes}"
        raise bad("target", rule, goal.values or goal.name, "Name the column that the model predicts.")
    rows = amounts.count(max_rows, "max_rows", 1, schema.max_rows if schema.unit is not None else 1)
    return Trial(predictor, schema, features, goal, rows, where, None if by is None else _groups(schema, by))


def _require_names(schema: Schema, names: Sequence[str]) -> None:
    """Refuses a model whose features are no columns of the table, such as one that was fitted to a bare matrix."""
    missing = next((name for name in names if schema.find(name) is None), None)
    if missing is None:
        return
    if list(names) == [f"x{place}" for place in range(len(names))]:
        fix = "Fit it to a frame or a dict whose columns are called as those of the table."
        raise bad("model", "must name its features as the table does; this one was fitted without names", missing, fix)
    what = f"The table {schema.name!r} lacks the model's feature {missing!r}."
    why = f"The model predicts from {', '.join(names)}, and each must be a declared column."
    raise BadValue(what, why, "Declare it, or take the table that the model was fitted to.")


def _target_name(schema: Schema, name: str, named: str | None) -> str:
    """The table's name for the target: as the caller names it, else as the model calls it."""
    if named is None and schema.find(name) is None:
        fix = "Name the column that it predicts: target=…, --target at the command line."
        raise bad("target", f"must name a declared column, since none is called {name!r} as in the model", None, fix)
    return name if named is None else named


def _like(schema: Schema, theirs: ModelColumn, name: str) -> ModelColumn:
    """The table's column of that name, if its cells can be read as cells of the model's column."""
    own = _column(schema, name, "target")
    if own.is_number != theirs.is_number or own.is_coded != theirs.is_coded:
        what = f"Column {name!r} is of another kind than the model's."
        why = f"In the table it is {_kind(own)}, in the model {_kind(theirs)}."
        raise BadValue(what, why, "Declare it alike, or fit the model to this table.")
    return own


def _kind(column: ModelColumn) -> str:
    """What a column holds, in words."""
    if column.values is None:
        return {0: "a number with bounds", 1: "a date with bounds"}.get(column.day, "a moment with bounds")
    if column.is_coded:
        return "a category of texts"
    return "a boolean" if isinstance(column.values[0], bool) else "whole numbers with public values"


def _groups(schema: Schema, by: Any) -> ModelColumn:
    column = _column(schema, by, "by")
    if column.is_number or not 2 <= len(column.values or ()) <= 100:
        fix = "Name a column with public values, such as sex or region."
        raise bad("by", "must be a column with 2 to 100 public values", by, fix)
    return column


def _column(schema: Schema, name: Any, argument: str) -> ModelColumn:
    column = schema.find(name) if isinstance(name, str) else None
    if column is None:
        raise no_column(schema, name, argument)
    return model_column(column)


def require_class(trial: Trial, positive: Any) -> int:
    """The place of the class that counts as positive; of two classes the second unless another is named."""
    classes = trial.classes
    if len(classes) < 2:
        why = "An AUC and rates of groups are about classes."
        raise BadValue("The model predicts a number.", why, "Score it by r2.")
    if positive is None and len(classes) == 2:
        return 1
    listed = ", ".join(_class_texts(classes))
    if positive is None:
        what = f"positive must be given for a model of {len(classes)} classes."
        why = f"An AUC and rates of groups are about one of them: {listed}."
        raise BadValue(what, why, "Name that class: positive=…, --positive at the command line.")
    place = class_place(classes, positive)
    if place is None:
        raise bad("positive", f"must be one of {listed}", positive, "Name one of the classes.")
    return place


def class_place(classes: Sequence[Any], named: Any) -> int | None:
    """The place of the class that a value or its text names; None if there is none.

    >>> class_place(("no", "yes"), "yes"), class_place((False, True), "TRUE"), class_place((1, 2), "3")
    (1, 1, None)
    """
    texts, text = _class_texts(classes), str(named)
    text = text.casefold() if classes and isinstance(classes[0], bool) else text
    return texts.index(text) if text in texts else None


def _class_texts(classes: Sequence[Any]) -> list[str]:
    return [str(value).casefold() if isinstance(value, bool) else str(value) for value in classes]
