"""What a model learns from: features, the target, and the rows of a unit that count; public facts alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet import amounts
from discreet.bounded import RowLimit
from discreet.errors import BadValue, bad
from discreet.learn.input.column import ModelColumn, model_column
from discreet.ndarrays import Floats, Ints
from discreet.query.canonical import canonical
from discreet.query.nodes import Caps, CountRows, Expr, Key, Output, Question
from discreet.schema import Schema
from discreet.schema.words import first_twice, suggestion

MOST_FEATURES = 512
MOST_CLASSES = 100
_LONGEST_WHERE = 2**14  # characters of a condition as it is stored, which plans read for each feature and cell


@dataclass(frozen=True)
class Subject:
    """The features and the target of one table, for the units that satisfy `where`.

    A unit counts with its first `max_rows` rows in the order of a keyed hash; by default with one.
    """

    schema: Schema
    features: tuple[ModelColumn, ...]
    target: ModelColumn
    max_rows: int = 1
    where: Expr | None = None

    @property
    def limit(self) -> RowLimit:
        """How many rows a unit has in the table, by its public facts; the bound of kernels is derived from it."""
        return RowLimit(self.schema.max_rows, self.schema.relation)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The public classes of the target; empty where it is a number."""
        return self.target.values or ()

    @property
    def columns(self) -> list[str]:
        """The columns of the table, the target last."""
        return [*(feature.column for feature in self.features), self.target.column]

    def question(self, bins: int, feature: ModelColumn) -> Question:
        """The rows of each class and cell of a feature."""
        keys = (Key("class", self.target.key(bins)), Key("cell", feature.key(bins)))
        outputs = (Output("n", CountRows()),)
        return Question(self.schema.name, outputs, keys, self.where, Caps(rows=self.max_rows))

    def encoded(self, columns: Mapping[str, Any]) -> dict[str, Floats | Ints]:
        """Cells of rows that are not behind the gate, by the features' names, as a view hands out those of the table.

        It is what `Model.scores` takes.
        """
        return {feature.name: feature.encoded(columns[feature.name]) for feature in self.features}

    def to_json(self) -> dict[str, Any]:
        """What a model must share with another to be the same: the columns in order, the rows and the part."""
        return {
            "features": [feature.to_json() for feature in self.features],
            "target": self.target.to_json(),
            "max_rows": self.max_rows,
            "where": None if self.where is None else canonical(self.where),
        }

    def words(self) -> str:
        """How a unit counts, in a sentence."""
        if self.schema.unit is None:
            return "Each row counts once."
        each = self.schema.unit.key
        if self.max_rows == 1:
            return f"Each {each} counts with one of its rows, chosen by a keyed hash."
        return f"Each {each} counts with at most {self.max_rows} of its rows, chosen by a keyed hash."


def subject_of(
    schema: Schema,
    target: str,
    features: Sequence[str] | None = None,
    *,
    max_rows: Any = 1,
    where: Expr | None = None,
    names: Mapping[str, str] | None = None,
) -> Subject:
    """The subject of that target and those features; without features all columns that have public facts.

    `names` are what the caller calls the table's columns.
    """
    shown = names or {}
    goal = _column(schema, target, "target", shown)
    wanted = _default_features(schema, goal.column) if features is None else list(features)
    if isinstance(features, str) or not 1 <= len(wanted) <= MOST_FEATURES:
        raise bad("features", f"must be 1 to {MOST_FEATURES} columns", features, 'Give, for example, ["age"].')
    columns = tuple(_column(schema, name, "features", shown) for name in wanted)
    used = [goal.column, *(column.column for column in columns)]
    twice = first_twice(used)
    if twice is not None:
        name = shown.get(twice, twice)
        if twice == goal.column:
            raise bad("features", "must not hold the target", name, f"Leave out {name!r}.")
        raise bad("features", "must name each column once", name, f"Leave out {name!r} where it is repeated.")
    rows = amounts.count(max_rows, "max_rows", 1, schema.max_rows if schema.unit is not None else 1)
    if where is not None and len(canonical(where)) > _LONGEST_WHERE:
        fix = "Name fewer values, or a column that tells the same units by one value."
        rule = f"must be at most {_LONGEST_WHERE:,} characters of JSON for a model"
        raise bad("where", rule, len(canonical(where)), fix)
    return Subject(schema, columns, goal, rows, where)


def _default_features(schema: Schema, target: str) -> list[str]:
    unit = "" if schema.unit is None else schema.unit.key
    known = [c for c in schema.columns if c.values is not None or c.bounds is not None or c.type == "boolean"]
    return [column.name for column in known if column.name not in (target, unit)]


def _column(schema: Schema, name: Any, argument: str, shown: Mapping[str, str]) -> ModelColumn:
    column = schema.find(name) if isinstance(name, str) else None
    if column is None or (schema.unit is not None and column.name == schema.unit.key):
        raise no_column(schema, name, argument)
    return model_column(column, shown.get(column.name))


def no_column(schema: Schema, name: Any, argument: str) -> BadValue:
    """The refusal of a name that is the unit's key or no declared column."""
    if schema.unit is not None and name == schema.unit.key:
        rule = "must not be the unit's key, which only says whose a row is"
        return bad(argument, rule, name, "Name another column." if argument != "features" else "Leave it out.")
    parts = [part.strip() for part in name.split(",")] if isinstance(name, str) else []
    if argument == "features" and len(parts) > 1:
        fix = f"Give a list: {json.dumps(parts, ensure_ascii=False)}."
        return bad(argument, "must be declared columns, and a text is the name of one", name, fix)
    similar = suggestion(name, [known.name for known in schema.columns]) if isinstance(name, str) else None
    fix = f"Did you mean {similar!r}?" if similar else "Name a declared column."
    rule = "must be declared columns" if argument == "features" else "must be a declared column"
    return bad(argument, rule, name, fix)


def require_classes(subject: Subject) -> tuple[Any, ...]:
    """The classes of the target; refused where it is a number, or has too many."""
    rule = f"must have 2 to {MOST_CLASSES} public classes for a classifier"
    if subject.target.is_number:
        why = f"It is a {'date' if subject.target.day else 'number'} with bounds, and has no public values."
        fix = "Use linear regression for a number, or declare its values."
        raise BadValue(f"target {subject.target.name!r} {rule}.", why, fix, rule)
    if not 2 <= len(subject.classes) <= MOST_CLASSES:
        fix = "Declare other values, or name another target."
        raise bad(f"target {subject.target.name!r}", rule, len(subject.classes), fix)
    return subject.classes


def require_number(subject: Subject) -> ModelColumn:
    """The target, which must be a number with bounds."""
    if not subject.target.is_number:
        fix = "Use a classifier, such as logistic regression."
        raise bad(f"target {subject.target.name!r}", "must be a number with bounds", "classes", fix)
    return subject.target
