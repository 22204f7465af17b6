"""Rows of a table as codes: for each feature the number of the row's cell, from public facts alone.

    categories, booleans     one code for each public value
    numbers, dates           the bin they lie in; bins are cut from the bounds
    empty or unknown cells   a code of their own, the last of the feature
    the target               its class, or its number scaled evenly to −1 … 1

Columns without public values or bounds are refused, as everywhere in `learn`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.errors import bad
from discreet.learn.input.column import bins_of
from discreet.learn.subject import Subject, require_classes, subject_of
from discreet.ndarrays import Bools, Ints
from discreet.query.nodes import Expr
from discreet.schema import Schema

BINS = 16


@dataclass(frozen=True, eq=False)
class Cells:
    """What a net sees of a row, and what it predicts; `sizes` says how many codes each feature has."""

    subject: Subject
    bins: int = BINS

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each feature has; the last is that of cells which are empty or hold no public value."""
        return tuple(feature.cells(self.bins) + 1 for feature in self.subject.features)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features, in the order of the codes."""
        return tuple(feature.name for feature in self.subject.features)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The public classes of the target; empty where it is a number."""
        return self.subject.classes

    @property
    def outputs(self) -> int:
        """How many numbers a net says of a row: one for each class, or the number itself."""
        return len(self.classes) or 1

    def codes(self, columns: Mapping[str, Any]) -> Tensor:
        """Codes of rows, [rows, features] as int64, from columns by the features' names as a view hands them out."""
        features = zip(self.subject.features, self.sizes, strict=True)
        places = [_coded(feature.codes(columns[feature.name], self.bins), size - 1) for feature, size in features]
        return torch.from_numpy(np.ascontiguousarray(np.stack(places, axis=1)))

    def encoded(self, frame: Any) -> Tensor:
        """Codes of rows of the caller's own: a frame, or a dict of columns, with a column for each feature."""
        missing = [name for name in self.features if name not in frame]
        if missing:
            raise bad("rows", f"must have a column {missing[0]!r}", list(frame), "Add it; its cells may be empty.")
        return self.codes(self.subject.encoded({name: frame[name] for name in self.features}))

    def targets(self, cells: Any) -> tuple[Tensor, Bools]:
        """Classes as int64, or numbers scaled to −1 … 1, and which rows have one; `cells` are as a view has them."""
        goal = self.subject.target
        if not goal.is_number:
            places = goal.codes(cells, self.bins)
            return torch.from_numpy(np.maximum(places, 0)), places >= 0
        known = ~np.isnan(cells)
        low, high = float(goal.low), float(goal.high)
        scaled = (np.clip(np.where(known, cells, low), low, high) - low) / (high - low) * 2 - 1
        return torch.from_numpy(scaled).to(torch.get_default_dtype()), known

    def numbers(self, outputs: Tensor) -> Tensor:
        """Outputs of a net as numbers of the target, within its bounds, in double precision."""
        goal = self.subject.target
        low, high = float(goal.low), float(goal.high)
        return ((outputs.double().clamp(-1, 1) + 1) / 2 * (high - low) + low).clamp(low, high)

    def to_json(self) -> dict[str, Any]:
        """The public facts that codes follow from."""
        facts = self.subject.to_json()
        return {"features": facts["features"], "target": facts["target"], "bins": self.bins}

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {size}" for name, size in zip(self.features, self.sizes, strict=True))
        goal = f"{self.outputs} classes" if self.classes else "a number"
        return f"<codes {parts}; target {self.subject.target.name}: {goal}>"


def cells(people: Any, target: str, features: str | Iterable[str] | None = None, *, bins: Any = BINS) -> Cells:
    """The codes of a dataset's rows for that target; without features all columns that have public facts."""
    return cells_of(schema_of(people), target, features, bins=bins)


def cells_of(
    schema: Schema,
    target: str,
    features: str | Iterable[str] | None = None,
    *,
    bins: Any = BINS,
    max_rows: Any = 1,
    where: Expr | None = None,
) -> Cells:
    """The codes of the rows of a schema."""
    names = [features] if isinstance(features, str) else features if features is None else list(features)
    subject = subject_of(schema, target, names, max_rows=max_rows, where=where)
    if not subject.target.is_number:
        require_classes(subject)
    return Cells(subject, bins_of(bins))


def schema_of(people: Any) -> Schema:
    """The public facts of a dataset, or of a part of its persons."""
    schema = getattr(getattr(people, "table", people), "schema", None)
    if not isinstance(schema, Schema):
        fix = 'Give, for example, dp.open("people.toml").'
        raise bad("people", "must be a dataset, or a part of its persons", type(people).__name__, fix)
    return schema


def _coded(places: Ints, empty: int) -> Ints:
    return np.where(places < 0, empty, places)
